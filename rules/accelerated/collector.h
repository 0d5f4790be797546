/* Objects out of sight of the collector of cycles, which a long tape calls again and again.

   It looks for objects that lead to themselves. Plain numbers and arrays lead nowhere; so do dual
   numbers of these, entries that keep them, and what says of an argument which entry it is. What is
   traced further out, and what a user's rule keeps, may lead anywhere: it stays in sight. */

#ifndef CHAINRULES_COLLECTOR_H
#define CHAINRULES_COLLECTOR_H

#include <Python.h>

/* Whether the collector does not look at `x`, and never will: a dict may be filled later on. */
static int
is_untracked(PyObject *x)
{
    return !PyObject_IS_GC(x) || (!PyDict_CheckExact(x) && !PyObject_GC_IsTracked(x));
}

/* Take a tuple out of its sight that leads to nothing in it, but for the two partials of a rule,
   which a table keeps alive. NULL is handed on. */
static PyObject *
untracked_beside(PyObject *tuple, PyObject *of_a, PyObject *of_b)
{
    for (Py_ssize_t k = 0; tuple != NULL && k < PyTuple_GET_SIZE(tuple); k++) {
        PyObject *x = PyTuple_GET_ITEM(tuple, k);
        if (x != of_a && x != of_b && !is_untracked(x)) {
            return tuple;
        }
    }
    if (tuple != NULL) {
        PyObject_GC_UnTrack(tuple);
    }
    return tuple;
}

static PyObject *
untracked(PyObject *tuple)
{
    return untracked_beside(tuple, NULL, NULL);
}

#endif
