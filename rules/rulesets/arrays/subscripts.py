"""Subscripts of Einstein sums: read, spelt out, and the sparsity pattern that follows from them."""

import functools
import math
import string
from typing import NamedTuple

import numpy as np

from ....config.thresholds import PRODUCTS_LOOKED_INTO
from ... import Pattern, matrix, shape_of


class Subscripts(NamedTuple):
    """One letter per axis: a string for every operand, and one for the result."""

    inputs: tuple[str, ...]
    output: str

    def __str__(self):
        return f"{','.join(self.inputs)}->{self.output}"


def read_call(args):
    """Return the subscripts of a call of einsum, in either form, and where its operands are."""
    if isinstance(args[0], str):
        positions = range(1, len(args))
        return parse(args[0], tuple([len(shape_of(args[i])) for i in positions])), positions
    positions = range(0, len(args) - len(args) % 2, 2)
    lists = [args[i + 1] for i in positions]
    numbers = sorted({k for axes in lists for k in axes if k is not ...})
    letter_of = dict(zip(numbers, sorted(string.ascii_letters)))
    letter_of[...] = "..."
    subscripts = ",".join("".join(letter_of[k] for k in axes) for axes in lists)
    if len(args) % 2:
        subscripts += "->" + "".join(letter_of[k] for k in args[-1])
    return parse(subscripts, tuple([len(shape_of(args[i])) for i in positions])), positions


@functools.lru_cache(maxsize=1024)
def parse(subscripts, ranks):
    """Spell subscripts out: letters for an ellipsis, and the result where it is implied."""
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    counts = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks)]
    unused = [letter for letter in string.ascii_letters if letter not in subscripts]
    shared = "".join(unused[: max(counts)])
    # Axes under an ellipsis are aligned at the end, as in broadcasting.
    inputs = [
        term.replace("...", shared[len(shared) - count :]) for term, count in zip(terms, counts)
    ]
    if not arrow:
        letters = left.replace("...", "").replace(",", "")
        output = "..." + "".join(x for x in sorted(letters) if letters.count(x) == 1)
    return Subscripts(tuple(inputs), output.replace("...", shared))


@functools.lru_cache(maxsize=1024)
def plan(subscripts, k):
    """Return how to pull to operand ``k``: the einsum, the letters of the axes, and an index.

    The index gives to what the einsum returns axes for the letters that are in this operand
    alone; a number needs none. None in place of the einsum is one that does nothing.
    """
    letters = subscripts.inputs[k]
    others = [*subscripts.inputs[:k], *subscripts.inputs[k + 1 :]]
    own = "".join(dict.fromkeys(letters))
    found = "".join(x for x in own if x in subscripts.output or any(x in term for term in others))
    pull = Subscripts((subscripts.output, *others), found)
    call = None if pull.inputs == (found,) else str(pull)
    index = tuple(slice(None) if x in found else None for x in own)
    return call, own, index if found and None in index else None


def einsum_pattern(*args, **options):
    """Return the pattern of an einsum, from every product of entries that it adds up."""
    sized = [np.empty(x.shape) if type(x) is Pattern else x for x in args]
    subscripts, positions = read_call(sized)
    operands = [args[i] for i in positions]
    lengths = {
        letter: n
        for term, x in zip(subscripts.inputs, operands)
        for letter, n in zip(term, shape_of(x))
        if n != 1
    }
    letters = sorted({letter for term in subscripts.inputs for letter in term})
    patterns = [x for x in operands if type(x) is Pattern]
    sizes = [lengths.get(letter, 1) for letter in letters]
    if len(patterns) != 1 or math.prod(sizes) > PRODUCTS_LOOKED_INTO:
        return NotImplemented
    term = subscripts.inputs[[x is patterns[0] for x in operands].index(True)]
    shape = tuple(lengths.get(letter, 1) for letter in subscripts.output)
    grid = dict(zip(letters, np.ogrid[tuple(map(slice, sizes))]))

    def places(term, shape):
        found = np.zeros(sizes, int)
        for letter, n in zip(term, shape):
            found = found * n + (grid[letter] if n != 1 else 0)
        return found

    used = np.ones(sizes, bool)
    for x, other in zip(operands, subscripts.inputs):
        if x is not patterns[0]:
            used &= (np.ravel(x) != 0)[places(other, shape_of(x))]
    x = patterns[0]
    flags = matrix(
        places(subscripts.output, shape)[used],
        places(term, x.shape)[used],
        (math.prod(shape), x.size),
    )
    return Pattern(shape, flags @ x.rows)
