/* Pushes along a tape: blocks of tangents through entries of numbers, as `ForwardSweep` does it. */

#ifndef CHAINRULES_PUSHES_H
#define CHAINRULES_PUSHES_H

#include "pulls.h"

/* The tangent in `tangents` that an entry names in place `k`, borrowed: a block, or None; NULL where
   it is something else. */
static PyObject *
parent_tangent(PyObject *tangents, PyObject *entry, Py_ssize_t k)
{
    PyObject *parent = PyTuple_GET_ITEM(entry, k);
    Py_ssize_t at = PyLong_CheckExact(parent) ? PyLong_AsSsize_t(parent) : -1;
    if (at < 0 || at >= PyList_GET_SIZE(tangents)) {
        PyErr_Clear();
        return NULL;
    }
    PyObject *t = PyList_GET_ITEM(tangents, at);
    return t == Py_None || is_block(t) ? t : NULL;
}

/* A partial as a factor, borrowed: None for the constant 1; NULL where it is no float. */
static PyObject *
factor_in(PyObject *entry, Py_ssize_t k)
{
    PyObject *partial = PyTuple_GET_ITEM(entry, k);
    return partial == ONE ? Py_None : is_float(partial) ? partial : NULL;
}

/* The tangent of a number that depends on one or on two; UNHANDLED where Python is to push. */
static PyObject *
pushed_number(PyObject *tangents, PyObject *entry)
{
    PyObject *s = parent_tangent(tangents, entry, 0), *p = factor_in(entry, 1);
    if (s == NULL || p == NULL) {
        return UNHANDLED;
    }
    if (PyTuple_GET_SIZE(entry) == OF_NUMBERS) {
        PyObject *t = parent_tangent(tangents, entry, 2), *q = factor_in(entry, 3);
        if (t == NULL || q == NULL) {
            return UNHANDLED;
        }
        if (s != Py_None && t != Py_None) {
            return combined(s, p, t, q);
        }
        if (s == Py_None) {
            s = t, p = q;
        }
    }
    return s == Py_None ? Py_NewRef(s) : scaled(s, p);
}

/* The tangent of a number that was read from an array; UNHANDLED where Python is to push. */
static PyObject *
pushed_read(PyObject *tangents, PyObject *entry, PyObject *owned, PyObject *written)
{
    PyObject *parent = PyTuple_GET_ITEM(entry, 0);
    Py_ssize_t at = PyLong_CheckExact(parent) ? PyLong_AsSsize_t(parent) : -1;
    npy_intp places[MOST_AXES];
    if (at < 0 || at >= PyList_GET_SIZE(tangents)) {
        PyErr_Clear();
        return UNHANDLED;
    }
    PyObject *block = PyList_GET_ITEM(tangents, at);
    if (!is_float64_array(block)) {
        return UNHANDLED;
    }
    PyArrayObject *array = (PyArrayObject *)block;
    if (!places_among(PyTuple_GET_ITEM(entry, 1), PyArray_NDIM(array) - 1, PyArray_DIMS(array) + 1,
                      places)) {
        return UNHANDLED;
    }
    int copied = PyDict_Contains(written, parent);
    return copied < 0 || PySet_Discard(owned, parent) < 0 ? NULL
                                                          : block_of_read(array, places, copied);
}

PyDoc_STRVAR(push_numbers_doc,
"push_numbers(entries, tangents, first, owned, written)\n--\n\n"
"Push blocks through entries of numbers, from the first on; return the first that is another.");

static PyObject *
push_numbers(PyObject *module, PyObject *args)
{
    PyObject *entries, *tangents, *owned, *written;
    Py_ssize_t i;
    if (!PyArg_ParseTuple(args, "O!O!nO!O!", &PyList_Type, &entries, &PyList_Type, &tangents, &i,
                          &PySet_Type, &owned, &PyDict_Type, &written)) {
        return NULL;
    }
    for (; i < PyList_GET_SIZE(entries) && i < PyList_GET_SIZE(tangents); i++) {
        PyObject *entry = PyList_GET_ITEM(entries, i);
        Py_ssize_t size = PyTuple_CheckExact(entry) ? PyTuple_GET_SIZE(entry) : 0;
        PyObject *t = size == OF_NUMBER || size == OF_NUMBERS ? pushed_number(tangents, entry)
                      : size == READ ? pushed_read(tangents, entry, owned, written)
                                     : UNHANDLED;
        if (t == UNHANDLED) {
            break;
        }
        if (t == NULL || PyList_SetItem(tangents, i, t) < 0) {
            return NULL;
        }
    }
    return PyLong_FromSsize_t(i);
}

#endif
