/* Batches: elementwise operators on batched numbers of float64, and their reads, as `BatchLevel`
   has them.

   A batched number has a block, one number for each item; NumPy computes on the blocks. */

#ifndef CHAINRULES_BATCHES_H
#define CHAINRULES_BATCHES_H

#include "operators.h"

static PyTypeObject *BATCH_LEVEL, *BATCHED_NUMBER, *BATCHED_ARRAY;
static Py_ssize_t BLOCK_OF_NUMBER, BLOCK_OF_ARRAY, LIVE_OF_BATCH;
static PyObject *WRAP; /* the name of the level's method */

PyDoc_STRVAR(register_batches_doc,
"register_batches(batch_level, batched_number, batched_array)\n--\n\n"
"Note the classes of runs on many items, and of their numbers and arrays.");

static PyObject *
register_batches(PyObject *module, PyObject *args)
{
    PyTypeObject *level, *number, *array;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyType_Type, &level, &PyType_Type, &number, &PyType_Type,
                          &array)
        || offset_of(number, "block", &BLOCK_OF_NUMBER) < 0
        || offset_of(array, "block", &BLOCK_OF_ARRAY) < 0
        || offset_of(level, "live", &LIVE_OF_BATCH) < 0
        || (WRAP = PyUnicode_InternFromString("wrap")) == NULL) {
        return NULL;
    }
    Py_INCREF(args); /* the classes live as long as the process */
    BATCH_LEVEL = level;
    BATCHED_NUMBER = number;
    BATCHED_ARRAY = array;
    Py_RETURN_NONE;
}

/* The level of a batched value whose run goes on, borrowed; NULL for anything else. */
static PyObject *
live_batch(PyObject *x)
{
    PyObject *level = SLOT(x, AT_LEVEL);
    int live = level != NULL && Py_TYPE(level) == BATCH_LEVEL
               && SLOT(level, LIVE_OF_BATCH) == Py_True;
    return live ? level : NULL;
}

/* The block of a batched number at a level: plain, and of float64. NULL for anything else. */
static PyObject *
block_at(PyObject *x, PyObject *level)
{
    if (Py_TYPE(x) != BATCHED_NUMBER || SLOT(x, AT_LEVEL) != level) {
        return NULL;
    }
    PyObject *block = SLOT(x, BLOCK_OF_NUMBER);
    int known = block != NULL && PyArray_CheckExact(block)
                && PyArray_TYPE((PyArrayObject *)block) == NPY_DOUBLE;
    return known ? block : NULL;
}

/* The batched value of a block, which it takes over. */
static PyObject *
wrapped_block(PyObject *level, PyObject *block)
{
    if (block == NULL) {
        return NULL;
    }
    int known = PyArray_CheckExact(block) && PyArray_NDIM((PyArrayObject *)block) == 1
                && PyArray_TYPE((PyArrayObject *)block) == NPY_DOUBLE;
    PyObject *y = known ? BATCHED_NUMBER->tp_alloc(BATCHED_NUMBER, 0)
                        : PyObject_CallMethodObjArgs(level, WRAP, block, NULL);
    if (!known || y == NULL) {
        Py_DECREF(block);
        return y;
    }
    SLOT(y, AT_LEVEL) = Py_NewRef(level);
    SLOT(y, BLOCK_OF_NUMBER) = block;
    return y;
}

static int
is_batched_number(PyObject *x)
{
    return x != NULL && BATCHED_NUMBER != NULL && Py_TYPE(x) == BATCHED_NUMBER;
}

/* Answer an operation on one operand or two, of which one is a batched number. */
static PyObject *
on_batched(const Operation *operation, PyObject *a, PyObject *b)
{
    PyObject *level = live_batch(is_batched_number(a) ? a : b);
    if (level == NULL || FRULE_SCALARS == NULL
        || PyCFunction_Check(operation->f) /* of Python's math, which takes no arrays */
        || PyDict_Contains(FRULE_SCALARS, operation->f) != 1) {
        PyErr_Clear();
        return UNHANDLED;
    }
    PyObject *x = block_at(a, level), *z = b == NULL ? NULL : block_at(b, level);
    if (x == NULL && (is_float(a) || PyLong_CheckExact(a))) {
        x = a;
    }
    if (b != NULL && z == NULL && (is_float(b) || PyLong_CheckExact(b))) {
        z = b;
    }
    if (x == NULL || (b != NULL && z == NULL)) {
        return UNHANDLED;
    }
    return wrapped_block(level, b == NULL ? result_of_one(operation, x)
                                          : result_of_two(operation, x, z));
}

/* Read `x[i]` of a batched vector of float64, by an integer; UNHANDLED for another index. */
static PyObject *
read_batched(PyObject *x, PyObject *index)
{
    PyObject *level = live_batch(x), *block = SLOT(x, BLOCK_OF_ARRAY);
    if (level == NULL || SLOT(x, MEMORY) != NULL || block == NULL
        || !PyLong_CheckExact(index) || !PyArray_CheckExact(block)
        || PyArray_TYPE((PyArrayObject *)block) != NPY_DOUBLE
        || PyArray_NDIM((PyArrayObject *)block) != 2) {
        return UNHANDLED;
    }
    PyObject *all = PySlice_New(NULL, NULL, NULL);
    PyObject *led = all == NULL ? NULL : PyTuple_Pack(2, all, index);
    PyObject *y = led == NULL ? NULL : PyObject_GetItem(block, led);
    Py_XDECREF(all);
    Py_XDECREF(led);
    return wrapped_block(level, y);
}

#endif
