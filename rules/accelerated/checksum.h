/* A checksum of an array's bytes, in one pass at the speed of memory. */

#ifndef CHAINRULES_CHECKSUM_H
#define CHAINRULES_CHECKSUM_H

#include <stdint.h>
#include <string.h>

#include "registered.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define CHAINRULES_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CHAINRULES_CLONES
#endif

#ifdef __GNUC__
typedef uint64_t Lanes __attribute__((vector_size(32)));
#else
typedef uint64_t Lanes;
#endif

enum { STEPS = 4, ROUND = STEPS * sizeof(Lanes) };

/* In each lane `state = rotated(state) + word`, and the sum of all states.

   Each word is rotated by how many follow it, so that equal changes at two places do not cancel;
   where they meet again, 64 words apart, the sum of the states between tells. */
CHAINRULES_CLONES static void
sum_up(const char *bytes, Py_ssize_t size, Lanes found[2 * STEPS])
{
    Lanes states[STEPS] = {{0}}, sums[STEPS] = {{0}}, word;
    for (; size >= ROUND; bytes += ROUND, size -= ROUND) {
#pragma GCC unroll 4
        for (int k = 0; k < STEPS; k++) {
            memcpy(&word, bytes + k * sizeof(word), sizeof(word));
            states[k] = ((states[k] << 13) | (states[k] >> 51)) + word;
            sums[k] += states[k];
        }
    }
    memcpy(found, states, ROUND);
    memcpy(found + STEPS, sums, ROUND);
}

PyDoc_STRVAR(checksum_doc,
"checksum(x)\n--\n\n"
"Return bytes that differ where an entry of x differs, an array whose entries lie one by one.");

static PyObject *
checksum(PyObject *module, PyObject *x)
{
    if (!PyArray_Check(x) || !PyArray_ISONESEGMENT((PyArrayObject *)x)) {
        PyErr_SetString(PyExc_TypeError, "checksum takes an array whose entries lie one by one");
        return NULL;
    }
    const char *bytes = PyArray_BYTES((PyArrayObject *)x);
    Py_ssize_t size = PyArray_NBYTES((PyArrayObject *)x), rest = size % ROUND;
    Lanes found[3 * STEPS]; /* states, sums, and what fills no round */
    sum_up(bytes, size, found);
    memcpy(found + 2 * STEPS, bytes + size - rest, rest);
    return PyBytes_FromStringAndSize((char *)found, 2 * ROUND + rest);
}

#endif
