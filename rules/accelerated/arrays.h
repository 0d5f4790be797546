/* Elementwise rules on arrays of float64, and on numbers that are broadcast to them, as `unary` and
   `binary` of the levels do. */

#ifndef CHAINRULES_ARRAYS_H
#define CHAINRULES_ARRAYS_H

#include "still.h"

/* The level of a traced array, borrowed; NULL for anything else. */
static PyObject *
level_of_array(PyObject *x)
{
    return is_traced_array(x) ? SLOT(x, AT_LEVEL) : NULL;
}

/* Give an array its value back that a write has taken. -1 for an error that ends the run. */
static int
with_value(PyObject *x)
{
    if (x == NULL || !is_traced_array(x) || SLOT(x, PRIMAL) != NULL) {
        return 0;
    }
    PyObject *primal = PyObject_GetAttrString(x, "primal");
    Py_XDECREF(primal);
    if (primal == NULL && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear(); /* Python says what is wrong */
        return 0;
    }
    return primal == NULL ? -1 : 0;
}

/* Whether `x` is an active array of `level`: on a tape its value may be traced further out. */
static int
is_active_array(PyObject *x, PyObject *level)
{
    if (level_of_array(x) != level) {
        return 0;
    }
    PyObject *held = SLOT(x, PRIMAL);
    return is_float64_array(held) || (Py_TYPE(level) == TAPE && array_under(held) != NULL);
}

/* Whether `x` is an array of float64 beside an active one, which on a tape may be traced further
   out. */
static int
array_beside(PyObject *x, PyObject *level)
{
    return is_float64_array(x)
           || (Py_TYPE(level) == TAPE && is_traced_array(x) && level_of_array(x) != level
               && array_under(x) != NULL);
}

/* Whether `x` may stand beside an active operand: a number, or an array. */
static int
is_constant_beside(PyObject *x, PyObject *level)
{
    if (is_float(x) || PyLong_CheckExact(x)) {
        return 1;
    }
    return is_traced_number(x)
               ? Py_TYPE(level) == TAPE && level_of(x) != level && is_float_under(x)
               : array_beside(x, level);
}

static int
is_tangent_of_array(PyObject *x)
{
    return x != NULL && Py_TYPE(x) == &PyArray_Type
           && PyArray_TYPE((PyArrayObject *)x) == NPY_DOUBLE;
}

/* Whether `x` and `y` are arrays of float64 of one shape, or traced such. */
static int
is_like(PyObject *x, PyObject *y)
{
    PyArrayObject *of_x = array_under(x), *of_y = array_under(y);
    return of_x != NULL && of_y != NULL && PyArray_SAMESHAPE(of_x, of_y);
}

/* ---- operands ---- */

/* The place of an operand in the record of its tape, or its tangent, borrowed. */
static PyObject *
followed(PyObject *x)
{
    if (is_traced_array(x)) {
        return SLOT(x, Py_TYPE(x) == ENTRY_ARRAY ? POSITION_IN_ARRAY : TANGENT_OF_ARRAY);
    }
    return SLOT(x, Py_TYPE(x) == ENTRY_NUMBER ? POSITION : TANGENT);
}

/* Whether an operand is known at a level: active, with a tangent if need be, or a constant. */
static int
is_known(PyObject *x, PyObject *level, int is_active)
{
    if (!is_active) {
        return is_constant_beside(x, level);
    }
    PyObject *slot = followed(x);
    if (Py_TYPE(level) == TAPE) {
        return (Py_TYPE(x) == ENTRY_ARRAY || Py_TYPE(x) == ENTRY_NUMBER) && slot != NULL
               && PyLong_CheckExact(slot);
    }
    if (Py_TYPE(x) == DUAL_ARRAY) {
        return is_tangent_of_array(slot);
    }
    return Py_TYPE(x) == DUAL && slot != NULL && is_float(SLOT(x, PRIMAL))
           && (Py_TYPE(level) == BLOCK_DUALS ? is_block(slot) : is_float(slot));
}

/* Whether an operand of an elementwise rule is known: its tangent may have marks of what moves. */
static int
is_known_operand(PyObject *x, PyObject *level, int is_active)
{
    if (is_active && Py_TYPE(x) == DUAL_ARRAY) {
        PyObject *slot = followed(x);
        return is_tangent_of_array(held_of(slot)) && has_plain_marks(slot);
    }
    return is_known(x, level, is_active);
}

/* Whether `x` is an active number or array of `level`. */
static int
is_active(PyObject *x, PyObject *level)
{
    return is_traced_number(x) ? level_of(x) == level && is_float_under(x)
                               : is_active_array(x, level);
}

/* Zero among the constants: Python's, which its operators raise for, the tape keeps as NumPy's. */
static int
is_zero_of_python(PyObject *x)
{
    return (PyFloat_CheckExact(x) && VALUE(x) == 0) || (PyLong_CheckExact(x) && !PyObject_IsTrue(x));
}

static int
is_plain(PyObject *x)
{
    return !is_traced_array(x) && !is_traced_number(x);
}

/* ---- forward: the tangent is made at once ---- */

/* The axes of a number or an array; -1 for one of more than are handled. */
static int
rank_of(PyObject *x)
{
    if (x == NULL || !PyArray_CheckExact(x)) {
        return 0;
    }
    int rank = PyArray_NDIM((PyArrayObject *)x);
    return rank > MOST_AXES + 1 ? -1 : rank;
}

/* A block whose directions have `rank` axes each: axes of length 1 come in front of theirs. */
static PyObject *
aligned(PyObject *block, int rank)
{
    PyArrayObject *array = (PyArrayObject *)block;
    int given = PyArray_NDIM(array) - 1;
    if (given >= rank || rank > MOST_AXES) {
        return Py_NewRef(block);
    }
    npy_intp shape[MOST_AXES + 1];
    shape[0] = PyArray_DIM(array, 0);
    for (int k = 0; k < rank; k++) {
        shape[k + 1] = k < rank - given ? 1 : PyArray_DIM(array, k - (rank - given) + 1);
    }
    PyArray_Dims dims = {shape, rank + 1};
    return PyArray_Newshape(array, &dims, NPY_CORDER);
}

/* The share of a tangent, as the methods have it: `xdot * partial` where both operands have the
   shape of the result, and of a block; else `partial * xdot`. */
static PyObject *
pushed(PyObject *xdot, PyObject *rule, Py_ssize_t i, PyObject *y, PyObject *x, PyObject *z,
       int in_block, int broadcast)
{
    if (PyTuple_GET_ITEM(SLOT(rule, CONSTANTS), i) == ONE) {
        return Py_NewRef(xdot);
    }
    PyObject *factor = partial_of(rule, i, y, x, z, 1);
    if (factor == NULL) {
        return NULL;
    }
    PyObject *led = in_block ? aligned(xdot, rank_of(factor)) : Py_NewRef(xdot);
    int factor_first = z == NULL || (broadcast && !in_block);
    PyObject *product = led == NULL    ? NULL
                        : factor_first ? PyNumber_Multiply(factor, led)
                                       : PyNumber_Multiply(led, factor);
    Py_DECREF(factor);
    Py_XDECREF(led);
    return product;
}

/* The sum of two shares, which it takes over, or their difference: of that with minus one time the
   other it has the bits. A `fresh` share is a product that nobody else holds: the sum of arrays of
   one shape is written into it. */
static PyObject *
sum_of_shares(PyObject *share, PyObject *other, int in_block, int fresh, int minus)
{
    if (in_block && share != NULL && other != NULL) {
        int rank = rank_of(share), of_other = rank_of(other);
        rank = (of_other > rank ? of_other : rank) - 1;
        Py_SETREF(share, aligned(share, rank));
        Py_SETREF(other, aligned(other, rank));
    }
    PyObject *sum = NULL;
    if (share != NULL && other != NULL) {
        int inside = fresh && is_tangent_of_array(share) && is_tangent_of_array(other)
                     && PyArray_SAMESHAPE((PyArrayObject *)share, (PyArrayObject *)other);
        sum = minus    ? (inside ? PyNumber_InPlaceSubtract : PyNumber_Subtract)(share, other)
              : inside ? PyNumber_InPlaceAdd(share, other)
                       : PyNumber_Add(share, other);
    }
    Py_XDECREF(share);
    Py_XDECREF(other);
    return sum;
}

/* A share, which it takes over, in the shape of the tangent of `y`, whose directions are `count`;
   -1 for one that is no block. UNHANDLED for what is no share of float64. */
static PyObject *
spread(PyObject *share, PyArrayObject *y, npy_intp count)
{
    int rank = PyArray_NDIM(y), in_block = count >= 0;
    if (!is_float(share) && !is_tangent_of_array(share)) {
        Py_DECREF(share);
        return UNHANDLED;
    }
    if (in_block && is_tangent_of_array(share)) {
        Py_SETREF(share, aligned(share, rank));
        if (share == NULL) {
            return NULL;
        }
    }
    npy_intp shape[MOST_AXES + 1];
    shape[0] = count;
    memcpy(shape + in_block, PyArray_DIMS(y), rank * sizeof(npy_intp));
    PyObject *whole = PyArray_SimpleNew(rank + in_block, shape, NPY_DOUBLE);
    if (whole != NULL && PyArray_CopyObject((PyArrayObject *)whole, share) < 0) {
        PyErr_Clear(); /* Python says what is wrong */
        Py_SETREF(whole, UNHANDLED);
    }
    Py_DECREF(share);
    return whole;
}

/* The tangent of an array `y`; UNHANDLED where the shares do not fit it. */
static PyObject *
tangent_of_arrays(PyObject *level, PyObject *rule, PyObject *y, PyObject *a, PyObject *x,
                  PyObject *b, PyObject *z, int a_active, int b_active, int broadcast)
{
    int in_block = Py_TYPE(level) == BLOCK_DUALS;
    /* A partial may be a function of Python's, which may write into an operand. */
    PyObject *adot = a_active ? Py_NewRef(followed(a)) : NULL;
    PyObject *bdot = b_active ? Py_NewRef(followed(b)) : NULL;
    PyObject *ydot = NULL, *moves = NULL;
    if (a_active) {
        ydot = pushed(held_of(adot), rule, 0, y, x, z, in_block, broadcast);
        moves = Py_XNewRef(moves_of(adot));
    }
    if (b_active && (ydot != NULL || !a_active)) {
        PyObject *constant = PyTuple_GET_ITEM(SLOT(rule, CONSTANTS), 1);
        double factor;
        int minus = a_active && moves == NULL && moves_of(bdot) == NULL
                    && as_double(constant, &factor) && factor == -1;
        PyObject *share = minus ? Py_NewRef(held_of(bdot))
                                : pushed(held_of(bdot), rule, 1, y, x, z, in_block, broadcast);
        if (a_active) {
            Py_XSETREF(moves, moves_of_sum(&ydot, moves, &share, moves_of(bdot)));
            ydot = sum_of_shares(ydot, share, in_block,
                                 PyTuple_GET_ITEM(SLOT(rule, CONSTANTS), 0) != ONE, minus);
        }
        else {
            ydot = share;
            moves = Py_XNewRef(moves_of(bdot));
        }
    }
    if (ydot != NULL && broadcast) {
        PyArrayObject *block = (PyArrayObject *)held_of(a_active ? adot : bdot);
        npy_intp count = in_block ? PyArray_DIM(block, 0) : -1;
        int fits = is_beside(ydot, (PyArrayObject *)y, in_block)
                   && (!in_block || PyArray_DIM((PyArrayObject *)ydot, 0) == count);
        if (!fits && moves == NULL) {
            ydot = spread(ydot, (PyArrayObject *)y, count);
        }
        else if (!fits) {
            Py_SETREF(ydot, UNHANDLED);
        }
    }
    ydot = ydot == UNHANDLED ? ydot : with_moves(ydot, moves);
    Py_XDECREF(moves);
    Py_XDECREF(adot);
    Py_XDECREF(bdot);
    return ydot;
}

/* ---- reverse: the entry keeps the partials, and what they read ---- */

/* What a rule needs of `y` and of its arguments, borrowed from the rule: see `ScalarRule.needed`. */
static PyObject *
needed(PyObject *rule, PyObject *active)
{
    PyObject *found = PyDict_GetItemWithError(SLOT(rule, NEEDS), active);
    if (found == NULL && !PyErr_Occurred()) {
        PyObject *made = PyObject_CallMethod(rule, "needed", "(O)", active); /* which keeps it */
        Py_XDECREF(made);
        found = made == NULL ? NULL : PyDict_GetItemWithError(SLOT(rule, NEEDS), active);
    }
    return found;
}

/* What an entry keeps of an argument: of a plain array what the tape holds of it. */
static PyObject *
kept_argument(PyObject *tape, PyObject *x, PyObject *reads, int is_active)
{
    if (reads != Py_True) {
        return Py_NewRef(Py_None);
    }
    if (is_active || !(PyArray_CheckExact(x) || is_traced_array(x))) {
        return Py_NewRef(x);
    }
    return PyObject_CallMethod(SLOT(tape, WATCH), "hold", "(O)", x);
}

/* The shape to which cotangents of an operand are summed; None where it is that of the result. */
static PyObject *
shape_beside(PyObject *x, PyObject *shape)
{
    PyArrayObject *array = array_under(x);
    PyObject *given = array == NULL ? PyTuple_New(0) : shape_of(array); /* of a number () */
    int same = given == NULL ? -1 : PyObject_RichCompareBool(given, shape, Py_EQ);
    if (same == 1) {
        Py_SETREF(given, Py_NewRef(Py_None));
    }
    else if (same < 0) {
        Py_CLEAR(given);
    }
    return given;
}

/* The entry of an elementwise rule on arrays: (a, partial, args) or (a, partial, b, partial, args);
   and where they were broadcast (a, partial, shape, b, partial, shape, args, shape of the result).

   `x` and `z` are the values of `a` and `b`; `b` is NULL for a rule of one argument. */
static PyObject *
entry_of_arrays(PyObject *tape, PyObject *rule, PyObject *y, PyObject *a, PyObject *x, PyObject *b,
                PyObject *z, int a_active, int b_active, int broadcast)
{
    if (keeps_nothing(tape)) {
        return no_entry();
    }
    int count = b == NULL ? 1 : 2;
    PyObject *active = count == 1 ? Py_BuildValue("(O)", Py_True)
                                  : Py_BuildValue("(OO)", a_active ? Py_True : Py_False,
                                                  b_active ? Py_True : Py_False);
    PyObject *needs = active == NULL ? NULL : Py_XNewRef(needed(rule, active));
    Py_XDECREF(active);
    if (needs == NULL) {
        return NULL;
    }
    PyObject *partials = PyTuple_GET_ITEM(needs, 0), *reads = PyTuple_GET_ITEM(needs, 2);
    PyObject *of_a = PyTuple_GET_ITEM(partials, 0);
    PyObject *of_b = count == 2 ? PyTuple_GET_ITEM(partials, 1) : NULL;
    PyObject *read_y = PyTuple_GET_ITEM(needs, 1) == Py_True ? y : Py_None;
    PyObject *of_x = kept_argument(tape, x, PyTuple_GET_ITEM(reads, 0), a_active), *of_z = NULL;
    PyObject *kept = NULL, *entry = NULL;
    if (of_x != NULL && count == 2) {
        of_z = kept_argument(tape, z, PyTuple_GET_ITEM(reads, 1), b_active);
        kept = of_z == NULL ? NULL : PyTuple_Pack(3, read_y, of_x, of_z);
    }
    else if (of_x != NULL) {
        kept = PyTuple_Pack(2, read_y, of_x);
    }
    Py_XDECREF(of_x);
    Py_XDECREF(of_z);
    untracked(kept);
    if (kept != NULL && broadcast) {
        PyObject *shape = shape_of(array_under(y));
        PyObject *first = a_active ? a : b, *second = a_active && b_active ? b : NULL;
        PyObject *of_first = shape == NULL ? NULL : shape_beside(a_active ? x : z, shape);
        PyObject *of_second = of_first == NULL  ? NULL
                              : second == NULL ? Py_NewRef(Py_None)
                                               : shape_beside(z, shape);
        if (of_second != NULL) {
            entry = PyTuple_Pack(8, followed(first), a_active ? of_a : of_b, of_first,
                                 second == NULL ? Py_None : followed(second),
                                 second == NULL ? Py_None : of_b, of_second, kept, shape);
        }
        Py_XDECREF(shape);
        Py_XDECREF(of_first);
        Py_XDECREF(of_second);
    }
    else if (kept != NULL && a_active && b_active) {
        entry = PyTuple_Pack(5, followed(a), of_a, followed(b), of_b, kept);
    }
    else if (kept != NULL) {
        entry = PyTuple_Pack(3, followed(a_active ? a : b), a_active ? of_a : of_b, kept);
    }
    Py_XDECREF(kept);
    Py_DECREF(needs);
    return untracked_beside(entry, of_a, of_b);
}

/* ---- both ---- */

/* The traced array `y` of an operation, which it takes over, with its entry or its tangent. */
static PyObject *
traced_array(PyObject *level, PyObject *y, PyObject *made)
{
    if (made == NULL || !is_open(level)) {
        Py_DECREF(y);
        Py_XDECREF(made);
        return made == NULL ? failed() : UNHANDLED;
    }
    if (Py_TYPE(level) != TAPE) {
        return new_traced_array(DUAL_ARRAY, level, y, TANGENT_OF_ARRAY, made);
    }
    PyObject *position = appended(level, made);
    return new_traced_array(ENTRY_ARRAY, level, y, POSITION_IN_ARRAY, position);
}

static PyObject *on_arrays(const Operation *operation, PyObject *a, PyObject *b);

/* `operation(x)` of an array, which NumPy would find by its protocol if it is traced. */
static PyObject *
array_of_one(const Operation *operation, PyObject *x)
{
    PyObject *y = is_traced_array(x) ? on_arrays(operation, x, NULL) : UNHANDLED;
    return y == UNHANDLED ? result_of_one(operation, x) : y;
}

/* Answer an operation on operands of which one is a traced array; `b` is NULL for one operand. */
static PyObject *
on_arrays(const Operation *operation, PyObject *a, PyObject *b)
{
    PyObject *level = inner(level_of_array(a), level_of(a));
    if (b != NULL) {
        level = inner(level, inner(level_of_array(b), level_of(b)));
    }
    if (level == NULL || !is_accelerated(level) || !is_open(level)) {
        return UNHANDLED;
    }
    if (with_value(a) < 0 || with_value(b) < 0) {
        return NULL;
    }
    int a_active = is_active(a, level), b_active = b != NULL && is_active(b, level);
    if (!is_known_operand(a, level, a_active) || (b != NULL && !is_known_operand(b, level, b_active))
        || is_zero_of_python(a) || (b != NULL && is_zero_of_python(b))) {
        return UNHANDLED;
    }
    PyObject *rule = rule_of(operation->f, level, b == NULL ? 1 : 2);
    if (rule == NULL) {
        return UNHANDLED;
    }
    PyObject *x = a_active ? SLOT(a, PRIMAL) : a;
    PyObject *z = b_active ? SLOT(b, PRIMAL) : b;
    /* A write into an operand, by a class of the user's that answers, would free these. */
    Py_INCREF(x);
    Py_XINCREF(z);
    PyObject *y = b == NULL ? array_of_one(operation, x) : result_of_two(operation, x, z);
    /* At a tie a branch is differentiated again, and not the rule. */
    if (SLOT(rule, BRANCH) != Py_None && !(is_plain(x) && (b == NULL || is_plain(z)))) {
        y = unless_branch(SLOT(rule, BRANCH), y, x, z);
    }
    if (y != NULL && y != UNHANDLED && array_under(y) == NULL) {
        Py_DECREF(y);
        y = UNHANDLED;
    }
    if (y != NULL && y != UNHANDLED) {
        int broadcast = (a_active && !is_like(x, y)) || (b_active && !is_like(z, y));
        PyObject *made;
        if (Py_TYPE(level) == TAPE) {
            made = entry_of_arrays(level, rule, y, a, x, b, z, a_active, b_active, broadcast);
        }
        else {
            made = tangent_of_arrays(level, rule, y, a, x, b, z, a_active, b_active, broadcast);
        }
        if (made == UNHANDLED) {
            Py_SETREF(y, UNHANDLED);
        }
        else {
            y = traced_array(level, y, made);
        }
    }
    Py_DECREF(x);
    Py_XDECREF(z);
    Py_DECREF(rule);
    return y;
}

#endif
