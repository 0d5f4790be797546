/* Functions that are linear in an array, or in each of two, as `LinearRule.apply` and `Kind.apply`
   answer them: `a @ b`, `np.outer(a, b)`, `x.T`, `np.sum(x)`, without options. */

#ifndef CHAINRULES_LINEAR_H
#define CHAINRULES_LINEAR_H

#include "arrays.h"

/* Classes of rules, of what a tape appends for them, and of a block on its way through a rule. */
static PyTypeObject *LINEAR_RULE, *BILINEAR_RULE, *KIND_NODE, *ACTIVE, *BLOCK;
static Py_ssize_t AT_ONCE, FUNCTION, IDLES, ADDS, DROPS;               /* of rules */
static Py_ssize_t BLOCK_VALUES;                                        /* of blocks */
static Py_ssize_t NODE_ACTIVE, NODE_ARGS, NODE_FORM, NODE_KIND, NODE_KWARGS, NODE_LEAVES_OUT;
static Py_ssize_t NODE_SENSITIVE, NODE_TEMPLATE, NODE_Y;               /* of nodes */
static Py_ssize_t ACTIVE_PARENT, ACTIVE_SPACE;                         /* of active arguments */

/* Functions of Python that the rules are applied by. */
static PyObject *SPACE_OF, *SHARES_MEMORY, *REGISTER_VIEW, *SHARE_IN_BLOCK;

PyDoc_STRVAR(register_linear_doc,
"register_linear(linear_rule, bilinear_rule, shares_memory, register_view)\n--\n\n"
"Note the classes of linear and bilinear rules, and how views are told and tied.");

static PyObject *
register_linear(PyObject *module, PyObject *args)
{
    PyTypeObject *linear, *bilinear;
    PyObject *shares, *view;
    if (!PyArg_ParseTuple(args, "O!O!OO", &PyType_Type, &linear, &PyType_Type, &bilinear, &shares,
                          &view)
        || offset_of(linear, "at_once", &AT_ONCE) < 0 || offset_of(linear, "f", &FUNCTION) < 0
        || offset_of(linear, "idles", &IDLES) < 0 || offset_of(linear, "adds", &ADDS) < 0
        || offset_of(linear, "drops", &DROPS) < 0) {
        return NULL;
    }
    Py_INCREF(args);
    LINEAR_RULE = linear;
    BILINEAR_RULE = bilinear;
    SHARES_MEMORY = shares;
    REGISTER_VIEW = view;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(register_blocks_doc,
"register_blocks(block, share_in_block)\n--\n\n"
"Note the class of blocks, and the function that runs a rule's own on them.");

static PyObject *
register_blocks(PyObject *module, PyObject *args)
{
    PyTypeObject *block;
    PyObject *share;
    if (!PyArg_ParseTuple(args, "O!O", &PyType_Type, &block, &share)
        || offset_of(block, "values", &BLOCK_VALUES) < 0) {
        return NULL;
    }
    Py_INCREF(args);
    BLOCK = block;
    SHARE_IN_BLOCK = share;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(register_nodes_doc,
"register_nodes(kind_node, active, space_of)\n--\n\n"
"Note the classes of a call on a tape and of an argument, and the function that gives its space.");

static PyObject *
register_nodes(PyObject *module, PyObject *args)
{
    PyTypeObject *node, *active;
    PyObject *space_of;
    if (!PyArg_ParseTuple(args, "O!O!O", &PyType_Type, &node, &PyType_Type, &active, &space_of)
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
} LinearCall;

/* `f(x, z)`, by the quicker way that the rule knows for some classes of `x`. */
static PyObject *
evaluated(PyObject *kind, PyObject *f, PyObject *x, PyObject *z)
{
    PyObject *at_once = SLOT(kind, AT_ONCE);
    if (at_once != NULL && PyTuple_CheckExact(at_once)
        && PyTuple_GET_ITEM(at_once, 0) == (PyObject *)Py_TYPE(x)) {
        f = PyTuple_GET_ITEM(at_once, 1);
    }
    PyObject *stack[3] = {NULL, x, z};
    size_t count = z == NULL ? 1 : 2;
    return PyObject_Vectorcall(f, stack + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
}

/* Whether a result is a number or an array of float64, which on a tape may be traced further out. */
static int
is_result(PyObject *y, PyObject *level)
{
    if (Py_TYPE(level) != TAPE) {
        return Py_TYPE(y) == FLOAT64 || is_float64_array(y);
    }
    return is_traced_number(y) ? is_float_under(y)
                               : Py_TYPE(y) == FLOAT64 || array_under(y) != NULL;
}

/* ---- forward ---- */

static PyObject *
in_block(PyObject *values)
{
    PyObject *block = BLOCK->tp_alloc(BLOCK, 0);
    if (block != NULL) {
        SLOT(block, BLOCK_VALUES) = Py_NewRef(values);
    }
    return block;
}

/* The share of a tangent in a block: the function of a rule, run on the block of one argument. */
static PyObject *
block_share(PyObject *kind, PyObject *x, PyObject *z)
{
    PyObject *given = z == NULL ? PyTuple_Pack(1, x) : PyTuple_Pack(2, x, z);
    PyObject *y = given == NULL
                      ? NULL
                      : PyObject_CallFunctionObjArgs(SHARE_IN_BLOCK, kind, given, NULL);
    Py_XDECREF(given);
    return y;
}

/* The share of the tangent of argument `i`. */
static PyObject *
share_of(const LinearCall *call, int i)
{
    PyObject *f = SLOT(call->kind, FUNCTION);
    PyObject *xdot = SLOT(i == 0 ? call->a : call->b, TANGENT_OF_ARRAY);
    if (Py_TYPE(call->level) != BLOCK_DUALS) {
        return i == 0 ? evaluated(call->kind, f, xdot, call->z)
                      : evaluated(call->kind, f, call->x, xdot);
    }
    PyObject *block = in_block(xdot);
    PyObject *share = block == NULL ? NULL
                      : i == 0      ? block_share(call->kind, block, call->z)
                                    : block_share(call->kind, call->x, block);
    Py_XDECREF(block);
    return share;
}

/* The tangent of a result; UNHANDLED where it is none of float64 beside it. */
static PyObject *
tangent_of_call(const LinearCall *call, PyObject *y)
{
    PyObject *ydot = call->a_active ? share_of(call, 0) : NULL;
    if (call->b_active && (ydot != NULL || !call->a_active)) {
        PyObject *share = share_of(call, 1);
        if (ydot == NULL || share == NULL) {
            Py_XDECREF(ydot);
            ydot = share;
        }
        else if (PyArray_CheckExact(ydot) && PyArray_CheckExact(share)
                 && !PyArray_SAMESHAPE((PyArrayObject *)ydot, (PyArrayObject *)share)) {
            Py_SETREF(ydot, UNHANDLED);
            Py_DECREF(share);
        }
        else {
            Py_SETREF(ydot, PyNumber_Add(ydot, share));
            Py_DECREF(share);
        }
    }
    if (ydot == NULL || ydot == UNHANDLED) {
        return ydot;
    }
    int blocks = Py_TYPE(call->level) == BLOCK_DUALS, fits;
    if (Py_TYPE(y) == FLOAT64) {
        fits = blocks ? is_block(ydot) : Py_TYPE(ydot) == FLOAT64;
    }
    else {
        fits = is_beside(ydot, (PyArrayObject *)y, blocks);
    }
    if (fits && blocks) {
        PyObject *xdot = SLOT(call->a_active ? call->a : call->b, TANGENT_OF_ARRAY);
        fits = PyArray_DIM((PyArrayObject *)ydot, 0) == PyArray_DIM((PyArrayObject *)xdot, 0);
    }
    if (!fits) {
        Py_DECREF(ydot);
        return UNHANDLED;
    }
    return ydot;
}

/* ---- reverse ---- */

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
        return size < 0 ? -1 : size > 1 && size != 6;
    }
    PyObject *answer = PyObject_GetAttrString(PyTuple_GET_ITEM(entry, 0), "sensitive");
    int sensitive = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return sensitive;
}

/* (i, Active) of an argument. */
static PyObject *
active_argument(int i, PyObject *a, PyObject *x)
{
    PyObject *space = PyObject_CallOneArg(SPACE_OF, x);
    PyObject *active = space == NULL ? NULL : ACTIVE->tp_alloc(ACTIVE, 0);
    if (active == NULL) {
        Py_XDECREF(space);
        return NULL;
    }
    SLOT(active, ACTIVE_PARENT) = Py_NewRef(SLOT(a, POSITION_IN_ARRAY));
    SLOT(active, ACTIVE_SPACE) = space;
    return Py_BuildValue("(iN)", i, active);
}

static PyObject *
active_arguments(const LinearCall *call)
{
    PyObject *active = PyList_New(call->a_active + call->b_active);
    for (int i = 0, k = 0; active != NULL && i < 2; i++) {
        if (i == 0 ? call->a_active : call->b_active) {
            PyObject *one = active_argument(i, i == 0 ? call->a : call->b,
                                            i == 0 ? call->x : call->z);
            if (one == NULL) {
                Py_CLEAR(active);
                break;
            }
            PyList_SET_ITEM(active, k++, one);
        }
    }
    return active;
}

/* What a node keeps of an argument of a bilinear rule: of a constant what the tape holds of it. */
static PyObject *
kept_beside(PyObject *tape, PyObject *x, int is_active)
{
    return is_active ? Py_NewRef(x) : PyObject_CallMethod(SLOT(tape, WATCH), "hold", "(O)", x);
}

/* What tells the space of a result: its shape and dtype, or its space. */
static PyObject *
form_of(PyObject *y)
{
    if (Py_TYPE(y) == FLOAT64) {
        return Py_NewRef(Py_None);
    }
    if (!PyArray_CheckExact(y)) {
        return PyObject_CallOneArg(SPACE_OF, y);
    }
    PyObject *shape = shape_of((PyArrayObject *)y);
    return shape == NULL ? NULL
                         : Py_BuildValue("(NO)", shape, PyArray_DESCR((PyArrayObject *)y));
}

/* The entry (node,) of a call, as `KindNode` makes it. */
static PyObject *
entry_of_call(const LinearCall *call, PyObject *y)
{
    int linear = call->b == NULL, sensitive = 0;
    if (linear && SLOT(call->kind, ADDS) == Py_True) {
        sensitive = is_sensitive(call->level, SLOT(call->a, POSITION_IN_ARRAY));
        if (sensitive < 0) {
            return PyErr_Occurred() ? NULL : UNHANDLED;
        }
    }
    PyObject *node = KIND_NODE->tp_alloc(KIND_NODE, 0);
    if (node == NULL) {
        return NULL;
    }
    SLOT(node, NODE_KIND) = Py_NewRef(call->kind);
    SLOT(node, NODE_TEMPLATE) = Py_NewRef(Py_None);
    SLOT(node, NODE_Y) = Py_NewRef(Py_None);
    SLOT(node, NODE_SENSITIVE) = PyBool_FromLong(sensitive);
    SLOT(node, NODE_LEAVES_OUT) = Py_NewRef(linear ? SLOT(call->kind, DROPS) : Py_False);
    SLOT(node, NODE_KWARGS) = PyDict_New();
    SLOT(node, NODE_ACTIVE) = active_arguments(call);
    SLOT(node, NODE_FORM) = form_of(y);
    PyObject *of_x = NULL, *of_z = NULL;
    if (!linear) {
        of_x = kept_beside(call->level, call->x, call->a_active);
        of_z = of_x == NULL ? NULL : kept_beside(call->level, call->z, call->b_active);
    }
    SLOT(node, NODE_ARGS) = linear         ? PyTuple_Pack(1, Py_None)
                            : of_z == NULL ? NULL
                                           : PyTuple_Pack(2, of_x, of_z);
    Py_XDECREF(of_x);
    Py_XDECREF(of_z);
    int made = SLOT(node, NODE_KWARGS) != NULL && SLOT(node, NODE_ACTIVE) != NULL
               && SLOT(node, NODE_FORM) != NULL && SLOT(node, NODE_ARGS) != NULL;
    PyObject *entry = made ? PyTuple_Pack(1, node) : NULL;
    Py_DECREF(node);
    return entry;
}

/* ---- both ---- */

/* Tie a result that is a view to what it is a view of. Whether it was done; -1 for an error. */
static int
tied(const LinearCall *call, PyObject *traced, PyObject *y)
{
    PyObject *done;
    if (!PyArray_CheckExact(y)) { /* traced further out */
        PyObject *none = PyDict_New();
        done = none == NULL ? NULL
                            : PyObject_CallMethod(call->kind, "tie", "(OO(O)O)", traced, call->f,
                                                  call->a, none);
        Py_XDECREF(none);
    }
    else {
        if (PyArray_BASE((PyArrayObject *)y) == NULL) {
            return 1;
        }
        PyObject *shares = PyObject_CallFunctionObjArgs(SHARES_MEMORY, y, call->x, NULL);
        int is_view = shares == NULL ? -1 : PyObject_IsTrue(shares);
        Py_XDECREF(shares);
        if (is_view <= 0) {
            return is_view < 0 ? -1 : 1;
        }
        PyObject *none = PyDict_New();
        done = none == NULL ? NULL
                            : PyObject_CallFunctionObjArgs(REGISTER_VIEW, traced, call->a, call->f,
                                                           none, NULL);
        Py_XDECREF(none);
    }
    Py_XDECREF(done);
    return done == NULL ? -1 : 1;
}

/* The traced result of a call, with its entry or its tangent. */
static PyObject *
result_of_call(const LinearCall *call)
{
    PyObject *y = evaluated(call->kind, call->f, call->x, call->z);
    if (y == NULL) {
        return NULL;
    }
    if (y == call->x) { /* NumPy gave the very same array back */
        Py_DECREF(y);
        return Py_NewRef(call->a);
    }
    int is_number = is_traced_number(y) || Py_TYPE(y) == FLOAT64;
    /* Of two arguments a result that is a view is Python's to tie. */
    if (!is_result(y, call->level)
        || (call->b != NULL && PyArray_CheckExact(y)
            && PyArray_BASE((PyArrayObject *)y) != NULL)) {
        Py_DECREF(y);
        return UNHANDLED;
    }
    PyObject *made = Py_TYPE(call->level) == TAPE ? entry_of_call(call, y)
                                                  : tangent_of_call(call, y);
    if (made == NULL || made == UNHANDLED) {
        Py_DECREF(y);
        return made;
    }
    Py_INCREF(y);
    PyObject *traced = is_number ? traced_result(call->level, y, made)
                                 : traced_array(call->level, y, made);
    if (traced != NULL && traced != UNHANDLED && call->b == NULL && !is_number
        && tied(call, traced, y) < 0) {
        Py_CLEAR(traced);
    }
    Py_DECREF(y);
    return traced;
}

/* The rule of a function of `count` arguments at a level; NULL where it is not applied here. */
static PyObject *
linear_kind_of(PyObject *f, PyObject *level, int count)
{
    PyObject *table = Py_TYPE(level) == TAPE ? RRULE_KINDS : FRULE_KINDS;
    PyObject *kind = PyDict_GetItemWithError(table, f);
    int known = kind != NULL
                && (count == 1 ? Py_TYPE(kind) == LINEAR_RULE && SLOT(kind, IDLES) == Py_False
                               : Py_TYPE(kind) == BILINEAR_RULE);
    PyErr_Clear(); /* not hashable */
    return known ? Py_NewRef(kind) : NULL;
}

/* Answer a call of `f` on traced arrays, of one or two arguments and no options. */
static PyObject *
on_linear(PyObject *f, PyObject *a, PyObject *b)
{
    PyObject *level = inner(level_of_array(a), b == NULL ? NULL : level_of_array(b));
    if (level == NULL || !is_accelerated(level) || !is_open(level)
        || (Py_TYPE(level) == TAPE && KIND_NODE == NULL)
        || (Py_TYPE(level) == BLOCK_DUALS && SHARE_IN_BLOCK == NULL)) {
        return UNHANDLED;
    }
    int a_active = is_active_array(a, level), b_active = b != NULL && is_active_array(b, level);
    if (!(a_active ? is_known(a, level, 1) : array_beside(a, level))
        || (b != NULL && !(b_active ? is_known(b, level, 1) : array_beside(b, level)))) {
        return UNHANDLED;
    }
    PyObject *kind = linear_kind_of(f, level, b == NULL ? 1 : 2);
    if (kind == NULL) {
        return UNHANDLED;
    }
    /* A write into an operand, by a function that is called back, would free these. */
    PyObject *x = Py_NewRef(a_active ? SLOT(a, PRIMAL) : a);
    PyObject *z = b == NULL ? NULL : Py_NewRef(b_active ? SLOT(b, PRIMAL) : b);
    LinearCall call = {level, kind, f, a, b, x, z, a_active, b_active};
    PyObject *y = result_of_call(&call);
    Py_DECREF(x);
    Py_XDECREF(z);
    Py_DECREF(kind);
    return y;
}

#endif
