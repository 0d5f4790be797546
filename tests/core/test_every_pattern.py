"""Every linear function in every form of its call: a pattern has all entries that are not zero."""

import itertools
import math

import numpy as np
import test_every_block as blocks
from linear_calls import is_ours
from quietly import quietly
from test_every_block import CALLS, EVERY, Dot, filled

from chainrules.rules import frule
from chainrules.rules.linear import patterns
from chainrules.rules.linear.patterns import Pattern, matrix, run_on_pattern
from chainrules.rules.tracing.writing import written


def identity(x, start, total):
    size = math.prod(x.shape)
    return Pattern(x.shape, matrix(np.arange(size), start + np.arange(size), (size, total)))


def patterns_of(f, args, kwargs, total):
    """Return the patterns of all results, where the numbers of the arguments are counted on."""
    starts = itertools.accumulate([math.prod(x.shape) for x in tangents_in(args)], initial=0)
    return blocks.arrays_of(
        run_on_pattern(f, filled(args, lambda x: identity(x, next(starts), total)), kwargs)
    )


def tangents_in(x):
    if type(x) is Dot:
        return [x]
    return [dot for part in x for dot in tangents_in(part)] if type(x) in (list, tuple) else []


def dense(f, args, kwargs, total):
    """Return for each array of the result which entries each number moves, by unit vectors."""

    def images(k, unit):
        start = 0

        def one(x):
            nonlocal start
            here = np.zeros(math.prod(x.shape), x.dtype)
            if start <= k < start + here.size:
                here[k - start] = unit if here.dtype.kind == "c" else unit.real
            start += here.size
            return here.reshape(x.shape)[()]

        return [np.ravel(y) for y in blocks.arrays_of(f(*filled(args, one), **kwargs))]

    # Constants that are joined do not count, nor does the mean of nothing, which is always NaN.
    at_zero = images(-1, 0j)
    moved = [np.zeros((total, y.size), bool) for y in at_zero]
    kinds = [np.dtype(x.dtype).kind for x in tangents_in(args) for _ in range(math.prod(x.shape))]
    for k, kind in enumerate(kinds):
        for unit in (1 + 0j, 1j) if kind == "c" else (1 + 0j,):
            for flags, y, constant in zip(moved, images(k, unit), at_zero, strict=True):
                flags[k] |= (y != constant) & ~np.isnan(constant)
    return [flags.T for flags in moved]


@EVERY
def test_a_pattern_has_every_entry_that_is_not_zero(f, monkeypatch):
    tried = 0
    for number, (args, kwargs) in enumerate(CALLS[f]):
        if blocks.plain(f, filled(args, blocks.zeros), kwargs) is None:
            continue
        total = sum(math.prod(x.shape) for x in tangents_in(args))
        tried += 1
        what = f"{blocks.name_of(f)}(*{args}, **{kwargs})"
        with quietly():
            ways = [patterns_of(f, args, kwargs, total)]
            if number % 3 == 0:  # and where nothing is probed
                with monkeypatch.context() as patch:
                    patch.setattr(patterns, "PROBED", 0)
                    ways.append(patterns_of(f, args, kwargs, total))
            y = blocks.arrays_of(f(*filled(args, blocks.zeros), **kwargs))
            flags = dense(f, args, kwargs, total)
        for found in ways:
            for pattern, expected, moved in zip(found, y, flags, strict=True):
                assert pattern.shape == np.shape(expected), what
                assert pattern.rows.shape == (np.size(expected), total), what
                assert np.all(pattern.rows.toarray() >= moved), what
    assert tried


def test_every_pattern_rule_is_called():
    kinds = {f: kind for f, kind in frule.kinds.items() if kind.linear}
    known = {f for f, kind in kinds.items() if kind.moves or kind.pattern} | set(patterns._rules)
    known = {f for f in known if is_ours(f)}
    assert known - set(CALLS) == {written}  # of which test_sparsity has cases
