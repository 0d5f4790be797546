"""Reading entries: every kind of index, and the functions that take."""

import operator

import numpy as np
import pytest
from both_modes import both_engines, both_rules
from counted_calls import arrays_made, calls_of

import chainrules as cr
from chainrules.config import frule_via_ad, rrule_via_ad
from chainrules.rules import InplaceableThunk, getitem
from chainrules.rules.rulesets.arrays.indexing import getitem_transpose, scatter
from chainrules.testing import test_frule, test_rrule

RNG = np.random.default_rng(0)
V = RNG.normal(size=5)
A = RNG.normal(size=(3, 4))
B = RNG.normal(size=(2, 3, 4))
MASK = A > 0
ROWS = np.array([0, 2, 0])
s_ = np.s_

# fmt: off
INDICES = [
    (V, 1), (V, -1), (V, np.int64(2)), (V, np.int32(2)), (V, np.uint8(2)), (V, np.array(2)),
    (V, ()), (V, ...), (V, None), (V, s_[1:4]), (V, s_[::-2]), (V, s_[:0]), (V, s_[2, ...]),
    (V, s_[2, None]), (V, [0, 2, 0, 0]), (V, np.array([3, -2, 3])), (V, np.array([], int)),
    (V, [[0, 1], [1, 1]]), (V, V > 0), (V, (V > 0).tolist()), (V, V > 9), (V, (V > 0,)),
    (V, (ROWS,)), (V, [True] * 5),
    (A, 1), (A, (1, 2)), (A, s_[1, :]), (A, s_[:, 1]), (A, s_[..., -1]), (A, s_[1:, ::-1]),
    (A, s_[None, :, None]), (A, ROWS), (A, [1, 1]), (A, s_[:, [0, 0, 3]]),
    (A, s_[[0, 0], [1, 1]]), (A, ([0, 2], [1, -1])), (A, s_[ROWS, 1]), (A, s_[ROWS, :2]),
    (A, s_[ROWS, None]), (A, np.ix_([0, 0], [1, 3])), (A, s_[ROWS[:, None], [1, 1]]), (A, MASK),
    (A, MASK[:, 0]), (A, s_[:, MASK[0]]), (A, s_[MASK[:, 0], 1]), (A, s_[MASK[:, 0], [0]]),
    (A, s_[MASK[:, 0], 1:]), (A, s_[1, 2, ...]), (A, True), (A, np.array(False)), (A, np.True_),
    (A, s_[None, 1]),
    (B, s_[0, :, [1, 1]]), (B, s_[:, 0, [1, 1]]), (B, s_[[0, 1], :, [1, 1]]),
    (B, s_[..., ROWS, 0]), (B, s_[1, MASK]), (B, s_[[1, 1, 0]]), (B, np.array([[0, 1], [1, 1]])),
    (B.T, np.array([3, 3, 0])),
    (B, s_[:, MASK]),
    (B[:, ::2], s_[1, 1]),
    (np.array(0.7), ()), (np.array(0.7), ...), (np.array(0.7), None), (np.array(0.7), True),
    (np.zeros((0, 3)), s_[:, 1]), (np.zeros((0, 3)), np.array([], int)),
]
# fmt: on


def index_id(case):
    return str(case[1]).replace("\n", "")


@pytest.mark.parametrize("case", INDICES, ids=index_id)
def test_index(case):
    both_rules(getitem, *case)


@pytest.mark.parametrize("case", INDICES, ids=index_id)
def test_index_in_an_expression(case):
    x, index = case

    def read(x):
        y = x[index]
        return y * y

    both_engines(read, x)


@pytest.mark.parametrize("case", INDICES, ids=index_id)
def test_index_of_other_dtypes(case):
    x, index = case
    test_rrule(getitem, x * (1 + 2j), index)
    test_rrule(getitem, np.asarray(x, np.float32), index)


@pytest.mark.parametrize("case", INDICES, ids=index_id)
def test_scatter_is_the_transpose(case):
    x, index = case
    both_rules(scatter, x[index], x.shape, x.dtype.str, index)


def test_integers():
    np.testing.assert_array_equal([0, 4, 0], cr.grad(lambda x: x[1] ** 2)(np.array([1, 2, 3])))


def test_operator_getitem():
    test_rrule(operator.getitem, V, slice(1, 3), rrule_f=rrule_via_ad)
    test_frule(operator.getitem, V, slice(1, 3), frule_f=frule_via_ad)


@pytest.mark.parametrize(
    ("x", "index"), [((1.5, V), 1), ([1.5, V, 2.0], slice(0, 3, 2)), ({"a": 1.5, "b": V}, "b")]
)
def test_part_of_a_container(x, index):
    both_rules(getitem, x, index)


def test_repeats_accumulate():
    np.testing.assert_array_equal([3, 1, 0, 0, 0], cr.grad(lambda x: np.sum(x[[0, 1, 0, 0]]))(V))


@pytest.mark.parametrize("lowest", [0, -5])
@pytest.mark.parametrize("shape", [(5, 3), (5, 2, 2), (5, 20), (5,), (5, 0)])
def test_many_rows_that_repeat(shape, lowest):
    index = RNG.integers(lowest, 5, 600)
    expected = np.zeros(shape)
    ybar = RNG.normal(size=(600, *shape[1:]))
    for row, k in zip(ybar, index):
        expected[k] += row
    np.testing.assert_allclose(scatter(ybar, shape, np.dtype(float), index), expected, rtol=1e-12)


def test_reads_add_in_place():
    xbar = getitem_transpose(2.0, cr.ProjectTo(A), (1, 2))
    assert isinstance(xbar, InplaceableThunk)
    buffer = np.ones_like(A)
    assert buffer is xbar.add_into(buffer)
    np.testing.assert_array_equal(1 + 2 * (np.arange(12) == 6).reshape(3, 4), buffer)


def test_reading_every_scalar_costs_as_much_as_there_are():
    def total(x):
        y = 0.0
        for i in range(len(x)):
            y = y + x[i]
        return y

    few, many = np.ones(10), np.ones(1000)
    gradient = cr.grad(total)
    np.testing.assert_array_equal(many, gradient(many))
    assert arrays_made(lambda: gradient(few)) == arrays_made(lambda: gradient(many))
    assert len(calls_of(lambda: gradient(many))) < 200 * len(calls_of(lambda: gradient(few)))


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_an_entry_that_was_not_read_has_no_part_in_an_infinite_slope():
    xbar = cr.grad(lambda x: np.sqrt(x)[1])(np.array([0.0, 4.0]))
    np.testing.assert_array_equal([0.0, 0.25], xbar)
    for f in (np.take, lambda y, i: np.take_along_axis(y, np.array([i]), 0)[0]):
        xbar = cr.grad(lambda x, f=f: f(np.sqrt(x), 1))(np.array([0.0, 4.0]))
        np.testing.assert_array_equal([0.0, 0.25], xbar)


def test_hessian_through_reads():
    def product(x):
        return x[0] * x[1] * x[1] + x[[2, 2]] @ x[:2]

    h = cr.hessian(product)(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal([[0, 4, 1], [4, 2, 1], [1, 1, 0]], h)
    np.testing.assert_array_equal(h, cr.jacrev(cr.jacrev(product))(np.array([1.0, 2.0, 3.0])))


# ---- functions that take --------------------------------------------------------------------

# fmt: off
TAKES = [
    (np.take, V, 2), (np.take, V, [0, 0, -1]), (np.take, A, [0, 5, 5]), (np.take, A, [0, 0], 0),
    (np.take, A, [[3, 3], [0, 1]], 1), (np.take, B, [1, 1], -2), (np.take, B, 1, -1),
    (np.take, V, []), (np.take, 1.5, [0, 0]),
    (np.take_along_axis, A, np.argsort(A), 1),
    (np.take_along_axis, A, ROWS[None, [0, 1, 2, 0]], 0),
    (np.take_along_axis, A, np.array([[0, 0], [1, 1], [3, 2]]), -1),
    (np.take_along_axis, A, np.array([5, 5, 0]), None),
    (np.take_along_axis, B, np.array([[[1]]]), 1),
    (np.take_along_axis, A[:1], np.zeros((3, 2), int), 1),
]
# fmt: on


@pytest.mark.parametrize("case", TAKES, ids=lambda case: case[0].__name__)
def test_take(case):
    both_rules(*case)
    f, x, *options = case
    test_rrule(f, x * (2 - 1j), *options)
    test_rrule(f, np.float32(x), *options)


@pytest.mark.parametrize("mode", ["wrap", "clip", "raise"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_take_beyond_the_end(mode, axis):
    indices = [0, 2, 2] if mode == "raise" else [-1, 7, 2, -9]
    both_rules(np.take, A, indices, axis=axis, mode=mode)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.compress([True, False, True], x),
        lambda x: np.compress([True, False, True], x, 0),
        lambda x: np.compress([False, True], x, axis=1),
        lambda x: np.extract(MASK, x),
        lambda x: np.extract(x > 0, x),
    ],
)
def test_take_by_a_condition(f):
    both_engines(f, A)
    test_rrule(f, A * (1 + 0j), rrule_f=rrule_via_ad)
