"""The first case of every rule in batches of integers and other layouts, nested, and written to.

Beside a loop over the items: its numbers, their dtype, or its error. Four checks of a millisecond
each are one test: pytest takes as long for a test as one of them does.
"""

import warnings

import numpy as np
import pytest
from test_every_rule import name_of
from test_every_rule_batched import SCALES, agree, answers, items_of, of_cases

import chainrules as cr


def beside_loop(case, ours, loop):
    """Compare what a batch gives with a loop, where that gives one array for each result."""
    right = answers(lambda: loop(), [()])
    if right is None or getattr(case.f, "__name__", "") == "strides":  # they are those of a block
        return
    try:
        columns = [np.stack(column) for column in zip(*right[0], strict=True)]
    except ValueError:
        return  # of several shapes
    if any(column.dtype == object for column in columns):
        return
    for y, column in zip(ours(), columns, strict=True):
        agree(np.asarray(y), column, case, 1e-9)


def integers_for_floats(case, xs):
    if "scipy" in name_of(case.f):
        return  # some of its loops do not end for a zero
    given = [x.astype(np.int8) if x.dtype.kind in "fi" else x for x in xs]
    beside_loop(
        case,
        lambda: cr.vmap(case)(*given),
        lambda: [case(*row) for row in zip(*given, strict=True)],
    )


def items_along_the_last_axis_of_what_is_read_only_and_strided(case, xs):
    last = [np.repeat(np.moveaxis(x, 0, -1), 2, axis=-1)[..., ::2] for x in xs]
    for x in last:
        x.flags.writeable = False
    beside_loop(
        case,
        lambda: cr.vmap(case, in_axes=-1)(*last),
        lambda: [case(*[x[..., i] for x in last]) for i in range(len(SCALES))],
    )


def batches_in_batches(case, xs):
    """The inner batch is along the last axis of the arguments, the outer one along the first."""
    many = [np.stack([x, items_of(x[0])[1][None].repeat(len(SCALES), 0)], axis=-1) for x in xs]

    def of_row(i):  # of copies: scipy.signal.sweep_poly writes into its argument
        rows = [[x[i][..., j].copy() for x in many] for j in (0, 1)]
        return [np.stack(y) for y in zip(*(case(*row) for row in rows))]

    beside_loop(
        case,
        lambda: cr.vmap(cr.vmap(case, in_axes=-1))(*[x.copy() for x in many]),
        lambda: [of_row(i) for i in range(len(SCALES))],
    )


def arguments_written_to_after_the_call(case, xs):
    def written(*numbers):
        ys = case(*numbers)
        for x in numbers:
            if np.ndim(x):
                x[...] = 0 if x.dtype.kind in "iu" else 7
        return ys

    before = [x.copy() for x in xs]
    beside_loop(
        case,
        lambda: cr.vmap(written)(*xs),
        lambda: [written(*[x.copy() for x in row]) for row in zip(*xs, strict=True)],
    )
    for x, same in zip(xs, before, strict=True):
        np.testing.assert_array_equal(x, same)


@of_cases(1)
def test_items_of_other_kinds(case, xs):
    for check in (
        integers_for_floats,
        items_along_the_last_axis_of_what_is_read_only_and_strided,
        batches_in_batches,
        arguments_written_to_after_the_call,
    ):
        check(case, [x.copy() for x in xs])


def test_dtypes_that_bodies_of_rules_choose():
    x = np.array([[1, 2, 3, 4]], np.int8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cr.vmap(lambda x: np.multiply.reduceat(x, [0, 1, 2, 3]))(x).dtype == np.int64
        assert cr.vmap(np.sort_complex)(x).dtype == np.complex64
        assert cr.vmap(np.ravel)(x.astype(">f8")).dtype == np.dtype(float)


TEXTS = {
    "equal": lambda x, s: x**2 if s == "a" else 3 * x,
    "unequal, on the left": lambda x, s: x**2 if "a" != s else 3 * x,
    "in a tuple": lambda x, s: x**2 if s in ("a", "c") else 3 * x,
    "where": lambda x, s: np.where(s == "b", x**2, 3 * x),
    "a key": lambda x, s: {"a": 1.0, "b": 2.0}[s] * x,
    "bytes beside text": lambda x, s: x**2 if s == b"a" else 3 * x,
    "a number beside text": lambda x, s: x**2 if x == "a" else 3 * x,
}


@pytest.mark.parametrize("f", TEXTS.values(), ids=TEXTS)
def test_texts_of_items(f):
    """Wrong in silence: no text of a batch was equal to any text."""
    xs, texts = np.array([1.0, 2.0, 3.0]), np.array(["a", "b", "a"])
    for g in (f, cr.grad(f), lambda x, s: cr.jvp(lambda x: f(x, s), (x,), (1.0,))[1]):
        expected = [g(x, s) for x, s in zip(xs, texts)]
        np.testing.assert_array_equal(cr.vmap(g)(xs, texts), expected)
