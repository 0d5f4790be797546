/* The sweep's stretch through entries of numbers: pull cotangents back as `sweep` does. */

#ifndef CHAINRULES_SWEEP_H
#define CHAINRULES_SWEEP_H

#include "writes.h"

/* Whether `x` is a dual number of floats of `level`. */
static int
is_dual_of(PyObject *x, PyObject *level)
{
    return Py_TYPE(x) == DUAL && SLOT(x, AT_LEVEL) == level && SLOT(x, PRIMAL) != NULL
           && is_float(SLOT(x, PRIMAL)) && SLOT(x, TANGENT) != NULL
           && (is_float(SLOT(x, TANGENT)) || is_block(SLOT(x, TANGENT)));
}

/* `present + ybar * partial` of duals, made at once as `ForwardLevel.multiply_add` makes it.

   `present` is None for zero. UNHANDLED where one of them is no dual of the level, or no float. */
static PyObject *
multiply_add(PyObject *present, PyObject *ybar, PyObject *partial)
{
    PyObject *level = SLOT(ybar, AT_LEVEL);
    int moves = is_dual_of(partial, level);
    if (!is_dual_of(ybar, level) || !(moves || is_float(partial) || partial == ONE)
        || !(present == Py_None || is_dual_of(present, level))) {
        return UNHANDLED;
    }
    PyObject *y = SLOT(ybar, PRIMAL), *ydot = SLOT(ybar, TANGENT), *x, *xdot;
    PyObject *factor = moves ? SLOT(partial, PRIMAL) : partial;
    if (partial == ONE) {
        x = Py_NewRef(y);
        xdot = Py_NewRef(ydot);
    }
    else {
        x = times(y, factor);
        xdot = moves ? combined(ydot, factor, SLOT(partial, TANGENT), y) : scaled(ydot, factor);
    }
    if (present != Py_None && x != NULL && xdot != NULL) {
        Py_SETREF(x, plus(SLOT(present, PRIMAL), x));
        Py_SETREF(xdot, summed(SLOT(present, TANGENT), xdot));
    }
    if (x == NULL || xdot == NULL) {
        Py_XDECREF(x);
        Py_XDECREF(xdot);
        return NULL;
    }
    return new_traced(DUAL, level, x, TANGENT, xdot);
}

/* `present + ybar * partial`, where `present` is None for zero. */
static PyObject *
cotangent(PyObject *present, PyObject *ybar, PyObject *partial)
{
    if (partial == ONE && present == Py_None) {
        return Py_NewRef(ybar);
    }
    if (Py_TYPE(ybar) == DUAL) {
        PyObject *xbar = multiply_add(present, ybar, partial);
        if (xbar != UNHANDLED) {
            return xbar;
        }
    }
    PyObject *product = partial == ONE ? Py_NewRef(ybar) : times(ybar, partial);
    if (product != NULL && present != Py_None) {
        Py_SETREF(product, plus(present, product));
    }
    return product;
}

/* Add `ybar * partial` to the cotangent of the entry that `index` names. */
static int
pull_to(PyObject *bars, PyObject *index, PyObject *ybar, PyObject *partial)
{
    Py_ssize_t at = PyLong_AsSsize_t(index);
    if (at < 0 || at >= PyList_GET_SIZE(bars)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_IndexError, "an entry comes before those it was made of");
        }
        return -1;
    }
    PyObject *present = Py_NewRef(PyList_GET_ITEM(bars, at)); /* Python may run meanwhile */
    PyObject *xbar = cotangent(present, ybar, partial);
    Py_DECREF(present);
    return xbar == NULL ? -1 : PyList_SetItem(bars, at, xbar);
}

/* ---- the iterator that a sweep goes by ---- */

static void
order_dealloc(Order *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->entries);
    Py_XDECREF(self->bars);
    Py_XDECREF(self->owned);
    Py_XDECREF(self->add);
    Py_XDECREF(self->cotangents);
    PyObject_GC_Del(self);
}

static int
order_traverse(Order *self, visitproc visit, void *arg)
{
    Py_VISIT(self->entries);
    Py_VISIT(self->bars);
    Py_VISIT(self->owned);
    Py_VISIT(self->add);
    Py_VISIT(self->cotangents);
    return 0;
}

/* Whether a cotangent is an array whose owner nobody asks for: a small one, or a dual one. */
static int
is_small_array(Order *self, PyObject *ybar)
{
    return is_array_of_sweep(ybar)
           && (Py_TYPE(ybar) == DUAL_ARRAY
               || PyArray_SIZE((PyArrayObject *)ybar) < self->small);
}

/* Whether an entry is that of a write, for which it matters which marks there are. */
static int
is_write(PyObject *entry)
{
    return PyTuple_CheckExact(entry) && PyTuple_GET_SIZE(entry) == NODE && WRITE_NODE != NULL
           && Py_TYPE(PyTuple_GET_ITEM(entry, 0)) == WRITE_NODE;
}

/* Pull back through one entry, if it is one of numbers or a read one; say whether it was. */
static int
pull_entry(Order *self, PyObject *entry, PyObject *ybar)
{
    Py_ssize_t size = PyTuple_CheckExact(entry) ? PyTuple_GET_SIZE(entry) : 0;
    if (size < NODE || (size > READ && size != BROADCAST)) {
        return 0;
    }
    if (ybar == Py_None) {
        return 1;
    }
    if (size == NODE || size == BROADCAST) {
        int written = size == NODE ? pull_write(self, PyTuple_GET_ITEM(entry, 0), ybar) : 0;
        if (written != 0) {
            return written;
        }
        if (size == NODE && KIND_NODE != NULL && Py_TYPE(PyTuple_GET_ITEM(entry, 0)) == KIND_NODE
            && is_view_node(PyTuple_GET_ITEM(entry, 0), ybar)) {
            int added = pull_view(self, PyTuple_GET_ITEM(entry, 0), ybar);
            if (added <= 0) {
                return added;
            }
            return PyList_SetItem(self->bars, self->next, Py_NewRef(Py_None)) < 0 ? -1 : 1;
        }
        if (!(size == NODE ? is_linear_node(PyTuple_GET_ITEM(entry, 0), ybar)
                           : is_array_of_sweep(ybar))) {
            return 0;
        }
        if (PyList_SetItem(self->bars, self->next, Py_NewRef(Py_None)) < 0) {
            return -1;
        }
        int done = size == NODE ? pull_node(self, PyTuple_GET_ITEM(entry, 0), ybar)
                                : pull_broadcast(self, entry, ybar);
        return done < 0 ? -1 : 1;
    }
    if (size == READ) {
        if (!pull_read(entry, ybar, self->bars, self->owned)) {
            return 0;
        }
        return PyList_SetItem(self->bars, self->next, Py_NewRef(Py_None)) < 0 ? -1 : 1;
    }
    int of_arrays = size == OF_ARRAY || size == OF_ARRAYS;
    if (!(of_arrays ? is_small_array(self, ybar) : is_cotangent(ybar))) {
        return 0;
    }
    if (PyList_SetItem(self->bars, self->next, Py_NewRef(Py_None)) < 0) {
        return -1;
    }
    if (of_arrays) {
        return pull_array(self, entry, ybar) < 0 ? -1 : 1;
    }
    for (Py_ssize_t k = 0; k < size; k += 2) {
        if (pull_to(self->bars, PyTuple_GET_ITEM(entry, k), ybar, PyTuple_GET_ITEM(entry, k + 1))
            < 0) {
            return -1;
        }
    }
    return 1;
}

/* The next entry that the sweep itself pulls back through: one of another form. */
static PyObject *
order_next(Order *self)
{
    for (; self->next >= self->inputs; self->next--) {
        self->at = self->next;
        if (self->next >= PyList_GET_SIZE(self->entries)
            || self->next >= PyList_GET_SIZE(self->bars)) {
            PyErr_SetString(PyExc_RuntimeError, "the entries changed while they were swept");
            return NULL;
        }
        PyObject *entry = Py_NewRef(PyList_GET_ITEM(self->entries, self->next));
        PyObject *ybar = Py_NewRef(PyList_GET_ITEM(self->bars, self->next));
        if (!is_write(entry)) {
            ybar = settled_cotangent(ybar);
        }
        int pulled = pull_entry(self, entry, ybar);
        Py_DECREF(entry);
        Py_DECREF(ybar);
        if (pulled == 0) {
            self->at = -1;
            return PyLong_FromSsize_t(self->next--);
        }
        if (pulled < 0 || PyErr_CheckSignals() < 0
            || (self->last
                && PyList_SetSlice(self->entries, self->next, PyList_GET_SIZE(self->entries), NULL)
                       < 0)) {
            return NULL;
        }
    }
    return NULL;
}

/* The entry that is pulled back through here, -1 where the sweep does it itself: NumPy's warnings
   are told with its name. */
static PyMemberDef order_members[] = {
    {"at", T_PYSSIZET, offsetof(Order, at), READONLY, NULL},
    {NULL},
};

static PyTypeObject OrderType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "chainrules.rules.accelerated._numbers.Order",
    .tp_basicsize = sizeof(Order),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_dealloc = (destructor)order_dealloc,
    .tp_traverse = (traverseproc)order_traverse,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)order_next,
    .tp_members = order_members,
};

PyDoc_STRVAR(order_doc,
"order(cotangents, inputs, last, small)\n--\n\n"
"Yield the entries that a sweep pulls back through, and do the common ones in between.\n\n"
"An array of fewer than small numbers has no owner to ask for.");

static PyObject *
order(PyObject *module, PyObject *args)
{
    PyObject *cotangents;
    Py_ssize_t inputs, small;
    int last;
    if (!PyArg_ParseTuple(args, "Onpn", &cotangents, &inputs, &last, &small)) {
        return NULL;
    }
    Order *self = PyObject_GC_New(Order, &OrderType);
    if (self == NULL) {
        return NULL;
    }
    self->cotangents = Py_NewRef(cotangents);
    self->entries = PyObject_GetAttrString(cotangents, "entries");
    self->bars = PyObject_GetAttrString(cotangents, "bars");
    self->owned = PyObject_GetAttrString(cotangents, "owned");
    self->add = PyObject_GetAttrString(cotangents, "add");
    if (self->add == NULL || self->entries == NULL || !PyList_CheckExact(self->entries)
        || self->bars == NULL || !PyList_CheckExact(self->bars) || self->owned == NULL
        || !PySet_CheckExact(self->owned)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "order takes the cotangents of a tape");
        }
        Py_DECREF(self);
        return NULL;
    }
    self->small = small;
    self->at = -1;
    self->next = PyList_GET_SIZE(self->entries) - 1;
    self->inputs = inputs;
    self->last = last;
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

#endif
