/* Batches: elementwise operators on batched numbers and arrays of float64, and their reads, as
   `BatchLevel` has them.

   A batched value has a block, one number or array for each item. */

#ifndef CHAINRULES_BATCHES_H
#define CHAINRULES_BATCHES_H

#include "methods.h"
#include "operators.h"
#include "products.h"
#include "reads.h"

static PyObject *WRAP; /* the name of the level's method */

/* The level of a batched value whose run goes on, borrowed; NULL for anything else. */
static PyObject *
live_batch(PyObject *x)
{
    PyObject *level = SLOT(x, AT_LEVEL);
    int live = level != NULL && Py_TYPE(level) == BATCH_LEVEL
               && SLOT(level, LIVE_OF_BATCH) == Py_True;
    return live ? level : NULL;
}

/* The block of a batched number or array at a level: plain, and of float64. NULL for anything else. */
static PyObject *
block_at(PyObject *x, PyObject *level)
{
    int is_number = Py_TYPE(x) == BATCHED_NUMBER;
    if (!(is_number || Py_TYPE(x) == BATCHED_ARRAY) || SLOT(x, AT_LEVEL) != level) {
        return NULL;
    }
    PyObject *block = SLOT(x, is_number ? BLOCK_OF_NUMBER : BLOCK_OF_ARRAY);
    return block != NULL && is_plain_block(block) ? block : NULL;
}

/* Whether `x` is a number of Python's, batched or not; `is_shared` says that it is not. */
static int
is_of_python(PyObject *x, int is_shared)
{
    return is_shared ? PyFloat_CheckExact(x) || PyLong_CheckExact(x)
                     : Py_TYPE(x) == BATCHED_NUMBER && SLOT(x, OF_PYTHON) == Py_True;
}

static int
is_of_truths(PyObject *block)
{
    return PyArray_CheckExact(block) && PyArray_TYPE((PyArrayObject *)block) == NPY_BOOL;
}

/* The batched number or array of a block, which it takes over. */
static PyObject *
wrapped_as(PyTypeObject *type, PyObject *level, PyObject *block, int of_python)
{
    PyObject *y = type->tp_alloc(type, 0);
    if (y == NULL) {
        Py_DECREF(block);
        return NULL;
    }
    SLOT(y, AT_LEVEL) = Py_NewRef(level);
    if (type == BATCHED_NUMBER) {
        SLOT(y, BLOCK_OF_NUMBER) = block;
        SLOT(y, OF_PYTHON) = Py_NewRef(of_python ? Py_True : Py_False);
    }
    else {
        SLOT(y, BLOCK_OF_ARRAY) = block;
        SLOT(y, BASE_AND_PATH) = Py_NewRef(Py_None);
    }
    return y;
}

/* UNHANDLED in place of an error of NumPy's, which Python asks of each item: see `raise_of_items`. */
static PyObject *
asked_of_items(void)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return NULL;
    }
    PyErr_Clear();
    return UNHANDLED;
}

/* The batched value of a block, which it takes over, or of what else NumPy gave. */
static PyObject *
wrapped_block(PyObject *level, PyObject *block, int of_python)
{
    if (block == NULL || block == UNHANDLED) {
        return block == NULL ? asked_of_items() : UNHANDLED;
    }
    int known = (is_plain_block(block) || is_of_truths(block))
                && PyArray_NDIM((PyArrayObject *)block) > 0;
    if (!known) {
        PyObject *y = PyObject_CallMethodObjArgs(level, WRAP, block, NULL);
        Py_DECREF(block);
        return y;
    }
    int is_number = PyArray_NDIM((PyArrayObject *)block) == 1;
    return wrapped_as(is_number ? BATCHED_NUMBER : BATCHED_ARRAY, level, block, of_python);
}

static int
is_batched(PyObject *x)
{
    return x != NULL && BATCHED_NUMBER != NULL
           && (Py_TYPE(x) == BATCHED_NUMBER || Py_TYPE(x) == BATCHED_ARRAY);
}

/* ---- sums, differences and products of short blocks, in one loop ----

   NumPy takes longer to begin than for a thousand numbers. The results are NumPy's to the bit. */

/* Entries of two blocks, and of one beside a number, of which NumPy makes an array first. On longer
   ones its instructions for more at once gain more. */
enum { SHORT = 4096, SHORT_BESIDE_NUMBER = 32768 };

/* One operand: its first entry, the bytes from one to the next, and what it is where it is one
   number for all. */
typedef struct {
    const char *data;
    npy_intp step;
    double number;
} Lane;

#if defined(__GNUC__) && !defined(__clang__)
#define VECTORIZED __attribute__((optimize("O3")))
#else
#define VECTORIZED
#endif

#define LANES 8 /* sums that do not wait for each other */

/* The sums tell whether there is a NaN: of two operands that are none NumPy says whose bits go on. */
#define EACH(result)                                                                             \
    {                                                                                            \
        for (; i + LANES <= size; i += LANES) {                                                  \
            for (npy_intp k = i; k < i + LANES; k++) { y[k] = (result); sums_of[k - i] += y[k]; } \
        }                                                                                        \
        for (npy_intp k = i; k < size; k++) { y[k] = (result); sum += y[k]; }                    \
    }

/* Entries one after another in memory are read as such, which compilers have instructions for. */
#define LOOP(name, operator)                                                                     \
    VECTORIZED static int name(double *restrict y, const Lane *a, const Lane *b, npy_intp size)  \
    {                                                                                            \
        const double *x = (const double *)a->data, *z = (const double *)b->data;                 \
        const double p = a->number, q = b->number;                                               \
        double sums_of[LANES] = {0}, sum = 0;                                                    \
        npy_intp i = 0;                                                                          \
        if (a->step == sizeof(double) && b->step == sizeof(double)) EACH(x[k] operator z[k])     \
        else if (a->step == 0 && b->step == sizeof(double)) EACH(p operator z[k])                \
        else if (a->step == sizeof(double) && b->step == 0) EACH(x[k] operator q)                \
        else EACH(AT(a->data, a->step, k) operator AT(b->data, b->step, k))                      \
        for (int k = 0; k < LANES; k++) { sum += sums_of[k]; }                                   \
        return sum == sum;                                                                       \
    }

LOOP(add_up, +)
LOOP(subtract, -)
LOOP(multiply, *)

/* Note an operand of a loop over a result of the shape of `like`; say no where NumPy is to see it. */
static int
is_lane(PyObject *x, PyArrayObject *like, Lane *lane)
{
    if (!PyArray_CheckExact(x)) {
        lane->data = (const char *)&lane->number;
        lane->step = 0;
        return as_double(x, &lane->number);
    }
    PyArrayObject *array = (PyArrayObject *)x;
    int is_vector = PyArray_NDIM(array) == 1;
    lane->data = PyArray_BYTES(array);
    lane->step = is_vector ? PyArray_STRIDE(array, 0) : (npy_intp)sizeof(double);
    if (lane->step == 0 && PyArray_SIZE(array) > 0) { /* one number, broadcast to all items */
        lane->number = *(const double *)lane->data;
    }
    return PyArray_SAMESHAPE(array, like) && (is_vector || PyArray_IS_C_CONTIGUOUS(array));
}

#define LOUD (FE_OVERFLOW | FE_INVALID | FE_UNDERFLOW)

/* `operation(x, z)` of blocks and numbers; UNHANDLED where NumPy is to compute it. */
static PyObject *
in_one_loop(const Operation *operation, PyObject *x, PyObject *z)
{
    int (*loop)(double *restrict, const Lane *, const Lane *, npy_intp) =
        operation->binary == plus    ? add_up
        : operation->binary == minus ? subtract
        : operation->binary == times ? multiply
                                     : NULL;
    PyArrayObject *like = (PyArrayObject *)(PyArray_CheckExact(x) ? x : z);
    npy_intp size = PyArray_SIZE(like);
    Lane a, b;
    int two_blocks = PyArray_CheckExact(x) && PyArray_CheckExact(z);
    if (loop == NULL || size > (two_blocks ? SHORT : SHORT_BESIDE_NUMBER)
        || !is_lane(x, like, &a) || !is_lane(z, like, &b)) {
        return UNHANDLED;
    }
    PyObject *y = PyArray_SimpleNew(PyArray_NDIM(like), PyArray_DIMS(like), NPY_DOUBLE);
    if (y == NULL) {
        return NULL;
    }
    if (fetestexcept(LOUD)) {
        feclearexcept(LOUD);
    }
    int numbers = loop(PyArray_DATA((PyArrayObject *)y), &a, &b, size);
    if (!numbers || fetestexcept(LOUD)) { /* NumPy warns, or raises */
        Py_DECREF(y);
        return UNHANDLED;
    }
    return y;
}

/* `operation(x, z)` as NumPy computes it; `z` is NULL for one operand. The references tell it that
   somebody has the operands: of those nobody has it would find out, in 4 us, whether they are its own
   temporary ones. */
static PyObject *
by_numpy(const Operation *operation, PyObject *x, PyObject *z)
{
    Py_INCREF(x);
    Py_XINCREF(z);
    PyObject *y = z == NULL ? result_of_one(operation, x) : result_of_two(operation, x, z);
    Py_DECREF(x);
    Py_XDECREF(z);
    return y;
}

/* ---- operators ---- */

/* Whether `x` stands for itself beside a block: a number, or an array that all items share. */
static int
is_shared(PyObject *x)
{
    return is_float(x) || PyLong_CheckExact(x) || is_plain_block(x);
}

/* Whether NumPy lays `x` and `z`, blocks or what all items share, over each other as items. */
static int
is_laid_out(PyObject *x, int x_shared, PyObject *z, int z_shared)
{
    int of_x = PyArray_CheckExact(x) ? PyArray_NDIM((PyArrayObject *)x) : 0;
    int of_z = PyArray_CheckExact(z) ? PyArray_NDIM((PyArrayObject *)z) : 0;
    if (x_shared || z_shared) {
        return x_shared ? of_x < of_z : of_z < of_x;
    }
    return of_x == of_z && (of_x < 3 || PyArray_SAMESHAPE((PyArrayObject *)x, (PyArrayObject *)z));
}

/* Whether one of two blocks has a number, and the other one a row for each item. */
static int
is_number_beside_row(PyObject *x, PyObject *z)
{
    return PyArray_NDIM((PyArrayObject *)x) + PyArray_NDIM((PyArrayObject *)z) == 3;
}

#define MOST_IN_ROW 16 /* entries; of longer rows NumPy's loops gain more */

/* A block with its numbers as columns; one of rows as it is. */
static PyObject *
as_column(PyObject *block)
{
    PyArrayObject *array = (PyArrayObject *)block;
    if (PyArray_NDIM(array) != 1) {
        return Py_NewRef(block);
    }
    npy_intp shape[2] = {PyArray_DIM(array, 0), 1};
    PyArray_Dims dims = {shape, 2};
    return PyArray_Newshape(array, &dims, NPY_CORDER);
}

#define ROWS(operator)                                                                           \
    for (npy_intp i = 0; i < count; i++, in_x += of_x, in_z += of_z) {                           \
        for (npy_intp k = 0; k < size; k++, to++) {                                              \
            *to = AT(in_x, step_x, k) operator AT(in_z, step_z, k);                              \
            nan |= *to != *to;                                                                   \
        }                                                                                        \
    }

/* The same of a column and short rows, in one loop: NumPy begins anew for each row. */
static PyObject *
rows_in_one_loop(const Operation *operation, PyArrayObject *x, PyArrayObject *z)
{
    npy_intp count = PyArray_DIM(x, 0), size = Py_MAX(PyArray_DIM(x, 1), PyArray_DIM(z, 1));
    npy_intp of_x = PyArray_STRIDE(x, 0), of_z = PyArray_STRIDE(z, 0);
    npy_intp step_x = PyArray_DIM(x, 1) == 1 ? 0 : PyArray_STRIDE(x, 1);
    npy_intp step_z = PyArray_DIM(z, 1) == 1 ? 0 : PyArray_STRIDE(z, 1);
    const char *in_x = PyArray_BYTES(x), *in_z = PyArray_BYTES(z);
    int is_sum = operation->binary == plus, is_difference = operation->binary == minus, nan = 0;
    if (!(is_sum || is_difference || operation->binary == times) || size > MOST_IN_ROW
        || PyArray_DIM(z, 0) != count || PyArray_DIM(x, 1) == 0 || PyArray_DIM(z, 1) == 0) {
        return UNHANDLED;
    }
    npy_intp shape[2] = {count, size};
    PyObject *y = PyArray_SimpleNew(2, shape, NPY_DOUBLE);
    if (y == NULL) {
        return NULL;
    }
    double *to = PyArray_DATA((PyArrayObject *)y);
    feclearexcept(LOUD);
    if (is_sum) ROWS(+)
    else if (is_difference) ROWS(-)
    else ROWS(*)
    if (nan || fetestexcept(LOUD)) { /* NumPy warns, or says which NaN it is */
        Py_SETREF(y, UNHANDLED);
    }
    return y;
}

/* `operation(x, z)` of a number and a row for each item, as NumPy's of a column and rows. */
static PyObject *
beside_row(const Operation *operation, PyObject *x, PyObject *z)
{
    PyObject *a = as_column(x), *b = a == NULL ? NULL : as_column(z);
    PyObject *y = b == NULL ? NULL
                            : rows_in_one_loop(operation, (PyArrayObject *)a, (PyArrayObject *)b);
    if (y == UNHANDLED) {
        y = by_numpy(operation, a, b);
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    return y;
}

/* Answer an operation on one operand or two, of which one is a batched number or array. */
static PyObject *
on_batched(const Operation *operation, PyObject *a, PyObject *b)
{
    PyObject *level = live_batch(is_batched(a) ? a : b);
    if (level == NULL || FRULE_SCALARS == NULL
        || PyCFunction_Check(operation->f) /* of Python's math, which takes no arrays */
        || PyDict_Contains(FRULE_SCALARS, operation->f) != 1) {
        PyErr_Clear();
        return UNHANDLED;
    }
    PyObject *x = block_at(a, level), *z = b == NULL ? NULL : block_at(b, level);
    int x_shared = x == NULL, z_shared = z == NULL;
    if (b == NULL) {
        int of_python = operation->unary != NULL && is_of_python(a, 0);
        return x == NULL ? UNHANDLED : wrapped_block(level, by_numpy(operation, x, NULL), of_python);
    }
    if ((x_shared && z_shared) || (x_shared && !is_shared(a)) || (z_shared && !is_shared(b))) {
        return UNHANDLED;
    }
    /* Python raises where it divides by zero: what may raise is looked at there. */
    int of_python = operation->binary != NULL && is_of_python(a, x_shared)
                    && is_of_python(b, z_shared);
    if (of_python && operation->binary != plus && operation->binary != minus
        && operation->binary != times) {
        return UNHANDLED;
    }
    x = x_shared ? a : x;
    z = z_shared ? b : z;
    if (!(x_shared || z_shared) && is_number_beside_row(x, z)) {
        return wrapped_block(level, beside_row(operation, x, z), 0);
    }
    if (!is_laid_out(x, x_shared, z, z_shared)) {
        return UNHANDLED;
    }
    PyObject *y = in_one_loop(operation, x, z);
    if (y == UNHANDLED && of_python) { /* where NumPy warns, Python does not */
        return UNHANDLED;
    }
    return wrapped_block(level, y == UNHANDLED ? by_numpy(operation, x, z) : y, of_python);
}

/* `x < z` and its like, by Python's number of the comparison; UNHANDLED as above. */
static PyObject *
compared_batched(PyObject *a, PyObject *b, int operator)
{
    PyObject *level = live_batch(a), *x = level == NULL ? NULL : block_at(a, level);
    PyObject *z = x == NULL ? NULL : block_at(b, level);
    int shared = z == NULL;
    if (x == NULL || (shared && !is_float(b) && !PyLong_CheckExact(b))
        || !is_laid_out(x, 0, shared ? b : z, shared)) {
        return UNHANDLED;
    }
    int of_python = is_of_python(a, 0) && is_of_python(b, shared);
    double value;
    if (of_python && shared && !as_double(b, &value)) { /* Python compares integers as they are */
        return UNHANDLED;
    }
    return wrapped_block(level, PyObject_RichCompare(x, shared ? b : z, operator), of_python);
}

#define BATCHED_COMPARISON(name, operator)                                                       \
    static PyObject *batched_##name;                                                             \
    static PyObject *batched_##name##_method(PyObject *self, PyObject *other)                    \
    {                                                                                            \
        PyObject *y = compared_batched(self, other, operator);                                   \
        return y == UNHANDLED ? in_python(batched_##name, self, other) : y;                      \
    }

BATCHED_COMPARISON(lt, Py_LT)
BATCHED_COMPARISON(le, Py_LE)
BATCHED_COMPARISON(gt, Py_GT)
BATCHED_COMPARISON(ge, Py_GE)
BATCHED_COMPARISON(eq, Py_EQ)
BATCHED_COMPARISON(ne, Py_NE)

/* Read an entry of a batched array of float64, by an integer for each axis; UNHANDLED by another
   index. Of an array that is written to there is no block. */
static PyObject *
read_batched(PyObject *x, PyObject *index)
{
    PyObject *level = live_batch(x), *block = SLOT(x, BLOCK_OF_ARRAY);
    if (level == NULL || block == NULL || !is_plain_block(block)) {
        return UNHANDLED;
    }
    PyArrayObject *array = (PyArrayObject *)block;
    int axes = PyArray_NDIM(array) - 1, is_tuple = PyTuple_CheckExact(index);
    npy_intp places[MOST_AXES];
    if (axes < 1 || axes > MOST_AXES || axes != (is_tuple ? PyTuple_GET_SIZE(index) : 1)) {
        return UNHANDLED;
    }
    for (int k = 0; k < axes; k++) {
        PyObject *i = is_tuple ? PyTuple_GET_ITEM(index, k) : index;
        if (!place_on_axis(i, PyArray_DIM(array, k + 1), places + k)) {
            return UNHANDLED;
        }
    }
    return wrapped_block(level, block_of_read(array, places, 0), 0);
}

/* ---- functions that are called often: where, clip, and sums of short rows ---- */

static PyObject *WHERE, *CLIP, *SUM, *BATCH_RULES;

#define FEW 7 /* entries of a row, up to which NumPy adds one after another */

/* The sums of rows, each as NumPy adds it: one after another, and that to 0. */
static PyObject *
sums_of_rows(PyArrayObject *block)
{
    npy_intp count = PyArray_DIM(block, 0), size = PyArray_DIM(block, 1);
    npy_intp of_item = PyArray_STRIDE(block, 0), step = PyArray_STRIDE(block, 1);
    if (size < 1 || size > FEW || step < 0) { /* of which NumPy begins at the other end */
        return UNHANDLED;
    }
    PyObject *sums = PyArray_SimpleNew(1, &count, NPY_DOUBLE);
    if (sums == NULL) {
        return NULL;
    }
    double *y = PyArray_DATA((PyArrayObject *)sums), all = 0;
    feclearexcept(LOUD);
    for (npy_intp i = 0; i < count; i++) {
        const char *row = PyArray_BYTES(block) + i * of_item;
        double sum = AT(row, step, 0);
        for (npy_intp k = 1; k < size; k++) {
            sum += AT(row, step, k);
        }
        y[i] = 0.0 + sum; /* of zeros with a sign the one without */
        all += y[i];
    }
    if (all != all || fetestexcept(LOUD)) { /* NumPy warns, or says which NaN it is */
        Py_SETREF(sums, UNHANDLED);
    }
    return sums;
}

/* An operand of a function of entries beside blocks of `*rank` axes, borrowed; NULL for others. */
static PyObject *
operand_at(PyObject *x, PyObject *level, int *rank)
{
    double value;
    if (!is_batched(x)) {
        return as_double(x, &value) ? x : NULL;
    }
    int is_number = Py_TYPE(x) == BATCHED_NUMBER;
    PyObject *block = SLOT(x, is_number ? BLOCK_OF_NUMBER : BLOCK_OF_ARRAY);
    if (SLOT(x, AT_LEVEL) != level || block == NULL
        || !(is_plain_block(block) || is_of_truths(block))
        || (*rank >= 0 && *rank != PyArray_NDIM((PyArrayObject *)block))) {
        return NULL;
    }
    *rank = PyArray_NDIM((PyArrayObject *)block);
    return block;
}

/* Answer a call of one of these functions without options; UNHANDLED as above. */
static PyObject *
called_at_once(PyObject *f, PyObject *args)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    PyObject *x = count > 0 ? PyTuple_GET_ITEM(args, 0) : NULL;
    PyObject *level = is_batched(x) ? live_batch(x) : NULL, *operands[4] = {NULL};
    int rank = -1;
    if (level == NULL || count != (f == SUM ? 1 : 3)
        || !(f == SUM || f == WHERE || f == CLIP) || PyDict_Contains(BATCH_RULES, f) != 0) {
        return UNHANDLED;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        operands[i + 1] = operand_at(PyTuple_GET_ITEM(args, i), level, &rank);
        if (operands[i + 1] == NULL) {
            return UNHANDLED;
        }
    }
    if (f == SUM) {
        int is_row = rank == 2 && is_plain_block(operands[1]);
        PyObject *y = is_row ? sums_of_rows((PyArrayObject *)operands[1]) : UNHANDLED;
        return y == UNHANDLED ? y : wrapped_block(level, y, 0);
    }
    if (f == CLIP && !is_plain_block(operands[1])) {
        return UNHANDLED;
    }
    PyObject *y = PyObject_Vectorcall(f, operands + 1, 3 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    /* Of numbers it is an array without axes that np.where gives. */
    return f == WHERE && y != NULL ? wrapped_as(BATCHED_ARRAY, level, y, 0)
                                   : wrapped_block(level, y, 0);
}

static PyObject *batched_function; /* the inherited method */

static PyObject *
batched_function_method(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    int plain = count == 4 && PyTuple_CheckExact(args[2]) && PyDict_CheckExact(args[3])
                && PyDict_GET_SIZE(args[3]) == 0;
    PyObject *y = plain ? called_at_once(args[0], args[2]) : UNHANDLED;
    return y == UNHANDLED ? function_in_python(batched_function, self, args, count) : y;
}

/* ---- methods of the classes ---- */

static PyMethodDef methods_of_batched[] = {
    {"__lt__", batched_lt_method, METH_O, NULL}, {"__le__", batched_le_method, METH_O, NULL},
    {"__gt__", batched_gt_method, METH_O, NULL}, {"__ge__", batched_ge_method, METH_O, NULL},
    {"__eq__", batched_eq_method, METH_O, NULL}, {"__ne__", batched_ne_method, METH_O, NULL},
    {"__array_function__", (PyCFunction)(void (*)(void))batched_function_method, METH_FASTCALL,
     NULL},
};

/* Give a class these methods; those that it has, which both classes share, are kept. */
static int
accelerate_batched(PyTypeObject *type)
{
    PyObject **kept[] = {&batched_lt, &batched_le, &batched_gt, &batched_ge,
                         &batched_eq, &batched_ne, &batched_function};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(methods_of_batched); i++) {
        *kept[i] = PyObject_GetAttrString((PyObject *)type, methods_of_batched[i].ml_name);
        if (*kept[i] == NULL) {
            return -1;
        }
    }
    return replace_methods(type, methods_of_batched, Py_ARRAY_LENGTH(methods_of_batched));
}

PyDoc_STRVAR(register_batches_doc,
"register_batches(batch_level, batched_number, batched_array, where, clip, sum, rules)\n--\n\n"
"Note the classes of runs on many items, and of their numbers and arrays; three functions of\n"
"NumPy's, and the dict of the rules for batches that users gave.");

static PyObject *
register_batches(PyObject *module, PyObject *args)
{
    PyTypeObject *level, *number, *array;
    if (!PyArg_ParseTuple(args, "O!O!O!OOOO!", &PyType_Type, &level, &PyType_Type, &number,
                          &PyType_Type, &array, &WHERE, &CLIP, &SUM, &PyDict_Type, &BATCH_RULES)
        || offset_of(number, "block", &BLOCK_OF_NUMBER) < 0
        || offset_of(array, "block", &BLOCK_OF_ARRAY) < 0
        || offset_of(number, "of_python", &OF_PYTHON) < 0
        || offset_of(level, "live", &LIVE_OF_BATCH) < 0
        || offset_of(level, "number", &NUMBER_OF_BATCH) < 0
        || (WRAP = PyUnicode_InternFromString("wrap")) == NULL
        || accelerate_batched(number) < 0 || accelerate_batched(array) < 0) {
        return NULL;
    }
    Py_INCREF(args); /* the classes live as long as the process */
    BATCH_LEVEL = level;
    BATCHED_NUMBER = number;
    BATCHED_ARRAY = array;
    Py_RETURN_NONE;
}

#endif
