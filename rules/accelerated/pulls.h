/* Pulls of a sweep through entries of arrays, and through calls that are linear in them. */

#ifndef CHAINRULES_PULLS_H
#define CHAINRULES_PULLS_H

#include "parts.h"

/* Entries by their length: a node, (a, da), (a, da, b, db), six of a read entry, and of arrays
   (a, partial, args), (a, partial, b, partial, args) and eight where they were broadcast; see
   `entries`. */
#define NODE 1
#define OF_NUMBER 2
#define OF_NUMBERS 4
#define READ 6
#define OF_ARRAY 3
#define OF_ARRAYS 5
#define BROADCAST 8

/* What sums cotangents to a shape, and what rules pull back by. */
static PyObject *UNBROADCAST;
static Py_ssize_t SPACE_SHAPE, SPACE_DTYPE, TRANSPOSE, PULLS;

PyDoc_STRVAR(register_pulls_doc,
"register_pulls(linear_rule, bilinear_rule, project_array, unbroadcast)\n--\n\n"
"Note what linear rules pull back by, the class of spaces, and the function that sums to a shape.");

static PyObject *
register_pulls(PyObject *module, PyObject *args)
{
    PyTypeObject *linear, *bilinear, *project_array;
    PyObject *unbroadcast;
    if (!PyArg_ParseTuple(args, "O!O!O!O", &PyType_Type, &linear, &PyType_Type, &bilinear,
                          &PyType_Type, &project_array, &unbroadcast)
        || offset_of(linear, "transpose", &TRANSPOSE) < 0
        || offset_of(bilinear, "pulls", &PULLS) < 0
        || offset_of(project_array, "shape", &SPACE_SHAPE) < 0
        || offset_of(project_array, "dtype", &SPACE_DTYPE) < 0) {
        return NULL;
    }
    Py_INCREF(args);
    PROJECT_ARRAY = project_array;
    UNBROADCAST = unbroadcast;
    Py_RETURN_NONE;
}

/* One sweep: the cotangents of a tape's entries, and where it is. */
typedef struct {
    PyObject_HEAD
    PyObject *entries, *bars, *owned, *add, *cotangents;
    Py_ssize_t next, at, inputs, small; /* `at` is where it pulls back itself, or -1 */
    int last;
} Order;

/* `partial(*args) * ybar`, where None is 1. */
static PyObject *
pulled_back(PyObject *partial, PyObject *args, PyObject *ybar)
{
    if (partial == Py_None) {
        return Py_NewRef(ybar);
    }
    PyObject *factor;
    if ((partial == FIRST || partial == SECOND) && PyTuple_GET_SIZE(args) == 3) {
        factor = Py_NewRef(PyTuple_GET_ITEM(args, partial == FIRST ? 1 : 2));
    }
    else {
        factor = PyObject_Call(partial, args, NULL);
    }
    PyObject *xbar = factor == NULL ? NULL : PyNumber_Multiply(factor, ybar);
    Py_XDECREF(factor);
    return xbar;
}

/* Add `xbar`, which it takes over, to the cotangent of the entry that `index` names. */
static int
accumulate(Order *self, PyObject *index, PyObject *xbar)
{
    Py_ssize_t at = PyLong_AsSsize_t(index);
    if (xbar == NULL || at < 0 || at >= PyList_GET_SIZE(self->bars)) {
        Py_XDECREF(xbar);
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_IndexError, "an entry comes before those it was made of");
        }
        return -1;
    }
    if (PyList_GET_ITEM(self->bars, at) == Py_None) {
        return PyList_SetItem(self->bars, at, xbar);
    }
    PyObject *stack[] = {NULL, index, xbar};
    PyObject *done = PyObject_Vectorcall(self->add, stack + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                         NULL);
    Py_DECREF(xbar);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* Pull back through an entry of arrays: the cotangent is a small array, which needs no owner. */
static int
pull_array(Order *self, PyObject *entry, PyObject *ybar)
{
    Py_ssize_t size = PyTuple_GET_SIZE(entry);
    PyObject *args = PyTuple_GET_ITEM(entry, size - 1);
    for (Py_ssize_t k = 0; k < size - 1; k += 2) {
        PyObject *xbar = pulled_back(PyTuple_GET_ITEM(entry, k + 1), args, ybar);
        if (accumulate(self, PyTuple_GET_ITEM(entry, k), xbar) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Whether a cotangent is multiplied and added here: floats, those of items, and duals. */
static int
is_cotangent(PyObject *ybar)
{
    if (is_float(ybar) || is_complex(ybar) || is_float_of_items(ybar)) {
        return 1;
    }
    if (Py_TYPE(ybar) != DUAL) {
        return 0;
    }
    PyObject *level = SLOT(ybar, AT_LEVEL);
    return level != NULL && is_forward(level);
}

/* Whether a cotangent is a plain array, or a dual one. */
static int
is_array_of_sweep(PyObject *ybar)
{
    if (Py_TYPE(ybar) == DUAL_ARRAY) {
        return SLOT(ybar, AT_LEVEL) != NULL && is_forward(SLOT(ybar, AT_LEVEL));
    }
    return Py_TYPE(ybar) == &PyArray_Type;
}

/* ---- arrays that were broadcast ---- */

/* A cotangent, which it takes over, summed to a shape; None is that which it has. */
static PyObject *
summed_to(PyObject *shape, PyObject *xbar)
{
    if (xbar == NULL || shape == Py_None) {
        return xbar;
    }
    PyObject *stack[] = {NULL, xbar, shape};
    PyObject *sum = PyObject_Vectorcall(UNBROADCAST, stack + 1,
                                        2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_DECREF(xbar);
    return sum;
}

/* `partial(*args) * ybar`, summed to a shape, as `pulled` of the sweep makes it. */
static PyObject *
pulled_and_summed(PyObject *partial, PyObject *args, PyObject *ybar, PyObject *shape)
{
    if (partial == Py_None || shape == Py_None) {
        return summed_to(shape, pulled_back(partial, args, ybar));
    }
    PyObject *factor = PyObject_Call(partial, args, NULL), *xbar = NULL;
    if (factor != NULL && PyLong_CheckExact(factor)) { /* a constant of a rule */
        PyObject *sum = summed_to(shape, Py_NewRef(ybar));
        xbar = sum == NULL ? NULL : PyNumber_Multiply(factor, sum);
        Py_XDECREF(sum);
    }
    else if (factor != NULL) {
        xbar = summed_to(shape, PyNumber_Multiply(factor, ybar));
    }
    Py_XDECREF(factor);
    return xbar;
}

/* Pull back through (a, partial, shape, b, partial, shape, args, shape of the result). */
static int
pull_broadcast(Order *self, PyObject *entry, PyObject *ybar)
{
    PyObject *args = PyTuple_GET_ITEM(entry, 6);
    for (Py_ssize_t k = 0; k < 6; k += 3) {
        PyObject *parent = PyTuple_GET_ITEM(entry, k);
        if (parent == Py_None) {
            break;
        }
        PyObject *xbar = pulled_and_summed(PyTuple_GET_ITEM(entry, k + 1), args, ybar,
                                           PyTuple_GET_ITEM(entry, k + 2));
        if (accumulate(self, parent, xbar) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- calls that are linear ---- */

/* Whether a cotangent is of float64, or dual such. */
static int
is_float64(PyObject *ybar)
{
    return is_traced_number(ybar) || is_float(ybar) ? is_float_under(ybar)
                                                    : array_under(ybar) != NULL;
}

/* Whether an entry's node is such a call, and `ybar` a cotangent without structural zeros. */
static int
is_linear_node(PyObject *node, PyObject *ybar)
{
    if (Py_TYPE(node) != KIND_NODE || KIND_NODE == NULL || PROJECT_ARRAY == NULL
        || !(is_cotangent(ybar) || is_array_of_sweep(ybar)) || !is_float64(ybar)) {
        return 0;
    }
    PyObject *kind = SLOT(node, NODE_KIND), *active = SLOT(node, NODE_ACTIVE);
    PyObject *options = SLOT(node, NODE_KWARGS), *args = SLOT(node, NODE_ARGS);
    return kind != NULL && (Py_TYPE(kind) == LINEAR_RULE || Py_TYPE(kind) == BILINEAR_RULE)
           && SLOT(node, NODE_TEMPLATE) == Py_None && SLOT(node, NODE_LEAVES_OUT) == Py_False
           && active != NULL && PyList_CheckExact(active) && options != NULL
           && PyDict_CheckExact(options) && args != NULL && PyTuple_CheckExact(args);
}

/* Whether a cotangent is an array of a space: one of its dtype and shape, which may be dual. */
static int
is_held(PyObject *space, PyObject *xbar)
{
    PyArrayObject *array = Py_TYPE(xbar) == DUAL_ARRAY      ? array_under(xbar)
                           : Py_TYPE(xbar) == &PyArray_Type ? (PyArrayObject *)xbar
                                                            : NULL;
    if (Py_TYPE(space) != PROJECT_ARRAY || array == NULL) {
        return 0;
    }
    PyObject *shape = SLOT(space, SPACE_SHAPE);
    if (SLOT(space, SPACE_DTYPE) != (PyObject *)PyArray_DESCR(array)
        || PyTuple_GET_SIZE(shape) != PyArray_NDIM(array)) {
        return 0;
    }
    for (int k = 0; k < PyArray_NDIM(array); k++) {
        if (PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, k)) != PyArray_DIM(array, k)) {
            return 0;
        }
    }
    return 1;
}

/* The cotangent of argument `i`, as `pull` of the rule gives it. */
static PyObject *
pull_of_rule(PyObject *node, PyObject *i, PyObject *ybar, PyObject *space)
{
    PyObject *kind = SLOT(node, NODE_KIND), *options = SLOT(node, NODE_KWARGS);
    if (Py_TYPE(kind) == LINEAR_RULE) {
        PyObject *given = PyTuple_Pack(2, ybar, space);
        PyObject *xbar = given == NULL ? NULL : PyObject_Call(SLOT(kind, TRANSPOSE), given, options);
        Py_XDECREF(given);
        return xbar;
    }
    PyObject *args = SLOT(node, NODE_ARGS);
    Py_ssize_t at = PyLong_AsSsize_t(i);
    if (at < 0 || at > 1 || PyTuple_GET_SIZE(args) != 2) {
        PyErr_SetString(PyExc_IndexError, "a bilinear rule has two arguments");
        return NULL;
    }
    PyObject *given = PyTuple_Pack(3, ybar, PyTuple_GET_ITEM(args, 0), PyTuple_GET_ITEM(args, 1));
    PyObject *xbar = given == NULL ? NULL
                                   : PyObject_Call(PyTuple_GET_ITEM(SLOT(kind, PULLS), at), given,
                                                   options);
    Py_XDECREF(given);
    if (xbar != NULL && !is_held(space, xbar)) {
        PyObject *shape = PyObject_GetAttrString(space, "shape");
        if (shape == NULL) {
            Py_CLEAR(xbar);
        }
        else {
            xbar = summed_to(shape, xbar);
            Py_DECREF(shape);
        }
    }
    return xbar;
}

/* Let an argument receive its cotangent, as its method does. */
static int
received(Order *self, PyObject *node, PyObject *active, PyObject *xbar, PyObject *i)
{
    PyObject *f = SLOT(SLOT(node, NODE_KIND), FUNCTION);
    PyObject *done = PyObject_CallMethod(active, "receive", "OOOO", xbar, self->cotangents, f, i);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* Whether a cotangent is in the space of an argument, as `holds` says. */
static int
is_fitting(PyObject *space, PyObject *xbar)
{
    if (is_space_of_float64(space)) {
        return Py_TYPE(xbar) == FLOAT64;
    }
    return space != NULL && is_held(space, xbar);
}

/* Hand the cotangents of a list to its parts. */
static int
pull_to_parts(Order *self, PyObject *node, PyObject *active, PyObject *xbars, PyObject *i)
{
    PyObject *parts = SLOT(active, PARTS);
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(parts) && k < PyList_GET_SIZE(xbars); k++) {
        PyObject *part = PyList_GET_ITEM(parts, k), *xbar = PyList_GET_ITEM(xbars, k);
        if (part == Py_None) {
            continue;
        }
        int one = Py_TYPE(part) == ACTIVE && is_fitting(SLOT(part, ACTIVE_SPACE), xbar);
        int done = one ? accumulate(self, SLOT(part, ACTIVE_PARENT), Py_NewRef(xbar))
                       : received(self, node, part, xbar, i);
        if (done < 0) {
            return -1;
        }
    }
    return 0;
}

/* Whether the cotangent of an argument is a list, one for each of its parts. */
static int
is_of_parts(PyObject *active, PyObject *xbar)
{
    if (ACTIVE_PARTS == NULL || Py_TYPE(active) != ACTIVE_PARTS || !PyList_CheckExact(xbar)) {
        return 0;
    }
    PyObject *parts = SLOT(active, PARTS);
    return SLOT(active, FLAT) == Py_True && parts != NULL && PyList_CheckExact(parts)
           && PyList_GET_SIZE(parts) == PyList_GET_SIZE(xbar);
}

/* ---- views ---- */

/* Whether an entry is that of a view, `x[index]` of an array of float64, and `ybar` its plain
   cotangent. */
static int
is_view_node(PyObject *node, PyObject *ybar)
{
    PyObject *kind = SLOT(node, NODE_KIND), *pairs = SLOT(node, NODE_ACTIVE);
    if (kind == NULL || Py_TYPE(kind) != LINEAR_RULE || SLOT(kind, FUNCTION) != GETITEM
        || SLOT(node, NODE_TEMPLATE) != Py_None || !is_float64_array(ybar) || pairs == NULL
        || !PyList_CheckExact(pairs) || PyList_GET_SIZE(pairs) != 1) {
        return 0;
    }
    PyObject *pair = PyList_GET_ITEM(pairs, 0);
    PyObject *active = PyTuple_CheckExact(pair) && PyTuple_GET_SIZE(pair) == 2
                           ? PyTuple_GET_ITEM(pair, 1)
                           : NULL;
    PyObject *space = active == NULL || Py_TYPE(active) != ACTIVE ? NULL
                                                                  : SLOT(active, ACTIVE_SPACE);
    return space != NULL && Py_TYPE(space) == PROJECT_ARRAY
           && ((PyArray_Descr *)SLOT(space, SPACE_DTYPE))->type_num == NPY_DOUBLE;
}

/* Add `ybar` to the part of an array of the sweep's own that a view shows; -1 for an error. */
static int
add_to_part(PyObject *whole, PyObject *index, PyObject *ybar)
{
    PyObject *part = PyObject_GetItem(whole, index);
    PyObject *sum = part == NULL ? NULL : PyNumber_InPlaceAdd(part, ybar);
    Py_XDECREF(part);
    Py_XDECREF(sum);
    return sum == NULL ? -1 : 0;
}

/* Pull back through a view, as `add_plain` of the cotangents does. Whether it was done. */
static int
pull_view(Order *self, PyObject *node, PyObject *ybar)
{
    PyObject *index = PyDict_GetItemString(SLOT(node, NODE_KWARGS), "index");
    PyObject *active = PyTuple_GET_ITEM(PyList_GET_ITEM(SLOT(node, NODE_ACTIVE), 0), 1);
    PyObject *parent = SLOT(active, ACTIVE_PARENT), *space = SLOT(active, ACTIVE_SPACE);
    Py_ssize_t at = PyLong_AsSsize_t(parent);
    if (index == NULL || !is_basic(index) || at < 0 || at >= PyList_GET_SIZE(self->bars)) {
        PyErr_Clear();
        return 0;
    }
    PyObject *present = PyList_GET_ITEM(self->bars, at);
    int marked = Py_TYPE(present) == MASKED;
    PyObject *whole = marked ? SLOT(present, MASKED_VALUE) : present;
    if (whole != NULL && is_float64_array(whole) && PySet_Contains(self->owned, parent) == 1) {
        if (marked && PyObject_SetItem(SLOT(present, ALIVE), index, Py_True) < 0) {
            return -1;
        }
        return add_to_part(whole, index, ybar) < 0 ? -1 : 1;
    }
    PyObject *done = PyObject_CallMethod(self->cotangents, "add_plain", "OOOOO", parent, index, ybar,
                                         SLOT(space, SPACE_SHAPE), SLOT(space, SPACE_DTYPE));
    int added = done == NULL ? -1 : done == Py_True;
    Py_XDECREF(done);
    return added;
}

/* Pull back through a linear call, as `KindNode.pull` does. */
static int
pull_node(Order *self, PyObject *node, PyObject *ybar)
{
    PyObject *pairs = SLOT(node, NODE_ACTIVE);
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(pairs); k++) {
        PyObject *pair = PyList_GET_ITEM(pairs, k), *i, *active;
        if (!PyArg_ParseTuple(pair, "OO", &i, &active)) {
            return -1;
        }
        PyObject *space = PyObject_GetAttrString(active, "space");
        PyObject *xbar = space == NULL ? NULL : pull_of_rule(node, i, ybar, space);
        if (xbar == NULL) {
            Py_XDECREF(space);
            return -1;
        }
        int is_one = Py_TYPE(active) == ACTIVE && is_held(space, xbar), done = -1;
        Py_DECREF(space);
        if (is_one) {
            done = accumulate(self, SLOT(active, ACTIVE_PARENT), xbar);
        }
        else {
            done = is_of_parts(active, xbar) ? pull_to_parts(self, node, active, xbar, i)
                                             : received(self, node, active, xbar, i);
            Py_DECREF(xbar);
        }
        if (done < 0) {
            return -1;
        }
    }
    return 0;
}

#endif
