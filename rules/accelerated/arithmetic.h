/* Arithmetic of numbers and of blocks of tangents, to the bit and the warning what Python's gives.

   A result is computed in C only where no floating-point flag but "inexact" can rise: it and each
   product on its way are zero by a zero factor, or normal. Everything else is left to Python and
   NumPy, who warn and raise as they are told to. */

#ifndef CHAINRULES_ARITHMETIC_H
#define CHAINRULES_ARITHMETIC_H

#include <float.h>
#include <math.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "registered.h"

#if FLT_EVAL_METHOD != 0
#error "doubles are computed with more digits here: the package goes without the accelerator"
#endif

static int
is_float(PyObject *x)
{
    return PyFloat_CheckExact(x) || Py_TYPE(x) == FLOAT64;
}

static int
is_complex(PyObject *x)
{
    return PyComplex_CheckExact(x) || Py_TYPE(x) == &PyCDoubleArrType_Type;
}

/* Integers up to this size are doubles, to the bit. */
#define EXACT_IN_DOUBLE (1LL << 53)

/* Of a float and of a float64, which is one with the same layout. */
#define VALUE(x) PyFloat_AS_DOUBLE(x)

static int
is_normal(double x)
{
    double size = fabs(x);
    return size >= DBL_MIN && size <= DBL_MAX;
}

static int
is_clean_product(double product, double a, double b)
{
    return is_normal(product) || (product == 0 && (a == 0 || b == 0));
}

/* Sums of finite numbers do not underflow: they may only overflow. */
static int
is_clean_sum(double sum)
{
    return fabs(sum) <= DBL_MAX;
}

/* Whether `x` is a float, a float64 or an int that a double holds, and its value. */
static int
as_double(PyObject *x, double *value)
{
    if (is_float(x)) {
        *value = VALUE(x);
        return 1;
    }
    if (PyLong_CheckExact(x)) {
        int overflow;
        long long whole = PyLong_AsLongLongAndOverflow(x, &overflow);
        if (!overflow && whole >= -EXACT_IN_DOUBLE && whole <= EXACT_IN_DOUBLE) {
            *value = (double)whole;
            return 1;
        }
    }
    return 0;
}

/* The values of two operands, of which one at least is no int. */
static int
as_doubles(PyObject *a, PyObject *b, double *x, double *y)
{
    return (is_float(a) || is_float(b)) && as_double(a, x) && as_double(b, y);
}

static PyObject *
new_float64(double x)
{
    PyObject *number = FLOAT64->tp_alloc(FLOAT64, 0);
    if (number != NULL) {
        ((PyFloatObject *)number)->ob_fval = x;
    }
    return number;
}

/* The result of two operands: a float64, if one of them is. */
static PyObject *
new_float(double x, PyObject *a, PyObject *b)
{
    return Py_TYPE(a) == FLOAT64 || Py_TYPE(b) == FLOAT64 ? new_float64(x) : PyFloat_FromDouble(x);
}

static PyObject *
times(PyObject *a, PyObject *b)
{
    double x, y;
    if (as_doubles(a, b, &x, &y)) {
        double product = x * y;
        if (is_clean_product(product, x, y)) {
            return new_float(product, a, b);
        }
    }
    return PyNumber_Multiply(a, b);
}

static PyObject *
plus(PyObject *a, PyObject *b)
{
    double x, y;
    if (as_doubles(a, b, &x, &y) && is_clean_sum(x + y)) {
        return new_float(x + y, a, b);
    }
    return PyNumber_Add(a, b);
}

static PyObject *
minus(PyObject *a, PyObject *b)
{
    double x, y;
    if (as_doubles(a, b, &x, &y) && is_clean_sum(x - y)) {
        return new_float(x - y, a, b);
    }
    return PyNumber_Subtract(a, b);
}

static PyObject *
over(PyObject *a, PyObject *b)
{
    double x, y;
    if (as_doubles(a, b, &x, &y) && y != 0) {
        double quotient = x / y;
        if (is_normal(quotient) || (quotient == 0 && x == 0)) {
            return new_float(quotient, a, b);
        }
    }
    return PyNumber_TrueDivide(a, b);
}

static PyObject *
negative(PyObject *a)
{
    return is_float(a) ? new_float(-VALUE(a), a, a) : PyNumber_Negative(a);
}

/* ---- blocks: vectors of float64, the tangents of one number in all directions ---- */

static int
is_block(PyObject *x)
{
    if (Py_TYPE(x) != &PyArray_Type) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)x;
    return PyArray_NDIM(array) == 1 && PyArray_TYPE(array) == NPY_DOUBLE
           && PyArray_ISBEHAVED_RO(array);
}

/* Entry `i` of a block, which may be a column of another array. */
#define AT(data, stride, i) (*(const double *)((data) + (stride) * (i)))

/* Whether `p` is a factor that a block may be multiplied by here, and which: None stands for 1. */
static int
factor_of(PyObject *p, double *factor)
{
    if (p == Py_None) {
        *factor = 1;
        return 1;
    }
    return as_double(p, factor);
}

/* `a * p`, or NULL without an error where it is left to NumPy. */
static PyObject *
scaled_block(PyObject *a, double p)
{
    npy_intp size = PyArray_DIM((PyArrayObject *)a, 0);
    PyObject *result = PyArray_SimpleNew(1, &size, NPY_DOUBLE);
    if (result == NULL) {
        PyErr_Clear();
        return NULL;
    }
    const char *of_a = PyArray_BYTES((PyArrayObject *)a);
    npy_intp step = PyArray_STRIDE((PyArrayObject *)a, 0);
    double *y = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp i = 0; i < size; i++) {
        double x = AT(of_a, step, i);
        y[i] = x * p;
        if (!is_clean_product(y[i], x, p)) {
            Py_DECREF(result);
            return NULL;
        }
    }
    return result;
}

/* `a * p + b * q`, or NULL without an error where it is left to NumPy. */
static PyObject *
combined_blocks(PyObject *a, double p, PyObject *b, double q)
{
    npy_intp size = PyArray_DIM((PyArrayObject *)a, 0);
    if (PyArray_DIM((PyArrayObject *)b, 0) != size) {
        return NULL;
    }
    PyObject *result = PyArray_SimpleNew(1, &size, NPY_DOUBLE);
    if (result == NULL) {
        PyErr_Clear();
        return NULL;
    }
    const char *of_a = PyArray_BYTES((PyArrayObject *)a);
    const char *of_b = PyArray_BYTES((PyArrayObject *)b);
    npy_intp step_a = PyArray_STRIDE((PyArrayObject *)a, 0);
    npy_intp step_b = PyArray_STRIDE((PyArrayObject *)b, 0);
    double *y = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp i = 0; i < size; i++) {
        double x = AT(of_a, step_a, i), z = AT(of_b, step_b, i);
        double first = x * p, second = z * q;
        y[i] = first + second;
        if (!(is_clean_product(first, x, p) && is_clean_product(second, z, q)
              && is_clean_sum(y[i]))) {
            Py_DECREF(result);
            return NULL;
        }
    }
    return result;
}

/* `tangent * p`, where None is 1. */
static PyObject *
scaled(PyObject *tangent, PyObject *p)
{
    double factor;
    if (p == Py_None) {
        return Py_NewRef(tangent);
    }
    if (is_block(tangent) && factor_of(p, &factor)) {
        PyObject *result = scaled_block(tangent, factor);
        if (result != NULL) {
            return result;
        }
    }
    return times(tangent, p);
}

/* `a + b` of tangents. */
static PyObject *
summed(PyObject *a, PyObject *b)
{
    if (is_block(a) && is_block(b)) {
        PyObject *result = combined_blocks(a, 1, b, 1);
        if (result != NULL) {
            return result;
        }
    }
    return plus(a, b);
}

/* `a * p + b * q`, where None is 1. */
static PyObject *
combined(PyObject *a, PyObject *p, PyObject *b, PyObject *q)
{
    double of_a, of_b;
    if (is_block(a) && is_block(b) && factor_of(p, &of_a) && factor_of(q, &of_b)) {
        PyObject *result = combined_blocks(a, of_a, b, of_b);
        if (result != NULL) {
            return result;
        }
    }
    PyObject *first = scaled(a, p);
    if (first == NULL) {
        return NULL;
    }
    PyObject *second = scaled(b, q);
    if (second == NULL) {
        Py_DECREF(first);
        return NULL;
    }
    PyObject *sum = plus(first, second);
    Py_DECREF(first);
    Py_DECREF(second);
    return sum;
}

/* The number under `x`, which traced numbers may stand for; borrowed, NULL where there is none. */
static PyObject *
number_under(PyObject *x)
{
    while (x != NULL && is_traced_number(x)) {
        x = SLOT(x, PRIMAL);
    }
    return x;
}

/* Whether that number is a float. */
static int
is_float_under(PyObject *x)
{
    x = number_under(x);
    return x != NULL && is_float(x);
}

/* Whether that number is a complex one. */
static int
is_complex_under(PyObject *x)
{
    x = number_under(x);
    return x != NULL && is_complex(x);
}

/* A complex number of NumPy's, which is one of Python's with the same layout. */
static PyObject *
new_complex128(Py_complex value)
{
    PyObject *number = PyCDoubleArrType_Type.tp_alloc(&PyCDoubleArrType_Type, 0);
    if (number != NULL) {
        ((PyComplexObject *)number)->cval = value;
    }
    return number;
}

/* The conjugate of a number, which it takes over, as one of NumPy's; of a real one the number. */
static PyObject *
conjugated(PyObject *x)
{
    if (!is_complex_under(x)) {
        return x;
    }
    PyObject *y;
    if (is_complex(x)) {
        Py_complex value = ((PyComplexObject *)x)->cval;
        value.imag = -value.imag;
        y = new_complex128(value);
    }
    else {
        y = PyObject_CallMethod(x, "conjugate", NULL);
    }
    Py_DECREF(x);
    return y;
}

/* Whether `x` is a float of each item of a batch, in a plain block. Tapes, and levels of one tangent
   each, compute with it as with a float; it is NumPy's, since Python's raise. */
static int
is_float_of_items(PyObject *x)
{
    return x != NULL && BATCHED_NUMBER != NULL && Py_TYPE(x) == BATCHED_NUMBER
           && SLOT(x, OF_PYTHON) == Py_False && SLOT(x, BLOCK_OF_NUMBER) != NULL
           && is_block(SLOT(x, BLOCK_OF_NUMBER));
}

static int
takes_items(PyObject *level)
{
    return Py_TYPE(level) == TAPE || Py_TYPE(level) == FORWARD_LEVEL;
}

/* Whether the number under `x` is a float, or one of each item where the level takes these. */
static int
is_float_or_items(PyObject *x, int items)
{
    x = number_under(x);
    return x != NULL && (is_float(x) || (items && is_float_of_items(x)));
}

/* The tangent `made` of a number `y`, which it takes over, as one of NumPy's beside one: see
   `ForwardLevel.dual`. */
static PyObject *
as_numpys_beside(PyObject *y, PyObject *made)
{
    PyObject *under = number_under(made);
    PyObject *beside = number_under(y);
    if (under != NULL && PyComplex_CheckExact(under) && Py_TYPE(beside) == &PyCDoubleArrType_Type) {
        PyObject *number = made == under ? new_complex128(((PyComplexObject *)made)->cval)
                                         : PyObject_CallFunctionObjArgs(POSITIVE, made, NULL);
        Py_DECREF(made);
        return number;
    }
    if (under == NULL || !PyFloat_CheckExact(under)
        || !(Py_TYPE(beside) == FLOAT64 || is_float_of_items(beside))) {
        return made;
    }
    PyObject *one = made == under ? NULL : new_float64(1.0);
    PyObject *wider = made == under ? new_float64(VALUE(made))
                      : one == NULL ? NULL
                                    : PyNumber_Multiply(made, one);
    Py_XDECREF(one);
    Py_DECREF(made);
    return wider;
}

#endif
