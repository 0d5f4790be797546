"""Joining arrays, and taking them apart."""

import numpy as np
import pytest
from both_modes import both_engines, both_rules

import chainrules as cr
from chainrules.config import rrule_via_ad
from chainrules.testing import test_rrule

RNG = np.random.default_rng(0)
U, V = RNG.normal(size=(2, 3))
A, B = RNG.normal(size=(2, 3)), RNG.normal(size=(4, 3))
C, D = RNG.normal(size=(2, 2, 3)), RNG.normal(size=(2, 2, 1))
SINGLE = np.float32(A)


# fmt: off
JOINS = [
    (np.concatenate, [A, B], {}), (np.concatenate, (U, V, U), {}),
    (np.concatenate, [C, D], {"axis": -1}), (np.concatenate, [A, 1.5, C], {"axis": None}),
    (np.concatenate, [A], {}), (np.concatenate, [A[:0], A], {}),
    (np.concatenate, [A, A * 1j], {"axis": 1}), (np.concatenate, [SINGLE, B], {}),
    (np.concatenate, C, {}), (np.concatenate, C, {"axis": 1}),
    (np.concatenate, [SINGLE, SINGLE], {"axis": 0}), (np.concatenate, [A, B], {"dtype": "c16"}),
    (np.stack, [U, V], {}), (np.stack, [A, -A], {"axis": 1}), (np.stack, [A, A], {"axis": -1}),
    (np.stack, [1.5, 2.5], {}), (np.stack, (U,), {"axis": -1}), (np.stack, C, {"axis": 1}),
    (np.stack, [SINGLE, A], {}), (np.stack, [A, A * 1j], {}),
    (np.vstack, [A, B], {}), (np.vstack, [U, A], {}), (np.vstack, [1.5, 2.5], {}),
    (np.vstack, C, {}), (np.vstack, [A, 1j * U], {}),
    (np.hstack, [A, A], {}), (np.hstack, [U, V, [1.5]], {}), (np.hstack, [1.5, U], {}),
    (np.hstack, [C, C], {}), (np.hstack, C, {}), (np.hstack, [SINGLE, SINGLE], {}),
    (np.hstack, [A[:, :0], A], {}),
    (np.dstack, [A, -A], {}), (np.dstack, [U, V], {}), (np.dstack, [1.5, 2.5], {}),
    (np.dstack, [C, D], {}), (np.dstack, (A, SINGLE), {}),
    (np.column_stack, [U, V], {}), (np.column_stack, [A, U[:2], A], {}),
    (np.column_stack, [1.5, 2.5], {}), (np.column_stack, A, {}),
    (np.block, [[A, A], [B, B]], {}), (np.block, [U, V], {}),
    (np.block, [[1.5, U], [V, 2.5]], {}), (np.block, [[[C, C]]], {}),
    (np.block, [[[1.5]], [[2.5]]], {}),
]
# fmt: on


@pytest.mark.parametrize(("f", "parts", "kwargs"), JOINS)
def test_join(f, parts, kwargs):
    both_engines(f, parts, **kwargs)


@pytest.mark.parametrize("f", [np.concatenate, np.stack, np.vstack, np.hstack, np.dstack])
def test_join_as_a_rule(f):
    both_rules(f, [A, -A])
    test_rrule(f, (A, SINGLE, A * 1j))


def test_block_of_one_array():
    both_engines(np.block, A)


def test_join_with_constants():
    def joined(x):
        return np.concatenate([x, [1.0, 2.0], x[:1], np.array([3, 4])])

    both_engines(joined, U)
    np.testing.assert_array_equal([2, 1, 1], cr.grad(lambda x: np.sum(joined(x)))(U))


def test_join_of_lists_of_numbers():
    both_engines(lambda x: np.hstack([[x[0], 2.0], x[1:], x[2]]), U)


def test_the_same_array_twice():
    np.testing.assert_array_equal(4 * U, cr.grad(lambda x: np.sum(np.concatenate([x, x]) ** 2))(U))


def test_join_of_integers():
    xbar = cr.grad(lambda n: np.sum(np.stack([n, 2.5 * n]) * [1.0, 10.0]))(np.array([1, 2]))
    np.testing.assert_array_equal([3.5, 35.0], xbar)
    assert np.float64 == xbar.dtype


# ---- adding and removing entries ------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: np.append(x, y),
        lambda x, y: np.append(x, y * 2, axis=0),
        lambda x, y: np.insert(x, 1, y[0]),
        lambda x, y: np.insert(x, 1, y[0, 0]),
        lambda x, y: np.insert(x, 1, y[0], axis=0),
        lambda x, y: np.insert(x, [0, 2], y[:, :2], axis=1),
        lambda x, y: np.insert(x, [1, 1, 6], y[0]),
        lambda x, y: np.insert(x, -1, 0.5, axis=0),
        lambda x, y: np.insert(x, slice(0, 2), y[:, 0]),
        lambda x, y: np.delete(x, 1),
        lambda x, y: np.delete(x, [0, -1], axis=1),
        lambda x, y: np.delete(x, slice(None, None, 2), 1),
        lambda x, y: np.delete(x, np.array([True, False, True]), 1),
    ],
)
def test_adding_and_removing(f):
    both_engines(f, A, -A)
    both_engines(f, A * (1 + 1j), A)
    test_rrule(f, SINGLE, SINGLE, rrule_f=rrule_via_ad)


# ---- taking apart ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.split(x, 2),
        lambda x: np.split(x, [1, 3]),
        lambda x: np.split(x, [1], axis=1),
        lambda x: np.array_split(x, 3),
        lambda x: np.array_split(x, 5, axis=-1),
        lambda x: np.array_split(x, [1, 9]),
        lambda x: np.hsplit(x, 3),
        lambda x: np.vsplit(x, 4),
        lambda x: np.dsplit(x[None], [2]),
        lambda x: np.hsplit(x[0], 3),
        lambda x: np.unstack(x),
        lambda x: np.unstack(x, axis=1),
    ],
)
def test_taking_apart(f):
    both_engines(f, B)
    both_engines(f, B * (2 - 1j))
    test_rrule(f, np.float32(B), rrule_f=rrule_via_ad)


def test_only_some_parts_are_used():
    xbar = cr.grad(lambda x: np.sum(np.split(x, 4)[2] ** 2))(B)
    np.testing.assert_array_equal(2 * B * (np.arange(4) == 2)[:, None], xbar)


def test_unequal_division():
    with pytest.raises(ValueError, match="equal division"):
        cr.grad(lambda x: np.sum(np.split(x, 3)[0]))(B)


def test_hessian_through_joins():
    h = cr.hessian(lambda x: np.prod(np.hstack([x[:1], x])))(np.array([2.0, 3.0]))
    np.testing.assert_allclose([[6.0, 4.0], [4.0, 0.0]], h)


@pytest.mark.parametrize("join", [np.stack, np.concatenate])
@pytest.mark.parametrize("view", [lambda x: x[0:2], lambda x: x.T, lambda x: x.reshape(2, 2)])
@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 0)])
def test_an_array_that_was_written_to_beside_a_view_of_it(join, view, order):
    """The array's value is taken of the writes after that of the view."""

    def f(x):
        x[0] = 2.0 * x[1]
        parts = view(x), x
        return join([parts[k] for k in order])

    x = np.array([[0.9, 1.4], [1.6, 1.2]])
    np.testing.assert_array_equal(cr.jacrev(f)(x), cr.jacfwd(f)(x))
    np.testing.assert_array_equal(cr.vjp(f, x)[0], f(x.copy()))
