"""Joins of numbers at several levels: they have the derivatives of their entries, one by one."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr

X, P = np.array([0.7, 1.3]), np.array([0.4, 0.9])


def along(f: Callable) -> Callable:
    return lambda x: cr.jvp(f, (x,), (np.array([0.3, -1.1]),))[1]


TRANSFORMS = {"jvp": along, "jacfwd": cr.jacfwd, "jacrev": cr.jacrev}
ENTRIES: list[Callable] = [
    lambda x, p: 1.5,
    lambda x, p: -2,
    lambda x, p: x[0],
    lambda x, p: p[1],
    lambda x, p: x[0] * p[0],
    lambda x, p: np.sin(x[1]) * p[1] * p[0],
    lambda x, p: x[0] ** p[0] + 2.0,
    lambda x, p: x[1] * x[1] * x[0],
    lambda x, p: np.float64(2.0) - p[0] * p[0],
]
JOINS: dict[str, Callable] = {
    "stack": np.stack,
    "hstack": np.hstack,
    "array": cr.array,
    "concatenate": lambda parts: np.concatenate([parts[:1], parts[1:]]),
    "append": lambda parts: np.append(np.stack(parts[:-1]), parts[-1]),
    "in place": lambda parts: filled(np.zeros(len(parts), like=parts[-1]), parts),
}


def filled(y: np.ndarray, parts: list) -> np.ndarray:
    for i, part in enumerate(parts):
        y[i] = part
    return y


names = st.sampled_from(sorted(TRANSFORMS))
entries = st.lists(st.integers(0, len(ENTRIES) - 1), min_size=1, max_size=4)


@given(nest=st.lists(names, min_size=1, max_size=3), chosen=entries, join=st.sampled_from([*JOINS]))
def test_joins_have_the_derivatives_of_their_entries(nest, chosen, join):
    weights = 1.0 + np.arange(len(chosen) + 1)

    def parts(x, p):
        return [*(ENTRIES[i](x, p) for i in chosen), x[0] * p[0]]

    def joined(x, p):
        return np.sum(weights * np.square(JOINS[join](parts(x, p))))

    def one_by_one(x, p):
        return sum(w * part * part for w, part in zip(weights, parts(x, p), strict=True))

    def derivative(f):
        def outer(p):
            found = TRANSFORMS[nest[0]](lambda x: f(x, p))(X)
            return np.sum(found * np.cos(found))

        for name in nest[1:]:
            before, transform = outer, TRANSFORMS[name]
            outer = lambda p, f=before, t=transform: np.sum(np.sin(t(f)(p)))  # noqa: E731
        return outer(P)

    np.testing.assert_allclose(derivative(joined), derivative(one_by_one), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("inner", TRANSFORMS)
@pytest.mark.parametrize("outer", TRANSFORMS)
def test_rows_of_numbers_of_two_levels(outer, inner):
    def f(x, p):
        return np.stack([x[0] * p[0], p[1] * 1.0, x[1] ** p[0], 2.0])

    def mixed(p):
        return TRANSFORMS[inner](lambda x: f(x, p))(X)

    steps = [(mixed(P + h) - mixed(P - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    expected = np.stack(steps, -1)
    if outer == "jvp":
        expected = expected @ np.array([0.3, -1.1])
    np.testing.assert_allclose(TRANSFORMS[outer](mixed)(P), expected, rtol=1e-7, atol=1e-8)
