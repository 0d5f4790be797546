/* Memory pool: blocks of arrays that are freed are kept for the next arrays of their size.

   An array of 100 KB to 32 MB is given pages by the system, and gives them back when it is freed:
   to be given them takes several times as long as to compute what is in them. While a transform
   runs, NumPy allocates by the handler below, in the context of that run alone. All memory is of
   NumPy's own allocator, so that each of the two may free what the other has allocated. What a
   block holds in the pool is written by the pool; it lives as long as the process. */

#ifndef CHAINRULES_MEMORY_POOL_H
#define CHAINRULES_MEMORY_POOL_H

#include <stdlib.h>
#include <string.h>

#include "registered.h"

#ifdef __GLIBC__ /* where the size of a block can be asked for */

#include <malloc.h>

enum { PAGE = 4096, SMALLEST_KEPT = 4 * PAGE, BUCKETS = 256 };
static const size_t MOST_KEPT = (size_t)1 << 27; /* of all blocks together */

/* A kept block, by its first bytes: in the list of its bucket and in that of all, by their age. */
typedef struct Block {
    size_t size;
    struct Block *next, *previous;
    struct Block *older, *newer;
} Block;

static Block *buckets[BUCKETS];
static Block *newest, *oldest;
static size_t kept;

static PyDataMem_Handler *of_numpy;
static PyObject *pool_handler; /* a capsule, which each array of the pool holds */

static size_t
whole_pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static Block **
bucket_of(size_t size)
{
    return &buckets[size / PAGE % BUCKETS];
}

static void
unlink_block(Block *block)
{
    *(block->previous == NULL ? bucket_of(block->size) : &block->previous->next) = block->next;
    *(block->newer == NULL ? &newest : &block->newer->older) = block->older;
    *(block->older == NULL ? &oldest : &block->older->newer) = block->newer;
    if (block->next != NULL) {
        block->next->previous = block->previous;
    }
    kept -= block->size;
}

/* A block of so many whole pages, or NULL. Without the GIL, by which all of this is one at a time,
   there is none. */
static void *
from_pool(size_t size)
{
    if (kept < size || !PyGILState_Check()) {
        return NULL;
    }
    for (Block *block = *bucket_of(size); block != NULL; block = block->next) {
        if (block->size == size) {
            unlink_block(block);
            return block;
        }
    }
    return NULL;
}

static void
free_block(Block *block)
{
    size_t size = block->size;
    unlink_block(block);
    of_numpy->allocator.free(of_numpy->allocator.ctx, block, size);
}

/* Keep a block of so many whole pages, in the place of the oldest ones; 0 if it cannot be kept. */
static int
into_pool(void *memory, size_t size)
{
    /* An array whose memory was made smaller by resize has less than it says. */
    if (size > MOST_KEPT || !PyGILState_Check() || malloc_usable_size(memory) < size) {
        return 0;
    }
    while (kept + size > MOST_KEPT) {
        free_block(oldest);
    }
    Block *block = memory, **bucket = bucket_of(size);
    *block = (Block){size, *bucket, NULL, newest, NULL};
    *(newest == NULL ? &oldest : &newest->newer) = block;
    if (*bucket != NULL) {
        (*bucket)->previous = block;
    }
    *bucket = newest = block;
    kept += size;
    return 1;
}

static int
is_pooled(size_t size)
{
    return size >= SMALLEST_KEPT && size <= MOST_KEPT;
}

static void *
pool_malloc(void *context, size_t size)
{
    if (is_pooled(size)) {
        size = whole_pages(size);
        void *memory = from_pool(size);
        if (memory != NULL) {
            return memory;
        }
    }
    return of_numpy->allocator.malloc(of_numpy->allocator.ctx, size);
}

static void *
pool_calloc(void *context, size_t count, size_t each)
{
    if (each > 0 && count <= MOST_KEPT / each && is_pooled(count * each)) {
        size_t size = whole_pages(count * each);
        void *memory = from_pool(size);
        if (memory != NULL) {
            return memset(memory, 0, count * each);
        }
        count = size;
        each = 1;
    }
    return of_numpy->allocator.calloc(of_numpy->allocator.ctx, count, each);
}

static void *
pool_realloc(void *context, void *memory, size_t size)
{
    return of_numpy->allocator.realloc(of_numpy->allocator.ctx, memory, size);
}

static void
pool_free(void *context, void *memory, size_t size)
{
    if (memory == NULL || !is_pooled(size) || !into_pool(memory, whole_pages(size))) {
        of_numpy->allocator.free(of_numpy->allocator.ctx, memory, size);
    }
}

static PyDataMem_Handler pool = {
    "chainrules", 1, {NULL, pool_malloc, pool_calloc, pool_realloc, pool_free},
};

/* Whether `handler`, of which a reference is taken away, is this one; -1 on error. */
static int
is_handler(PyObject *handler, PyObject *expected)
{
    Py_XDECREF(handler);
    return handler == NULL ? -1 : handler == expected;
}

/* Let NumPy allocate by another handler, in the context that is current. */
static int
set_handler(PyObject *handler)
{
    PyObject *before = PyDataMem_SetHandler(handler);
    Py_XDECREF(before);
    return before == NULL ? -1 : 0;
}

#endif

PyDoc_STRVAR(use_pool_doc,
"use_pool()\n--\n\n"
"Let NumPy allocate from the pool; return whether it did not, and does now.\n\n"
"An allocator that the user has set stays.");

static PyObject *
use_pool(PyObject *module, PyObject *unused)
{
#ifdef __GLIBC__
    if (pool_handler == NULL) {
        of_numpy = PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler");
        if (of_numpy == NULL
            || (pool_handler = PyCapsule_New(&pool, "mem_handler", NULL)) == NULL) {
            return NULL;
        }
    }
    int plain = is_handler(PyDataMem_GetHandler(), PyDataMem_DefaultHandler);
    if (plain < 0 || (plain && set_handler(pool_handler) < 0)) {
        return NULL;
    }
    return PyBool_FromLong(plain);
#else
    Py_RETURN_FALSE;
#endif
}

PyDoc_STRVAR(leave_pool_doc,
"leave_pool(used)\n--\n\n"
"Take back what use_pool has done, if it did, as it returned.");

static PyObject *
leave_pool(PyObject *module, PyObject *used)
{
#ifdef __GLIBC__
    if (used == Py_True) {
        int pooled = is_handler(PyDataMem_GetHandler(), pool_handler);
        if (pooled < 0 || (pooled && set_handler(PyDataMem_DefaultHandler) < 0)) {
            return NULL;
        }
    }
#endif
    Py_RETURN_NONE;
}

PyDoc_STRVAR(empty_pool_doc,
"empty_pool()\n--\n\n"
"Give the blocks of the pool back to the system; return how many bytes they had.");

static PyObject *
empty_pool(PyObject *module, PyObject *unused)
{
    size_t bytes = 0;
#ifdef __GLIBC__
    bytes = kept;
    while (oldest != NULL) {
        free_block(oldest);
    }
#endif
    return PyLong_FromSize_t(bytes);
}

#endif
