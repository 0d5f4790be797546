"""Memory of a batched array that other objects show: writes are seen in both, or items go alone.

Where all items are the same, what Python sees of their arrays does not split the batch.
"""

import itertools
import warnings

import numpy as np
import pytest

import chainrules as cr

X = np.array([[1.453, 0.463, 1.293], [1.473, 0.953, 1.083]])
WRITES = {
    "none": lambda x: None,
    "a row": lambda x: x.__setitem__(0, -0.08),
    "a column": lambda x: x[:, 0].__setitem__(slice(None), -0.08),
    "a column, by the transpose": lambda x: x.T.__setitem__(0, -0.08),
}
PARTS = {
    "row": lambda x: x[0],
    "column": lambda x: x[..., 0],
    "row of the transpose": lambda x: x.T[0],
    "columns": lambda x: x[:, 1:],
}
SHOWN = {
    "view": lambda a: a.view(),
    "view of a class": lambda a: a.view(np.ndarray),
    "bits": lambda a: a.view(np.int64).view(float),
    "data": lambda a: np.asarray(a.data),
    "asarray": np.asarray,
    "array protocol": lambda a: np.array(a, copy=None),
    "all": lambda a: a[...],
    "transpose": lambda a: a.T,
    "reshape": lambda a: a.reshape(1, -1),
}


def agree(f, xs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.BatchWarning)
        found = cr.vmap(f)(xs.copy())
    np.testing.assert_allclose(found, np.stack([f(x.copy()) for x in xs]), rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1.01], ids=["the same", "others"])
@pytest.mark.parametrize("shown", SHOWN)
def test_a_write_after_the_array_was_shown(shown, scale):
    for write, part in itertools.product(WRITES.values(), PARTS.values()):

        def f(x, write=write, part=part):
            write(x)
            y = SHOWN[shown](part(x))
            x -= 0.1
            return np.sum(y) + np.sum(x)

        agree(f, np.stack([X, X * scale]))


@pytest.mark.parametrize("dtype", [int, bool])
@pytest.mark.parametrize("shown", ["asarray", "asanyarray", "require", "atleast_1d"])
@pytest.mark.parametrize("written", ["it", "what shows it"])
def test_of_integers_and_flags(dtype, shown, written):
    def f(x):
        y = np.floor(x * 10).astype(dtype)
        z = getattr(np, shown)(y)
        (y if written == "it" else z)[0] = 0
        return np.sum(y * x) + np.sum(2.0 * z * x)

    for xs in (np.stack([X[0], X[0]]), X, np.stack([X[0], X[1], X[0]])):
        agree(f, xs)
        gradients = np.stack([cr.grad(f)(x) for x in xs])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cr.BatchWarning)
            np.testing.assert_allclose(cr.vmap(cr.grad(f))(xs), gradients)
