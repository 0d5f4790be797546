/* Joins of arrays and of numbers on a tape: their entries, and the way back to each part. */

#ifndef CHAINRULES_ACTIVES_H
#define CHAINRULES_ACTIVES_H

#include "linear.h"

static PyTypeObject *ACTIVE_PARTS;
static PyObject *FLAT_PARTS; /* of Python: the active argument that a list of parts is */
static Py_ssize_t PARTS, FLAT;

PyDoc_STRVAR(register_parts_doc,
"register_parts(active_parts, flat_parts)\n--\n\n"
"Note the class of active lists on a tape, and the function that makes one.");

static PyObject *
register_parts(PyObject *module, PyObject *args)
{
    PyTypeObject *active_parts;
    PyObject *flat_parts;
    if (!PyArg_ParseTuple(args, "O!O", &PyType_Type, &active_parts, &flat_parts)
        || offset_of(active_parts, "parts", &PARTS) < 0
        || offset_of(active_parts, "flat", &FLAT) < 0) {
        return NULL;
    }
    Py_INCREF(args);
    ACTIVE_PARTS = active_parts;
    FLAT_PARTS = flat_parts;
    Py_RETURN_NONE;
}

/* ---- the entry ---- */

/* The value and the position of a part, borrowed, if it is active on a tape; else 0. */
static int
is_part_of(PyObject *x, PyObject *tape, PyObject **value, PyObject **position)
{
    int is_array = is_traced_array(x);
    if (!(is_array ? level_of_array(x) == tape : level_of(x) == tape)) {
        return 0;
    }
    PyObject *held = SLOT(x, PRIMAL);
    PyArrayObject *array = is_array ? array_under(held) : NULL;
    *value = array == NULL ? held : (PyObject *)array;
    *position = SLOT(x, is_array ? POSITION_IN_ARRAY : POSITION);
    return 1;
}

/* Whether a space is a shape and a dtype, and no function of a user's. */
static int
is_plain_space(PyObject *space)
{
    return space != NULL && (Py_TYPE(space) == PROJECT_ARRAY || Py_TYPE(space) == PROJECT_NUMBER);
}

/* Lists of the active parts and of all spaces; whether one is sensitive, -1 for an error. */
static int
list_parts(PyObject *tape, PyObject *parts, PyObject *found, PyObject *spaces, int *plain)
{
    int sensitive = 0;
    *plain = 1;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(parts); i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(parts, i), *value, *position;
        PyObject *active = Py_None, *space;
        if (is_part_of(x, tape, &value, &position)) {
            int one = is_sensitive(tape, position);
            active = one < 0 ? NULL : new_active(position, value);
            if (active == NULL) {
                if (!PyErr_Occurred()) {
                    PyErr_SetString(PyExc_IndexError, "an array of an entry that the tape has not");
                }
                return -1;
            }
            sensitive |= one;
            space = Py_NewRef(SLOT(active, ACTIVE_SPACE));
        }
        else {
            Py_INCREF(active);
            space = PyObject_CallOneArg(SPACE_OF, x);
        }
        *plain &= is_plain_space(space);
        int done = space == NULL || PyList_Append(found, active) < 0
                           || PyList_Append(spaces, space) < 0
                       ? -1
                       : 0;
        Py_DECREF(active);
        Py_XDECREF(space);
        if (done < 0) {
            return -1;
        }
    }
    return sensitive;
}

/* The entry (node,) of a join of `parts`, by a rule that forgets its arguments. */
static PyObject *
entry_of_parts(PyObject *tape, PyObject *kind, PyObject *parts, PyObject *options, PyObject *y)
{
    if (keeps_nothing(tape)) {
        return no_entry();
    }
    PyObject *found = PyList_New(0), *spaces = PyList_New(0), *active = NULL;
    int plain = 0, sensitive = -1;
    if (found != NULL && spaces != NULL) {
        sensitive = list_parts(tape, parts, found, spaces, &plain);
    }
    if (sensitive >= 0) {
        PyObject *cls = (PyObject *)Py_TYPE(parts);
        active = PyObject_CallFunctionObjArgs(FLAT_PARTS, cls, spaces, found, NULL);
    }
    PyObject *pairs = active == NULL ? NULL : Py_BuildValue("[(iO)]", 0, active);
    PyObject *node = pairs == NULL ? NULL : KIND_NODE->tp_alloc(KIND_NODE, 0), *entry = NULL;
    if (node != NULL) {
        SLOT(node, NODE_KIND) = Py_NewRef(kind);
        SLOT(node, NODE_TEMPLATE) = Py_NewRef(Py_None);
        SLOT(node, NODE_Y) = Py_NewRef(Py_None);
        SLOT(node, NODE_SENSITIVE) = PyBool_FromLong(sensitive && SLOT(kind, ADDS) == Py_True);
        SLOT(node, NODE_LEAVES_OUT) = Py_NewRef(SLOT(kind, DROPS));
        SLOT(node, NODE_KWARGS) = Py_NewRef(options);
        SLOT(node, NODE_ACTIVE) = Py_NewRef(pairs);
        int made = (SLOT(node, NODE_FORM) = form_of(y)) != NULL
                   && (SLOT(node, NODE_ARGS) = PyTuple_Pack(1, Py_None)) != NULL;
        entry = made ? PyTuple_Pack(1, node) : NULL;
    }
    if (entry != NULL && plain) { /* of positions, shapes and dtypes: nothing leads back */
        PyObject *all[] = {found, spaces, active, PyList_GET_ITEM(pairs, 0), pairs, node, entry};
        for (size_t k = 0; k < Py_ARRAY_LENGTH(all); k++) {
            if (PyObject_GC_IsTracked(all[k])) {
                PyObject_GC_UnTrack(all[k]);
            }
        }
    }
    Py_XDECREF(node);
    Py_XDECREF(pairs);
    Py_XDECREF(active);
    Py_XDECREF(spaces);
    Py_XDECREF(found);
    return entry;
}

#endif
