/* Structural zeros of tangents: `Moving` in sums and products, as `forward/still.py` has them. */

#ifndef CHAINRULES_STILL_H
#define CHAINRULES_STILL_H

#include "reads.h"

/* Which entries of a tangent move, borrowed; NULL where it has no marks. */
static PyObject *
moves_of(PyObject *tangent)
{
    return tangent != NULL && Py_TYPE(tangent) == MOVING ? SLOT(tangent, MOVES) : NULL;
}

/* The numbers of a tangent, borrowed, with or without marks. */
static PyObject *
held_of(PyObject *tangent)
{
    return tangent != NULL && Py_TYPE(tangent) == MOVING ? SLOT(tangent, HELD) : tangent;
}

/* Whether the marks of a tangent, if it has any, are a plain array. */
static int
has_plain_marks(PyObject *tangent)
{
    if (tangent == NULL || Py_TYPE(tangent) != MOVING) {
        return 1;
    }
    PyObject *moves = SLOT(tangent, MOVES);
    return moves != NULL && Py_TYPE(moves) == &PyArray_Type
           && PyArray_TYPE((PyArrayObject *)moves) == NPY_BOOL;
}

/* A share as plain numbers, which it takes over: zeros where nothing moves. */
static PyObject *
settled_share(PyObject *share, PyObject *moves)
{
    if (share == NULL || moves == NULL) {
        return share;
    }
    PyObject *zero = PyFloat_FromDouble(0.0);
    PyObject *plain = zero == NULL ? NULL : PyArray_Where(moves, share, zero);
    Py_XDECREF(zero);
    Py_DECREF(share);
    return plain;
}

/* A tangent with marks, of numbers that it takes over; without marks the numbers. */
static PyObject *
with_moves(PyObject *held, PyObject *moves)
{
    if (held == NULL || moves == NULL) {
        return held;
    }
    PyObject *tangent = MOVING->tp_alloc(MOVING, 0);
    if (tangent == NULL) {
        Py_DECREF(held);
        return NULL;
    }
    SLOT(tangent, HELD) = held;
    SLOT(tangent, MOVES) = Py_NewRef(moves);
    PyObject_GC_UnTrack(tangent); /* both are plain arrays */
    return tangent;
}

/* Which entries of a sum move, whose shares move as these say: NULL where all do, or for an error.
   Shares that do not move alike are settled. */
static PyObject *
moves_of_sum(PyObject **share, PyObject *moves, PyObject **other, PyObject *of_other)
{
    if (moves == of_other) {
        return Py_XNewRef(moves);
    }
    *share = settled_share(*share, moves);
    *other = settled_share(*other, of_other);
    return moves == NULL || of_other == NULL ? NULL : PyNumber_Or(moves, of_other);
}

/* ---- of cotangents ---- */

/* A cotangent, which it takes over: plain numbers where none of its marks says a zero. */
static PyObject *
settled_cotangent(PyObject *ybar)
{
    if (Py_TYPE(ybar) != MASKED) {
        return ybar;
    }
    PyArrayObject *alive = (PyArrayObject *)SLOT(ybar, ALIVE);
    if (alive == NULL || Py_TYPE(alive) != &PyArray_Type || PyArray_TYPE(alive) != NPY_BOOL
        || !PyArray_IS_C_CONTIGUOUS(alive) || SLOT(ybar, MASKED_VALUE) == NULL
        || memchr(PyArray_DATA(alive), NPY_FALSE, PyArray_SIZE(alive)) != NULL) {
        return ybar;
    }
    Py_SETREF(ybar, Py_NewRef(SLOT(ybar, MASKED_VALUE)));
    return ybar;
}

#endif
