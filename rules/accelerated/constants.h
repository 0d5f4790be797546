/* Constant functions: calls whose answer is that of the plain values, such as `np.searchsorted`. */

#ifndef CHAINRULES_CONSTANTS_H
#define CHAINRULES_CONSTANTS_H

#include "arrays.h"

/* The plain number or array under `x`, borrowed; NULL where Python has to look. */
static PyObject *
plain_under(PyObject *x)
{
    while (is_traced_number(x) || is_traced_array(x)) {
        PyObject *level = SLOT(x, AT_LEVEL);
        x = SLOT(x, PRIMAL);
        if (level == NULL || !is_accelerated(level) || !is_open(level) || x == NULL) {
            return NULL;
        }
    }
    int is_array = PyArray_CheckExact(x) && PyArray_TYPE((PyArrayObject *)x) != NPY_OBJECT;
    return is_array || is_float(x) || PyLong_CheckExact(x) || PyBool_Check(x)
                   || PyUnicode_CheckExact(x)
               ? x
               : NULL;
}

/* The level of the first argument that is traced, borrowed; NULL where none is. */
static PyObject *
first_level(PyObject *args)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *x = PyTuple_GET_ITEM(args, i);
        if (is_traced_number(x) || is_traced_array(x)) {
            return SLOT(x, AT_LEVEL);
        }
    }
    return NULL;
}

/* Answer `f(*args)` by the plain values; UNHANDLED where `f` is not constant. */
static PyObject *
on_constant(PyObject *f, PyObject *args, PyObject *options)
{
    if (CONSTANT_RULE == NULL || !PyTuple_CheckExact(args) || !PyDict_CheckExact(options)
        || PyDict_GET_SIZE(options) > 0) {
        return UNHANDLED;
    }
    PyObject *level = first_level(args);
    if (level == NULL || !is_accelerated(level)) {
        return UNHANDLED;
    }
    PyObject *table = Py_TYPE(level) == TAPE ? RRULE_KINDS : FRULE_KINDS;
    PyObject *kind = PyDict_GetItemWithError(table, f);
    if (kind == NULL || Py_TYPE(kind) != CONSTANT_RULE) {
        PyErr_Clear(); /* not hashable */
        return UNHANDLED;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    PyObject *values = PyTuple_New(count);
    for (Py_ssize_t i = 0; values != NULL && i < count; i++) {
        PyObject *value = plain_under(PyTuple_GET_ITEM(args, i));
        if (value == NULL) {
            Py_DECREF(values);
            return UNHANDLED;
        }
        PyTuple_SET_ITEM(values, i, Py_NewRef(value));
    }
    PyObject *y = values == NULL ? NULL : PyObject_Call(f, values, NULL);
    Py_XDECREF(values);
    return y;
}

#endif
