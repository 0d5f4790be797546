/* Registered classes: the ones of Python whose slots the accelerated operators read and fill.

   Each is told once, at import. Until then every pointer is NULL, which is the class
   of no value, so that each call goes the way of Python. */

#ifndef CHAINRULES_REGISTERED_H
#define CHAINRULES_REGISTERED_H

#include <Python.h>
#include <structmember.h> /* PyMemberDef, before Python 3.12 */

/* Classes. A level is accelerated if its class is exactly one of the three, for a subclass may
   answer in its own way; likewise a traced number. */
static PyTypeObject *ENTRY_NUMBER, *DUAL, *ENTRY_ARRAY, *DUAL_ARRAY;
static PyTypeObject *TAPE, *FORWARD_LEVEL, *BLOCK_DUALS;
static PyTypeObject *SCALAR_RULE, *SELECTION_RULE, *CONSTANT_RULE, *FLOAT64;
static PyTypeObject *MEMORY_TYPE, *MASKED, *BUFFER_ARRAY, *MOVING;
static PyTypeObject *BATCH_LEVEL, *BATCHED_NUMBER, *BATCHED_ARRAY;

/* Offsets of their slots. */
static Py_ssize_t PRIMAL, AT_LEVEL;                          /* of all traced values */
static Py_ssize_t MEMORY, BASE_AND_PATH;                     /* of all traced arrays */
static Py_ssize_t POSITION, TANGENT, POSITION_IN_ARRAY, TANGENT_OF_ARRAY;
static Py_ssize_t DRAFT, MOVED, SEEN_BY, VIEWS;              /* of their memory */
static Py_ssize_t GIVEN;                                     /* of levels that are engines */
static Py_ssize_t NUMBER, LIVE, ENTRIES, WATCH;              /* of levels */
static PyObject *DISCARDED;                                  /* the entries of a tape for values */
static Py_ssize_t PARTIALS, CONSTANTS, BRANCH, NEEDS;        /* of scalar rules */
static Py_ssize_t MASKED_VALUE, ALIVE;                       /* of masked cotangents */
static Py_ssize_t HELD, MOVES;                               /* of tangents that move in part */
static Py_ssize_t BLOCK_OF_NUMBER, BLOCK_OF_ARRAY, OF_PYTHON; /* of batched numbers and arrays */
static Py_ssize_t LIVE_OF_BATCH, NUMBER_OF_BATCH;            /* of their level */

/* Rules of ufuncs, as the tables of both modes have them: looked up at each call. */
static PyObject *FRULE_SCALARS, *RRULE_SCALARS, *FRULE_KINDS, *RRULE_KINDS;

/* Partials of products and quotients, which are computed here, and the constant 1 of a sum; and the
   functions whose rules are those of reading an entry, and of joining numbers. */
static PyObject *GETITEM, *STACK;
static PyObject *NEXT_OF_VIEWS;
static PyObject *FIRST, *SECOND, *OVER_SECOND, *MINUS_QUOTIENT_OVER_SECOND, *ONE, *POSITIVE;

/* What a slot holds, borrowed; NULL where it is empty. */
#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

static int
is_traced_number(PyObject *x)
{
    return Py_TYPE(x) == ENTRY_NUMBER || Py_TYPE(x) == DUAL;
}

static int
is_forward(PyObject *level)
{
    return Py_TYPE(level) == FORWARD_LEVEL || Py_TYPE(level) == BLOCK_DUALS;
}

static int
is_accelerated(PyObject *level)
{
    return Py_TYPE(level) == TAPE || is_forward(level);
}

static int
offset_of(PyTypeObject *type, const char *name, Py_ssize_t *offset)
{
    PyObject *descriptor = PyObject_GetAttrString((PyObject *)type, name);
    if (descriptor == NULL) {
        return -1;
    }
    if (Py_TYPE(descriptor) != &PyMemberDescr_Type) {
        PyErr_Format(PyExc_TypeError, "%s.%s is no slot", type->tp_name, name);
        Py_DECREF(descriptor);
        return -1;
    }
    *offset = ((PyMemberDescrObject *)descriptor)->d_member->offset;
    Py_DECREF(descriptor);
    return 0;
}

/* Offsets that levels of both modes share. */
static int
offsets_of_level(PyTypeObject *level)
{
    return offset_of(level, "number", &NUMBER) < 0 || offset_of(level, "live", &LIVE) < 0 ? -1 : 0;
}

PyDoc_STRVAR(register_tape_doc,
"register_tape(tape, entry_number, entry_array, discarded)\n--\n\n"
"Note the classes of reverse levels and of their traced numbers and arrays, and what takes the\n"
"entries of a tape that keeps none.");

static PyObject *
register_tape(PyObject *module, PyObject *args)
{
    PyTypeObject *tape, *entry_number, *entry_array;
    PyObject *discarded;
    if (!PyArg_ParseTuple(args, "O!O!O!O", &PyType_Type, &tape, &PyType_Type, &entry_number,
                          &PyType_Type, &entry_array, &discarded)
        || offsets_of_level(tape) < 0
        || offset_of(entry_number, "position", &POSITION) < 0
        || offset_of(entry_array, "position", &POSITION_IN_ARRAY) < 0
        || offset_of(tape, "entries", &ENTRIES) < 0 || offset_of(tape, "watch", &WATCH) < 0) {
        return NULL;
    }
    Py_INCREF(args); /* the classes live as long as the process */
    TAPE = tape;
    ENTRY_NUMBER = entry_number;
    ENTRY_ARRAY = entry_array;
    DISCARDED = discarded;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(register_duals_doc,
"register_duals(forward_level, block_duals, dual, dual_array, moving)\n--\n\n"
"Note the classes of forward levels, of their traced numbers and arrays, and of tangents with\n"
"structural zeros.");

static PyObject *
register_duals(PyObject *module, PyObject *args)
{
    PyTypeObject *forward_level, *block_duals, *dual, *dual_array, *moving;
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!", &PyType_Type, &forward_level, &PyType_Type,
                          &block_duals, &PyType_Type, &dual, &PyType_Type, &dual_array,
                          &PyType_Type, &moving)
        || offset_of(moving, "held", &HELD) < 0 || offset_of(moving, "moves", &MOVES) < 0
        || offsets_of_level(forward_level) < 0
        || offset_of(dual, "tangent", &TANGENT) < 0
        || offset_of(dual_array, "tangent", &TANGENT_OF_ARRAY) < 0) {
        return NULL;
    }
    Py_INCREF(args);
    FORWARD_LEVEL = forward_level;
    BLOCK_DUALS = block_duals;
    DUAL = dual;
    DUAL_ARRAY = dual_array;
    MOVING = moving;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(register_buffers_doc,
"register_buffers(buffer_array)\n--\n\n"
"Note the class of arrays that are plain until something traced is written into them.");

static PyObject *
register_buffers(PyObject *module, PyObject *buffer_array)
{
    if (!PyType_Check(buffer_array)) {
        PyErr_SetString(PyExc_TypeError, "register_buffers takes a class");
        return NULL;
    }
    BUFFER_ARRAY = (PyTypeObject *)Py_NewRef(buffer_array);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(register_rules_doc,
"register_rules(scalar_rule, selection_rule, constant_rule, frule, rrule, one, positive,"
" float64)\n--\n\n"
"Note the classes of elementwise rules, of selections and of constant functions, and the tables of\n"
"both modes.");

/* An attribute of a table that is a dict. */
static int
dict_of(PyObject *table, const char *name, PyObject **kept)
{
    *kept = PyObject_GetAttrString(table, name);
    if (*kept != NULL && !PyDict_CheckExact(*kept)) {
        PyErr_Format(PyExc_TypeError, "%s is no dict", name);
        return -1;
    }
    return *kept == NULL ? -1 : 0;
}

static PyObject *
register_rules(PyObject *module, PyObject *args)
{
    PyTypeObject *scalar_rule, *selection_rule, *constant_rule, *float64;
    PyObject *frule, *rrule, *one, *positive;
    if (!PyArg_ParseTuple(args, "O!O!O!OOOOO!", &PyType_Type, &scalar_rule, &PyType_Type,
                          &selection_rule, &PyType_Type, &constant_rule, &frule, &rrule, &one,
                          &positive, &PyType_Type, &float64)
        || dict_of(frule, "scalars", &FRULE_SCALARS) < 0
        || dict_of(rrule, "scalars", &RRULE_SCALARS) < 0
        || dict_of(frule, "kinds", &FRULE_KINDS) < 0 || dict_of(rrule, "kinds", &RRULE_KINDS) < 0
        || offset_of(scalar_rule, "partials", &PARTIALS) < 0
        || offset_of(scalar_rule, "constants", &CONSTANTS) < 0
        || offset_of(scalar_rule, "branch", &BRANCH) < 0
        || offset_of(scalar_rule, "needs", &NEEDS) < 0) {
        return NULL;
    }
    Py_INCREF(args);
    SCALAR_RULE = scalar_rule;
    SELECTION_RULE = selection_rule;
    CONSTANT_RULE = constant_rule;
    ONE = one;
    POSITIVE = positive;
    FLOAT64 = float64;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(register_reads_doc,
"register_reads(getitem, stack, memory, masked)\n--\n\n"
"Note the functions that read and join, and the classes of drafts and of masked cotangents.");

static PyObject *
register_reads(PyObject *module, PyObject *args)
{
    PyObject *getitem, *stack;
    PyTypeObject *memory, *masked;
    if (!PyArg_ParseTuple(args, "OOO!O!", &getitem, &stack, &PyType_Type, &memory, &PyType_Type,
                          &masked)
        || offset_of(memory, "draft", &DRAFT) < 0
        || offset_of(masked, "value", &MASKED_VALUE) < 0
        || offset_of(masked, "alive", &ALIVE) < 0) {
        return NULL;
    }
    Py_INCREF(args);
    GETITEM = getitem;
    STACK = stack;
    MEMORY_TYPE = memory;
    MASKED = masked;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(register_memory_doc,
"register_memory(engine, memory, next_of_views)\n--\n\n"
"Note the classes of levels and of the memory of arrays, and what numbers views.");

static PyObject *
register_memory(PyObject *module, PyObject *args)
{
    PyTypeObject *engine, *memory;
    PyObject *next;
    if (!PyArg_ParseTuple(args, "O!O!O", &PyType_Type, &engine, &PyType_Type, &memory, &next)
        || offset_of(engine, "given", &GIVEN) < 0 || offset_of(memory, "moved", &MOVED) < 0
        || offset_of(memory, "seen_by", &SEEN_BY) < 0 || offset_of(memory, "views", &VIEWS) < 0) {
        return NULL;
    }
    Py_INCREF(args);
    NEXT_OF_VIEWS = next;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(register_partials_doc,
"register_partials(first, second, over_second, minus_quotient_over_second)\n--\n\n"
"Note the partials of products and quotients, which are computed in C.");

static PyObject *
register_partials(PyObject *module, PyObject *args)
{
    if (!PyArg_ParseTuple(args, "OOOO", &FIRST, &SECOND, &OVER_SECOND,
                          &MINUS_QUOTIENT_OVER_SECOND)) {
        return NULL;
    }
    Py_INCREF(args);
    Py_RETURN_NONE;
}

#endif
