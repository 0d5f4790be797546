"""Recordings depend on the structure of results: containers, shapes and bytes."""

import dataclasses

import numpy as np
import pytest

import chainrules as cr

X = np.array([1.0, 2.0, 3.0])


@dataclasses.dataclass
class Counts:
    x: float
    n: int


def test_the_container_that_a_primitive_gives_is_seen():
    makers = [
        lambda x: x, lambda x: (x, x), lambda x: (x,), lambda x: {"a": x}, lambda x: [x],
        lambda x: {"b": x}, lambda x: ((x,),), lambda x: Counts(x, 1), lambda x: Counts(x, 2),
    ]  # fmt: skip
    made = cr.primitive(lambda x: makers[int(x)](x))
    for first in range(len(makers)):
        g = cr.compile(lambda x: made(x), fallback="error", check=False)
        for x in map(float, (first, *range(len(makers)))):
            expected, found = made(x), g(x)
            assert (type(expected), expected) == (type(found), found)


OF_SIZES = {
    "tile": lambda x, k: np.tile(x, k), "repeat": lambda x, k: np.repeat(x, k),
    "diag": lambda x, k: np.diag(x, k), "broadcast": lambda x, k: np.broadcast_to(x, (k, 4)),
    "reshape": lambda x, k: np.reshape(x * np.ones((3, 1)), (k, -1)),
    "split": lambda x, k: np.split(x, [k])[0], "take": lambda x, k: np.take(x, np.arange(k)),
    "delete": lambda x, k: np.delete(x, np.arange(k)),
    "zeros": lambda x, k: np.zeros_like(x, shape=(k,)),
    "diff": lambda x, k: np.diff(x, k), "sum": lambda x, k: np.sum(x * np.ones((3, 1)), k % 2),
    "reduce": lambda x, k: np.add.reduce(x * np.ones((3, 1)), k % 2),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_SIZES)
def test_a_shape_that_numbers_decide_is_seen(name):
    def f(x):
        y = OF_SIZES[name](x, np.count_nonzero(x > 0))
        return y, y.shape

    g = cr.compile(f, fallback="error", check=False)
    for k in (1, 2, 3, 2, 1):
        x = np.where(np.arange(4) < k, 1.0, -1.0) * np.arange(1, 5)
        for found, expected in zip(g(x), f(x)):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "f", [lambda x: x.tobytes()[7] * x, lambda x: x.view("i8")[0] * x, lambda x: x.dumps()[-2] * x]
)
def test_the_bytes_of_an_array_are_seen(f):
    g = cr.compile(f, fallback="error", check=False)
    for x in (X, 2 * X, X):
        np.testing.assert_array_equal(g(x), f(x))
