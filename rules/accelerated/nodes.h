/* Nodes of a tape: entries of calls that are linear in arrays, as `KindNode` keeps them. */

#ifndef CHAINRULES_NODES_H
#define CHAINRULES_NODES_H

#include "arrays.h"

/* Classes of what a tape appends for a call, and of the spaces of arrays and of numbers. */
static PyTypeObject *KIND_NODE, *ACTIVE, *PROJECT_ARRAY, *PROJECT_NUMBER;
static Py_ssize_t ADDS, DROPS;                 /* of linear rules */
static Py_ssize_t NODE_ACTIVE, NODE_ARGS, NODE_FORM, NODE_KIND, NODE_KWARGS, NODE_LEAVES_OUT;
static Py_ssize_t NODE_SENSITIVE, NODE_TEMPLATE, NODE_Y;
static Py_ssize_t ACTIVE_PARENT, ACTIVE_SPACE; /* of active arguments */
static Py_ssize_t NUMBER_DTYPE;                /* of spaces of numbers */

static PyObject *SPACE_OF; /* of Python: the tangent space of a value */

PyDoc_STRVAR(register_nodes_doc,
"register_nodes(linear_rule, kind_node, active, space_of)\n--\n\n"
"Note the classes of linear rules, of a call on a tape and of an argument, and what gives its\n"
"space.");

static PyObject *
register_nodes(PyObject *module, PyObject *args)
{
    PyTypeObject *linear, *node, *active;
    PyObject *space_of;
    if (!PyArg_ParseTuple(args, "O!O!O!O", &PyType_Type, &linear, &PyType_Type, &node, &PyType_Type,
                          &active, &space_of)
        || offset_of(linear, "adds", &ADDS) < 0 || offset_of(linear, "drops", &DROPS) < 0
        || offset_of(node, "active", &NODE_ACTIVE) < 0 || offset_of(node, "args", &NODE_ARGS) < 0
        || offset_of(node, "form", &NODE_FORM) < 0 || offset_of(node, "kind", &NODE_KIND) < 0
        || offset_of(node, "kwargs", &NODE_KWARGS) < 0
        || offset_of(node, "leaves_out", &NODE_LEAVES_OUT) < 0
        || offset_of(node, "sensitive", &NODE_SENSITIVE) < 0
        || offset_of(node, "template", &NODE_TEMPLATE) < 0 || offset_of(node, "y", &NODE_Y) < 0
        || offset_of(active, "parent", &ACTIVE_PARENT) < 0
        || offset_of(active, "space", &ACTIVE_SPACE) < 0) {
        return NULL;
    }
    Py_INCREF(args);
    KIND_NODE = node;
    ACTIVE = active;
    SPACE_OF = space_of;
    Py_RETURN_NONE;
}

/* A call of a function that is linear in `x`, whose traced `a` it is, or in each of two. */
typedef struct {
    PyObject *level, *kind, *f;
    PyObject *a, *b; /* as they were given; `b` is NULL for one argument */
    PyObject *x, *z; /* without what the level follows */
    int a_active, b_active;
    PyObject *options; /* a dict, of what nobody follows */
} LinearCall;

/* Whether structural zeros of the cotangent of an entry matter, as `is_sensitive` says. */
static int
is_sensitive(PyObject *tape, PyObject *position)
{
    PyObject *entries = SLOT(tape, ENTRIES);
    Py_ssize_t at = PyLong_AsSsize_t(position);
    if (at < 0 || at >= PyList_GET_SIZE(entries)) {
        PyErr_Clear();
        return -1;
    }
    PyObject *entry = PyList_GET_ITEM(entries, at);
    Py_ssize_t size = PyTuple_CheckExact(entry) ? PyTuple_GET_SIZE(entry) : -1;
    if (size != 1) {
        return size < 0 ? -1 : size > 1;
    }
    PyObject *answer = PyObject_GetAttrString(PyTuple_GET_ITEM(entry, 0), "sensitive");
    int sensitive = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return sensitive;
}

/* What a node says of an argument: the entry that it is of, and the space of its value. */
static PyObject *
new_active(PyObject *parent, PyObject *x)
{
    PyObject *space = PyObject_CallOneArg(SPACE_OF, x);
    PyObject *active = space == NULL ? NULL : ACTIVE->tp_alloc(ACTIVE, 0);
    if (active == NULL) {
        Py_XDECREF(space);
        return NULL;
    }
    SLOT(active, ACTIVE_PARENT) = Py_NewRef(parent);
    SLOT(active, ACTIVE_SPACE) = space;
    PyObject_GC_UnTrack(active); /* a space is a shape and a dtype */
    return active;
}

/* Whether a space is that of a float64, which needs no projection. */
static int
is_space_of_float64(PyObject *space)
{
    return space != NULL && Py_TYPE(space) == PROJECT_NUMBER && SLOT(space, NUMBER_DTYPE) != NULL
           && ((PyArray_Descr *)SLOT(space, NUMBER_DTYPE))->type_num == NPY_DOUBLE;
}

/* (i, Active) of an argument `a`, of value `x`. */
static PyObject *
active_argument(int i, PyObject *a, PyObject *x)
{
    /* The space of what is traced further out is that of the plain array or number. */
    PyArrayObject *array = array_under(x);
    PyObject *active = new_active(followed(a), array == NULL ? number_under(x) : (PyObject *)array);
    return active == NULL ? NULL : untracked(Py_BuildValue("(iN)", i, active));
}

/* Those of the arguments that depend on the tape, of which `a` is the one at `first`. */
static PyObject *
active_arguments(const LinearCall *call, int first)
{
    PyObject *active = PyList_New(call->a_active + call->b_active);
    for (int i = 0, k = 0; active != NULL && i < 2; i++) {
        if (i == 0 ? call->a_active : call->b_active) {
            PyObject *one = active_argument(first + i, i == 0 ? call->a : call->b,
                                            i == 0 ? call->x : call->z);
            if (one == NULL) {
                Py_CLEAR(active);
                break;
            }
            PyList_SET_ITEM(active, k++, one);
        }
    }
    if (active != NULL) {
        PyObject_GC_UnTrack(active);
    }
    return active;
}

/* What a node keeps of an argument of a bilinear rule: of a constant what the tape holds of it. */
static PyObject *
kept_beside(PyObject *tape, PyObject *x, int is_active)
{
    return is_active ? Py_NewRef(x) : PyObject_CallMethod(SLOT(tape, WATCH), "hold", "(O)", x);
}

/* What a node keeps of the arguments of a call. */
static PyObject *
kept_arguments(const LinearCall *call)
{
    if (call->b == NULL) {
        return PyTuple_Pack(1, Py_None);
    }
    PyObject *of_x = kept_beside(call->level, call->x, call->a_active);
    PyObject *of_z = of_x == NULL ? NULL : kept_beside(call->level, call->z, call->b_active);
    PyObject *kept = of_z == NULL ? NULL : PyTuple_Pack(2, of_x, of_z);
    Py_XDECREF(of_x);
    Py_XDECREF(of_z);
    return kept;
}

/* What tells the space of a result: its shape and dtype; None for that of a float64. */
static PyObject *
form_of(PyObject *y)
{
    if (Py_TYPE(y) == FLOAT64) {
        return Py_NewRef(Py_None);
    }
    PyArrayObject *array = array_under(y);
    if (array == NULL) { /* a number that is traced further out */
        return PyObject_CallOneArg(SPACE_OF, y);
    }
    PyObject *shape = shape_of(array);
    return shape == NULL ? NULL : untracked(Py_BuildValue("(NO)", shape, PyArray_DESCR(array)));
}

/* A node without what it says of arguments and result. */
static PyObject *
new_node(const LinearCall *call, int sensitive, PyObject *leaves_out)
{
    PyObject *node = KIND_NODE->tp_alloc(KIND_NODE, 0);
    if (node != NULL) {
        SLOT(node, NODE_KIND) = Py_NewRef(call->kind);
        SLOT(node, NODE_TEMPLATE) = Py_NewRef(Py_None);
        SLOT(node, NODE_Y) = Py_NewRef(Py_None);
        SLOT(node, NODE_SENSITIVE) = PyBool_FromLong(sensitive);
        SLOT(node, NODE_LEAVES_OUT) = Py_NewRef(leaves_out);
        SLOT(node, NODE_KWARGS) = Py_NewRef(call->options);
    }
    return node;
}

/* The entry (node,) of a node, which it takes over, if that was `made` whole. */
static PyObject *
entry_of_node(PyObject *node, int made)
{
    if (made && is_untracked(untracked(SLOT(node, NODE_ARGS)))) {
        PyObject_GC_UnTrack(node); /* its options are settings */
    }
    PyObject *entry = made ? untracked(PyTuple_Pack(1, node)) : NULL;
    Py_DECREF(node);
    return entry;
}

/* The entry of a call, as `KindNode` makes it. */
static PyObject *
entry_of_call(const LinearCall *call, PyObject *y)
{
    int linear = call->b == NULL, sensitive = 0;
    if (keeps_nothing(call->level)) {
        return no_entry();
    }
    if (linear && SLOT(call->kind, ADDS) == Py_True) {
        sensitive = is_sensitive(call->level, SLOT(call->a, POSITION_IN_ARRAY));
        if (sensitive < 0) {
            return PyErr_Occurred() ? NULL : UNHANDLED;
        }
    }
    PyObject *node = new_node(call, sensitive, linear ? SLOT(call->kind, DROPS) : Py_False);
    if (node == NULL) {
        return NULL;
    }
    /* One after the other: an interrupt in a function of Python's ends it. */
    int made = (SLOT(node, NODE_ACTIVE) = active_arguments(call, 0)) != NULL
               && (SLOT(node, NODE_FORM) = form_of(y)) != NULL
               && (SLOT(node, NODE_ARGS) = kept_arguments(call)) != NULL;
    return entry_of_node(node, made);
}

#endif
