/* Marks of a run whose lines are timed: for each event the line, the time and the lengths of lists.

   A trace function of Python's takes longer than a line of numbers; `line_marks.py` of the
   explanations says what it does. */

#ifndef CHAINRULES_LINE_MARKS_H
#define CHAINRULES_LINE_MARKS_H

#include <Python.h>
#include <time.h>

/* Bytes that grow at their end. */
typedef struct {
    char *bytes;
    Py_ssize_t size, room;
} Column;

static int
append(Column *column, const void *x)
{
    if (column->size == column->room) {
        Py_ssize_t room = column->room > 0 ? 2 * column->room : 1024;
        char *bytes = PyMem_Realloc(column->bytes, room);
        if (bytes == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        column->bytes = bytes;
        column->room = room;
    }
    memcpy(column->bytes + column->size, x, 8);
    column->size += 8;
    return 0;
}

typedef struct {
    PyObject_HEAD
    PyObject *firsts;  /* numbers of the first lines of the user's functions, by the ids of their code */
    PyObject *lists;   /* the lists that are measured now: their lengths are one after the other */
    Column lines, times, lengths;
} LineMarks;

/* What Python calls at each line of a function, whose lines are numbered from `first` on. It leads
   to no object that leads back to it, so that the collector need not see it. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    LineMarks *marks;
    int64_t first;
} LineTracer;

/* ---- events ---- */

static double
seconds_now(void)
{
    struct timespec now;
#ifdef CLOCK_MONOTONIC
    clock_gettime(CLOCK_MONOTONIC, &now);
#else
    timespec_get(&now, TIME_UTC);
#endif
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int
mark(LineMarks *self, int64_t line)
{
    if (append(&self->lines, &line) < 0) {
        return -1;
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(self->lists); k++) {
        int64_t length = PyList_GET_SIZE(PyTuple_GET_ITEM(self->lists, k));
        if (append(&self->lengths, &length) < 0) {
            return -1;
        }
    }
    double seconds = seconds_now();
    return append(&self->times, &seconds);
}

/* The user's line that waits for a function to end; 0 where none does. -1 is an error. */
static int64_t
waiting_line(LineMarks *self, PyFrameObject *frame)
{
    int64_t line = 0;
    PyFrameObject *outer = PyFrame_GetBack(frame);
    while (outer != NULL) {
        PyCodeObject *code = PyFrame_GetCode(outer);
        PyObject *at = PyLong_FromVoidPtr(code);
        PyObject *first = at == NULL ? NULL : PyDict_GetItemWithError(self->firsts, at);
        Py_DECREF(code);
        Py_XDECREF(at);
        if (first != NULL) {
            line = PyLong_AsLongLong(first) + PyFrame_GetLineNumber(outer);
        }
        PyFrameObject *next = first == NULL && !PyErr_Occurred() ? PyFrame_GetBack(outer) : NULL;
        Py_DECREF(outer);
        outer = next;
    }
    return PyErr_Occurred() ? -1 : line;
}

static PyObject *
traced_event(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    LineTracer *self = (LineTracer *)callable;
    if (PyVectorcall_NARGS(flags) != 3 || names != NULL || !PyFrame_Check(args[0])
        || !PyUnicode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "a trace function takes a frame, an event and an argument");
        return NULL;
    }
    PyFrameObject *frame = (PyFrameObject *)args[0];
    int64_t line;
    if (PyUnicode_CompareWithASCIIString(args[1], "return") == 0) {
        line = waiting_line(self->marks, frame);
        if (line < 0) {
            return NULL;
        }
    }
    else {
        line = self->first + PyFrame_GetLineNumber(frame);
    }
    return mark(self->marks, line) < 0 ? NULL : Py_NewRef(callable);
}

static void
line_tracer_dealloc(LineTracer *self)
{
    Py_DECREF(self->marks);
    Py_TYPE(self)->tp_free(self);
}

static PyTypeObject LineTracerType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "chainrules.rules.accelerated._numbers.LineTracer",
    .tp_basicsize = sizeof(LineTracer),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(LineTracer, call),
    .tp_call = PyVectorcall_Call,
    .tp_dealloc = (destructor)line_tracer_dealloc,
};

/* ---- marks ---- */

static PyObject *
line_marks_note(LineMarks *self, PyObject *line)
{
    int64_t number = PyLong_AsLongLong(line);
    if (PyErr_Occurred() || mark(self, number) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
line_marks_measure(LineMarks *self, PyObject *lists)
{
    int fits = PyTuple_CheckExact(lists);
    for (Py_ssize_t k = 0; fits && k < PyTuple_GET_SIZE(lists); k++) {
        fits = PyList_CheckExact(PyTuple_GET_ITEM(lists, k));
    }
    if (!fits) {
        PyErr_SetString(PyExc_TypeError, "measure takes a tuple of lists");
        return NULL;
    }
    Py_SETREF(self->lists, Py_NewRef(lists));
    Py_RETURN_NONE;
}

static PyObject *
line_marks_tracer(LineMarks *self, PyObject *first)
{
    int64_t number = PyLong_AsLongLong(first);
    LineTracer *tracer = PyErr_Occurred() ? NULL : PyObject_New(LineTracer, &LineTracerType);
    if (tracer != NULL) {
        tracer->call = traced_event;
        tracer->marks = (LineMarks *)Py_NewRef((PyObject *)self);
        tracer->first = number;
    }
    return (PyObject *)tracer;
}

static PyObject *
bytes_of(const Column *column)
{
    return PyBytes_FromStringAndSize(column->bytes, column->size);
}

/* Lines, times and lengths so far, as bytes. */
static PyObject *
line_marks_columns(LineMarks *self, PyObject *ignored)
{
    return Py_BuildValue("NNN", bytes_of(&self->lines), bytes_of(&self->times),
                         bytes_of(&self->lengths));
}

static Py_ssize_t
line_marks_length(LineMarks *self)
{
    return self->lines.size / 8;
}

static PyObject *
line_marks_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *firsts;
    if (!PyArg_ParseTuple(args, "O!", &PyDict_Type, &firsts)) {
        return NULL;
    }
    LineMarks *self = (LineMarks *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->firsts = Py_NewRef(firsts);
        self->lists = PyTuple_New(0);
    }
    return (PyObject *)self;
}

static void
line_marks_dealloc(LineMarks *self)
{
    PyMem_Free(self->lines.bytes);
    PyMem_Free(self->times.bytes);
    PyMem_Free(self->lengths.bytes);
    Py_XDECREF(self->firsts);
    Py_XDECREF(self->lists);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *
line_marks_waiting(LineMarks *self, PyObject *frame)
{
    if (!PyFrame_Check(frame)) {
        PyErr_SetString(PyExc_TypeError, "waiting takes a frame");
        return NULL;
    }
    int64_t line = waiting_line(self, (PyFrameObject *)frame);
    return line < 0 ? NULL : PyLong_FromLongLong(line);
}

static PyMethodDef line_marks_methods[] = {
    {"note", (PyCFunction)line_marks_note, METH_O, NULL},
    {"measure", (PyCFunction)line_marks_measure, METH_O, NULL},
    {"tracer", (PyCFunction)line_marks_tracer, METH_O, NULL},
    {"waiting", (PyCFunction)line_marks_waiting, METH_O, NULL},
    {"columns", (PyCFunction)line_marks_columns, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PySequenceMethods line_marks_sequence = {.sq_length = (lenfunc)line_marks_length};

static PyTypeObject LineMarksType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "chainrules.rules.accelerated._numbers.LineMarks",
    .tp_basicsize = sizeof(LineMarks),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = line_marks_new,
    .tp_dealloc = (destructor)line_marks_dealloc,
    .tp_methods = line_marks_methods,
    .tp_as_sequence = &line_marks_sequence,
};

#endif
