/* Calls of traced arrays, as users write them: options by place and by name.

   `np.reshape(x, (3, 4))` and `np.sum(x, axis=0)` are bound to the rule as `Kind.bind` does it. */

#ifndef CHAINRULES_BOUND_CALLS_H
#define CHAINRULES_BOUND_CALLS_H

#include "items.h"
#include "linear.h"

/* ---- binding ---- */

static PyTypeObject *REDUCTION_RULE;
static Py_ssize_t ADAPT_REDUCTION; /* of rules of reductions */
static Py_ssize_t COUNT;           /* of rules: how many arguments they differentiate */
static PyObject *KIND;             /* the class of rules */
static PyObject *bound_by_name;    /* by class of rules, whether calls are bound as those of KIND */

PyDoc_STRVAR(register_kinds_doc,
"register_kinds(kind, reduction_rule)\n--\n\n"
"Note the base class of rules, and that of reductions, which adapts its options.");

static PyObject *
register_kinds(PyObject *module, PyObject *args)
{
    PyTypeObject *kind, *reduction;
    if (!PyArg_ParseTuple(args, "O!O!", &PyType_Type, &kind, &PyType_Type, &reduction)
        || offset_of(reduction, "adapt", &ADAPT_REDUCTION) < 0
        || offset_of(kind, "count", &COUNT) < 0 || (bound_by_name = PyDict_New()) == NULL) {
        return NULL;
    }
    Py_INCREF(args);
    KIND = (PyObject *)kind;
    REDUCTION_RULE = reduction;
    Py_RETURN_NONE;
}

/* Whether two classes have the same attribute; -1 for an error. */
static int
have_same(PyObject *a, PyObject *b, const char *name)
{
    PyObject *of_a = PyObject_GetAttrString(a, name), *of_b = PyObject_GetAttrString(b, name);
    int same = of_a == NULL || of_b == NULL ? -1 : of_a == of_b;
    Py_XDECREF(of_a);
    Py_XDECREF(of_b);
    return same;
}

/* Whether a rule of one argument answers and binds calls as `Kind` does; -1 for an error. */
static int
is_bound_by_name(PyObject *kind)
{
    PyObject *type = (PyObject *)Py_TYPE(kind);
    if (bound_by_name == NULL || !PyObject_TypeCheck(kind, (PyTypeObject *)KIND)) {
        return 0;
    }
    PyObject *count = SLOT(kind, COUNT), *known = PyDict_GetItemWithError(bound_by_name, type);
    if (known == NULL && !PyErr_Occurred()) {
        int same = have_same(type, KIND, "answer");
        same = same <= 0 ? same : have_same(type, KIND, "joins");
        if (same > 0 && Py_TYPE(kind) != REDUCTION_RULE) {
            same = have_same(type, KIND, "bind");
        }
        known = same < 0 ? NULL : same ? Py_True : Py_False;
        if (known != NULL && PyDict_SetItem(bound_by_name, type, known) < 0) {
            known = NULL;
        }
    }
    if (known == NULL) {
        return -1;
    }
    return known == Py_True && count != NULL && PyLong_CheckExact(count)
           && PyLong_AsLong(count) == 1;
}

/* Whether options have no integers or booleans of NumPy, which `as_pythons` makes Python's. */
static int
are_as_pythons(PyObject *options)
{
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(options, &at, &key, &value);) {
        if (!is_usual_setting(value)
            && (PyTuple_Check(value) || PyList_Check(value) || PyArray_IsScalar(value, Integer)
                || PyArray_IsScalar(value, Bool) || PyArray_IsZeroDim(value))) {
            return 0;
        }
    }
    return 1;
}

/* Options by name, of a call with `count` arrays in front, as `Bound.bind` makes them; UNHANDLED
   where a name is not known, or not taken. */
static PyObject *
named_options(PyObject *kind, PyObject *args, Py_ssize_t count, PyObject *options)
{
    Py_ssize_t given = args == NULL ? count : PyTuple_GET_SIZE(args);
    PyObject *names = SLOT(kind, NAMES), *keywords = SLOT(kind, KEYWORDS);
    int has_names = names != NULL && PyList_CheckExact(names) && PyList_GET_SIZE(names) >= given;
    if (given > count && !has_names) {
        return UNHANDLED;
    }
    PyObject *named = PyDict_New(), *key, *value;
    int known = named == NULL ? -1 : are_as_pythons(options);
    for (Py_ssize_t k = count; known > 0 && k < given; k++) {
        known = is_usual_setting(PyTuple_GET_ITEM(args, k));
        if (known && PyDict_SetItem(named, PyList_GET_ITEM(names, k), PyTuple_GET_ITEM(args, k)) < 0) {
            known = -1;
        }
    }
    /* A name that is given twice is Python's to refuse. */
    if (known > 0 && PyDict_Update(named, options) < 0) {
        known = -1;
    }
    if (known > 0 && PyDict_GET_SIZE(named) != given - count + PyDict_GET_SIZE(options)) {
        known = 0;
    }
    for (Py_ssize_t at = 0; known > 0 && keywords != Py_None && PyDict_Next(named, &at, &key, &value);) {
        known = keywords != NULL && PyAnySet_Check(keywords) ? PySet_Contains(keywords, key) : 0;
    }
    if (known <= 0) {
        Py_XDECREF(named);
        return known < 0 ? NULL : UNHANDLED;
    }
    return named;
}

/* The options that a rule makes of a call's, by its `bind`; UNHANDLED as above. */
static PyObject *
bound_options(PyObject *kind, PyObject *args, Py_ssize_t count, PyObject *options)
{
    if (PyTuple_GET_SIZE(args) <= count && PyDict_GET_SIZE(options) == 0) {
        return Py_NewRef(options);
    }
    PyObject *named = named_options(kind, args, count, options);
    if (named == NULL || named == UNHANDLED) {
        return named;
    }
    PyObject *adapt = Py_TYPE(kind) == LINEAR_RULE      ? SLOT(kind, ADAPT)
                      : Py_TYPE(kind) == REDUCTION_RULE ? SLOT(kind, ADAPT_REDUCTION)
                                                        : Py_None;
    if (adapt != NULL && adapt != Py_None && PyDict_GET_SIZE(named) > 0) {
        PyObject *stack[] = {NULL, PyTuple_GET_ITEM(args, 0)};
        Py_SETREF(named, PyObject_VectorcallDict(adapt, stack + 1,
                                                 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, named));
    }
    if (named != NULL && !PyDict_CheckExact(named)) {
        Py_SETREF(named, UNHANDLED);
    }
    return named;
}

/* ---- calls ---- */

/* Answer a call whose rule is known, with options that were bound. */
static PyObject *
on_bound(PyObject *f, PyObject *kind, PyObject *level, PyObject *a, PyObject *b, PyObject *options)
{
    int plain = are_plain_options(kind, options);
    if (plain <= 0) {
        return plain < 0 ? NULL : UNHANDLED;
    }
    int a_active = is_active_array(a, level), b_active = b != NULL && is_active_array(b, level);
    if (!(a_active ? is_known(a, level, 1) : array_beside(a, level))
        || (b != NULL && !(b_active ? is_known(b, level, 1) : array_beside(b, level)))) {
        return UNHANDLED;
    }
    /* A write into an operand, by a function that is called back, would free these. */
    PyObject *x = Py_NewRef(a_active ? SLOT(a, PRIMAL) : a);
    PyObject *z = b == NULL ? NULL : Py_NewRef(b_active ? SLOT(b, PRIMAL) : b);
    LinearCall call = {level, kind, f, a, b, x, z, a_active, b_active, options};
    PyObject *y = result_of_call(&call);
    Py_DECREF(x);
    Py_XDECREF(z);
    return y;
}

/* Answer a call of one array by a rule that is not linear, with options that were bound: see
   `Kind.answer`. */
static PyObject *
by_kind(PyObject *f, PyObject *kind, PyObject *level, PyObject *a, PyObject *options)
{
    int settings = are_settings(options);
    if (settings <= 0) {
        return settings < 0 ? NULL : UNHANDLED;
    }
    return PyObject_CallMethod(kind, "apply", "OO(O)O", level, f, a, options);
}

/* Answer a call of `f` on traced arrays, of one or two; `args` are these and options by place. */
static PyObject *
on_traced(PyObject *f, PyObject *a, PyObject *b, PyObject *args, PyObject *options)
{
    PyObject *level = inner(level_of_array(a), b == NULL ? NULL : level_of_array(b));
    if (level == NULL || !is_accelerated(level) || !is_open(level)
        || (Py_TYPE(level) == TAPE && KIND_NODE == NULL)
        || (Py_TYPE(level) == BLOCK_DUALS && SHARE_IN_BLOCK == NULL)) {
        return UNHANDLED;
    }
    if (with_value(a) < 0 || with_value(b) < 0) {
        return NULL;
    }
    Py_ssize_t count = b == NULL ? 1 : 2;
    PyObject *kind = kind_of(f, level);
    if (kind == NULL) {
        return UNHANDLED;
    }
    int linear = is_linear(kind, count), known = linear || b != NULL ? linear : is_bound_by_name(kind);
    PyObject *bound = known < 0    ? NULL
                      : known == 0 ? UNHANDLED
                                   : bound_options(kind, args, count, options);
    PyObject *y = bound;
    if (bound != NULL && bound != UNHANDLED) {
        y = linear ? on_bound(f, kind, level, a, b, bound) : by_kind(f, kind, level, a, bound);
        Py_DECREF(bound);
    }
    Py_DECREF(kind);
    return y;
}

/* Answer a call of a function with arguments of which the first ones may be traced arrays. */
static PyObject *
on_all(PyObject *f, PyObject *args, PyObject *options)
{
    Py_ssize_t given = PyTuple_CheckExact(args) ? PyTuple_GET_SIZE(args) : 0;
    if (given < 1 || !PyDict_CheckExact(options)) {
        return UNHANDLED;
    }
    PyObject *a = settled(PyTuple_GET_ITEM(args, 0)), *b = NULL;
    if (given > 1 && !is_usual_setting(PyTuple_GET_ITEM(args, 1))) {
        b = settled(PyTuple_GET_ITEM(args, 1));
    }
    return is_traced_array(a) || (b != NULL && is_traced_array(b))
               ? on_traced(f, a, b, args, options)
               : UNHANDLED;
}

#endif
