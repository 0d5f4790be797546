/* Joins: `np.stack` of a list of numbers, some of which are traced, as one traced array. */

#ifndef CHAINRULES_JOINS_H
#define CHAINRULES_JOINS_H

#include "actives.h"

/* The innermost level among numbers that may be joined here, borrowed; NULL where one may not. */
static PyObject *
level_of_all(PyObject *numbers)
{
    PyObject *level = NULL;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(numbers); i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(numbers, i);
        if (!is_float_under(x)) {
            return NULL;
        }
        if (is_traced_number(x)) {
            level = inner(level, level_of(x));
            if (level == NULL) {
                return NULL;
            }
        }
    }
    return level;
}

/* What numbers of `level` hold in a slot, and others are: by themselves, or as zeros. */
static PyObject *
parts_of(PyObject *numbers, PyObject *level, Py_ssize_t slot, PyObject *instead)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(numbers);
    PyObject *parts = PyList_New(count);
    for (Py_ssize_t i = 0; parts != NULL && i < count; i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(numbers, i), *part = instead == NULL ? x : instead;
        if (level_of(x) == level) {
            part = SLOT(x, slot);
        }
        if (part == NULL) {
            PyErr_SetString(PyExc_SystemError, "a traced number without a value");
            Py_CLEAR(parts);
            break;
        }
        PyList_SET_ITEM(parts, i, Py_NewRef(part));
    }
    return parts;
}

/* An array of floats. */
static PyObject *
array_of_floats(PyObject *numbers)
{
    npy_intp count = PySequence_Fast_GET_SIZE(numbers);
    PyObject *array = PyArray_SimpleNew(1, &count, NPY_DOUBLE);
    for (npy_intp i = 0; array != NULL && i < count; i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(numbers, i);
        if (!is_float(x)) {
            Py_DECREF(array);
            return UNHANDLED;
        }
        ((double *)PyArray_DATA((PyArrayObject *)array))[i] = VALUE(x);
    }
    return array;
}

/* A block of the tangents of an array, of those of its numbers; zeros for None. */
static PyObject *
block_of_blocks(PyObject *blocks)
{
    npy_intp shape[2] = {-1, PyList_GET_SIZE(blocks)};
    for (npy_intp i = 0; i < shape[1]; i++) {
        PyObject *block = PyList_GET_ITEM(blocks, i);
        if (block == Py_None) {
            continue;
        }
        npy_intp size = is_block(block) ? PyArray_DIM((PyArrayObject *)block, 0) : -1;
        if (size < 0 || (shape[0] >= 0 && size != shape[0])) {
            return UNHANDLED;
        }
        shape[0] = size;
    }
    PyObject *array = PyArray_ZEROS(2, shape, NPY_DOUBLE, 0);
    for (npy_intp i = 0; array != NULL && i < shape[1]; i++) {
        PyObject *block = PyList_GET_ITEM(blocks, i);
        if (block == Py_None) {
            continue;
        }
        const char *from = PyArray_BYTES((PyArrayObject *)block);
        npy_intp step = PyArray_STRIDE((PyArrayObject *)block, 0);
        double *to = (double *)PyArray_DATA((PyArrayObject *)array) + i;
        for (npy_intp k = 0; k < shape[0]; k++) {
            to[k * shape[1]] = AT(from, step, k);
        }
    }
    return array;
}

static PyObject *joined(PyObject *numbers);

/* `np.stack` of numbers that may be traced: plain, dual, or left to Python. */
static PyObject *
joined_or_plain(PyObject *numbers)
{
    PyObject *y = array_of_floats(numbers);
    return y == UNHANDLED ? joined(numbers) : y;
}

/* The dual array of an array and of the tangents of its numbers; it takes over the array. */
static PyObject *
dual_array(PyObject *level, PyObject *y, PyObject *tangents)
{
    PyObject *ydot = Py_TYPE(level) == BLOCK_DUALS ? block_of_blocks(tangents)
                                                   : joined_or_plain(tangents);
    if (ydot == NULL || ydot == UNHANDLED) {
        Py_DECREF(y);
        return ydot;
    }
    return new_traced_array(DUAL_ARRAY, level, y, TANGENT_OF_ARRAY, ydot);
}

/* `np.stack` of a list or a tuple of numbers, of which one at least is traced. */
static PyObject *
joined(PyObject *numbers)
{
    PyObject *level = level_of_all(numbers);
    if (level == NULL || !is_accelerated(level) || !is_open(level)) {
        PyErr_Clear();
        return UNHANDLED;
    }
    PyObject *primals = parts_of(numbers, level, PRIMAL, NULL);
    PyObject *y = primals == NULL ? NULL : joined_or_plain(primals);
    if (y == NULL || y == UNHANDLED) {
        Py_XDECREF(primals);
        return y;
    }
    PyObject *traced = NULL;
    if (Py_TYPE(level) == TAPE) {
        PyObject *kind = linear_kind_of(STACK, level), *options = PyDict_New();
        traced = UNHANDLED;
        if (kind != NULL && options != NULL && array_under(y) != NULL) {
            traced = traced_array(level, Py_NewRef(y),
                                  entry_of_parts(level, kind, numbers, options, y));
        }
        Py_XDECREF(kind);
        Py_XDECREF(options);
        Py_DECREF(y);
    }
    else {
        PyObject *zero = Py_TYPE(level) == BLOCK_DUALS ? Py_NewRef(Py_None) : new_float64(0);
        PyObject *tangents = zero == NULL ? NULL : parts_of(numbers, level, TANGENT, zero);
        if (tangents == NULL) {
            Py_DECREF(y);
        }
        else {
            traced = dual_array(level, y, tangents);
        }
        Py_XDECREF(zero);
        Py_XDECREF(tangents);
    }
    Py_DECREF(primals);
    return traced;
}

/* Answer `np.stack(numbers)`; UNHANDLED for any other call. */
static PyObject *
join(PyObject *f, PyObject *args, PyObject *options)
{
    if (f != STACK || !PyTuple_CheckExact(args) || PyTuple_GET_SIZE(args) != 1
        || !PyDict_CheckExact(options) || PyDict_GET_SIZE(options) != 0) {
        return UNHANDLED;
    }
    PyObject *numbers = PyTuple_GET_ITEM(args, 0);
    if (!(PyList_CheckExact(numbers) || PyTuple_CheckExact(numbers))
        || !PyDict_Contains(FRULE_KINDS, STACK) || !PyDict_Contains(RRULE_KINDS, STACK)) {
        PyErr_Clear();
        return UNHANDLED;
    }
    return joined(numbers);
}

#endif
