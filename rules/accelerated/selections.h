/* Selections on a tape: `np.where(condition, a, b)` of arrays, as `Tape.apply_kind` records it. */

#ifndef CHAINRULES_SELECTIONS_H
#define CHAINRULES_SELECTIONS_H

#include "nodes.h"

/* The node of a selection, whose condition a tape holds as it is now. */
static PyObject *
entry_of_selection(const LinearCall *call, PyObject *condition, PyObject *y)
{
    if (keeps_nothing(call->level)) {
        return no_entry();
    }
    int sensitive = 0;
    for (int i = 0; i < 2; i++) {
        if (i == 0 ? call->a_active : call->b_active) {
            int one = is_sensitive(call->level, SLOT(i == 0 ? call->a : call->b, POSITION_IN_ARRAY));
            if (one < 0) {
                return PyErr_Occurred() ? NULL : UNHANDLED;
            }
            sensitive |= one;
        }
    }
    PyObject *node = new_node(call, sensitive, Py_True), *held = NULL;
    if (node == NULL) {
        return NULL;
    }
    int made = (SLOT(node, NODE_ACTIVE) = active_arguments(call, 1)) != NULL
               && (SLOT(node, NODE_FORM) = form_of(y)) != NULL
               && (held = kept_beside(call->level, condition, 0)) != NULL
               && (SLOT(node, NODE_ARGS) = PyTuple_Pack(3, held, Py_None, Py_None)) != NULL;
    Py_XDECREF(held);
    return entry_of_node(node, made);
}

/* Whether an operand is a number or an array of float64, which may be traced further out. */
static int
is_selected_from(PyObject *x, PyObject *level)
{
    return is_float(x) || PyLong_CheckExact(x) || is_float64_array(x)
           || (is_traced_array(x) && level_of_array(x) != level && array_under(x) != NULL);
}

/* Answer `f(condition, a, b)` of arrays, and arrays of a tape; UNHANDLED for all else. */
static PyObject *
on_selection(PyObject *f, PyObject *args, PyObject *options)
{
    if (SELECTION_RULE == NULL || KIND_NODE == NULL || !PyTuple_CheckExact(args)
        || PyTuple_GET_SIZE(args) != 3 || !PyDict_CheckExact(options)
        || PyDict_GET_SIZE(options) > 0) {
        return UNHANDLED;
    }
    PyObject *condition = PyTuple_GET_ITEM(args, 0);
    PyObject *a = PyTuple_GET_ITEM(args, 1), *b = PyTuple_GET_ITEM(args, 2);
    PyObject *level = inner(level_of_array(a), level_of_array(b));
    if (level == NULL || Py_TYPE(level) != TAPE || !is_open(level) || !PyArray_CheckExact(condition)
        || PyArray_TYPE((PyArrayObject *)condition) != NPY_BOOL) {
        return UNHANDLED;
    }
    if (with_value(a) < 0 || with_value(b) < 0) {
        return NULL;
    }
    int a_active = is_active_array(a, level), b_active = is_active_array(b, level);
    PyObject *x = a_active ? SLOT(a, PRIMAL) : a, *z = b_active ? SLOT(b, PRIMAL) : b;
    PyObject *kind = PyDict_GetItemWithError(RRULE_KINDS, f);
    if (kind == NULL || Py_TYPE(kind) != SELECTION_RULE
        || !is_selected_from(x, level) || !is_selected_from(z, level)
        || (a_active && !is_known(a, level, 1)) || (b_active && !is_known(b, level, 1))) {
        PyErr_Clear();
        return UNHANDLED;
    }
    /* The tape holds the condition by a function of Python's, in which these might be written to. */
    LinearCall call = {level, kind, f, a, b, Py_NewRef(x), Py_NewRef(z), a_active, b_active, options};
    PyObject *y = PyObject_CallFunctionObjArgs(f, condition, x, z, NULL), *made = UNHANDLED;
    if (y != NULL && array_under(y) != NULL && level_of_array(y) != level) {
        made = entry_of_selection(&call, condition, y);
    }
    Py_DECREF(x);
    Py_DECREF(z);
    if (y == NULL || made == UNHANDLED) {
        Py_XDECREF(y);
        return y == NULL ? NULL : UNHANDLED;
    }
    return traced_array(level, y, made);
}

#endif
