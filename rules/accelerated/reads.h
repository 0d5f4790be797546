/* Reads of single entries: `x[i]` and `x[i, j]` of traced arrays of float64, and their way back. */

#ifndef CHAINRULES_READS_H
#define CHAINRULES_READS_H

#include "operators.h"

#define MOST_AXES 4

/* Whether `x` is a plain array of float64 that is read here. */
static int
is_float64_array(PyObject *x)
{
    if (x == NULL || Py_TYPE(x) != &PyArray_Type) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)x;
    return PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISBEHAVED_RO(array)
           && PyArray_NDIM(array) >= 1 && PyArray_NDIM(array) <= MOST_AXES;
}

static int
place_on_axis(PyObject *index, npy_intp size, npy_intp *place)
{
    if (!PyLong_CheckExact(index)) {
        return 0;
    }
    int overflow;
    long long i = PyLong_AsLongLongAndOverflow(index, &overflow);
    if (overflow || i < -size || i >= size) {
        return 0; /* of which NumPy says what is wrong */
    }
    *place = (npy_intp)(i < 0 ? i + size : i);
    return 1;
}

/* Whether an index is one integer for each of some axes, in bounds, and these. */
static int
places_among(PyObject *index, int axes, const npy_intp *sizes, npy_intp *places)
{
    if (axes == 1 && PyLong_CheckExact(index)) {
        return place_on_axis(index, sizes[0], places);
    }
    if (!PyTuple_CheckExact(index) || PyTuple_GET_SIZE(index) != axes) {
        return 0;
    }
    for (int k = 0; k < axes; k++) {
        if (!place_on_axis(PyTuple_GET_ITEM(index, k), sizes[k], places + k)) {
            return 0;
        }
    }
    return 1;
}

static int
places_of(PyObject *index, PyArrayObject *array, npy_intp *places)
{
    return places_among(index, PyArray_NDIM(array), PyArray_DIMS(array), places);
}

/* What is in part `k` of the draft of a root's memory, borrowed; NULL where it has none. */
static PyObject *
draft_of(PyObject *x, Py_ssize_t k)
{
    PyObject *memory = SLOT(x, MEMORY);
    if (memory == NULL || Py_TYPE(memory) != MEMORY_TYPE) {
        return NULL;
    }
    PyObject *draft = SLOT(memory, DRAFT);
    if (draft == NULL || !PyTuple_CheckExact(draft) || PyTuple_GET_SIZE(draft) <= k) {
        return NULL;
    }
    return PyTuple_GET_ITEM(draft, k);
}

static PyObject *
shape_of(PyArrayObject *array)
{
    int axes = PyArray_NDIM(array);
    PyObject *shape = PyTuple_New(axes);
    for (int k = 0; shape != NULL && k < axes; k++) {
        PyObject *size = PyLong_FromSsize_t(PyArray_DIM(array, k));
        if (size == NULL) {
            Py_CLEAR(shape);
            break;
        }
        PyTuple_SET_ITEM(shape, k, size);
    }
    return untracked(shape);
}

/* The entry of a read: (position, index, shape, None, None, None). */
static PyObject *
entry_of_read(PyObject *position, PyObject *index, PyArrayObject *array)
{
    PyObject *shape = shape_of(array);
    PyObject *entry = shape == NULL ? NULL : PyTuple_New(6);
    if (entry == NULL) {
        Py_XDECREF(shape);
        return NULL;
    }
    PyTuple_SET_ITEM(entry, 0, Py_NewRef(position));
    PyTuple_SET_ITEM(entry, 1, Py_NewRef(index));
    PyTuple_SET_ITEM(entry, 2, shape);
    for (Py_ssize_t k = 3; k < 6; k++) {
        PyTuple_SET_ITEM(entry, k, Py_NewRef(Py_None));
    }
    PyObject_GC_UnTrack(entry); /* its index is of integers */
    return entry;
}

/* The tangents of an entry in all directions: a view of a block, or a copy of that of a draft. */
static PyObject *
block_of_read(PyArrayObject *block, const npy_intp *places, int copied)
{
    npy_intp size = PyArray_DIM(block, 0), step = PyArray_STRIDE(block, 0);
    char *data = PyArray_BYTES(block);
    for (int k = 1; k < PyArray_NDIM(block); k++) {
        data += places[k - 1] * PyArray_STRIDE(block, k);
    }
    if (copied) {
        PyObject *copy = PyArray_SimpleNew(1, &size, NPY_DOUBLE);
        for (npy_intp i = 0; copy != NULL && i < size; i++) {
            ((double *)PyArray_DATA((PyArrayObject *)copy))[i] = *(double *)(data + i * step);
        }
        return copy;
    }
    int flags = PyArray_FLAGS(block) & NPY_ARRAY_WRITEABLE;
    PyObject *view = PyArray_New(&PyArray_Type, 1, &size, NPY_DOUBLE, &step, data, 0, flags, NULL);
    if (view == NULL || PyArray_SetBaseObject((PyArrayObject *)view, Py_NewRef(block)) < 0) {
        Py_XDECREF(view);
        return NULL;
    }
    PyArray_UpdateFlags((PyArrayObject *)view, NPY_ARRAY_UPDATE_ALL);
    return view;
}

/* Whether the tangent of an array is one of float64 beside it: of its shape, or a block of such. */
static int
is_beside(PyObject *tangent, PyArrayObject *array, int in_block)
{
    if (tangent == NULL || Py_TYPE(tangent) != &PyArray_Type) {
        return 0;
    }
    PyArrayObject *xdot = (PyArrayObject *)tangent;
    if (PyArray_TYPE(xdot) != NPY_DOUBLE || !PyArray_ISBEHAVED_RO(xdot)
        || PyArray_NDIM(xdot) != PyArray_NDIM(array) + in_block) {
        return 0;
    }
    for (int k = 0; k < PyArray_NDIM(array); k++) {
        if (PyArray_DIM(xdot, k + in_block) != PyArray_DIM(array, k)) {
            return 0;
        }
    }
    return 1;
}

static int
is_traced_array(PyObject *x)
{
    return x != NULL && (Py_TYPE(x) == ENTRY_ARRAY || Py_TYPE(x) == DUAL_ARRAY);
}

/* A traced array that is a view of none; it takes over `y` and `extra`, as `new_traced` does. */
static PyObject *
new_traced_array(PyTypeObject *type, PyObject *level, PyObject *y, Py_ssize_t slot, PyObject *extra)
{
    PyObject *traced = new_traced(type, level, y, slot, extra);
    if (traced != NULL) {
        SLOT(traced, BASE_AND_PATH) = Py_NewRef(Py_None);
    }
    return traced;
}

/* The plain array under a traced one, borrowed; NULL where there is none, or it is written to. */
static PyArrayObject *
array_under(PyObject *x)
{
    while (is_traced_array(x)) {
        x = SLOT(x, PRIMAL);
    }
    return is_float64_array(x) ? (PyArrayObject *)x : NULL;
}

/* The plain array under a traced one, where it may have a draft; NULL where there is none. */
static PyArrayObject *
array_or_draft_under(PyObject *x)
{
    while (is_traced_array(x)) {
        x = SLOT(x, PRIMAL) != NULL                  ? SLOT(x, PRIMAL)
            : SLOT(x, BASE_AND_PATH) == Py_None      ? draft_of(x, 0)
                                                     : NULL;
    }
    return is_float64_array(x) ? (PyArrayObject *)x : NULL;
}

static PyObject *read_item(PyObject *x, PyObject *index);

/* The tangents of a draft, borrowed; of ones that move in part the numbers, and which move.

   `moves` is NULL where all do. NULL where there is no draft, or it has other marks. */
static PyObject *
tangents_of_draft(PyObject *x, PyArrayObject **moves)
{
    PyObject *tangents = draft_of(x, 1), *held = draft_of(x, 0);
    *moves = NULL;
    if (tangents == NULL || Py_TYPE(tangents) != MOVING) {
        return tangents;
    }
    PyArrayObject *array = held == NULL ? NULL : array_under(held);
    PyObject *marks = SLOT(tangents, MOVES);
    if (array == NULL || marks == NULL || Py_TYPE(marks) != &PyArray_Type
        || PyArray_TYPE((PyArrayObject *)marks) != NPY_BOOL
        || !PyArray_ISBEHAVED((PyArrayObject *)marks)
        || !PyArray_SAMESHAPE((PyArrayObject *)marks, array)) {
        return NULL;
    }
    *moves = (PyArrayObject *)marks;
    return SLOT(tangents, HELD);
}

/* Whether an entry of a draft is structurally still. */
static int
is_still(PyArrayObject *moves, const npy_intp *places)
{
    return moves != NULL && !*(npy_bool *)PyArray_GetPtr(moves, (npy_intp *)places);
}

/* The tangent of a read entry, None where it is still; UNHANDLED where that of the array is none of
   float64 beside it. */
static PyObject *
tangent_of_read(PyObject *x, PyObject *index, PyArrayObject *array, const npy_intp *places)
{
    int drafted = SLOT(x, PRIMAL) == NULL;
    int in_block = Py_TYPE(SLOT(x, AT_LEVEL)) == BLOCK_DUALS;
    PyArrayObject *moves = NULL;
    PyObject *tangent = drafted ? tangents_of_draft(x, &moves) : SLOT(x, TANGENT_OF_ARRAY);
    if (is_beside(tangent, array, in_block)) {
        if (is_still(moves, places)) {
            return Py_NewRef(Py_None);
        }
        PyArrayObject *xdot = (PyArrayObject *)tangent;
        return in_block ? block_of_read(xdot, places, drafted)
                        : new_float64(*(double *)PyArray_GetPtr(xdot, (npy_intp *)places));
    }
    if (in_block || moves != NULL || tangent == NULL || !is_traced_array(tangent)
        || !is_beside((PyObject *)array_under(tangent), array, 0)) {
        return UNHANDLED;
    }
    return read_item(tangent, index);
}

/* Read an entry of a traced array, as `getitem` of its level does; UNHANDLED for another index. */
static PyObject *
read_item(PyObject *x, PyObject *index)
{
    PyObject *level = SLOT(x, AT_LEVEL);
    if (level == NULL || !is_accelerated(level) || !is_open(level) || GETITEM == NULL) {
        return UNHANDLED;
    }
    int reverse = Py_TYPE(level) == TAPE;
    PyObject *held = SLOT(x, PRIMAL) == NULL ? draft_of(x, 0) : SLOT(x, PRIMAL);
    PyArrayObject *array = held == NULL ? NULL : array_or_draft_under(held);
    PyObject *position = reverse ? SLOT(x, POSITION_IN_ARRAY) : NULL;
    npy_intp places[MOST_AXES];
    if (array == NULL || Py_TYPE(x) != (reverse ? ENTRY_ARRAY : DUAL_ARRAY)
        || (reverse && (position == NULL || !PyLong_CheckExact(position)))
        || !places_of(index, array, places)
        || !PyDict_Contains(reverse ? RRULE_KINDS : FRULE_KINDS, GETITEM)) {
        PyErr_Clear();
        return UNHANDLED;
    }
    PyObject *y = is_traced_array(held) ? read_item(held, index)
                                        : new_float64(*(double *)PyArray_GetPtr(array, places));
    if (y == NULL || y == UNHANDLED) {
        return y;
    }
    PyObject *made = keeps_nothing(level) ? no_entry()
                     : reverse            ? entry_of_read(position, index, array)
                                          : tangent_of_read(x, index, array, places);
    if (made == UNHANDLED) {
        Py_DECREF(y);
        return UNHANDLED;
    }
    if (made == Py_None) {
        Py_DECREF(made);
        return y;
    }
    return traced_result(level, y, made);
}

/* ---- the way back ---- */

/* The place of an entry in an array of the sweep's own; NULL where it is not to be written here. */
static double *
place_in(PyObject *array, PyObject *index)
{
    npy_intp places[MOST_AXES];
    if (!is_float64_array(array) || !PyArray_ISWRITEABLE((PyArrayObject *)array)
        || !places_of(index, (PyArrayObject *)array, places)) {
        return NULL;
    }
    return PyArray_GetPtr((PyArrayObject *)array, places);
}

/* Whether `ybar` was added to an entry of an array of the sweep's own. */
static int
add_number(PyObject *array, PyObject *index, PyObject *ybar)
{
    double *place = place_in(array, index);
    if (place == NULL || !is_float(ybar) || !is_clean_sum(*place + VALUE(ybar))) {
        return 0;
    }
    *place += VALUE(ybar);
    return 1;
}

/* Whether the dual `ybar` was added to an entry of the accumulator that its level has made. */
static int
add_dual(PyObject *accumulator, PyObject *index, PyObject *ybar)
{
    PyObject *level = SLOT(ybar, AT_LEVEL), *y = SLOT(ybar, PRIMAL), *ydot = SLOT(ybar, TANGENT);
    if (SLOT(accumulator, AT_LEVEL) != level || level == NULL || !is_forward(level) || y == NULL
        || !is_float(y) || ydot == NULL) {
        return 0;
    }
    double *place = place_in(SLOT(accumulator, PRIMAL), index);
    PyObject *tangent = SLOT(accumulator, TANGENT_OF_ARRAY);
    if (place == NULL || !is_clean_sum(*place + VALUE(y))) {
        return 0;
    }
    if (is_float(ydot)) {
        if (!add_number(tangent, index, ydot)) {
            return 0;
        }
    }
    else {
        PyArrayObject *array = (PyArrayObject *)SLOT(accumulator, PRIMAL);
        npy_intp places[MOST_AXES];
        if (!is_block(ydot) || !is_beside(tangent, array, 1)
            || !PyArray_ISWRITEABLE((PyArrayObject *)tangent) || !places_of(index, array, places)
            || PyArray_DIM((PyArrayObject *)tangent, 0) != PyArray_DIM((PyArrayObject *)ydot, 0)) {
            return 0;
        }
        npy_intp led[MOST_AXES + 1];
        memcpy(led + 1, places, sizeof(places));
        const char *of_ydot = PyArray_BYTES((PyArrayObject *)ydot);
        npy_intp step = PyArray_STRIDE((PyArrayObject *)ydot, 0);
        npy_intp size = PyArray_DIM((PyArrayObject *)ydot, 0);
        for (led[0] = 0; led[0] < size; led[0]++) { /* first a look, so that all are added or none */
            double *to = PyArray_GetPtr((PyArrayObject *)tangent, led);
            if (!is_clean_sum(*to + AT(of_ydot, step, led[0]))) {
                return 0;
            }
        }
        for (led[0] = 0; led[0] < size; led[0]++) {
            *(double *)PyArray_GetPtr((PyArrayObject *)tangent, led) += AT(of_ydot, step, led[0]);
        }
    }
    *place += VALUE(y);
    return 1;
}

/* Whether a number was added to an entry of an array of the sweep's own, or of a level's. */
static int
add_to(PyObject *xbar, PyObject *index, PyObject *ybar)
{
    if (xbar == NULL || Py_TYPE(xbar) != DUAL_ARRAY) {
        return add_number(xbar, index, ybar);
    }
    return Py_TYPE(ybar) == DUAL ? add_dual(xbar, index, ybar)
                                 : add_number(SLOT(xbar, PRIMAL), index, ybar);
}

/* Add the cotangent of a read entry to that of the array, in the sweep's own memory.

   Whether it was done: not where the sweep has no array of its own there yet. */
static int
pull_read(PyObject *entry, PyObject *ybar, PyObject *bars, PyObject *owned)
{
    PyObject *parent = PyTuple_GET_ITEM(entry, 0), *index = PyTuple_GET_ITEM(entry, 1);
    Py_ssize_t at = PyLong_CheckExact(parent) ? PyLong_AsSsize_t(parent) : -1;
    if (at < 0 || at >= PyList_GET_SIZE(bars) || PySet_Contains(owned, parent) != 1) {
        PyErr_Clear();
        return 0;
    }
    PyObject *xbar = PyList_GET_ITEM(bars, at);
    if (Py_TYPE(xbar) != MASKED) {
        return add_to(xbar, index, ybar);
    }
    PyArrayObject *alive = (PyArrayObject *)SLOT(xbar, ALIVE);
    npy_intp places[MOST_AXES];
    if (alive == NULL || Py_TYPE(alive) != &PyArray_Type || PyArray_TYPE(alive) != NPY_BOOL
        || !PyArray_ISBEHAVED(alive) || PyArray_NDIM(alive) > MOST_AXES
        || !places_of(index, alive, places) || !add_to(SLOT(xbar, MASKED_VALUE), index, ybar)) {
        return 0;
    }
    *(npy_bool *)PyArray_GetPtr(alive, places) = NPY_TRUE;
    return 1;
}

#endif
