/* Outer products of the items of two blocks: `x[..., :, None] * z[..., None, :]`, of float64.

   NumPy calls its loop anew for each row, which takes longer than a row of a few entries. The
   results are NumPy's to the bit, and in C's order as NumPy's are where both operands' are. */

#ifndef CHAINRULES_PRODUCTS_H
#define CHAINRULES_PRODUCTS_H

#include <fenv.h>

#include "registered.h"

#define MOST_RANK 8

/* Note the stride along each axis, 0 along one of one entry; say no where one grows inwards. */
static int
strides_in_order(PyArrayObject *x, npy_intp *strides)
{
    npy_intp before = NPY_MAX_INTP;
    for (int axis = 0; axis < PyArray_NDIM(x); axis++) {
        strides[axis] = PyArray_DIM(x, axis) == 1 ? 0 : PyArray_STRIDE(x, axis);
        if (PyArray_DIM(x, axis) != 1) {
            if (strides[axis] <= 0 || strides[axis] > before) {
                return 0;
            }
            before = strides[axis];
        }
    }
    return 1;
}

static int
is_plain_block(PyObject *x)
{
    return PyArray_CheckExact(x) && PyArray_TYPE((PyArrayObject *)x) == NPY_DOUBLE
           && PyArray_ISBEHAVED_RO((PyArrayObject *)x);
}

PyDoc_STRVAR(outer_product_doc,
"outer_product(x, z)\n--\n\n"
"Return ``x * z`` where each row is one number times a row; None where NumPy is to compute it.");

static PyObject *
outer_product(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !is_plain_block(args[0]) || !is_plain_block(args[1])) {
        Py_RETURN_NONE;
    }
    PyArrayObject *x = (PyArrayObject *)args[0], *z = (PyArrayObject *)args[1];
    int rank = PyArray_NDIM(x), last = rank - 1;
    npy_intp shape[MOST_RANK], along_x[MOST_RANK], along_z[MOST_RANK], at[MOST_RANK] = {0};
    if (rank < 3 || rank > MOST_RANK || PyArray_NDIM(z) != rank || PyArray_DIM(x, last) != 1
        || PyArray_DIM(z, last - 1) != 1 || PyArray_STRIDE(z, last) != sizeof(double)
        || !strides_in_order(x, along_x) || !strides_in_order(z, along_z)) {
        Py_RETURN_NONE;
    }
    for (int axis = 0; axis < rank; axis++) {
        npy_intp of_x = PyArray_DIM(x, axis), of_z = PyArray_DIM(z, axis);
        if (of_x != of_z && of_x != 1 && of_z != 1) {
            Py_RETURN_NONE; /* it is NumPy that says what is wrong */
        }
        shape[axis] = of_x == 1 ? of_z : of_x;
    }
    PyArrayObject *y = (PyArrayObject *)PyArray_SimpleNew(rank, shape, NPY_DOUBLE);
    if (y == NULL) {
        return NULL;
    }
    npy_intp columns = shape[last], rows = columns == 0 ? 0 : PyArray_SIZE(y) / columns;
    const char *in_x = PyArray_BYTES(x), *in_z = PyArray_BYTES(z);
    double *to = (double *)PyArray_DATA(y);
    feclearexcept(FE_ALL_EXCEPT);
    for (npy_intp row = 0; row < rows; row++, to += columns) {
        const double factor = *(const double *)in_x, *entries = (const double *)in_z;
        for (npy_intp i = 0; i < columns; i++) {
            to[i] = factor * entries[i];
        }
        for (int axis = last - 1; axis >= 0; axis--) {
            in_x += along_x[axis];
            in_z += along_z[axis];
            if (++at[axis] < shape[axis]) {
                break;
            }
            at[axis] = 0;
            in_x -= along_x[axis] * shape[axis];
            in_z -= along_z[axis] * shape[axis];
        }
    }
    if (fetestexcept(FE_OVERFLOW | FE_INVALID | FE_UNDERFLOW)) {
        Py_DECREF(y);
        Py_RETURN_NONE; /* NumPy warns, or raises */
    }
    return (PyObject *)y;
}

#endif
