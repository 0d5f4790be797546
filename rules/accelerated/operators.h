/* Operators: elementwise rules on traced numbers, as `Tape` and `ForwardLevel` apply them.

   `binary` and `unary` do what the methods of these names do where each value under the traced ones
   is a float, or all active ones and the result are complex; of anything else they say UNHANDLED,
   and the method is called. What they have done by
   then is without effect: an entry that nobody depends on at most. */

#ifndef CHAINRULES_OPERATORS_H
#define CHAINRULES_OPERATORS_H

#include "arithmetic.h"
#include "collector.h"

/* One operation: the function whose rule it has; what to call for that where a value is traced;
   what to compute it by, NULL for a call; and the methods in Python for what is not handled here. */
typedef struct {
    PyObject *f, *seen;
    PyObject *(*binary)(PyObject *, PyObject *);
    PyObject *(*unary)(PyObject *);
    PyObject *method, *reflected;
} Operation;

static PyObject unhandled;
#define UNHANDLED (&unhandled)

static PyObject *unary(const Operation *operation, PyObject *x);

static int is_traced_array(PyObject *x);

/* Whether `x` is a vector: the complex tangents of one number in all directions. */
static int
is_complex_block(PyObject *x)
{
    return Py_TYPE(x) == &PyArray_Type && PyArray_NDIM((PyArrayObject *)x) == 1
           && PyArray_TYPE((PyArrayObject *)x) == NPY_CDOUBLE
           && PyArray_ISBEHAVED_RO((PyArrayObject *)x);
}

/* The numbers of an operation: all active ones, and the result, are of one field. */
typedef struct {
    int is_complex, items; /* items: whether floats may be those of each item of a batch */
} Field;

/* Whether `x` is a number of a field. */
static int
is_in(Field field, PyObject *x)
{
    return field.is_complex ? is_complex_under(x) : is_float_or_items(x, field.items);
}

/* Whether `x` is a tangent that is multiplied and added here: a block may be traced further out. */
static int
is_tangent(PyObject *x, Field field)
{
    return x != NULL && (is_traced_array(x) || is_in(field, x)
                         || (field.is_complex ? is_complex_block(x) : is_block(x)));
}

/* The rule of a ufunc in `count` arguments at a level; NULL where it is not accelerated. */
static PyObject *
rule_of(PyObject *ufunc, PyObject *level, Py_ssize_t count)
{
    PyObject *table = Py_TYPE(level) == TAPE ? RRULE_SCALARS : FRULE_SCALARS;
    PyObject *rule = PyDict_GetItemWithError(table, ufunc);
    if (rule == NULL || Py_TYPE(rule) != SCALAR_RULE
        || PyTuple_GET_SIZE(SLOT(rule, CONSTANTS)) != count) {
        PyErr_Clear();
        return NULL;
    }
    return Py_NewRef(rule); /* a partial may register another one */
}

/* What a partial's function gives, where it is a number; else an error after which the operation
   is left to Python: at a tie it may be `Shares`, by which only kinds multiply. */
static PyObject *
called(PyObject *f, PyObject *y, PyObject *x, PyObject *z, int of_arrays)
{
    PyObject *stack[4] = {NULL, y, x, z};
    size_t count = z == NULL ? 2 : 3;
    PyObject *partial = PyObject_Vectorcall(f, stack + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                            NULL);
    int items = is_float_of_items(number_under(y));
    if (partial != NULL && !PyLong_CheckExact(partial) && !is_float_or_items(partial, items)
        && !(is_complex_under(partial) && is_complex_under(y)) && !(of_arrays && PyArray_CheckExact(partial))) {
        Py_DECREF(partial);
        PyErr_SetNone(PyExc_ArithmeticError);
        return NULL;
    }
    return partial;
}

/* The partial of a rule in its argument `i`: a constant, an operand, or what its function gives. */
static PyObject *
partial_of(PyObject *rule, Py_ssize_t i, PyObject *y, PyObject *x, PyObject *z, int of_arrays)
{
    PyObject *constant = PyTuple_GET_ITEM(SLOT(rule, CONSTANTS), i);
    if (constant != Py_None) {
        return Py_NewRef(constant);
    }
    PyObject *f = PyTuple_GET_ITEM(SLOT(rule, PARTIALS), i);
    if (f == FIRST || f == SECOND) {
        return Py_NewRef(f == FIRST ? x : z);
    }
    if (f == OVER_SECOND) {
        return over(ONE, z);
    }
    if (f == MINUS_QUOTIENT_OVER_SECOND) {
        PyObject *minus_y = negative(y);
        PyObject *partial = minus_y == NULL ? NULL : over(minus_y, z);
        Py_XDECREF(minus_y);
        return partial;
    }
    return called(f, y, x, z, of_arrays);
}

/* A partial, where None stands for the constant 1. */
static PyObject *
factor_at(PyObject *rule, Py_ssize_t i, PyObject *y, PyObject *x, PyObject *z)
{
    if (PyTuple_GET_ITEM(SLOT(rule, CONSTANTS), i) == ONE) {
        return Py_NewRef(Py_None);
    }
    return partial_of(rule, i, y, x, z, 0);
}

/* After an error: UNHANDLED where Python may go on, as NumPy's floats do where its own raise. */
static PyObject *
failed(void)
{
    if (PyErr_ExceptionMatches(PyExc_ArithmeticError)) {
        PyErr_Clear();
        return UNHANDLED;
    }
    return NULL;
}

/* A traced number of `level`; it takes over `primal` and `extra`, its position or tangent. */
static PyObject *
new_traced(PyTypeObject *type, PyObject *level, PyObject *primal, Py_ssize_t slot, PyObject *extra)
{
    PyObject *traced = extra == NULL ? NULL : type->tp_alloc(type, 0);
    if (traced == NULL) {
        Py_DECREF(primal);
        Py_XDECREF(extra);
        return NULL;
    }
    SLOT(traced, PRIMAL) = primal;
    SLOT(traced, AT_LEVEL) = Py_NewRef(level);
    SLOT(traced, slot) = extra;
    if (type == DUAL && is_untracked(primal) && is_untracked(extra)) {
        PyObject_GC_UnTrack(traced); /* it refers to its level alone, and that to none */
    }
    return traced;
}

/* Whether a level is a tape that keeps no entry: for values alone, or while it is swept. */
static int
keeps_nothing(PyObject *level)
{
    return Py_TYPE(level) == TAPE && SLOT(level, ENTRIES) == DISCARDED;
}

/* An entry in place of one that would not be kept, so that none is made. */
static PyObject *
no_entry(void)
{
    return PyTuple_New(0);
}

/* The position of an entry, which it takes over, appended to a tape. */
static PyObject *
appended(PyObject *tape, PyObject *entry)
{
    PyObject *entries = SLOT(tape, ENTRIES);
    if (entries == DISCARDED) {
        Py_DECREF(entry);
        return PyLong_FromLong(0);
    }
    PyObject *position = PyLong_FromSsize_t(PyList_GET_SIZE(entries));
    if (position != NULL && PyList_Append(entries, entry) < 0) {
        Py_CLEAR(position);
    }
    Py_DECREF(entry);
    return position;
}

/* Whether a level takes what is computed now: a tape, until it is closed. */
static int
is_open(PyObject *level)
{
    if (Py_TYPE(level) == TAPE) {
        PyObject *entries = SLOT(level, ENTRIES);
        return entries != NULL && (PyList_CheckExact(entries) || entries == DISCARDED);
    }
    return SLOT(level, LIVE) == Py_True;
}

/* The level of `x`, borrowed; NULL where it is no traced number. */
static PyObject *
level_of(PyObject *x)
{
    return is_traced_number(x) ? SLOT(x, AT_LEVEL) : NULL;
}

/* Whether a level, whose number is in slot `at`, is further out than one with a tape or duals. */
static int
is_outside(PyObject *outer, Py_ssize_t at, PyObject *level)
{
    PyObject *a = outer == NULL ? NULL : SLOT(outer, at), *b = SLOT(level, NUMBER);
    return a != NULL && b != NULL && PyLong_CheckExact(a) && PyLong_CheckExact(b)
           && PyLong_AsLongLong(a) < PyLong_AsLongLong(b);
}

/* The inner one of two levels; NULL for none, and where one has its number in another slot. */
static PyObject *
inner(PyObject *a, PyObject *b)
{
    if (a == NULL || b == NULL || a == b) {
        return a == NULL ? b : a;
    }
    if (!is_accelerated(a) || !is_accelerated(b)) {
        return NULL;
    }
    PyObject *of_a = SLOT(a, NUMBER), *of_b = SLOT(b, NUMBER);
    if (of_a == NULL || of_b == NULL || !PyLong_CheckExact(of_a) || !PyLong_CheckExact(of_b)) {
        return NULL;
    }
    return PyLong_AsLongLong(of_a) > PyLong_AsLongLong(of_b) ? a : b;
}

/* Whether an operation is one on floats of items at a level: those of Python's math are none. */
static int
is_on_items(const Operation *operation, PyObject *level)
{
    return takes_items(level) && operation->f == operation->seen;
}

/* Whether `x` may stand in an operation beside an active operand, as a constant of the level. */
static int
is_constant(PyObject *x, PyObject *level, Field field)
{
    if (is_float_of_items(x)) { /* of a batch further out; one further in answers itself */
        return field.items && is_outside(SLOT(x, AT_LEVEL), NUMBER_OF_BATCH, level);
    }
    return is_float(x) || PyLong_CheckExact(x) || (field.is_complex && is_complex_under(x))
           || (is_traced_number(x) && is_float_or_items(x, field.items));
}

static PyObject *
entry_of_two(PyObject *a, PyObject *b, PyObject *rule, PyObject *y, PyObject *x, PyObject *z)
{
    PyObject *of_a = conjugated(partial_of(rule, 0, y, x, z, 0));
    PyObject *of_b = of_a == NULL ? NULL : conjugated(partial_of(rule, 1, y, x, z, 0));
    PyObject *entry = of_b == NULL ? NULL : PyTuple_New(4);
    if (entry == NULL) {
        Py_XDECREF(of_a);
        Py_XDECREF(of_b);
        return NULL;
    }
    PyTuple_SET_ITEM(entry, 0, Py_NewRef(SLOT(a, POSITION)));
    PyTuple_SET_ITEM(entry, 1, of_a);
    PyTuple_SET_ITEM(entry, 2, Py_NewRef(SLOT(b, POSITION)));
    PyTuple_SET_ITEM(entry, 3, of_b);
    return untracked(entry);
}

static PyObject *
entry_of_one(PyObject *a, Py_ssize_t i, PyObject *rule, PyObject *y, PyObject *x, PyObject *z)
{
    PyObject *of_a = conjugated(partial_of(rule, i, y, x, z, 0));
    PyObject *entry = of_a == NULL ? NULL : PyTuple_New(2);
    if (entry == NULL) {
        Py_XDECREF(of_a);
        return NULL;
    }
    PyTuple_SET_ITEM(entry, 0, Py_NewRef(SLOT(a, POSITION)));
    PyTuple_SET_ITEM(entry, 1, of_a);
    return untracked(entry);
}

static PyObject *
tangent_of_two(PyObject *a, PyObject *b, PyObject *rule, PyObject *y, PyObject *x, PyObject *z)
{
    PyObject *of_a = factor_at(rule, 0, y, x, z);
    PyObject *of_b = of_a == NULL ? NULL : factor_at(rule, 1, y, x, z);
    PyObject *ydot = of_b == NULL ? NULL : combined(SLOT(a, TANGENT), of_a, SLOT(b, TANGENT), of_b);
    Py_XDECREF(of_a);
    Py_XDECREF(of_b);
    return ydot;
}

static PyObject *
tangent_of_one(PyObject *a, Py_ssize_t i, PyObject *rule, PyObject *y, PyObject *x, PyObject *z)
{
    PyObject *of_a = factor_at(rule, i, y, x, z);
    PyObject *ydot = of_a == NULL ? NULL : scaled(SLOT(a, TANGENT), of_a);
    Py_XDECREF(of_a);
    return ydot;
}

/* The traced result `y` of an operation, which it takes over: its entry or its tangent is `made`. */
static PyObject *
traced_result(PyObject *level, PyObject *y, PyObject *made)
{
    if (made == NULL) {
        Py_DECREF(y);
        return failed();
    }
    if (!is_open(level)) { /* a partial, of a user's rule, has ended the run */
        Py_DECREF(y);
        Py_DECREF(made);
        return UNHANDLED;
    }
    if (Py_TYPE(level) == TAPE) {
        return new_traced(ENTRY_NUMBER, level, y, POSITION, appended(level, made));
    }
    return new_traced(DUAL, level, y, TANGENT, as_numpys_beside(y, made));
}

/* `operation(x, z)`. */
static PyObject *
result_of_two(const Operation *operation, PyObject *x, PyObject *z)
{
    if (operation->binary != NULL) {
        return operation->binary(x, z);
    }
    PyObject *stack[3] = {NULL, x, z};
    PyObject *f = is_traced_number(x) || is_traced_number(z) ? operation->seen : operation->f;
    return PyObject_Vectorcall(f, stack + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
}

/* `operation(x)`. */
static PyObject *
result_of_one(const Operation *operation, PyObject *x)
{
    if (operation->unary != NULL) {
        return operation->unary(x);
    }
    if (is_traced_number(x)) { /* NumPy would find that by its protocol */
        PyObject *y = unary(operation, x);
        if (y != UNHANDLED) {
            return y;
        }
    }
    PyObject *stack[2] = {NULL, x};
    PyObject *f = is_traced_number(x) ? operation->seen : operation->f;
    return PyObject_Vectorcall(f, stack + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
}

/* `operation(x, z)`, or UNHANDLED where no number of the field is under it. */
static PyObject *
primal_of_two(const Operation *operation, PyObject *x, PyObject *z, Field field)
{
    PyObject *y = result_of_two(operation, x, z);
    if (y != NULL && !is_in(field, y)) {
        Py_DECREF(y);
        return UNHANDLED;
    }
    return y;
}

/* `operation(x)`, or UNHANDLED where no number of the field is under it. */
static PyObject *
primal_of_one(const Operation *operation, PyObject *x, Field field)
{
    PyObject *y = result_of_one(operation, x);
    if (y != NULL && !is_in(field, y)) {
        Py_DECREF(y);
        return UNHANDLED;
    }
    return y;
}

/* The result `y` of traced operands, which it takes over, where that is what is differentiated again;
   UNHANDLED at a tie. */
static PyObject *
unless_branch(PyObject *branch, PyObject *y, PyObject *x, PyObject *z)
{
    if (y == NULL || y == UNHANDLED) {
        return y;
    }
    PyObject *chosen = PyObject_CallFunctionObjArgs(branch, y, x, z, NULL);
    int same = chosen == y;
    Py_XDECREF(chosen);
    if (!same) {
        Py_SETREF(y, chosen == NULL ? NULL : UNHANDLED);
    }
    return y;
}

/* Answer an operation on two operands, as `Tape.binary` and `ForwardLevel.binary` do. */
static PyObject *
binary(const Operation *operation, PyObject *a, PyObject *b)
{
    PyObject *level = inner(level_of(a), level_of(b));
    if (level == NULL || !is_accelerated(level) || !is_open(level)) {
        return UNHANDLED;
    }
    int a_active = level_of(a) == level, b_active = level_of(b) == level;
    int reverse = Py_TYPE(level) == TAPE, over_c = is_complex_under(a_active ? a : b);
    Field field = {over_c, !over_c && is_on_items(operation, level)};
    if (!(a_active ? is_in(field, a) : is_constant(a, level, field))
        || !(b_active ? is_in(field, b) : is_constant(b, level, field))) {
        return UNHANDLED;
    }
    if (!reverse && ((a_active && !is_tangent(SLOT(a, TANGENT), field))
                     || (b_active && !is_tangent(SLOT(b, TANGENT), field)))) {
        return UNHANDLED;
    }
    PyObject *rule = rule_of(operation->f, level, 2);
    if (rule == NULL) {
        return UNHANDLED;
    }
    PyObject *x = a_active ? SLOT(a, PRIMAL) : a, *z = b_active ? SLOT(b, PRIMAL) : b;
    PyObject *y = primal_of_two(operation, x, z, field), *made;
    if (SLOT(rule, BRANCH) != Py_None && (is_traced_number(x) || is_traced_number(z))) {
        y = unless_branch(SLOT(rule, BRANCH), y, x, z);
    }
    if (y != NULL && y != UNHANDLED) {
        if (keeps_nothing(level)) {
            made = no_entry();
        }
        else if (a_active && b_active) {
            made = reverse ? entry_of_two(a, b, rule, y, x, z) : tangent_of_two(a, b, rule, y, x, z);
        }
        else {
            PyObject *active = a_active ? a : b;
            Py_ssize_t i = a_active ? 0 : 1;
            made = reverse ? entry_of_one(active, i, rule, y, x, z)
                           : tangent_of_one(active, i, rule, y, x, z);
        }
        y = traced_result(level, y, made);
    }
    Py_DECREF(rule);
    return y;
}

/* Answer an operation on one operand, as `Tape.unary` and `ForwardLevel.unary` do. */
static PyObject *
unary(const Operation *operation, PyObject *a)
{
    PyObject *level = level_of(a);
    if (level == NULL || !is_accelerated(level) || !is_open(level)) {
        return UNHANDLED;
    }
    int reverse = Py_TYPE(level) == TAPE, over_c = is_complex_under(a);
    Field field = {over_c, !over_c && is_on_items(operation, level)};
    if (!is_in(field, a) || (!reverse && !is_tangent(SLOT(a, TANGENT), field))) {
        return UNHANDLED;
    }
    PyObject *rule = rule_of(operation->f, level, 1);
    if (rule == NULL) {
        return UNHANDLED;
    }
    PyObject *x = SLOT(a, PRIMAL), *y = primal_of_one(operation, x, field);
    if (SLOT(rule, BRANCH) != Py_None && is_traced_number(x)) {
        y = unless_branch(SLOT(rule, BRANCH), y, x, NULL);
    }
    if (y != NULL && y != UNHANDLED) {
        PyObject *made = keeps_nothing(level) ? no_entry()
                         : reverse            ? entry_of_one(a, 0, rule, y, x, NULL)
                                              : tangent_of_one(a, 0, rule, y, x, NULL);
        y = traced_result(level, y, made);
    }
    Py_DECREF(rule);
    return y;
}

/* ---- `float`: a number of NumPy's becomes one of Python's, of the same value ---- */

/* `float(x)` of a number that may be traced; UNHANDLED where that is no float or float64. */
static PyObject *
as_float(PyObject *x)
{
    if (x == NULL || is_float(x)) {
        return x == NULL ? UNHANDLED : PyFloat_FromDouble(VALUE(x));
    }
    PyObject *level = level_of(x);
    if (level == NULL || !is_accelerated(level) || !is_open(level)) {
        return UNHANDLED;
    }
    PyObject *y = as_float(SLOT(x, PRIMAL)), *made;
    if (y == NULL || y == UNHANDLED) {
        return y;
    }
    if (Py_TYPE(level) == TAPE) {
        made = PyTuple_Pack(2, SLOT(x, POSITION), ONE);
    }
    else {
        PyObject *tangent = SLOT(x, TANGENT);
        made = tangent != NULL && is_block(tangent) ? Py_NewRef(tangent) : as_float(tangent);
        if (made == UNHANDLED) {
            Py_DECREF(y);
            return UNHANDLED;
        }
    }
    return traced_result(level, y, made);
}

#endif
