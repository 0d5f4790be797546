/* Records of calls by rules of any kind, of arrays and numbers that one tape follows: as
   `Tape.apply_kind` makes them. */

#ifndef CHAINRULES_RECORDS_H
#define CHAINRULES_RECORDS_H

#include "linear.h"

/* What is asked of a kind, by name, in the order of `names_asked`. */
enum { FORGETS, MULTIPLIES, ALSO_ADDS, ALSO_DROPS, OPERANDS, KEPT, HELD_BESIDE, WHERE_OPTION, ASKED };
static PyObject *asked[ASKED];
static const char *const names_asked[ASKED] = {
    "forgets", "multiplies", "adds", "drops", "operands", "kept", "_held", "where",
};

static int
names_are_made(void)
{
    for (int k = 0; k < ASKED; k++) {
        if (asked[k] == NULL && (asked[k] = PyUnicode_InternFromString(names_asked[k])) == NULL) {
            return 0;
        }
    }
    return 1;
}

/* Whether an attribute of a kind is True; -1 for an error. */
static int
says(PyObject *kind, int name)
{
    PyObject *answer = PyObject_GetAttr(kind, asked[name]);
    int truth = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return truth;
}

/* Whether a tape keeps a constant argument as it is. */
static int
is_kept_as_it_is(PyObject *x)
{
    return x == Py_None || is_float(x) || PyLong_CheckExact(x) || PyBool_Check(x);
}

/* The list of active arguments, as `find_all_active` makes it; UNHANDLED where there are others
   than known ones. `arrays` counts what a tape has to hold: arrays, and what is traced elsewhere. */
static PyObject *
all_active(PyObject *tape, PyObject *args, int *arrays)
{
    PyObject *active = PyList_New(0);
    for (Py_ssize_t i = 0; active != NULL && i < PyTuple_GET_SIZE(args); i++) {
        PyObject *a = PyTuple_GET_ITEM(args, i);
        PyObject *level = is_traced_array(a) ? level_of_array(a) : level_of(a);
        if (level == tape) {
            PyObject *x = SLOT(a, PRIMAL);
            if (x == NULL || !is_known(a, tape, 1)
                || !(is_traced_array(a) ? array_under(x) != NULL : is_float_under(x))) {
                Py_DECREF(active);
                return UNHANDLED;
            }
            PyObject *one = active_argument((int)i, a, x);
            if (one == NULL || PyList_Append(active, one) < 0) {
                Py_CLEAR(active);
            }
            Py_XDECREF(one);
        }
        else if (level != NULL || PyArray_CheckExact(a)) {
            *arrays += 1;
        }
        else if (!is_kept_as_it_is(a)) {
            Py_DECREF(active);
            return UNHANDLED;
        }
    }
    if (active != NULL && PyList_GET_SIZE(active) == 0) {
        Py_DECREF(active);
        return UNHANDLED;
    }
    return active;
}

/* Whether structural zeros matter to one of the active arguments; -1 for an error, or unknown. */
static int
are_sensitive(PyObject *tape, PyObject *active)
{
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(active); k++) {
        PyObject *one = PyTuple_GET_ITEM(PyList_GET_ITEM(active, k), 1);
        int sensitive = is_sensitive(tape, SLOT(one, ACTIVE_PARENT));
        if (sensitive != 0) {
            return sensitive;
        }
    }
    return 0;
}

/* Whether the options say that some entries are left out; -1 for an error. */
static int
leave_out(PyObject *options)
{
    PyObject *where = PyDict_GetItemWithError(options, asked[WHERE_OPTION]);
    return where == NULL ? (PyErr_Occurred() ? -1 : 0) : where != Py_True;
}

/* What a node keeps of result and arguments, by the kind and the tape: a pair. */
static PyObject *
kept_of_call(PyObject *tape, PyObject *kind, PyObject *args, PyObject *values, PyObject *y,
             PyObject *active, int arrays)
{
    PyObject *operands = PyObject_CallMethodObjArgs(kind, asked[OPERANDS], values, y, NULL);
    PyObject *pair = operands == NULL ? NULL
                     : PyObject_CallMethodObjArgs(kind, asked[KEPT], active, y, operands, NULL);
    Py_XDECREF(operands);
    if (pair != NULL && (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2)) {
        Py_DECREF(pair);
        PyErr_SetString(PyExc_TypeError, "a kind keeps a result and arguments");
        return NULL;
    }
    if (pair == NULL || arrays == 0) {
        return pair;
    }
    PyObject *held = PyObject_CallMethodObjArgs(tape, asked[HELD_BESIDE], PyTuple_GET_ITEM(pair, 1),
                                                args, NULL);
    Py_SETREF(pair, held == NULL ? NULL : Py_BuildValue("(ON)", PyTuple_GET_ITEM(pair, 0), held));
    return pair;
}

/* The entry (node,) of a call; UNHANDLED where it is Python's to make. */
static PyObject *
entry_of_kind(PyObject *tape, PyObject *kind, PyObject *args, PyObject *options, PyObject *values,
              PyObject *y)
{
    int arrays = 0;
    PyObject *active = all_active(tape, args, &arrays);
    if (active == NULL || active == UNHANDLED) {
        return active;
    }
    if (keeps_nothing(tape)) {
        Py_DECREF(active);
        return no_entry();
    }
    int forgets = says(kind, FORGETS), adds = says(kind, ALSO_ADDS), drops = says(kind, ALSO_DROPS);
    int sensitive = says(kind, MULTIPLIES);
    if (sensitive == 0 && adds > 0) {
        sensitive = are_sensitive(tape, active);
    }
    int out = drops == 0 && adds > 0 && PyDict_GET_SIZE(options) > 0 ? leave_out(options) : drops;
    if (forgets < 0 || adds < 0 || drops < 0 || sensitive < 0 || out < 0) {
        Py_DECREF(active);
        return PyErr_Occurred() ? NULL : UNHANDLED;
    }
    LinearCall call = {tape, kind, NULL, NULL, NULL, NULL, NULL, 0, 0, options};
    PyObject *node = new_node(&call, sensitive, out ? Py_True : Py_False);
    if (node == NULL) {
        Py_DECREF(active);
        return NULL;
    }
    SLOT(node, NODE_ACTIVE) = active;
    int made = (SLOT(node, NODE_FORM) = form_of(y)) != NULL;
    if (made && forgets) {
        made = (SLOT(node, NODE_ARGS) = PyTuple_Pack(1, Py_None)) != NULL;
    }
    else if (made) {
        PyObject *pair = kept_of_call(tape, kind, args, values, y, active, arrays);
        made = pair != NULL;
        if (made) {
            Py_SETREF(SLOT(node, NODE_Y), Py_NewRef(PyTuple_GET_ITEM(pair, 0)));
            SLOT(node, NODE_ARGS) = Py_NewRef(PyTuple_GET_ITEM(pair, 1));
            Py_DECREF(pair);
        }
    }
    if (made && are_usual_settings(options) && is_untracked(SLOT(node, NODE_Y))
        && is_untracked(untracked(SLOT(node, NODE_ARGS)))) {
        PyObject_GC_UnTrack(node);
    }
    PyObject *entry = made ? untracked(PyTuple_Pack(1, node)) : NULL;
    Py_DECREF(node);
    return entry;
}

PyDoc_STRVAR(record_doc,
"record(tape, kind, args, options, values, y)\n--\n\n"
"Record y = f(*values, **options) by the kind that is the rule of f, and return it traced;\n"
"NotImplemented where that is done in Python.");

static PyObject *
record(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 6 || !PyTuple_Check(args[2]) || !PyDict_Check(args[3])) {
        PyErr_SetString(PyExc_TypeError, "record takes a tape, a kind, a tuple, a dict, values and y");
        return NULL;
    }
    PyObject *tape = args[0], *y = args[5];
    int is_number = is_traced_number(y) || Py_TYPE(y) == FLOAT64;
    /* A result that is traced by this tape was computed of captured values, too. */
    if (KIND_NODE == NULL || Py_TYPE(tape) != TAPE || !is_open(tape) || !is_result(y, tape)
        || (is_traced_array(y) ? level_of_array(y) : level_of(y)) == tape || !names_are_made()) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    }
    PyObject *made = entry_of_kind(tape, args[1], args[2], args[3], args[4], y);
    if (made == NULL || made == UNHANDLED) {
        return made == NULL ? NULL : Py_NewRef(Py_NotImplemented);
    }
    PyObject *traced = is_number ? traced_result(tape, Py_NewRef(y), made)
                                 : traced_array(tape, Py_NewRef(y), made);
    return traced == UNHANDLED ? Py_NewRef(Py_NotImplemented) : traced;
}

#endif
