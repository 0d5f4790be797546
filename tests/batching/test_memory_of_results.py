"""Memory order of results under vmap: what is written to a reshaped one, the item alone says."""

import numpy as np
import pytest

import chainrules as cr

CALLS = {
    "select": lambda x: np.select([x > 0.9], [x * x], x),
    "choose": lambda x: np.choose((x > 0.9).astype(int), [x, x * x]),
    "where": lambda x: np.where(x > 0.9, x, 2.0),
    "round": lambda x: np.round(x, 1),
    "product with a number": lambda x: np.dot(x, 2.0),
    "inner product": lambda x: np.inner(x, x[:2]),
    "product": lambda x: x @ x[0].T,
    "sum": lambda x: np.sum(x, axis=0),
    "sort": lambda x: np.sort(x, axis=0),
    "accumulated": lambda x: np.cumsum(x, axis=1),
    "transposed": lambda x: np.transpose(x, (1, 0, 2)) * 2.0,
    "rolled": lambda x: np.roll(x, 1, axis=0),
    "joined": lambda x: np.concatenate([x, x], axis=1),
    "copied": lambda x: np.copy(x),
    "exponential": lambda x: np.exp(x) * x,
}
AXES = [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1), (2, 0, 1)]
RNG = np.random.default_rng(4)


def written(f, x):
    """Write to what is a view of the result, or a copy, as its memory order says."""
    y = f(x)
    first, last = y.reshape(-1), y.T.reshape(-1)
    first[0], last[-1] = 7.0, 8.0
    return np.sum(y * np.arange(y.size).reshape(y.shape)) + np.ravel(y)[0]


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_views_of_a_result_are_those_of_an_item(name, axes):
    lies = (4, *[(2, 3, 5)[axis] for axis in axes])
    back = (0, *[1 + axes.index(k) for k in range(3)])
    xs = np.transpose(RNG.uniform(0.3, 1.4, lies), back)
    expected = [written(CALLS[name], x.copy(order="K")) for x in xs]
    np.testing.assert_allclose(cr.vmap(lambda x: written(CALLS[name], x))(xs), expected)
    slopes = [cr.grad(lambda x: written(CALLS[name], x))(x) for x in xs]
    batched = cr.vmap(cr.grad(lambda x: written(CALLS[name], x)))(xs)
    np.testing.assert_allclose(batched, slopes, atol=1e-14)
