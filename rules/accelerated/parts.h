/* Parts of arrays, and arrays of parts: views by integers and slices, and concatenations. */

#ifndef CHAINRULES_PARTS_H
#define CHAINRULES_PARTS_H

#include "actives.h"

/* ---- views ---- */

/* Whether a part of an index is None, an ellipsis, an int, or a slice: see `is_basic`. */
static int
is_basic_part(PyObject *part)
{
    return PySlice_Check(part) || PyLong_CheckExact(part) || part == Py_None || part == Py_Ellipsis;
}

static int
is_basic(PyObject *index)
{
    if (!PyTuple_CheckExact(index)) {
        return is_basic_part(index);
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(index); k++) {
        if (!is_basic_part(PyTuple_GET_ITEM(index, k))) {
            return 0;
        }
    }
    return 1;
}

/* The index that reads in a block what `index` reads in each direction. */
static PyObject *
led_index(PyObject *index)
{
    static PyObject *all; /* slice(None) */
    if (all == NULL && (all = PySlice_New(NULL, NULL, NULL)) == NULL) {
        return NULL;
    }
    Py_ssize_t given = PyTuple_CheckExact(index) ? PyTuple_GET_SIZE(index) : -1;
    PyObject *led = PyTuple_New(given < 0 ? 2 : given + 1);
    if (led == NULL) {
        return NULL;
    }
    PyTuple_SET_ITEM(led, 0, Py_NewRef(all));
    if (given < 0) {
        PyTuple_SET_ITEM(led, 1, Py_NewRef(index));
    }
    for (Py_ssize_t k = 0; k < given; k++) {
        PyTuple_SET_ITEM(led, k + 1, Py_NewRef(PyTuple_GET_ITEM(index, k)));
    }
    return led;
}

/* The tangent of a view, which is a view of that of the array. */
static PyObject *
tangent_of_view(PyObject *x, PyObject *index)
{
    PyObject *tangent = SLOT(x, TANGENT_OF_ARRAY);
    if (Py_TYPE(SLOT(x, AT_LEVEL)) != BLOCK_DUALS) {
        return PyObject_GetItem(tangent, index);
    }
    PyObject *led = led_index(index);
    PyObject *view = led == NULL ? NULL : PyObject_GetItem(tangent, led);
    Py_XDECREF(led);
    return view;
}

/* The entry of a view on a tape; UNHANDLED where its rule is not applied here. */
static PyObject *
entry_of_view(PyObject *tape, PyObject *x, PyObject *held, PyObject *y, PyObject *options)
{
    PyObject *kind = PyDict_GetItemWithError(RRULE_KINDS, GETITEM);
    if (kind == NULL || Py_TYPE(kind) != LINEAR_RULE || KIND_NODE == NULL) {
        PyErr_Clear();
        return UNHANDLED;
    }
    LinearCall call = {tape, kind, GETITEM, x, NULL, held, NULL, 1, 0, options};
    return entry_of_call(&call, y);
}

/* Read a view of a traced array, as `getitem` of its level does; UNHANDLED for another index. */
static PyObject *
read_view(PyObject *x, PyObject *index)
{
    PyObject *level = SLOT(x, AT_LEVEL);
    if (level == NULL || !is_accelerated(level) || !is_open(level) || !is_basic(index)
        || LINEAR_RULE == NULL || !is_active_array(x, level) || !is_known(x, level, 1)) {
        return UNHANDLED;
    }
    int reverse = Py_TYPE(level) == TAPE;
    PyObject *held = SLOT(x, PRIMAL);
    if ((!reverse && !is_beside(SLOT(x, TANGENT_OF_ARRAY), (PyArrayObject *)held,
                                Py_TYPE(level) == BLOCK_DUALS))
        || !PyDict_Contains(reverse ? RRULE_KINDS : FRULE_KINDS, GETITEM)) {
        PyErr_Clear();
        return UNHANDLED;
    }
    Py_INCREF(held);
    PyObject *y = PyObject_GetItem(held, index), *traced = UNHANDLED;
    if (y != NULL && (reverse ? array_under(y) != NULL : is_float64_array(y))) {
        PyObject *options = PyDict_New();
        PyObject *made = NULL;
        if (options != NULL && PyDict_SetItemString(options, "index", index) == 0) {
            made = reverse ? entry_of_view(level, x, held, y, options) : tangent_of_view(x, index);
        }
        if (made != UNHANDLED) {
            traced = traced_array(level, Py_NewRef(y), made);
        }
        if (traced != NULL && traced != UNHANDLED && tie_view(traced, x, GETITEM, options) < 0) {
            Py_CLEAR(traced);
        }
        Py_XDECREF(options);
    }
    Py_DECREF(held);
    if (y == NULL) {
        return NULL;
    }
    Py_DECREF(y);
    return traced;
}

/* ---- concatenations ---- */

/* The innermost level of arrays that may be joined here, borrowed; NULL where one may not. */
static PyObject *
level_of_parts(PyObject *parts)
{
    PyObject *level = NULL;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(parts); i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(parts, i);
        if (is_traced_array(x)) {
            level = inner(level, SLOT(x, AT_LEVEL));
            if (level == NULL) {
                return NULL;
            }
        }
        else if (!is_float64_array(x)) {
            return NULL;
        }
    }
    return level;
}

/* Give parts their values back that writes have taken. That of an array takes those of its views,
   which come in a second round. -1 for an error that ends the run. */
static int
with_values(PyObject *parts)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(parts);
    for (Py_ssize_t i = 0; i < 2 * count; i++) {
        if (with_value(PySequence_Fast_GET_ITEM(parts, i % count)) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The values of parts on a tape; NULL where one is not known here, or for an error. */
static PyObject *
values_of_parts(PyObject *parts, PyObject *tape)
{
    PyObject *values = with_values(parts) < 0 ? NULL : PyList_New(0);
    for (Py_ssize_t i = 0; values != NULL && i < PySequence_Fast_GET_SIZE(parts); i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(parts, i);
        int is_active = is_active_array(x, tape);
        if (!is_known(x, tape, is_active)
            || PyList_Append(values, is_active ? SLOT(x, PRIMAL) : x) < 0) {
            Py_CLEAR(values);
        }
    }
    return values;
}

/* Join arrays on a tape, by a linear function of a list of them. */
static PyObject *
join_on_tape(PyObject *f, PyObject *parts, PyObject *options, PyObject *tape, PyObject *kind)
{
    PyObject *values = values_of_parts(parts, tape), *traced = UNHANDLED;
    if (values == NULL) {
        return PyErr_Occurred() ? NULL : UNHANDLED;
    }
    PyObject *given = PyTuple_Pack(1, values);
    PyObject *y = given == NULL ? NULL : PyObject_Call(f, given, options);
    Py_XDECREF(given);
    Py_DECREF(values);
    if (y == NULL) {
        return NULL;
    }
    if (array_under(y) != NULL) {
        PyObject *entry = entry_of_parts(tape, kind, parts, options, y);
        traced = traced_array(tape, Py_NewRef(y), entry);
    }
    Py_DECREF(y);
    return traced;
}

/* Zeros in the shape of a plain array. */
static PyObject *
zeros_like(PyObject *x)
{
    PyArrayObject *array = (PyArrayObject *)x;
    return PyArray_ZEROS(PyArray_NDIM(array), PyArray_DIMS(array), NPY_DOUBLE, 0);
}

/* Lists of the values and of the tangents of parts; 0 where one is not known here. */
static int
lists_of_parts(PyObject *parts, PyObject *level, PyObject *values, PyObject *tangents)
{
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(parts); i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(parts, i), *value = x, *tangent;
        if (is_traced_array(x)) {
            if (Py_TYPE(x) != DUAL_ARRAY || SLOT(x, AT_LEVEL) != level) {
                return 0;
            }
            value = SLOT(x, PRIMAL);
            tangent = SLOT(x, TANGENT_OF_ARRAY);
            int in_blocks = Py_TYPE(level) == BLOCK_DUALS;
            if (!is_float64_array(value) || !is_beside(tangent, (PyArrayObject *)value, in_blocks)) {
                return 0;
            }
            tangent = in_blocks ? in_block(tangent) : Py_NewRef(tangent);
        }
        else {
            tangent = zeros_like(x);
        }
        int done = tangent == NULL || PyList_Append(values, value) < 0
                           || PyList_Append(tangents, tangent) < 0
                       ? -1
                       : 1;
        Py_XDECREF(tangent);
        if (done < 0) {
            return -1;
        }
    }
    return 1;
}

/* The options of a join that are handled: none, or an axis. */
static int
is_axis_alone(PyObject *options)
{
    if (PyDict_GET_SIZE(options) == 0) {
        return 1;
    }
    PyObject *axis = PyDict_GetItemString(options, "axis");
    return PyDict_GET_SIZE(options) == 1 && axis != NULL && PyLong_CheckExact(axis);
}

/* Join arrays, of which some are traced, by a linear function of a list of them. */
static PyObject *
join_arrays(PyObject *f, PyObject *args, PyObject *options)
{
    if (!PyTuple_CheckExact(args) || PyTuple_GET_SIZE(args) != 1 || !PyDict_CheckExact(options)
        || !is_axis_alone(options)) {
        return UNHANDLED;
    }
    PyObject *parts = PyTuple_GET_ITEM(args, 0);
    if (!(PyList_CheckExact(parts) || PyTuple_CheckExact(parts))) {
        return UNHANDLED;
    }
    PyObject *level = level_of_parts(parts);
    if (level == NULL || !is_accelerated(level) || !is_open(level)
        || (Py_TYPE(level) == BLOCK_DUALS && SHARE_IN_BLOCK == NULL)) {
        return UNHANDLED;
    }
    PyObject *kind = linear_kind_of(f, level);
    if (kind == NULL) {
        return UNHANDLED;
    }
    if (Py_TYPE(level) == TAPE) {
        PyObject *joined = join_on_tape(f, parts, options, level, kind);
        Py_DECREF(kind);
        return joined;
    }
    PyObject *values = PyList_New(0), *tangents = PyList_New(0), *y = NULL, *ydot = NULL;
    int known = values == NULL || tangents == NULL
                    ? -1
                    : lists_of_parts(parts, level, values, tangents);
    PyObject *given = known == 1 ? PyTuple_Pack(1, values) : NULL;
    PyObject *moved = given == NULL ? NULL : PyTuple_Pack(1, tangents);
    if (moved != NULL) {
        y = PyObject_Call(f, given, options);
    }
    if (y != NULL && is_float64_array(y)) {
        ydot = Py_TYPE(level) == BLOCK_DUALS
                   ? PyObject_CallFunctionObjArgs(SHARE_IN_BLOCK, kind, moved, options, NULL)
                   : PyObject_Call(SLOT(kind, FUNCTION), moved, options);
        known = ydot == NULL
                    ? -1
                    : is_beside(ydot, (PyArrayObject *)y, Py_TYPE(level) == BLOCK_DUALS);
    }
    else {
        known = known == 0 || y != NULL ? 0 : -1;
    }
    Py_XDECREF(given);
    Py_XDECREF(moved);
    Py_XDECREF(values);
    Py_XDECREF(tangents);
    Py_DECREF(kind);
    if (known == 1) {
        return traced_array(level, y, ydot);
    }
    Py_XDECREF(y);
    Py_XDECREF(ydot);
    return known == 0 ? UNHANDLED : NULL;
}

#endif
