/* Functions that are linear in an array, or in each of two, as `LinearRule.apply` and `Kind.apply`
   answer them: `a @ b`, `np.outer(a, b)`, `x.T`, `np.sum(x, axis=0)`. */

#ifndef CHAINRULES_LINEAR_H
#define CHAINRULES_LINEAR_H

#include "nodes.h"

/* Classes of rules, and of a block on its way through a rule. */
static PyTypeObject *LINEAR_RULE, *BILINEAR_RULE, *BLOCK;
static Py_ssize_t SHORTCUT, FUNCTION, IDLES, NOT_OF_TANGENTS; /* of rules */
static Py_ssize_t NAMES, KEYWORDS, ADAPT;                    /* of rules: how calls are bound */
static Py_ssize_t BLOCK_VALUES;                              /* of blocks */

/* Functions of Python that the rules are applied by. */
static PyObject *ARE_SETTINGS, *SHARES_MEMORY, *REGISTER_VIEW, *SHARE_IN_BLOCK;
static PyObject *BATCH_RULES, *MATMUL; /* the rules of users by function; NumPy's function */

PyDoc_STRVAR(register_linear_doc,
"register_linear(linear_rule, bilinear_rule, are_settings, shares_memory, register_view)\n--\n\n"
"Note the classes of linear and bilinear rules, and how options and views are told.");

static PyObject *
register_linear(PyObject *module, PyObject *args)
{
    PyTypeObject *linear, *bilinear;
    PyObject *settings, *shares, *view;
    if (!PyArg_ParseTuple(args, "O!O!OOO", &PyType_Type, &linear, &PyType_Type, &bilinear,
                          &settings, &shares, &view)
        || offset_of(linear, "constants", &NOT_OF_TANGENTS) < 0
        || offset_of(linear, "shortcut", &SHORTCUT) < 0 || offset_of(linear, "f", &FUNCTION) < 0
        || offset_of(linear, "idles", &IDLES) < 0 || offset_of(linear, "names", &NAMES) < 0
        || offset_of(linear, "keywords", &KEYWORDS) < 0
        || offset_of(linear, "adapt", &ADAPT) < 0) {
        return NULL;
    }
    Py_INCREF(args);
    LINEAR_RULE = linear;
    BILINEAR_RULE = bilinear;
    ARE_SETTINGS = settings;
    SHARES_MEMORY = shares;
    REGISTER_VIEW = view;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(register_blocks_doc,
"register_blocks(block, share_in_block, batch_rules, matmul)\n--\n\n"
"Note the class of blocks, the function that runs a rule's own on them, users' rules, and matmul.");

static PyObject *
register_blocks(PyObject *module, PyObject *args)
{
    PyTypeObject *block;
    PyObject *share, *rules, *matmul;
    if (!PyArg_ParseTuple(args, "O!OO!O", &PyType_Type, &block, &share, &PyDict_Type, &rules,
                          &matmul)
        || offset_of(block, "values", &BLOCK_VALUES) < 0) {
        return NULL;
    }
    Py_INCREF(args);
    BLOCK = block;
    SHARE_IN_BLOCK = share;
    BATCH_RULES = rules;
    MATMUL = matmul;
    Py_RETURN_NONE;
}

/* `f(x, z, **options)`, by the quicker way that the rule knows for some classes of `x`. */
static PyObject *
evaluated(const LinearCall *call, PyObject *f, PyObject *x, PyObject *z)
{
    PyObject *shortcut = SLOT(call->kind, SHORTCUT);
    if (shortcut != NULL && PyTuple_CheckExact(shortcut)
        && PyTuple_GET_ITEM(shortcut, 0) == (PyObject *)Py_TYPE(x)) {
        f = PyTuple_GET_ITEM(shortcut, 1);
    }
    PyObject *stack[3] = {NULL, x, z};
    size_t count = z == NULL ? 1 : 2;
    return PyObject_VectorcallDict(f, stack + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                   PyDict_GET_SIZE(call->options) > 0 ? call->options : NULL);
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

#define SMALL_PRODUCT 512 /* entries of a matrix, up to which products are not divided up: see LARGE_MATRIX */

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
block_share(const LinearCall *call, PyObject *x, PyObject *z)
{
    PyObject *given = z == NULL ? PyTuple_Pack(1, x) : PyTuple_Pack(2, x, z);
    PyObject *stack[] = {NULL, call->kind, given, call->options};
    PyObject *y = given == NULL ? NULL
                                : PyObject_Vectorcall(SHARE_IN_BLOCK, stack + 1,
                                                      3 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_XDECREF(given);
    return y;
}

/* The share of a tangent in a block in `a @ b`, of small arrays, as `matmul_block` has it;
   UNHANDLED for others. */
static PyObject *
share_in_product(const LinearCall *call, PyObject *xdot, int i)
{
    PyObject *other = i == 0 ? call->z : call->x;
    int known = PyDict_GET_SIZE(call->options) > 0 ? 1 : PyDict_Contains(BATCH_RULES, MATMUL);
    if (known != 0 || !is_float64_array(xdot) || !is_float64_array(other)) {
        return known < 0 ? NULL : UNHANDLED;
    }
    PyArrayObject *block = (PyArrayObject *)xdot, *matrix = (PyArrayObject *)other;
    int rank = PyArray_NDIM(block) - 1, beside = PyArray_NDIM(matrix);
    if (rank < 1 || rank > 2 || beside < 1 || beside > 2 || PyArray_SIZE(matrix) > SMALL_PRODUCT) {
        return UNHANDLED;
    }
    if (i == 1) {
        PyObject *turned = rank == 2 ? Py_NewRef(other) : PyArray_Transpose(matrix, NULL);
        PyObject *y = turned == NULL ? NULL
                      : rank == 2    ? PyNumber_MatrixMultiply(turned, xdot)
                                     : PyNumber_MatrixMultiply(xdot, turned);
        Py_XDECREF(turned);
        return y;
    }
    if (rank == 1) {
        return PyNumber_MatrixMultiply(xdot, other);
    }
    /* One product with all rows at once. */
    npy_intp *shape = PyArray_DIMS(block);
    npy_intp rows[2] = {shape[0] * shape[1], shape[2]};
    npy_intp all[3] = {shape[0], shape[1], beside == 2 ? PyArray_DIM(matrix, 1) : 0};
    PyArray_Dims of_rows = {rows, 2}, of_all = {all, beside + 1};
    PyObject *flat = PyArray_Newshape(block, &of_rows, NPY_CORDER);
    PyObject *product = flat == NULL ? NULL : PyNumber_MatrixMultiply(flat, other);
    PyObject *y = product == NULL ? NULL
                                  : PyArray_Newshape((PyArrayObject *)product, &of_all, NPY_CORDER);
    Py_XDECREF(flat);
    Py_XDECREF(product);
    return y;
}

/* The share of the tangent of argument `i`. */
static PyObject *
share_of(const LinearCall *call, int i)
{
    PyObject *f = SLOT(call->kind, FUNCTION);
    PyObject *xdot = SLOT(i == 0 ? call->a : call->b, TANGENT_OF_ARRAY);
    if (Py_TYPE(call->level) != BLOCK_DUALS) {
        return i == 0 ? evaluated(call, f, xdot, call->z)
                      : evaluated(call, f, call->x, xdot);
    }
    if (f == MATMUL) {
        PyObject *product = share_in_product(call, xdot, i);
        if (product != UNHANDLED) {
            return product;
        }
    }
    PyObject *block = in_block(xdot);
    PyObject *share = block == NULL ? NULL
                      : i == 0      ? block_share(call, block, call->z)
                                    : block_share(call, call->x, block);
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

/* ---- both ---- */

#define MOST_VIEWS 63 /* above, the dead are forgotten, in Python */

/* Tie the view `y` of `x`, by a call of `f`, to the array that owns the memory. -1 for an error. */
static int
tie_view(PyObject *y, PyObject *x, PyObject *f, PyObject *options)
{
    PyObject *root = x, *path = NULL, *base = SLOT(x, BASE_AND_PATH);
    if (base != NULL && PyTuple_CheckExact(base) && PyTuple_GET_SIZE(base) == 2) {
        root = PyTuple_GET_ITEM(base, 0);
        path = PyTuple_GET_ITEM(base, 1);
    }
    int has_memory = is_traced_array(root) || Py_TYPE(root) == BUFFER_ARRAY;
    if (has_memory && SLOT(root, MEMORY) == NULL && MEMORY_TYPE != NULL) {
        PyObject *made = PyObject_CallNoArgs((PyObject *)MEMORY_TYPE);
        if (made == NULL) {
            return -1;
        }
        if (SLOT(root, MEMORY) == NULL) {
            SLOT(root, MEMORY) = Py_NewRef(made);
        }
        Py_DECREF(made);
    }
    PyObject *memory = has_memory ? SLOT(root, MEMORY) : NULL;
    PyObject *views = memory != NULL && Py_TYPE(memory) == MEMORY_TYPE && NEXT_OF_VIEWS != NULL
                          ? SLOT(memory, VIEWS)
                          : NULL;
    if (views == NULL || !PyDict_CheckExact(views) || PyDict_GET_SIZE(views) >= MOST_VIEWS
        || (path != NULL && !PyTuple_CheckExact(path))) {
        PyObject *done = PyObject_CallFunctionObjArgs(REGISTER_VIEW, y, x, f, options, NULL);
        Py_XDECREF(done);
        return done == NULL ? -1 : 0;
    }
    Py_INCREF(views);
    PyObject *step = PyTuple_Pack(3, f, options, Py_None);
    PyObject *last = step == NULL ? NULL : PyTuple_Pack(1, step);
    PyObject *way = last == NULL ? NULL : path == NULL ? Py_NewRef(last)
                                                      : PySequence_Concat(path, last);
    PyObject *pair = way == NULL ? NULL : PyTuple_Pack(2, root, way);
    PyObject *number = pair == NULL ? NULL : PyObject_CallNoArgs(NEXT_OF_VIEWS);
    PyObject *reference = number == NULL ? NULL : PyWeakref_NewRef(y, NULL);
    int done = reference == NULL ? -1 : PyDict_SetItem(views, number, reference);
    if (done == 0) {
        Py_XSETREF(SLOT(y, BASE_AND_PATH), Py_NewRef(pair));
    }
    Py_DECREF(views);
    Py_XDECREF(step);
    Py_XDECREF(last);
    Py_XDECREF(way);
    Py_XDECREF(pair);
    Py_XDECREF(number);
    Py_XDECREF(reference);
    return done;
}

/* Whether an array may be a view of another one: 0 of one that owns its memory; -1 for an error. */
static int
shares_memory(PyObject *y, PyObject *x)
{
    if (PyArray_BASE((PyArrayObject *)y) == NULL || !PyArray_CheckExact(x)) {
        return 0;
    }
    PyObject *answer = PyObject_CallFunctionObjArgs(SHARES_MEMORY, y, x, NULL);
    int shares = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return shares;
}

/* Tie a result that is a view to what it is a view of. Whether it was done; -1 for an error. */
static int
tied(const LinearCall *call, PyObject *traced, PyObject *y)
{
    PyObject *done;
    if (!PyArray_CheckExact(y)) { /* traced further out */
        done = PyObject_CallMethod(call->kind, "tie", "(OO(O)O)", traced, call->f, call->a,
                                   call->options);
    }
    else {
        int is_view = shares_memory(y, call->x);
        if (is_view <= 0) {
            return is_view < 0 ? -1 : 1;
        }
        return tie_view(traced, call->a, call->f, call->options) < 0 ? -1 : 1;
    }
    Py_XDECREF(done);
    return done == NULL ? -1 : 1;
}

/* The traced result of a call whose value is computed, as `Kind.keep` makes it. */
static PyObject *
kept_by_rule(const LinearCall *call, PyObject *y)
{
    PyObject *args = call->b == NULL ? PyTuple_Pack(1, call->a) : PyTuple_Pack(2, call->a, call->b);
    PyObject *values = call->b == NULL ? PyTuple_Pack(1, call->x)
                                       : PyTuple_Pack(2, call->x, call->z);
    PyObject *traced = args == NULL || values == NULL
                           ? NULL
                           : PyObject_CallMethod(call->kind, "keep", "OOOOOO", call->level, call->f,
                                                 args, call->options, values, y);
    Py_XDECREF(args);
    Py_XDECREF(values);
    return traced;
}

/* The traced result of a call, with its entry or its tangent. */
static PyObject *
result_of_call(const LinearCall *call)
{
    PyObject *y = evaluated(call, call->f, call->x, call->z);
    if (y == NULL) {
        return NULL;
    }
    if (y == call->x) { /* NumPy gave the very same array back */
        Py_DECREF(y);
        return Py_NewRef(call->a);
    }
    int is_number = is_traced_number(y) || Py_TYPE(y) == FLOAT64;
    /* Of two arguments a result that is a view of one is Python's to tie. */
    int is_view = 0;
    if (call->b != NULL && PyArray_CheckExact(y)) {
        is_view = shares_memory(y, call->x);
        is_view = is_view == 0 ? shares_memory(y, call->z) : is_view;
    }
    PyObject *made = UNHANDLED;
    if (is_view < 0) {
        made = NULL;
    }
    else if (is_view == 0 && is_result(y, call->level)) {
        made = Py_TYPE(call->level) == TAPE ? entry_of_call(call, y) : tangent_of_call(call, y);
    }
    if (made == NULL || made == UNHANDLED) {
        PyObject *kept = made == NULL ? NULL : kept_by_rule(call, y);
        Py_DECREF(y);
        return kept;
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

/* ---- what is asked of a call ---- */

/* The rule of a function at a level; NULL where it has none that is a kind. */
static PyObject *
kind_of(PyObject *f, PyObject *level)
{
    PyObject *table = Py_TYPE(level) == TAPE ? RRULE_KINDS : FRULE_KINDS;
    PyObject *kind = PyDict_GetItemWithError(table, f);
    PyErr_Clear(); /* not hashable */
    return Py_XNewRef(kind);
}

/* Whether a rule is that of a function which is linear in one array, or in each of two. */
static int
is_linear(PyObject *kind, Py_ssize_t count)
{
    return count == 1 ? Py_TYPE(kind) == LINEAR_RULE && SLOT(kind, IDLES) == Py_None
                      : Py_TYPE(kind) == BILINEAR_RULE;
}

/* The rule of a function of one array, or of a list of them; NULL where it is not applied here. */
static PyObject *
linear_kind_of(PyObject *f, PyObject *level)
{
    PyObject *kind = kind_of(f, level);
    if (kind != NULL && !is_linear(kind, 1)) {
        Py_CLEAR(kind);
    }
    return kind;
}

/* Whether a value is what most settings are: None, a truth, an int, a name, a shape. */
static int
is_usual_setting(PyObject *x)
{
    if (PyTuple_CheckExact(x)) {
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(x); k++) {
            PyObject *part = PyTuple_GET_ITEM(x, k);
            if (part != Py_None && !PyLong_CheckExact(part)) {
                return 0;
            }
        }
        return 1;
    }
    return x == Py_None || PyBool_Check(x) || PyLong_CheckExact(x) || PyUnicode_CheckExact(x);
}

static int
are_usual_settings(PyObject *options)
{
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(options, &at, &key, &value);) {
        if (!is_usual_setting(value)) {
            return 0;
        }
    }
    return 1;
}

/* Whether all options are settings, which are no arrays and not traced; -1 for an error. */
static int
are_settings(PyObject *options)
{
    if (are_usual_settings(options)) {
        return 1;
    }
    PyObject *values = PyDict_Values(options);
    PyObject *answer = values == NULL ? NULL : PyObject_CallOneArg(ARE_SETTINGS, values);
    int settings = answer == NULL ? -1 : answer == Py_True; /* an interrupt is no answer */
    Py_XDECREF(values);
    Py_XDECREF(answer);
    return settings;
}

/* Whether options may be handed to the function of tangents as they are, and kept; -1 for an
   error. */
static int
are_plain_options(PyObject *kind, PyObject *options)
{
    if (PyDict_GET_SIZE(options) == 0) {
        return 1;
    }
    if (PyDict_GetItemString(options, "where") != NULL) {
        return 0;
    }
    if (Py_TYPE(kind) == LINEAR_RULE) {
        PyObject *constants = SLOT(kind, NOT_OF_TANGENTS);
        if (constants == NULL || !PyTuple_CheckExact(constants)) {
            return 0;
        }
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(constants); k++) {
            if (PyDict_Contains(options, PyTuple_GET_ITEM(constants, k)) != 0) {
                PyErr_Clear();
                return 0;
            }
        }
    }
    return are_settings(options);
}

#endif
