/* Writes of single numbers into arrays that have a draft, as `write` of the levels does, and their
   way back. */

#ifndef CHAINRULES_WRITES_H
#define CHAINRULES_WRITES_H

#include "pulls.h"

static PyTypeObject *WRITE_NODE;
static Py_ssize_t WRITE_ACTIVE, WRITE_AXES, WRITE_BEFORE, WRITE_FORM, WRITE_INDEX, WRITE_PATH;
static Py_ssize_t WRITE_POSITION, WRITE_SENSITIVE, WRITE_SHAPE;       /* of nodes */

PyDoc_STRVAR(register_writes_doc,
"register_writes(write_node, project_number)\n--\n\n"
"Note the classes of a write on a tape, and of spaces of numbers.");

static PyObject *
register_writes(PyObject *module, PyObject *args)
{
    PyTypeObject *node, *project_number;
    if (!PyArg_ParseTuple(args, "O!O!", &PyType_Type, &node, &PyType_Type, &project_number)
        || offset_of(node, "active", &WRITE_ACTIVE) < 0
        || offset_of(node, "axes", &WRITE_AXES) < 0
        || offset_of(node, "before", &WRITE_BEFORE) < 0
        || offset_of(node, "form", &WRITE_FORM) < 0
        || offset_of(node, "index", &WRITE_INDEX) < 0
        || offset_of(node, "path", &WRITE_PATH) < 0
        || offset_of(node, "position", &WRITE_POSITION) < 0
        || offset_of(node, "sensitive", &WRITE_SENSITIVE) < 0
        || offset_of(node, "shape", &WRITE_SHAPE) < 0
        || offset_of(project_number, "dtype", &NUMBER_DTYPE) < 0) {
        return NULL;
    }
    Py_INCREF(args);
    WRITE_NODE = node;
    PROJECT_NUMBER = project_number;
    Py_RETURN_NONE;
}

/* ---- the draft that is written to ---- */

/* The memory of a root that has a draft which nobody else sees, borrowed; else NULL. */
static PyObject *
memory_to_write(PyObject *x)
{
    PyObject *memory = SLOT(x, MEMORY);
    if (NEXT_OF_VIEWS == NULL || SLOT(x, PRIMAL) != NULL || SLOT(x, BASE_AND_PATH) != Py_None
        || memory == NULL || Py_TYPE(memory) != MEMORY_TYPE) {
        return NULL;
    }
    PyObject *seen_by = SLOT(memory, SEEN_BY), *views = SLOT(memory, VIEWS);
    PyObject *given = SLOT(SLOT(x, AT_LEVEL), GIVEN);
    int apart = seen_by != NULL && PyList_CheckExact(seen_by) && PyList_GET_SIZE(seen_by) == 0
                && views != NULL && PyDict_CheckExact(views) && PyDict_GET_SIZE(views) == 0;
    return apart && (given == NULL || given == Py_None) ? memory : NULL;
}

/* Whether `x[index]` of a draft's array is one number, which may be written here; and its places. */
static int
places_to_write(PyObject *x, PyObject *index, npy_intp *places)
{
    PyObject *values = draft_of(x, 0);
    PyArrayObject *array = values == NULL ? NULL : array_or_draft_under(values);
    return array != NULL && PyArray_ISWRITEABLE(array) && places_of(index, array, places);
}

/* What is written into a draft's array for `v`, borrowed: the value of one of `level`, or itself. */
static PyObject *
primal_to_write(PyObject *v, PyObject *level)
{
    return level_of(v) == level ? SLOT(v, PRIMAL) : v;
}

/* ---- forward ---- */

/* The tangent of what is written, borrowed; NULL for a constant. */
static PyObject *
tangent_to_write(PyObject *x, PyObject *v)
{
    return level_of(v) == SLOT(x, AT_LEVEL) ? SLOT(v, TANGENT) : NULL;
}

/* Whether the tangent of `v` may be written beside it: a number, or one for each direction; and a
   constant where there are marks of what moves. */
static int
may_write_tangent(PyObject *x, PyObject *v)
{
    PyArrayObject *moves;
    PyObject *values = draft_of(x, 0), *tangents = tangents_of_draft(x, &moves);
    PyObject *vdot = tangent_to_write(x, v);
    int in_block = Py_TYPE(SLOT(x, AT_LEVEL)) == BLOCK_DUALS;
    if (!is_float64_array(values) || !is_beside(tangents, (PyArrayObject *)values, in_block)
        || !PyArray_ISWRITEABLE((PyArrayObject *)tangents)
        || (moves != NULL && !PyArray_ISWRITEABLE(moves))) {
        return 0;
    }
    if (vdot == NULL || !in_block) {
        return vdot == NULL ? moves != NULL : is_float(vdot);
    }
    return is_block(vdot)
           && PyArray_DIM((PyArrayObject *)vdot, 0) == PyArray_DIM((PyArrayObject *)tangents, 0);
}

/* Write the tangent of `v` beside it. */
static void
write_tangent(PyObject *x, PyObject *v, const npy_intp *places)
{
    PyArrayObject *moves, *xdot = (PyArrayObject *)tangents_of_draft(x, &moves);
    PyObject *vdot = tangent_to_write(x, v);
    if (moves != NULL) {
        *(npy_bool *)PyArray_GetPtr(moves, (npy_intp *)places) = vdot == NULL ? NPY_FALSE : NPY_TRUE;
    }
    if (Py_TYPE(SLOT(x, AT_LEVEL)) != BLOCK_DUALS) {
        *(double *)PyArray_GetPtr(xdot, (npy_intp *)places) = vdot == NULL ? 0.0 : VALUE(vdot);
        return;
    }
    npy_intp led[MOST_AXES + 1], size = PyArray_DIM(xdot, 0);
    memcpy(led + 1, places, MOST_AXES * sizeof(npy_intp));
    for (led[0] = 0; led[0] < size; led[0]++) {
        double share = 0.0;
        if (vdot != NULL) {
            share = AT(PyArray_BYTES((PyArrayObject *)vdot),
                       PyArray_STRIDE((PyArrayObject *)vdot, 0), led[0]);
        }
        *(double *)PyArray_GetPtr(xdot, led) = share;
    }
}

/* ---- reverse ---- */

/* Whether a write may be recorded. */
static int
may_record_write(PyObject *x, PyObject *v)
{
    PyObject *before = SLOT(x, POSITION_IN_ARRAY);
    return WRITE_NODE != NULL && before != NULL && PyLong_CheckExact(before)
           && (level_of(v) != SLOT(x, AT_LEVEL) || SLOT(v, POSITION) != NULL);
}

/* Append the node of a write, and let the array be what it made. */
static int
record_write(PyObject *x, PyObject *index, PyObject *v)
{
    PyObject *tape = SLOT(x, AT_LEVEL), *before = SLOT(x, POSITION_IN_ARRAY);
    int is_of_tape = level_of(v) == tape;
    int sensitive = is_sensitive(tape, before);
    if (sensitive == 0 && is_of_tape) {
        sensitive = is_sensitive(tape, SLOT(v, POSITION));
    }
    if (sensitive < 0) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_IndexError, "an array is of an entry that the tape has not");
        }
        return -1;
    }
    PyObject *node = WRITE_NODE->tp_alloc(WRITE_NODE, 0);
    if (node == NULL) {
        return -1;
    }
    SLOT(node, WRITE_BEFORE) = Py_NewRef(before);
    SLOT(node, WRITE_PATH) = PyTuple_New(0);
    SLOT(node, WRITE_AXES) = Py_NewRef(Py_None);
    SLOT(node, WRITE_INDEX) = Py_NewRef(index);
    SLOT(node, WRITE_SHAPE) = PyTuple_New(0);
    SLOT(node, WRITE_SENSITIVE) = PyBool_FromLong(sensitive);
    /* One after the other: an interrupt in a function of Python's ends it. */
    int made = SLOT(node, WRITE_PATH) != NULL && SLOT(node, WRITE_SHAPE) != NULL
               && (SLOT(node, WRITE_FORM) = PyObject_CallOneArg(SPACE_OF, draft_of(x, 0))) != NULL
               && (SLOT(node, WRITE_ACTIVE) = is_of_tape ? new_active(SLOT(v, POSITION), SLOT(v, PRIMAL))
                                                         : Py_NewRef(Py_None))
                      != NULL;
    if (made) {
        PyObject_GC_UnTrack(node); /* its index is of integers */
    }
    PyObject *entry = made ? untracked(PyTuple_Pack(1, node)) : NULL;
    PyObject *position = entry == NULL ? NULL : appended(tape, entry);
    if (position != NULL) {
        SLOT(node, WRITE_POSITION) = Py_NewRef(position);
        Py_SETREF(SLOT(x, POSITION_IN_ARRAY), position);
    }
    Py_DECREF(node);
    return position == NULL ? -1 : 1;
}

static int write_item(PyObject *x, PyObject *index, PyObject *v);

/* Write a number into the array of a draft: a plain one, or one traced further out. */
static int
write_value(PyObject *values, PyObject *index, PyObject *y, npy_intp *places)
{
    double value;
    if (is_traced_array(values)) {
        return write_item(values, index, y);
    }
    if (!is_float64_array(values) || !as_double(y, &value)) {
        return 0;
    }
    *(double *)PyArray_GetPtr((PyArrayObject *)values, places) = value;
    return 1;
}

/* Do `x[index] = v` of a traced array. Whether it was done; -1 for an error.

   Where it is not done nothing has changed: what may refuse it is asked first. */
static int
write_item(PyObject *x, PyObject *index, PyObject *v)
{
    PyObject *level = SLOT(x, AT_LEVEL);
    if (level == NULL || !is_accelerated(level) || !is_open(level) || keeps_nothing(level)
        || Py_TYPE(x) != (Py_TYPE(level) == TAPE ? ENTRY_ARRAY : DUAL_ARRAY)) {
        return 0;
    }
    PyObject *memory = memory_to_write(x);
    npy_intp places[MOST_AXES];
    PyObject *y = memory == NULL ? NULL : primal_to_write(v, level);
    if (y == NULL || !places_to_write(x, index, places)
        || !(Py_TYPE(level) == TAPE ? may_record_write(x, v) : may_write_tangent(x, v))) {
        return 0;
    }
    int done = write_value(draft_of(x, 0), index, y, places);
    if (done != 1) {
        return done;
    }
    Py_XSETREF(SLOT(memory, MOVED), Py_NewRef(Py_None));
    if (Py_TYPE(level) == TAPE) {
        return record_write(x, index, v);
    }
    write_tangent(x, v, places);
    return 1;
}

/* ---- the way back ---- */

/* Whether what was written is a constant, or a float64 whose cotangent needs no projection. */
static int
is_plain_number(PyObject *active)
{
    if (active == Py_None) {
        return 1;
    }
    return active != NULL && Py_TYPE(active) == ACTIVE
           && is_space_of_float64(SLOT(active, ACTIVE_SPACE));
}

/* The number at an index of a cotangent that may be written to, which then is zero there; UNHANDLED
   where there is none. */
static PyObject *
taken(PyObject *whole, PyObject *index)
{
    if (whole == NULL || Py_TYPE(whole) != DUAL_ARRAY) {
        double *place = whole == NULL ? NULL : place_in(whole, index), y = place == NULL ? 0 : *place;
        if (place == NULL) {
            return UNHANDLED;
        }
        *place = 0.0;
        return new_float64(y);
    }
    PyObject *level = SLOT(whole, AT_LEVEL), *tangent = SLOT(whole, TANGENT_OF_ARRAY);
    double *place = place_in(SLOT(whole, PRIMAL), index);
    PyArrayObject *array = (PyArrayObject *)SLOT(whole, PRIMAL);
    int in_block = level != NULL && Py_TYPE(level) == BLOCK_DUALS;
    npy_intp places[MOST_AXES + 1];
    if (place == NULL || level == NULL || !is_forward(level) || !is_beside(tangent, array, in_block)
        || !PyArray_ISWRITEABLE((PyArrayObject *)tangent)
        || !places_of(index, array, places + in_block)) {
        return UNHANDLED;
    }
    npy_intp count = in_block ? PyArray_DIM((PyArrayObject *)tangent, 0) : 1;
    PyObject *ydot = in_block ? PyArray_SimpleNew(1, &count, NPY_DOUBLE) : NULL;
    PyObject *y = in_block && ydot == NULL ? NULL : new_float64(*place);
    if (y == NULL) {
        Py_XDECREF(ydot);
        return NULL;
    }
    for (npy_intp k = 0; k < count; k++) {
        places[0] = in_block ? k : places[0];
        double *from = PyArray_GetPtr((PyArrayObject *)tangent, places);
        if (in_block) {
            ((double *)PyArray_DATA((PyArrayObject *)ydot))[k] = *from;
        }
        else {
            ydot = new_float64(*from);
        }
        *from = 0.0;
    }
    *place = 0.0;
    return new_traced(DUAL, level, y, TANGENT, ydot);
}

/* Pull back through the write of a number, in the sweep's own memory. Whether it was done. */
static int
pull_write(Order *self, PyObject *node, PyObject *ybar)
{
    if (WRITE_NODE == NULL || Py_TYPE(node) != WRITE_NODE) {
        return 0;
    }
    PyObject *path = SLOT(node, WRITE_PATH), *active = SLOT(node, WRITE_ACTIVE);
    PyObject *before = SLOT(node, WRITE_BEFORE), *position = SLOT(node, WRITE_POSITION);
    PyObject *index = SLOT(node, WRITE_INDEX), *whole = ybar;
    PyArrayObject *alive = NULL;
    npy_intp places[MOST_AXES];
    if (path == NULL || !PyTuple_CheckExact(path) || PyTuple_GET_SIZE(path) > 0 || position == NULL
        || PySet_Contains(self->owned, position) != 1 || !is_plain_number(active)) {
        PyErr_Clear();
        return 0;
    }
    if (SLOT(node, WRITE_SENSITIVE) == Py_True) {
        alive = Py_TYPE(ybar) == MASKED ? (PyArrayObject *)SLOT(ybar, ALIVE) : NULL;
        if (alive == NULL || Py_TYPE(alive) != &PyArray_Type || PyArray_TYPE(alive) != NPY_BOOL
            || !PyArray_ISBEHAVED(alive) || PyArray_NDIM(alive) > MOST_AXES
            || !places_of(index, alive, places)) {
            return 0;
        }
        whole = SLOT(ybar, MASKED_VALUE);
    }
    Py_ssize_t at = before != NULL && PyLong_CheckExact(before) ? PyLong_AsSsize_t(before) : -1;
    if (at < 0 || at >= PyList_GET_SIZE(self->bars)
        || PyList_GET_ITEM(self->bars, at) != Py_None) {
        return 0;
    }
    PyObject *vbar = taken(whole, index);
    if (vbar == NULL || vbar == UNHANDLED) {
        return vbar == NULL ? -1 : 0;
    }
    int is_alive = alive == NULL || *(npy_bool *)PyArray_GetPtr(alive, places);
    if (alive != NULL) {
        *(npy_bool *)PyArray_GetPtr(alive, places) = NPY_FALSE;
    }
    if (PyList_SetItem(self->bars, at, Py_NewRef(ybar)) < 0 || PySet_Add(self->owned, before) < 0
        || PyList_SetItem(self->bars, self->next, Py_NewRef(Py_None)) < 0) {
        Py_DECREF(vbar);
        return -1;
    }
    if (active == Py_None || !is_alive) {
        Py_DECREF(vbar);
        return 1;
    }
    return accumulate(self, SLOT(active, ACTIVE_PARENT), vbar) < 0 ? -1 : 1;
}

#endif
