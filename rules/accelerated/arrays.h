/* Elementwise rules on arrays of float64 of one shape, as `unary` and `binary` of the levels do. */

#ifndef CHAINRULES_ARRAYS_H
#define CHAINRULES_ARRAYS_H

#include "reads.h"

/* The level of a traced array, borrowed; NULL for anything else. */
static PyObject *
level_of_array(PyObject *x)
{
    return is_traced_array(x) ? SLOT(x, AT_LEVEL) : NULL;
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

/* Whether `x` may stand beside an active array: a number, or an array of float64, which on a tape
   may be traced further out. */
static int
is_constant_beside(PyObject *x, PyObject *level)
{
    if (is_float(x) || PyLong_CheckExact(x) || is_float64_array(x)) {
        return 1;
    }
    if (Py_TYPE(level) != TAPE || level_of(x) == level || level_of_array(x) == level) {
        return 0;
    }
    return is_traced_number(x) ? is_float_under(x) : array_under(x) != NULL;
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

/* ---- forward: the tangent is made at once ---- */

/* `xdot * partial`, or `partial * xdot` where the rule has one argument, as the methods have it. */
static PyObject *
pushed(PyObject *xdot, PyObject *rule, Py_ssize_t i, PyObject *y, PyObject *x, PyObject *z)
{
    PyObject *constant = PyTuple_GET_ITEM(SLOT(rule, CONSTANTS), i);
    if (constant == ONE) {
        return Py_NewRef(xdot);
    }
    PyObject *factor = partial_of(rule, i, y, x, z, 1);
    PyObject *product = factor == NULL ? NULL
                        : z == NULL    ? PyNumber_Multiply(factor, xdot)
                                       : PyNumber_Multiply(xdot, factor);
    Py_XDECREF(factor);
    return product;
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

/* The entry of an elementwise rule on arrays: (a, partial, args) or (a, partial, b, partial, args).

   `x` and `z` are the values of `a` and `b`; `b` is NULL for a rule of one argument. */
static PyObject *
entry_of_arrays(PyObject *tape, PyObject *rule, PyObject *y, PyObject *a, PyObject *x, PyObject *b,
                PyObject *z, int a_active, int b_active)
{
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
    PyObject *entry = NULL, *kept = PyTuple_New(1 + count);
    if (kept != NULL) {
        PyTuple_SET_ITEM(kept, 0, Py_NewRef(PyTuple_GET_ITEM(needs, 1) == Py_True ? y : Py_None));
        PyObject *of_x = kept_argument(tape, x, PyTuple_GET_ITEM(reads, 0), a_active);
        PyObject *of_z = NULL;
        if (of_x != NULL && count == 2) {
            of_z = kept_argument(tape, z, PyTuple_GET_ITEM(reads, 1), b_active);
            PyTuple_SET_ITEM(kept, 2, of_z);
        }
        PyTuple_SET_ITEM(kept, 1, of_x);
        if (of_x != NULL && (count == 1 || of_z != NULL)) {
            PyObject *of_a = PyTuple_GET_ITEM(partials, 0);
            PyObject *of_b = count == 2 ? PyTuple_GET_ITEM(partials, 1) : NULL;
            if (a_active && b_active) {
                entry = PyTuple_Pack(5, SLOT(a, POSITION_IN_ARRAY), of_a,
                                     SLOT(b, POSITION_IN_ARRAY), of_b, kept);
            }
            else {
                entry = PyTuple_Pack(3, SLOT(a_active ? a : b, POSITION_IN_ARRAY),
                                     a_active ? of_a : of_b, kept);
            }
        }
    }
    Py_XDECREF(kept);
    Py_DECREF(needs);
    return entry;
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

/* Whether an operand is known at a level: active, with a tangent if need be, or a constant. */
static int
is_known(PyObject *x, PyObject *level, int is_active)
{
    if (!is_active) {
        return is_constant_beside(x, level);
    }
    if (Py_TYPE(level) == TAPE) {
        PyObject *position = SLOT(x, POSITION_IN_ARRAY);
        return Py_TYPE(x) == ENTRY_ARRAY && position != NULL && PyLong_CheckExact(position);
    }
    return Py_TYPE(x) == DUAL_ARRAY && is_tangent_of_array(SLOT(x, TANGENT_OF_ARRAY));
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

static PyObject *on_arrays(const Operation *operation, PyObject *a, PyObject *b);

/* `operation(x)` of an array, which NumPy would find by its protocol if it is traced. */
static PyObject *
array_of_one(const Operation *operation, PyObject *x)
{
    PyObject *y = is_traced_array(x) ? on_arrays(operation, x, NULL) : UNHANDLED;
    return y == UNHANDLED ? result_of_one(operation, x) : y;
}

/* Answer an operation on traced arrays; `b` is NULL for one operand. */
static PyObject *
on_arrays(const Operation *operation, PyObject *a, PyObject *b)
{
    PyObject *level = inner(level_of_array(a), b == NULL ? NULL : level_of_array(b));
    if (level == NULL || !is_accelerated(level) || !is_open(level)
        || inner(level, level_of(a)) != level
        || (b != NULL && inner(level, level_of(b)) != level)) { /* numbers of an inner level */
        return UNHANDLED;
    }
    int a_active = is_active_array(a, level);
    int b_active = b != NULL && is_active_array(b, level);
    if (!is_known(a, level, a_active) || (b != NULL && !is_known(b, level, b_active))
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
    PyObject *y = UNHANDLED;
    /* At a tie a branch is differentiated again, and not the rule. */
    if (SLOT(rule, BRANCH) == Py_None
        || (is_plain(x) && (b == NULL || is_plain(z)))) {
        y = b == NULL ? array_of_one(operation, x) : result_of_two(operation, x, z);
    }
    if (y != NULL && y != UNHANDLED
        && (array_under(y) == NULL || (a_active && !is_like(x, y))
            || (b_active && !is_like(z, y)))) {
        Py_DECREF(y);
        y = UNHANDLED;
    }
    if (y != NULL && y != UNHANDLED) {
        PyObject *made;
        if (Py_TYPE(level) == TAPE) {
            made = entry_of_arrays(level, rule, y, a, x, b, z, a_active, b_active);
        }
        else {
            made = a_active ? pushed(SLOT(a, TANGENT_OF_ARRAY), rule, 0, y, x, z) : NULL;
            if (b_active && (made != NULL || !a_active)) {
                PyObject *other = pushed(SLOT(b, TANGENT_OF_ARRAY), rule, 1, y, x, z);
                if (a_active) {
                    PyObject *sum = other == NULL ? NULL : PyNumber_Add(made, other);
                    Py_DECREF(made);
                    Py_XDECREF(other);
                    made = sum;
                }
                else {
                    made = other;
                }
            }
        }
        y = traced_array(level, y, made);
    }
    Py_DECREF(x);
    Py_XDECREF(z);
    Py_DECREF(rule);
    return y;
}

#endif
