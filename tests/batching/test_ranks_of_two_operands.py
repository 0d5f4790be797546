"""Functions of two arrays of any ranks, in batches of one of them or of both, beside a loop."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quietly import quietly

import chainrules as cr

ITEMS = 3


def filled(a, b):
    y = np.copy(a)
    y[0] = b
    return y


def put(a, b):
    y = np.copy(a)
    np.put_along_axis(y, np.argsort(a, axis=0), b, 0)
    return y


FUNCTIONS: dict[str, Any] = {
    f.__name__: f
    for f in (
        np.dot, np.inner, np.outer, np.vdot, np.matmul, np.kron, np.cross, np.convolve,
        np.correlate, np.vecdot, np.append, np.searchsorted, np.polyval, np.hypot, np.minimum,
        np.trapezoid, np.cov, np.corrcoef, np.linalg.solve, np.linalg.tensorsolve,
    )
}  # fmt: skip
FUNCTIONS |= {
    "method dot": lambda a, b: a.dot(b),
    "operator @": lambda a, b: a @ b,
    "linalg.outer": np.linalg.outer,
    "linalg.cross": np.linalg.cross,
    "linalg.vecdot": np.linalg.vecdot,
    "linalg.multi_dot": lambda a, b: np.linalg.multi_dot([a, b]),
    "linalg.lstsq": lambda a, b: np.linalg.lstsq(a, b)[0],
    "tensordot, one axis": lambda a, b: np.tensordot(a, b, 1),
    "tensordot, no axis": lambda a, b: np.tensordot(a, b, 0),
    "tensordot, two axes": lambda a, b: np.tensordot(a, b, 2),
    "tensordot, named axes": lambda a, b: np.tensordot(a, b, ((0,), (-1,))),
    "concatenate": lambda a, b: np.concatenate([a, b]),
    "concatenate, last axis": lambda a, b: np.concatenate([a, b], axis=-1),
    "stack, last axis": lambda a, b: np.stack([a, b], axis=-1),
    "hstack": lambda a, b: np.hstack([a, b]),
    "vstack": lambda a, b: np.vstack([a, b]),
    "dstack": lambda a, b: np.dstack([a, b]),
    "column_stack": lambda a, b: np.column_stack([a, b]),
    "block": lambda a, b: np.block([a, b]),
    "where": lambda a, b: np.where(a > 0, a, b),
    "insert": lambda a, b: np.insert(a, 0, b),
    "insert along an axis": lambda a, b: np.insert(a, 0, b, axis=0),
    "average": lambda a, b: np.average(a, weights=np.abs(b) + 0.1),
    "average along an axis": lambda a, b: np.average(a, axis=0, weights=np.abs(b) + 0.1),
    "einsum, last axis": lambda a, b: np.einsum("...i,...i", a, b),
    "einsum, first axis": lambda a, b: np.einsum("i...,i...->i...", a, b),
    "einsum, products": lambda a, b: np.einsum("ij...,jk...->ik...", a, b),
    "clip": lambda a, b: np.clip(a, b, None),
    "diff": lambda a, b: np.diff(a, append=b),
    "ediff1d": lambda a, b: np.ediff1d(a, to_end=b),
    "broadcast": lambda a, b: a[..., None] * b,
    "percentile": lambda a, b: np.percentile(a, np.clip(np.abs(b) * 20, 0, 100)),
    "select": lambda a, b: np.select([a > 0], [b], a),
    "polyfit": lambda a, b: np.polyfit(a, b, 1),
    "vander": lambda a, b: np.vander(a) @ b,
    "an assignment": filled,
    "put_along_axis": put,
}
SHAPES = [
    (), (1,), (2,), (3,), (0,), (2, 3), (3, 2), (2, 2), (3, 3), (1, 3), (0, 2), (2, 2, 3),
    (2, 3, 2), (3, 2, 2), (2, 2, 2),
]  # fmt: skip


def looped(f, a, b, axes):
    """Return what a loop over the items gives; None where an item has no such value."""
    parts = [[x if axis is None else x[k] for x, axis in zip((a, b), axes, strict=True)]
             for k in range(ITEMS)]  # fmt: skip
    try:
        ys = [f(*part) for part in parts]
        return np.stack(ys) if all(np.asarray(y).dtype.kind in "fc" for y in ys) else None
    except Exception:
        return None


@pytest.mark.parametrize("name", FUNCTIONS)
@given(
    shape_a=st.sampled_from(SHAPES),
    shape_b=st.sampled_from(SHAPES),
    axes=st.sampled_from([(0, 0), (0, None), (None, 0)]),
    seed=st.integers(0, 9),
    is_complex=st.booleans(),
)
def test_a_batch_is_a_loop(name, shape_a, shape_b, axes, seed, is_complex):
    rng, f = np.random.default_rng(seed), FUNCTIONS[name]
    given = []
    for shape, axis in zip((shape_a, shape_b), axes, strict=True):
        shape = shape if axis is None else (ITEMS, *shape)
        x = rng.normal(size=shape)
        given.append(x + 1j * rng.normal(size=shape) if is_complex else x)
    with quietly():
        expected = looped(f, *given, axes)
        if expected is None:
            return
        found = cr.vmap(f, in_axes=axes)(*given)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
