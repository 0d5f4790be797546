/* Joins: `np.stack` of a list of numbers, some of which are traced, as one traced array. */

#ifndef CHAINRULES_JOINS_H
#define CHAINRULES_JOINS_H

#include "parts.h"

/* The innermost level among numbers that may be joined here, borrowed; NULL where one may not. */
static PyObject *
level_of_all(PyObject *numbers)
{
    PyObject *level = NULL;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(numbers); i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(numbers, i);
        double integer;
        if (!is_float_under(x) && !(PyLong_CheckExact(x) && as_double(x, &integer))) {
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

/* What numbers or arrays of `level` hold in a slot; of others themselves, or zeros instead. */
static PyObject *
parts_of(PyObject *values, PyObject *level, Py_ssize_t slot, PyObject *instead)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(values);
    PyObject *parts = PyList_New(count);
    for (Py_ssize_t i = 0; parts != NULL && i < count; i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(values, i), *part = instead == NULL ? x : instead;
        if ((is_traced_array(x) ? level_of_array(x) : level_of(x)) == level) {
            part = SLOT(x, slot);
        }
        PyList_SET_ITEM(parts, i, Py_NewRef(part == NULL ? Py_Ellipsis : part)); /* not known here */
    }
    return parts;
}

/* An array of floats, and of integers that floats hold. */
static PyObject *
array_of_floats(PyObject *numbers)
{
    npy_intp count = PySequence_Fast_GET_SIZE(numbers);
    PyObject *array = PyArray_SimpleNew(1, &count, NPY_DOUBLE);
    for (npy_intp i = 0; array != NULL && i < count; i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(numbers, i);
        if (!as_double(x, (double *)PyArray_DATA((PyArrayObject *)array) + i)) {
            Py_DECREF(array);
            return UNHANDLED;
        }
    }
    return array;
}

/* The innermost level among blocks, borrowed; NULL for plain ones, UNHANDLED where one is neither. */
static PyObject *
level_of_blocks(PyObject *blocks)
{
    PyObject *level = NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(blocks); i++) {
        PyObject *block = PyList_GET_ITEM(blocks, i);
        if (is_traced_array(block)) {
            level = inner(level, level_of_array(block));
            if (level == NULL) {
                return UNHANDLED;
            }
        }
        else if (block != Py_None && !is_float64_array(block)) {
            return UNHANDLED;
        }
    }
    return level == NULL || (is_accelerated(level) && is_open(level)) ? level : UNHANDLED;
}

/* The first block that is no None, borrowed. */
static PyObject *
first_block(PyObject *blocks)
{
    Py_ssize_t i = 0;
    while (i < PyList_GET_SIZE(blocks) && PyList_GET_ITEM(blocks, i) == Py_None) {
        i++;
    }
    return i < PyList_GET_SIZE(blocks) ? PyList_GET_ITEM(blocks, i) : NULL;
}

/* Plain arrays of one shape along a new last axis; zeros for None. */
static PyObject *
block_of_plain_blocks(PyObject *blocks)
{
    PyArrayObject *first = (PyArrayObject *)first_block(blocks);
    if (first == NULL) {
        return UNHANDLED;
    }
    int rank = PyArray_NDIM(first);
    npy_intp shape[MOST_AXES + 1], count = PyList_GET_SIZE(blocks);
    memcpy(shape, PyArray_DIMS(first), rank * sizeof(npy_intp));
    shape[rank] = count;
    PyObject *array = PyArray_ZEROS(rank + 1, shape, NPY_DOUBLE, 0);
    for (npy_intp i = 0; array != NULL && i < count; i++) {
        PyObject *block = PyList_GET_ITEM(blocks, i);
        if (block == Py_None) {
            continue;
        }
        if (PyArray_NDIM((PyArrayObject *)block) != rank
            || !PyArray_CompareLists(PyArray_DIMS((PyArrayObject *)block), shape, rank)) {
            Py_DECREF(array);
            return UNHANDLED;
        }
        double *to = (double *)PyArray_DATA((PyArrayObject *)array) + i;
        if (rank == 1) { /* as most are, which may be a column of another array */
            const char *from = PyArray_BYTES((PyArrayObject *)block);
            npy_intp step = PyArray_STRIDE((PyArrayObject *)block, 0);
            for (npy_intp k = 0; k < shape[0]; k++) {
                to[k * count] = AT(from, step, k);
            }
            continue;
        }
        PyObject *given = PyArray_FROM_OTF(block, NPY_DOUBLE, NPY_ARRAY_CARRAY_RO);
        if (given == NULL) {
            Py_CLEAR(array);
            break;
        }
        const double *from = (const double *)PyArray_DATA((PyArrayObject *)given);
        for (npy_intp k = 0; k < PyArray_SIZE((PyArrayObject *)given); k++) {
            to[k * count] = from[k];
        }
        Py_DECREF(given);
    }
    return array;
}

/* Blocks of which some are on a tape, along a new last axis. */
static PyObject *
block_on_tape(PyObject *blocks, PyObject *tape)
{
    PyObject *kind = linear_kind_of(STACK, tape);
    PyArrayObject *first = array_under(first_block(blocks));
    if (kind == NULL || first == NULL) {
        Py_XDECREF(kind);
        return UNHANDLED;
    }
    PyObject *options = Py_BuildValue("{si}", "axis", PyArray_NDIM(first));
    PyObject *parts = options == NULL ? NULL : PyList_New(0), *y = NULL;
    for (Py_ssize_t i = 0; parts != NULL && i < PyList_GET_SIZE(blocks); i++) {
        PyObject *block = PyList_GET_ITEM(blocks, i);
        block = block == Py_None ? zeros_like((PyObject *)first) : Py_NewRef(block);
        if (block == NULL || PyList_Append(parts, block) < 0) {
            Py_CLEAR(parts);
        }
        Py_XDECREF(block);
    }
    if (parts != NULL) {
        y = join_on_tape(STACK, parts, options, tape, kind);
    }
    Py_XDECREF(parts);
    Py_XDECREF(options);
    Py_DECREF(kind);
    return y;
}

/* The tangents of an array, of those of its numbers along a new last axis; zeros for None.

   Those of an inner level may be traced further out: then value and tangents are joined alike. */
static PyObject *
block_of_blocks(PyObject *blocks)
{
    PyObject *level = level_of_blocks(blocks);
    if (level == NULL) {
        return block_of_plain_blocks(blocks);
    }
    if (level == UNHANDLED || Py_TYPE(level) == TAPE) {
        return level == UNHANDLED ? UNHANDLED : block_on_tape(blocks, level);
    }
    PyObject *primals = parts_of(blocks, level, PRIMAL, NULL);
    PyObject *tangents = parts_of(blocks, level, TANGENT_OF_ARRAY, Py_None);
    PyObject *y = NULL, *ydot = NULL;
    if (primals != NULL && tangents != NULL) {
        y = block_of_blocks(primals);
        ydot = y == NULL || y == UNHANDLED ? y : block_of_blocks(tangents);
    }
    Py_XDECREF(primals);
    Py_XDECREF(tangents);
    if (ydot == NULL || ydot == UNHANDLED) {
        if (y != UNHANDLED) {
            Py_XDECREF(y);
        }
        return ydot;
    }
    return new_traced_array(DUAL_ARRAY, level, y, TANGENT_OF_ARRAY, ydot);
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

/* `np.stack` of a list of numbers; UNHANDLED for anything else, and where it has no rule. */
static PyObject *
joined_by_rule(PyObject *numbers)
{
    if (!(PyList_CheckExact(numbers) || PyTuple_CheckExact(numbers))
        || !PyDict_Contains(FRULE_KINDS, STACK) || !PyDict_Contains(RRULE_KINDS, STACK)) {
        PyErr_Clear();
        return UNHANDLED;
    }
    return joined(numbers);
}

/* Answer `np.stack(numbers)`; UNHANDLED for any other call. */
static PyObject *
join(PyObject *f, PyObject *args, PyObject *options)
{
    if (f != STACK || !PyTuple_CheckExact(args) || PyTuple_GET_SIZE(args) != 1
        || !PyDict_CheckExact(options) || PyDict_GET_SIZE(options) != 0) {
        return UNHANDLED;
    }
    return joined_by_rule(PyTuple_GET_ITEM(args, 0));
}

PyDoc_STRVAR(join_numbers_doc,
"join_numbers(numbers)\n--\n\n"
"Return np.stack(numbers), where one is traced; NotImplemented where it is done in Python.");

static PyObject *
join_numbers(PyObject *module, PyObject *numbers)
{
    PyObject *y = joined_by_rule(numbers);
    return y == UNHANDLED ? Py_NewRef(Py_NotImplemented) : y;
}

#endif
