/* Methods in C, and those of Python for what they leave. */

#ifndef CHAINRULES_METHODS_H
#define CHAINRULES_METHODS_H

#include <Python.h>

/* An answer; UNHANDLED in place of an error of floating point, which NumPy's settings raise: Python
   tells that of the value from that of the derivative. */
static PyObject *
told_apart(PyObject *y)
{
    if (y == NULL && (PyErr_ExceptionMatches(PyExc_ArithmeticError)
                      || PyErr_ExceptionMatches(PyExc_RuntimeWarning))) {
        PyErr_Clear();
        return UNHANDLED;
    }
    return y;
}

/* `method(a, b)` in Python, for what is not handled here. */
static PyObject *
in_python(PyObject *method, PyObject *a, PyObject *b)
{
    PyObject *stack[3] = {NULL, a, b};
    size_t count = b == NULL ? 1 : 2;
    return PyObject_Vectorcall(method, stack + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
}

/* `method` of NumPy's protocol for functions in Python, for what is not handled here. */
static PyObject *
function_in_python(PyObject *method, PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    PyObject *stack[5] = {self};
    if (count > 4) {
        PyErr_SetString(PyExc_TypeError, "__array_function__ takes four arguments");
        return NULL;
    }
    memcpy(stack + 1, args, count * sizeof(PyObject *));
    return PyObject_Vectorcall(method, stack, count + 1, NULL);
}

/* Put methods in C in the place of a class's own. */
static int
replace_methods(PyTypeObject *type, PyMethodDef *defined, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PyObject *descriptor = PyDescr_NewMethod(type, &defined[i]);
        if (descriptor == NULL) {
            return -1;
        }
        int set = PyObject_SetAttrString((PyObject *)type, defined[i].ml_name, descriptor);
        Py_DECREF(descriptor);
        if (set < 0) {
            return -1;
        }
    }
    return 0;
}

#endif
