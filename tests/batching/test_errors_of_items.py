"""Errors that some items of a batch raise, and the function catches: each item goes its own way.

NumPy raises for a whole block what a loop raises for one item. Values, derivatives and errors that
nobody catches are those of the loop.
"""

import contextlib
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr
from chainrules import math as cmath


def factor(x):
    return np.linalg.cholesky(np.eye(2) * x + 0.1)[1, 1]


def inverse(x):
    return np.linalg.inv(np.stack([np.stack([x, x * 0]), np.stack([x * 0, x - 2.0])]))[1, 1]


def divided(x):
    with np.errstate(all="raise"):
        return 1.0 / x


def logarithm(x):
    with np.errstate(all="raise"):
        return np.sum(np.log(np.stack([x + 3, x])) * x)


def warned(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.sqrt(x) * 2.0


def entry(x):
    return np.arange(3.0)[np.floor(x).astype(int)] * x


def written(x):
    y = np.zeros(3) + x
    y[np.floor(x).astype(int)] = 7.0 * x
    return np.sum(y)


def whole(x):
    return int(1.0 / float(x)) * x if float(x) else int(math.nan) * x


def listed(x):
    return [1.0, 4.0, 9.0][int(x)] * x


def of_python(x):
    return cmath.sqrt(x)


def by_shape(x):
    return np.ones(2) @ np.stack([x, x, x])


FAILING = [
    factor, inverse, divided, logarithm, warned, entry, written, whole, listed, of_python, by_shape,
]  # fmt: skip
ITEMS = st.lists(
    st.sampled_from([-5.0, -1.5, 0.0, 0.5, 1.0, 2.0, 2.5, 4.0]), min_size=1, max_size=5
)


def caught(fail, other):
    def f(x):
        y = 0.5 * x
        try:
            y = y + fail(x)
        except (ArithmeticError, ValueError, IndexError, Warning):
            y = y + other(x) if other is not None else 3.0 * y
        return y * y

    return f


def outcomes(fs, xs):
    for f in fs:
        try:
            yield np.stack([f(x) for x in xs])
        except Exception as error:
            yield type(error)


@pytest.mark.filterwarnings("ignore::chainrules.BatchWarning", "ignore::RuntimeWarning")
@given(st.sampled_from(FAILING), st.sampled_from([None, *FAILING]), ITEMS, st.booleans())
def test_caught_errors_are_those_of_the_items(fail, other, items, catches):
    f, xs = caught(fail, other) if catches else fail, np.array(items)
    expected = outcomes((f, lambda x: cr.jvp(f, (x,), (np.ones(()),))[1]), xs)
    for want, transform in zip(expected, (f, lambda x: cr.jvp(f, (x,), (np.ones(()),))[1])):
        if isinstance(want, type):
            with pytest.raises(want):
                cr.vmap(transform)(xs)
        else:
            np.testing.assert_allclose(cr.vmap(transform)(xs), want, rtol=1e-13)


def test_an_error_of_all_items_is_one_way():
    f = caught(by_shape, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(cr.vmap(f, ways=1)(np.ones(3)), 2.25)


def test_an_error_of_some_items_is_a_second_way():
    with pytest.raises(np.linalg.LinAlgError) as caught_error:
        cr.vmap(caught(factor, None), ways=1)(np.array([4.0, -1.0]))
    assert "differ in an error of numpy.linalg.cholesky" in caught_error.value.__notes__[0]


def test_gradients_of_items_that_raise():
    f, xs = caught(factor, entry), np.array([4.0, -0.5, 0.7])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.BatchWarning)
        got = cr.vmap(cr.grad(f))(xs)
        np.testing.assert_allclose(got, [cr.grad(f)(x) for x in xs], rtol=1e-13)
        total = cr.grad(lambda xs: np.sum(cr.vmap(f)(xs)))(xs)
        np.testing.assert_allclose(total, got, rtol=1e-13)


def by_bare_except(x):
    try:
        return 2.0 * x if x > 0 else 3.0 * x
    except:  # noqa: E722
        return 100.0 * x


def by_suppress(x):
    with contextlib.suppress(BaseException):
        return 2.0 * x if x > 0 else 3.0 * x
    return 100.0 * x


def by_another_error(x):
    try:
        return 2.0 * x if x > 0 else 3.0 * x
    except BaseException as error:
        raise ValueError("another") from error


@pytest.mark.parametrize("f", [by_bare_except, by_suppress, by_another_error])
def test_handlers_of_everything_hide_no_split(f):
    xs = np.array([-1.0, 2.0, 0.5])
    np.testing.assert_array_equal(cr.vmap(f)(xs), [f(x) for x in xs])
    np.testing.assert_array_equal(cr.vmap(cr.grad(f))(xs), [cr.grad(f)(x) for x in xs])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.CompileWarning)
        np.testing.assert_array_equal(cr.compile(cr.vmap(f))(xs), [f(x) for x in xs])
