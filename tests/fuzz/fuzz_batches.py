"""Programs of the other generators under ``cr.vmap``, beside a loop over the items.

In value, and in the derivatives inside and outside of the batch.
"""

import dataclasses
import re
import warnings
from copy import deepcopy
from itertools import combinations

import fuzz_aliasing
import fuzz_calls
import fuzz_containers
import fuzz_dead
import fuzz_indices
import fuzz_losses
import fuzz_oracle
import fuzz_sparse
import fuzz_ties
import fuzz_views
import numpy as np
from fuzz_program import Constants
from hypothesis import strategies as st

import chainrules as cr

OF_OTHERS = [
    module.programs
    for module in (
        fuzz_aliasing, fuzz_calls, fuzz_containers, fuzz_dead, fuzz_indices, fuzz_losses,
        fuzz_sparse, fuzz_ties, fuzz_views,
    )
]  # fmt: skip
# Two items are the same: what Python sees of these does not split them.
MOVES = ((1.0, 0.0), (1.01, 0.003), (0.98, -0.002), (-1.0, 0.1), (1.0, 0.0))


@st.composite
def programs(draw):
    program = draw(st.sampled_from(OF_OTHERS).flatmap(lambda make: make()))
    return dataclasses.replace(program, check="batched")


def moved(x, move):
    scale, shift = move
    if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
        return (x * scale + shift).astype(x.dtype)
    return np.asarray(x * scale + shift)[()] if is_float(x) else x  # as an array's items are


def is_float(x):
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fc"
    return isinstance(x, float | complex | np.floating | np.complexfloating)


def stacked(items):
    return np.stack([np.asarray(x) for x in items])


def in_batch(inputs):
    return tuple(0 if is_float(x) else None for x in inputs)


def loops(program, items):
    """Return what a loop over the items gives; None where it raises, or nothing can be compared.

    Or where the program is another one at its next call, or writes into what ``stop_gradient``
    gives: of what is traced, that is a copy.
    """
    f, once = program.build(), program.build(Constants())
    try:
        ys = [f[0](*deepcopy(item)) for item in items]
        others = [
            [once[0](*deepcopy(item)) for item in items],
            [program.build()[0](*deepcopy(item)) for item in items],
        ]
    except Exception:
        return None
    numbers = np.ndarray | np.floating | np.complexfloating | float | complex
    if not all(isinstance(y, numbers) and np.asarray(y).dtype.kind in "fc" for y in ys):
        return None
    for other in others:
        if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(ys, other, strict=True)):
            return None
    if len({np.shape(y) for y in ys}) > 1 or len({np.asarray(y).dtype for y in ys}) > 1:
        return None
    return ys if all(np.asarray(y).size <= 64 for y in ys) else None


def batched(program):
    """Compare value, jvp and gradient, of the batch and in it."""
    y = fuzz_oracle.plain_value(program)
    if y is None or not program.inputs or fuzz_oracle.is_of_objects(program):
        return
    _, inputs = program.build()
    axes = in_batch(inputs)
    if all(axis is None for axis in axes):
        return
    # What a program keeps by its argument's text belongs to the first of two that are the same.
    moves = MOVES[:-1] if program.setup else MOVES
    items = [[moved(x, move) for x in program.build()[1]] for move in moves]
    given = [
        stacked(column) if axis == 0 else column[0]
        for column, axis in zip(zip(*items, strict=True), axes, strict=True)
    ]
    items = [
        [x[i] if axis == 0 else x for x, axis in zip(given, axes, strict=True)]
        for i in range(len(moves))
    ]
    ys = loops(program, items)
    if ys is None:
        return
    floats = [k for k, axis in enumerate(axes) if axis == 0]
    # A value that is NaN has no derivative, and 0 or NaN stands for it; also where it has no entry.
    known = all(np.size(y) and np.all(np.isfinite(y)) for y in ys) and not is_list_at_tie(program)
    for label, check in CHECKS if known else CHECKS[:1]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(label, program, axes, items, deepcopy(given), floats, ys)
        except fuzz_oracle.Refused:
            pass
        except fuzz_oracle.Failure as failure:
            yield failure


def is_list_at_tie(program):
    """Say whether equal inputs stand in a list that NumPy compares, as objects but in a batch.

    The derivative of one item is then that of the first, and in a batch it is divided: both are
    slopes at that tie.
    """
    lists = re.search(r"(max|min)[\w.]*\([\[(]", program.source()) is not None
    arrays = [x for x in program.build()[1] if is_float(x)]
    return lists and any(
        np.shape(a) == np.shape(b) and np.any(a == b) for a, b in combinations(arrays, 2)
    )


def with_floats(inputs, floats, values):
    inputs = list(inputs)
    for k, x in zip(floats, values, strict=True):
        inputs[k] = x
    return inputs


def tangent(x):
    t = np.cos(1.0 + np.arange(np.size(x))).reshape(np.shape(x)).astype(np.asarray(x).dtype)
    return t if isinstance(x, np.ndarray) else t[()]


def of_value(label, program, axes, items, given, floats, ys):
    before = [np.copy(x) for x in given]
    batch = fuzz_oracle.attempt(label, lambda: cr.vmap(program.build()[0], in_axes=axes)(*given))
    known = [np.where(np.isnan(y), 0, y) for y in (stacked(ys), batch)]
    fuzz_oracle.expect(f"{label}: NaN", np.isnan(stacked(ys)) * 1.0, np.isnan(batch) * 1.0, 0)
    # Of traced values np.full makes objects, which tell no dtype once they are written over.
    if np.asarray(batch).dtype != known[0].dtype and "np.full(" not in program.source():
        raise fuzz_oracle.Failure(f"{label}: another dtype", f"{batch.dtype}")
    # Sums of a batch are added up in another order.
    fuzz_oracle.expect(label, *known, 1e-5 if coarse(ys[0], *given) else 1e-12)
    fuzz_oracle.unchanged(label, before, given)
    fuzz_oracle.apart(label, given, batch)


def pushed(f, inputs, floats):
    def g(*values):
        return f(*with_floats(inputs, floats, values))

    values = tuple(inputs[k] for k in floats)
    return cr.jvp(g, values, tuple(map(tangent, values)))[1]


def pulled(f, inputs, floats):
    def g(*values):
        return f(*with_floats(inputs, floats, values))

    y, pullback = cr.vjp(g, *(inputs[k] for k in floats))
    return pullback(np.ones_like(y))


def alone(label, derive, program, item, floats):
    """The derivative of one item; where it is refused, nothing is to be compared."""
    try:
        f, _ = program.build()
        return derive(f, deepcopy(item), floats)
    except Exception as error:
        raise fuzz_oracle.Refused from error


def numbers(xbar, x):
    return np.zeros_like(x) if isinstance(xbar, cr.ZeroTangent | cr.NoTangent) else xbar


def inside(derive):
    def check(label, program, axes, items, given, floats, ys):
        rows = [alone(label, derive, program, item, floats) for item in items]

        def of_item(*inputs):
            return derive(program.build()[0], inputs, floats)

        ours = fuzz_oracle.attempt(label, lambda: cr.vmap(of_item, in_axes=axes)(*given))
        rows = [row if isinstance(row, tuple) else (row,) for row in rows]
        ours = ours if isinstance(ours, tuple) else (ours,)
        for column, found in zip(zip(*rows, strict=True), ours, strict=True):
            like = [x for x in column if not isinstance(x, cr.ZeroTangent | cr.NoTangent)]
            if like:
                right = stacked([numbers(x, like[0]) for x in column])
                expect(label, right, found, (ys[0], *given))

    return check


def outside_jvp(label, program, axes, items, given, floats, ys):
    batch = cr.vmap(program.build()[0], in_axes=axes)

    def of_floats(*values):
        return batch(*with_floats(given, floats, values))

    values = tuple(given[k] for k in floats)
    dots = tuple(map(tangent, values))
    columns = []
    for i, item in enumerate(items):

        def g(*values, item=item):
            return program.build()[0](*with_floats(item, floats, values))

        own = tuple(item[k] for k in floats)
        try:
            columns.append(cr.jvp(g, own, tuple(xdot[i] for xdot in dots))[1])
        except Exception as error:
            raise fuzz_oracle.Refused from error
    right = stacked([numbers(c, y) for c, y in zip(columns, ys, strict=True)])
    ours = fuzz_oracle.attempt(label, lambda: cr.jvp(of_floats, values, dots)[1])
    expect(label, right, ours, (ys[0], *given))


def outside_vjp(label, program, axes, items, given, floats, ys):
    batch = cr.vmap(program.build()[0], in_axes=axes)

    def of_floats(*values):
        return batch(*with_floats(given, floats, values))

    rows = [alone(label, pulled, program, item, floats) for item in items]

    def run():
        y, pullback = cr.vjp(of_floats, *(given[k] for k in floats))
        return pullback(np.ones_like(y))

    ours = fuzz_oracle.attempt(label, run)
    for k, column, found in zip(floats, zip(*rows, strict=True), ours, strict=True):
        right = stacked([numbers(x, items[0][k]) for x in column])
        expect(label, right, found, (ys[0], *given))


def expect(label, right, ours, numbers_met):
    ours = numbers(ours, right)
    fuzz_oracle.expect(f"{label}: NaN", np.isnan(right) * 1.0, np.isnan(ours) * 1.0, 0)
    right, ours = (np.where(np.isnan(x), 0, x) for x in (right, ours))
    fuzz_oracle.expect(label, right, ours, 1e-4 if coarse(*numbers_met) else 1e-8)


def coarse(*numbers):
    return any(np.asarray(x).dtype in (np.float32, np.complex64) for x in numbers)


CHECKS = (
    ("vmap", of_value),
    ("vmap of jvp", inside(pushed)),
    ("vmap of vjp", inside(pulled)),
    ("jvp of vmap", outside_jvp),
    ("vjp of vmap", outside_vjp),
)
fuzz_oracle.CHECKS["batched"] = batched
