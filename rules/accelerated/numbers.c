/* Accelerated numbers: the operators of traced numbers and their sweep, in C.

   They do what `Tape` and `ForwardLevel` do in Python, with the rules of the same tables. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "operators.h"
#include "arrays.h"
#include "batches.h"
#include "bound_calls.h"
#include "checksum.h"
#include "constants.h"
#include "products.h"
#include "items.h"
#include "joins.h"
#include "line_marks.h"
#include "memory_pool.h"
#include "pushes.h"
#include "records.h"
#include "selections.h"
#include "sweep.h"

static PyObject *
power(PyObject *x, PyObject *z)
{
    return PyNumber_Power(x, z, Py_None);
}

/* Answer an operation on two operands, numbers or arrays. */
static PyObject *
on_two(const Operation *operation, PyObject *a, PyObject *b)
{
    a = settled(a);
    b = settled(b);
    if (is_batched(a) || is_batched(b)) {
        PyObject *y = on_batched(operation, a, b);
        return y == UNHANDLED && (is_traced_number(a) || is_traced_number(b))
                   ? binary(operation, a, b)
                   : y;
    }
    if (!(is_traced_array(a) || is_traced_array(b) || PyArray_CheckExact(a)
          || PyArray_CheckExact(b))) {
        return binary(operation, a, b);
    }
    PyObject *y = on_arrays(operation, a, b);
    if (y == UNHANDLED) {
        static PyObject *none, *nothing; /* they are never written to */
        if ((none == NULL && (none = PyDict_New()) == NULL)
            || (nothing == NULL && (nothing = PyTuple_New(0)) == NULL)) {
            return NULL;
        }
        y = on_traced(operation->f, a, b, nothing, none);
    }
    return y;
}

/* Answer an operation on one operand, a number or an array. */
static PyObject *
on_one(const Operation *operation, PyObject *x)
{
    x = settled(x);
    if (is_batched(x)) {
        return on_batched(operation, x, NULL);
    }
    return is_traced_array(x) ? on_arrays(operation, x, NULL) : unary(operation, x);
}

#define BINARY(name, compute)                                                                    \
    static Operation name = {NULL, NULL, compute, NULL, NULL, NULL};                                   \
    static PyObject *name##_method(PyObject *self, PyObject *other)                              \
    {                                                                                            \
        PyObject *y = told_apart(on_two(&name, self, other));                                    \
        return y == UNHANDLED ? in_python(name.method, self, other) : y;                         \
    }                                                                                            \
    static PyObject *name##_reflected(PyObject *self, PyObject *other)                           \
    {                                                                                            \
        PyObject *y = told_apart(on_two(&name, other, self));                                    \
        return y == UNHANDLED ? in_python(name.reflected, self, other) : y;                      \
    }

#define UNARY(name, compute)                                                                     \
    static Operation name = {NULL, NULL, NULL, compute, NULL, NULL};                             \
    static PyObject *name##_method(PyObject *self, PyObject *unused)                             \
    {                                                                                            \
        PyObject *y = told_apart(on_one(&name, self));                                           \
        return y == UNHANDLED ? in_python(name.method, self, NULL) : y;                          \
    }

BINARY(add, plus)
BINARY(sub, minus)
BINARY(mul, times)
BINARY(truediv, over)
BINARY(pow_, power)
BINARY(matmul, PyNumber_MatrixMultiply)
UNARY(neg, negative)
UNARY(pos, PyNumber_Positive)
UNARY(abs_, PyNumber_Absolute)

/* ---- comparisons: piecewise constant, so that their answers are plain ---- */

/* The float or int under `x`, borrowed, where it may be compared as it is; else NULL. */
static PyObject *
comparable(PyObject *x)
{
    while (x != NULL && is_traced_number(x)) {
        PyObject *level = SLOT(x, AT_LEVEL);
        if (level == NULL || !is_accelerated(level)) {
            return NULL;
        }
        x = SLOT(x, PRIMAL);
    }
    return x != NULL && (is_float(x) || PyLong_CheckExact(x)) ? x : NULL;
}

static PyObject *
compared(PyObject *method, PyObject *a, PyObject *b, int operator)
{
    PyObject *x = comparable(a), *z = comparable(b);
    /* Two traced numbers of two types were computed in two precisions, which is refused. */
    if (x == NULL || z == NULL || (Py_TYPE(x) != Py_TYPE(z) && is_traced_number(b))) {
        return in_python(method, a, b);
    }
    return PyObject_RichCompare(x, z, operator);
}

#define COMPARISON(name, operator)                                                               \
    static PyObject *name;                                                                       \
    static PyObject *name##_method(PyObject *self, PyObject *other)                              \
    {                                                                                            \
        return compared(name, self, other, operator);                                            \
    }

COMPARISON(lt, Py_LT)
COMPARISON(le, Py_LE)
COMPARISON(gt, Py_GT)
COMPARISON(ge, Py_GE)
COMPARISON(eq, Py_EQ)
COMPARISON(ne, Py_NE)

/* ---- NumPy's protocol ---- */

static PyObject *array_ufunc; /* the method in Python */

static PyObject *
array_ufunc_method(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (names == NULL && count >= 3 && PyUnicode_CheckExact(args[1])
        && PyUnicode_CompareWithASCIIString(args[1], "__call__") == 0) {
        Operation operation = {args[0], args[0], NULL, NULL, NULL, NULL};
        PyObject *y = count == 3   ? on_one(&operation, args[2])
                      : count == 4 ? on_two(&operation, args[2], args[3])
                                   : UNHANDLED;
        y = told_apart(y);
        if (y != UNHANDLED) {
            return y;
        }
    }
    Py_ssize_t all = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    PyObject **stack = PyMem_New(PyObject *, all + 1);
    if (stack == NULL) {
        return PyErr_NoMemory();
    }
    stack[0] = self;
    for (Py_ssize_t i = 0; i < all; i++) {
        stack[i + 1] = args[i];
    }
    PyObject *y = PyObject_Vectorcall(array_ufunc, stack, count + 1, names);
    PyMem_Free(stack);
    return y;
}

static PyObject *array_function; /* the method in Python */

/* Answer a call of a function of NumPy's with traced arguments; UNHANDLED for most of them. */
static PyObject *
answered(PyObject *f, PyObject *args, PyObject *options)
{
    PyObject *y = join(f, args, options);
    if (y == UNHANDLED) {
        y = join_arrays(f, args, options);
    }
    if (y == UNHANDLED) {
        y = on_all(f, args, options);
    }
    if (y == UNHANDLED) {
        y = on_selection(f, args, options);
    }
    return y == UNHANDLED ? on_constant(f, args, options) : y;
}

static PyObject *
array_function_method(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    if (count == 4) {
        PyObject *y = told_apart(answered(args[0], args[2], args[3]));
        if (y != UNHANDLED) {
            return y;
        }
    }
    return function_in_python(array_function, self, args, count);
}

/* ---- methods of the class of traced numbers ---- */

#define OF_ONE(name) {"__" #name "__", name##_method, METH_NOARGS, NULL}
#define OF_TWO(name) {"__" #name "__", name##_method, METH_O, NULL}

static PyMethodDef methods[] = {
    OF_TWO(add), OF_TWO(sub), OF_TWO(mul), OF_TWO(truediv), OF_TWO(matmul),
    {"__pow__", pow__method, METH_O, NULL},
    {"__radd__", add_reflected, METH_O, NULL},
    {"__rsub__", sub_reflected, METH_O, NULL},
    {"__rmul__", mul_reflected, METH_O, NULL},
    {"__rtruediv__", truediv_reflected, METH_O, NULL},
    {"__rpow__", pow__reflected, METH_O, NULL},
    {"__rmatmul__", matmul_reflected, METH_O, NULL},
    OF_ONE(neg), OF_ONE(pos),
    {"__abs__", abs__method, METH_NOARGS, NULL},
    OF_TWO(lt), OF_TWO(le), OF_TWO(gt), OF_TWO(ge), OF_TWO(eq), OF_TWO(ne),
    {"__array_ufunc__", (PyCFunction)(void (*)(void))array_ufunc_method,
     METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__array_function__", (PyCFunction)(void (*)(void))array_function_method, METH_FASTCALL, NULL},
};

/* Where the methods in Python are kept, by the names above. */
static struct {
    const char *name;
    PyObject **kept;
    Operation *operation;
} kept_methods[] = {
    {"__add__", &add.method, &add}, {"__radd__", &add.reflected, NULL},
    {"__sub__", &sub.method, &sub}, {"__rsub__", &sub.reflected, NULL},
    {"__mul__", &mul.method, &mul}, {"__rmul__", &mul.reflected, NULL},
    {"__truediv__", &truediv.method, &truediv}, {"__rtruediv__", &truediv.reflected, NULL},
    {"__pow__", &pow_.method, &pow_}, {"__rpow__", &pow_.reflected, NULL},
    {"__matmul__", &matmul.method, &matmul}, {"__rmatmul__", &matmul.reflected, NULL},
    {"__neg__", &neg.method, &neg}, {"__pos__", &pos.method, &pos},
    {"__abs__", &abs_.method, &abs_},
    {"__lt__", &lt, NULL}, {"__le__", &le, NULL}, {"__gt__", &gt, NULL}, {"__ge__", &ge, NULL},
    {"__eq__", &eq, NULL}, {"__ne__", &ne, NULL},
    {"__array_ufunc__", &array_ufunc, NULL}, {"__array_function__", &array_function, NULL},
};

PyDoc_STRVAR(accelerate_numbers_doc,
"accelerate_numbers(traced_number, ufuncs)\n--\n\n"
"Replace the operators of a class by accelerated ones, which call them for what they leave.\n\n"
"ufuncs has, by the name of a method, the ufunc whose rule that method has.");

static PyObject *
accelerate_numbers(PyObject *module, PyObject *args)
{
    PyTypeObject *traced_number;
    PyObject *ufuncs;
    if (!PyArg_ParseTuple(args, "O!O!", &PyType_Type, &traced_number, &PyDict_Type, &ufuncs)) {
        return NULL;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(kept_methods); i++) {
        const char *name = kept_methods[i].name;
        Operation *operation = kept_methods[i].operation;
        *kept_methods[i].kept = PyObject_GetAttrString((PyObject *)traced_number, name);
        if (*kept_methods[i].kept == NULL) {
            return NULL;
        }
        if (operation != NULL) {
            PyObject *ufunc = PyDict_GetItemString(ufuncs, name);
            if (ufunc == NULL) {
                return PyErr_Format(PyExc_KeyError, "no ufunc for %s", name);
            }
            operation->f = operation->seen = Py_NewRef(ufunc);
        }
    }
    if (offset_of(traced_number, "primal", &PRIMAL) < 0
        || offset_of(traced_number, "at_level", &AT_LEVEL) < 0
        || replace_methods(traced_number, methods, Py_ARRAY_LENGTH(methods)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- functions of numbers ---- */

PyDoc_STRVAR(answer_doc,
"answer(f, seen, args)\n--\n\n"
"Answer a call of f, which is shown by seen; NotImplemented where it is not for numbers alone.\n"
"Of plain numbers it is that of f.");

static PyObject *
answer(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyTuple_CheckExact(args[2])) {
        PyErr_SetString(PyExc_TypeError, "answer takes two functions and a tuple");
        return NULL;
    }
    Operation operation = {args[0], args[1], NULL, NULL, NULL, NULL};
    PyObject *given = args[2], *y = UNHANDLED;
    Py_ssize_t size = PyTuple_GET_SIZE(given), plain = 0;
    while (plain < size && (is_float(PyTuple_GET_ITEM(given, plain))
                            || PyLong_CheckExact(PyTuple_GET_ITEM(given, plain)))) {
        plain++;
    }
    if (size > 0 && plain == size) {
        return PyObject_Call(args[0], given, NULL);
    }
    if (PyTuple_GET_SIZE(given) == 1) {
        y = unary(&operation, PyTuple_GET_ITEM(given, 0));
    }
    else if (PyTuple_GET_SIZE(given) == 2) {
        y = binary(&operation, PyTuple_GET_ITEM(given, 0), PyTuple_GET_ITEM(given, 1));
    }
    y = told_apart(y);
    return y == UNHANDLED ? Py_NewRef(Py_NotImplemented) : y;
}

PyDoc_STRVAR(answer_call_doc,
"answer_call(f, args, options)\n--\n\n"
"Answer a call of f with traced arguments; NotImplemented where it is done in Python.");

static PyObject *
answer_call(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "answer_call takes a function, a tuple and a dict");
        return NULL;
    }
    PyObject *y = told_apart(answered(args[0], args[1], args[2]));
    return y == UNHANDLED ? Py_NewRef(Py_NotImplemented) : y;
}

PyDoc_STRVAR(tie_doc,
"tie(y, x, f, options)\n--\n\n"
"Tie the traced view y = f(x, **options) to the array that owns the memory: see register_view.");

static PyObject *
tie(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 4 || Py_TYPE(args[0]) != Py_TYPE(args[1]) || Py_TYPE(args[0]) != BUFFER_ARRAY) {
        PyErr_SetString(PyExc_TypeError, "tie takes two buffers, a function and a dict");
        return NULL;
    }
    return tie_view(args[0], args[1], args[2], args[3]) < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(to_float_doc,
"to_float(x)\n--\n\n"
"Return a traced number as one of Python's floats; NotImplemented for anything else.");

static PyObject *
to_float(PyObject *module, PyObject *x)
{
    PyObject *y = is_traced_number(x) ? as_float(x) : UNHANDLED;
    return y == UNHANDLED ? Py_NewRef(Py_NotImplemented) : y;
}

static PyMethodDef functions[] = {
    {"accelerate_numbers", accelerate_numbers, METH_VARARGS, accelerate_numbers_doc},
    {"accelerate_arrays", accelerate_arrays, METH_O, accelerate_arrays_doc},
    {"answer", (PyCFunction)(void (*)(void))answer, METH_FASTCALL, answer_doc},
    {"answer_call", (PyCFunction)(void (*)(void))answer_call, METH_FASTCALL, answer_call_doc},
    {"checksum", checksum, METH_O, checksum_doc},
    {"use_pool", use_pool, METH_NOARGS, use_pool_doc},
    {"leave_pool", leave_pool, METH_O, leave_pool_doc},
    {"empty_pool", empty_pool, METH_NOARGS, empty_pool_doc},
    {"tie", (PyCFunction)(void (*)(void))tie, METH_FASTCALL, tie_doc},
    {"to_float", to_float, METH_O, to_float_doc},
    {"join_numbers", join_numbers, METH_O, join_numbers_doc},
    {"push_numbers", push_numbers, METH_VARARGS, push_numbers_doc},
    {"outer_product", (PyCFunction)(void (*)(void))outer_product, METH_FASTCALL, outer_product_doc},
    {"register_buffers", register_buffers, METH_O, register_buffers_doc},
    {"record", (PyCFunction)(void (*)(void))record, METH_FASTCALL, record_doc},
    {"register_kinds", register_kinds, METH_VARARGS, register_kinds_doc},
    {"register_linear", register_linear, METH_VARARGS, register_linear_doc},
    {"register_batches", register_batches, METH_VARARGS, register_batches_doc},
    {"register_blocks", register_blocks, METH_VARARGS, register_blocks_doc},
    {"register_memory", register_memory, METH_VARARGS, register_memory_doc},
    {"register_writes", register_writes, METH_VARARGS, register_writes_doc},
    {"register_pulls", register_pulls, METH_VARARGS, register_pulls_doc},
    {"register_parts", register_parts, METH_VARARGS, register_parts_doc},
    {"register_nodes", register_nodes, METH_VARARGS, register_nodes_doc},
    {"register_reads", register_reads, METH_VARARGS, register_reads_doc},
    {"register_tape", register_tape, METH_VARARGS, register_tape_doc},
    {"register_duals", register_duals, METH_VARARGS, register_duals_doc},
    {"register_rules", register_rules, METH_VARARGS, register_rules_doc},
    {"register_partials", register_partials, METH_VARARGS, register_partials_doc},
    {"order", order, METH_VARARGS, order_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_numbers",
    "Operators of traced numbers and their sweep, in C.", -1, functions,
};

PyMODINIT_FUNC
PyInit__numbers(void)
{
    import_array();
    if (PyType_Ready(&OrderType) < 0 || PyType_Ready(&LineTracerType) < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL
        && (PyModule_AddStringConstant(module, "digest", CHAINRULES_DIGEST) < 0
            || PyModule_AddType(module, &LineMarksType) < 0)) {
        Py_CLEAR(module);
    }
    return module;
}
