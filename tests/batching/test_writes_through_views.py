"""Writes through views of an item, in every transform under a batch, compiled, and both.

A tangent or a cotangent has to lie in memory as its value does, else what is written gets lost.
"""

import numpy as np
import pytest

import chainrules as cr

XS = np.arange(1.0, 13.0).reshape(2, 3, 2) / 6
VIEWS = {
    "ravel": np.ravel,
    "reshape": lambda x: x.reshape(2, 3),
    "order F": lambda x: x.T.reshape(-1, order="F"),
    "T": lambda x: x.T,
    "part": lambda x: x[1:],
    "reversed": lambda x: x[::-1],
    "column": lambda x: x[:, 0],
    "row": lambda x: x[1],
    "None": lambda x: x[None, :, 0],
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "rot90": np.rot90,
    "split": lambda x: np.split(x, 3)[2],
    "squeeze": lambda x: np.squeeze(x[:, 1:]),
    "of a row": lambda x: np.ravel(x[:2]),
    "unstack": lambda x: np.unstack(x, axis=1)[1],
}
WRITES = {
    "product": lambda u: u.__setitem__(0, u[-1] * u[0]),
    "twice": lambda u: u.__imul__(2.0),
    "own entry": lambda u: u.__setitem__(slice(1), u[-1:]),
    "sum": lambda u: u.__setitem__(-1, np.sum(u) * u[0]),
    "mask": lambda u: u.__setitem__(u > 1.0, 0.5),
}
TRANSFORMS = {
    "value": lambda f: f,
    "jacfwd": cr.jacfwd,
    "jacrev": cr.jacrev,
    "grad": lambda f: cr.grad(lambda x: np.sum(f(x) ** 2)),
    "hvp": lambda f: lambda x: cr.hvp(lambda x: np.sum(f(x) ** 2), (x,), (np.sin(x),)),
    "linearize": lambda f: lambda x: cr.linearize(f, x)[1](np.sin(x)),
}


@pytest.mark.filterwarnings("ignore::chainrules.BatchWarning")  # masks, of each item its own
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", VIEWS)
def test_as_one_by_one(view, write, transform):
    def f(x):
        WRITES[write](VIEWS[view](x))
        return x

    g = TRANSFORMS[transform](f)
    expected = np.stack([g(x.copy()) for x in XS])
    np.testing.assert_allclose(cr.vmap(g)(XS.copy()), expected, rtol=1e-12)
