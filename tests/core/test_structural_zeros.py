"""A branch that was selected away contributes nothing, whatever its own derivative is there."""

import numpy as np
import pytest

import chainrules as cr

X = np.array([0.0, 1.0, 4.0])
HALF = np.array([0.0, 0.5, 0.25])  # of the square root, with nothing from the entry at 0


def by_where(x):
    return np.where(x > 0, np.sqrt(x), 0.0)


def by_where_twice(x):
    return np.where(x > 0, np.where(x > 0, np.sqrt(x), -1.0), 0.0)


def by_slice(x):
    return np.sqrt(x)[1:]


def by_mask(x):
    y = np.sqrt(x)
    return y[x > 0]


def by_entries(x):
    y = np.sqrt(x)
    return y[1] + y[2]


def by_entries_joined(x):
    y = np.sqrt(x)
    return np.where(x > 0, np.stack([y[i] for i in range(3)]), 0.0)


def by_where_of_entries(x):
    y = np.sqrt(x)
    return np.where(x[0] > 0, y[0], y[1] + np.where(x[1] > 0, y[2], y.item(0)))


def by_fancy_index(x):
    return np.sqrt(x)[[1, 2]]


def by_take(x):
    return np.take(np.sqrt(x), [2, 1])


def by_extremes(x):
    return np.sqrt(x)[1] + np.max(np.sqrt(x)) + 0.0 * np.min(np.sqrt(x)[1:])


def through_a_chain(x):
    return np.where(x > 0, 2.0 * np.sqrt(x) - np.sqrt(x), x * 0.0)


PROGRAMS = [
    by_where,
    by_where_twice,
    by_slice,
    by_mask,
    by_entries,
    by_entries_joined,
    by_where_of_entries,
    by_fancy_index,
    by_take,
    through_a_chain,
    by_extremes,
]


@pytest.fixture(autouse=True)
def infinite_derivatives_are_expected():
    with np.errstate(divide="ignore", invalid="ignore"):
        yield


@pytest.mark.parametrize("f", PROGRAMS)
def test_both_modes(f):
    def total(x):
        return np.sum(f(x))

    np.testing.assert_array_equal(cr.grad(total)(X), HALF)
    assert cr.jvp(total, (X,), (np.ones(3),))[1] == 0.75


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("outer", [cr.jacfwd, cr.jacrev])
def test_second_order(f, outer):
    expected = np.diag([0.0, -0.25, -0.25 / 8])
    found = outer(cr.grad(lambda x: np.sum(f(x))))(X)
    np.testing.assert_allclose(found, expected)


def test_scalars():
    assert cr.grad(lambda x: np.where(x > 0, np.log(x), 0.0) * 1.0)(0.0) == 0.0
    assert cr.grad(lambda x: np.log(x) if x > 0 else x)(0.0) == 1.0


def test_a_branch_that_is_used_elsewhere_counts():
    def f(x):
        y = np.sqrt(x)
        return np.sum(np.where(x > 0, y, 0.0)) + y[0]

    np.testing.assert_array_equal(cr.grad(f)(X), [np.inf, 0.5, 0.25])


def test_numeric_zeros_get_no_such_treatment():
    for f in (lambda x: np.sqrt(x) ** 2, lambda x: np.sqrt(x) * np.sqrt(x)):
        assert cr.grad(f)(0.0) != 0.0
        assert cr.jvp(f, (0.0,), (1.0,))[1] != 0.0
    with np.errstate(all="ignore"):
        assert cr.grad(lambda x: 1 / (1 / x))(np.float64(0.0)) != 0.0


def test_entries_that_nobody_reads_send_nothing_back_where_some_that_are_read_move():
    """One that is read has a plain cotangent, and another one that is differentiated again."""

    def of_numbers(x):
        y = np.stack([x, x, x])
        y[2] = np.sqrt(x * 0.0)
        return y[0] * x + y[0]

    def of_rows(x):
        y = np.stack([x, x])
        y[1] = np.sqrt(np.stack([x[0] * 0.0, x[1]]))
        return y[0, 0] * x[0] + y[0, 1] + y[1, 1]

    x = np.array([2.0, 4.0])
    right = [[2.0, 0.0], [0.0, -1 / 32]]
    with np.errstate(all="ignore"):
        assert cr.grad(cr.grad(of_numbers))(2.0) == cr.hvp(of_numbers, (2.0,), (1.0,)) == 2.0
        for second in (
            cr.hessian(of_rows),
            cr.jacrev(cr.grad(of_rows)),
            cr.jacfwd(cr.grad(of_rows)),
        ):
            np.testing.assert_array_equal(second(x), right)
        np.testing.assert_array_equal(cr.vmap(cr.grad(cr.grad(of_numbers)))(x), [2.0, 2.0])


def test_what_a_part_is_written_over_sends_nothing_back_in_second_derivatives():
    def f(x):
        y = np.sqrt(x)
        y[1:] = 2.0 * x[1:]
        return np.sum(y**2)

    x = np.array([4.0, 0.0])
    with np.errstate(divide="ignore"):
        for second in (cr.hessian(f), cr.jacrev(cr.grad(f)), cr.jacfwd(cr.grad(f))):
            np.testing.assert_array_equal(second(x), [[0.0, 0.0], [0.0, 8.0]])
