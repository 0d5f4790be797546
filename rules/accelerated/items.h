/* Items of traced arrays and of buffers: the methods that read, write and count them. */

#ifndef CHAINRULES_ITEMS_H
#define CHAINRULES_ITEMS_H

#include "methods.h"
#include "parts.h"
#include "writes.h"

/* Whether `x` is a number of NumPy's, of one of its own classes. */
static int
is_scalar(PyObject *x)
{
    return PyArray_CheckScalar(x) && !PyArray_IsScalar(x, Object) && !PyArray_IsScalar(x, Flexible)
           && Py_TYPE(x)->tp_as_number != NULL && !PyType_HasFeature(Py_TYPE(x), Py_TPFLAGS_HEAPTYPE);
}

/* Whether `x` is a plain number, of Python's or NumPy's. */
static int
is_number(PyObject *x)
{
    return PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x) || is_scalar(x);
}

/* What a buffer holds, borrowed; anything else as it is. */
static PyObject *
settled(PyObject *x)
{
    return Py_TYPE(x) == BUFFER_ARRAY && SLOT(x, PRIMAL) != NULL ? SLOT(x, PRIMAL) : x;
}

static PyObject *getitem; /* the method in Python */

/* Whether an index is of one entry of a plain array: an integer for each axis. */
static int
is_of_entry(PyObject *index, PyObject *held)
{
    if (!PyArray_CheckExact(held) || PyArray_TYPE((PyArrayObject *)held) == NPY_OBJECT) {
        return 0;
    }
    int rank = PyArray_NDIM((PyArrayObject *)held);
    if (!PyTuple_CheckExact(index)) {
        return rank == 1 && PyIndex_Check(index) && (PyLong_CheckExact(index) || is_scalar(index));
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(index); k++) {
        PyObject *i = PyTuple_GET_ITEM(index, k);
        if (!PyIndex_Check(i) || !(PyLong_CheckExact(i) || is_scalar(i))) {
            return 0;
        }
    }
    return rank > 0 && PyTuple_GET_SIZE(index) == rank;
}

/* Read an entry of what a buffer holds; UNHANDLED for anything else. */
static PyObject *
read_buffer(PyObject *held, PyObject *index)
{
    npy_intp places[MOST_AXES];
    if (is_traced_array(held)) {
        return read_item(held, index);
    }
    if (is_float64_array(held) && places_of(index, (PyArrayObject *)held, places)) {
        return new_float64(*(double *)PyArray_GetPtr((PyArrayObject *)held, places));
    }
    return is_of_entry(index, held) ? PyObject_GetItem(held, index) : UNHANDLED;
}

static PyObject *
getitem_method(PyObject *self, PyObject *index)
{
    PyObject *held = settled(self);
    PyObject *y = Py_TYPE(held) == BATCHED_ARRAY ? read_batched(held, index)
                  : held == self                 ? read_item(self, index)
                                                 : read_buffer(held, index);
    if (y == UNHANDLED && held == self && is_traced_array(self)) {
        y = read_view(self, index);
    }
    return y == UNHANDLED ? in_python(getitem, self, index) : y;
}

static PyObject *setitem; /* the method in Python */

static PyObject *
setitem_method(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    if (count == 2) {
        /* A buffer holds an array of a level: the innermost of what was written into it. */
        PyObject *held = settled(self), *v = settled(args[1]);
        int whole = held == self || SLOT(self, BASE_AND_PATH) == Py_None;
        int done = !whole ? 0 : is_traced_array(held) ? write_item(held, args[0], v) : 0;
        if (done == 0 && whole && held != self && is_number(v) && is_of_entry(args[0], held)) {
            done = PyObject_SetItem(held, args[0], v) < 0 ? -1 : 1;
        }
        if (done != 0) {
            return done < 0 ? NULL : Py_NewRef(Py_None);
        }
    }
    PyObject *stack[4] = {NULL, self};
    if (count > 2) {
        PyErr_SetString(PyExc_TypeError, "__setitem__ takes two arguments");
        return NULL;
    }
    memcpy(stack + 2, args, count * sizeof(PyObject *));
    return PyObject_Vectorcall(setitem, stack + 1, (count + 1) | PY_VECTORCALL_ARGUMENTS_OFFSET,
                               NULL);
}

static PyObject *length; /* the method in Python */

/* The length of an array, also while it is written to. */
static PyObject *
length_method(PyObject *self, PyObject *unused)
{
    PyArrayObject *array = array_or_draft_under(settled(self));
    return array == NULL ? in_python(length, self, NULL) : PyLong_FromSsize_t(PyArray_DIM(array, 0));
}

static PyMethodDef methods_of_arrays[] = {
    {"__len__", length_method, METH_NOARGS, NULL},
    {"__getitem__", getitem_method, METH_O, NULL},
    {"__setitem__", (PyCFunction)(void (*)(void))setitem_method, METH_FASTCALL, NULL},
};

PyDoc_STRVAR(accelerate_arrays_doc,
"accelerate_arrays(traced_array)\n--\n\n"
"Replace the methods of a class that read, write and count items by accelerated ones.");

static PyObject *
accelerate_arrays(PyObject *module, PyObject *traced_array)
{
    if (!PyType_Check(traced_array)) {
        PyErr_SetString(PyExc_TypeError, "accelerate_arrays takes a class");
        return NULL;
    }
    getitem = PyObject_GetAttrString(traced_array, "__getitem__");
    setitem = PyObject_GetAttrString(traced_array, "__setitem__");
    length = PyObject_GetAttrString(traced_array, "__len__");
    if (getitem == NULL || setitem == NULL || length == NULL
        || offset_of((PyTypeObject *)traced_array, "memory", &MEMORY) < 0
        || offset_of((PyTypeObject *)traced_array, "base_and_path", &BASE_AND_PATH) < 0
        || replace_methods((PyTypeObject *)traced_array, methods_of_arrays,
                           Py_ARRAY_LENGTH(methods_of_arrays)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

#endif
