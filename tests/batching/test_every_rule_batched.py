"""Every case of the rules' tests under ``cr.vmap``, beside a loop over two items.

Batched in all arguments, and in each alone. The derivatives inside and outside of the batch, of the
first case, where all arguments are batched; ``tests/fuzz/fuzz_batches.py`` looks at many others.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from quietly import quietly

import chainrules as cr
from chainrules.rules.loading import load

load()
sys.path.insert(0, str(Path(__file__).parents[1] / "rulesets"))

from test_every_rule import CASES, EVERY, Case  # noqa: E402

pytestmark = pytest.mark.every_case

SCALES = (1.0, 1.01)
ZERO = cr.ZeroTangent, cr.NoTangent


def items_of(x):
    a = np.asarray(x)
    moved = a.dtype.kind in "fc" and isinstance(x, np.ndarray | float | complex | np.inexact)
    return np.stack([(a * scale).astype(a.dtype) if moved else a for scale in SCALES])


def cases_of(f):
    for args, kwargs in CASES[f]:
        try:
            case = Case(f, args, kwargs)
        except Exception:  # a case that NumPy refuses, which its own tests look at
            continue
        if case.numbers and case.ys:
            yield case


def agree(ours, right, case, tolerance):
    assert np.shape(ours) == np.shape(right)
    assert np.asarray(ours).dtype == np.asarray(right).dtype
    if np.asarray(right).dtype.kind not in "fc":
        np.testing.assert_array_equal(ours, right)
        return
    tolerance = 2e-3 if case.coarse else tolerance
    scale = max(1.0, float(np.max(np.abs(np.nan_to_num(right, posinf=0, neginf=0)), initial=0)))
    np.testing.assert_allclose(ours / scale, right / scale, rtol=tolerance, atol=tolerance)


def of_cases(most):
    def of_test(test):
        def of_function(f):
            with quietly():
                for case in itertools.islice(cases_of(f), most):
                    test(case, [items_of(x) for x in case.numbers])

        of_function.__name__ = test.__name__
        return EVERY(of_function)

    return of_test


def answers(g, rows):
    """Return what a loop over the items gives, or None where it is refused."""
    try:
        return [g(*row) for row in rows]
    except Exception:
        return None


@of_cases(None)
def test_values(case, xs):
    count = len(xs)
    every = [(0,) * count]
    every += [tuple(0 if k == j else None for k in range(count)) for j in range(count)]
    for axes in every[: 1 if count == 1 else None]:
        given = [x if axis == 0 else x[0] for x, axis in zip(xs, axes, strict=True)]
        rows = [
            [x[i] if axis == 0 else x for x, axis in zip(given, axes, strict=True)]
            for i in range(len(SCALES))
        ]
        right = answers(case, rows)
        if right is None:
            continue
        ours = cr.vmap(lambda *numbers: case(*numbers), in_axes=axes)(*given)
        for y, column in zip(ours, zip(*right, strict=True), strict=True):
            agree(y, np.stack(column), case, 1e-9)


def tangent(x):
    return np.cos(1 + np.arange(np.size(x))).reshape(np.shape(x)).astype(np.asarray(x).dtype)[()]


@of_cases(1)
def test_derivatives_inside(case, xs):
    if any(x.dtype.kind not in "fc" for x in xs):
        return
    rows = list(zip(*xs, strict=True))
    for g in (
        lambda *numbers: cr.jvp(case, numbers, tuple(map(tangent, case.numbers)))[1],
        lambda *numbers: cr.vjp(case, *numbers)[1](tuple(np.ones_like(y) for y in case.ys)),
    ):
        right = answers(g, rows)
        if right is None:
            continue
        ours = cr.vmap(g)(*xs)
        for y, column in zip(ours, zip(*right, strict=True), strict=True):
            if not isinstance(column[0], ZERO):
                agree(y, np.stack(column), case, 1e-8)


@of_cases(1)
def test_derivatives_outside(case, xs):
    if any(x.dtype.kind not in "fc" for x in xs):
        return
    dots, rows = [tangent(x) for x in xs], list(zip(*xs, strict=True))
    floats = [k for k, y in enumerate(case.ys) if np.asarray(y).dtype.kind in "fc"]
    batch = cr.vmap(case)
    right = answers(lambda *pairs: cr.jvp(case, pairs[::2], pairs[1::2])[1],
                    [[part for pair in zip(row, [d[i] for d in dots]) for part in pair]
                     for i, row in enumerate(rows)])  # fmt: skip
    if right is not None:
        ours = cr.jvp(batch, tuple(xs), tuple(dots))[1]
        for k in floats:
            column = [numbers(row[k], case.ys[k]) for row in right]
            agree(numbers(ours[k], np.stack(column)), np.stack(column), case, 1e-8)
    bars = tuple(np.ones_like(y) for y in case.ys)
    right = answers(lambda *row: cr.vjp(case, *row)[1](bars), rows)
    if right is not None:
        ours = cr.vjp(batch, *xs)[1](tuple(np.stack([bar] * len(SCALES)) for bar in bars))
        for k, x in enumerate(xs):
            column = np.stack([numbers(row[k], x[0]) for row in right])
            agree(numbers(ours[k], column), column, case, 1e-8)


def numbers(t, x):
    return np.zeros_like(x) if isinstance(t, ZERO) else t
