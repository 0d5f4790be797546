"""Black boxes beside the same functions looked into: right, or an error, at random points."""

import numpy as np
from fuzz_settings import always_the_same
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr

# Analytic in y, and in the number x that is captured by none of them.
PARTS = [
    lambda y, x: np.sin(y) * x,
    lambda y, x: y * y + x,
    lambda y, x: np.exp(-y * x),
    lambda y, x: np.cumsum(y) - x**2,
    lambda y, x: y[::-1] * y,
    lambda y, x: 1 / (2 + y**2),
    lambda y, x: np.sqrt(y * y + x * x),
    lambda y, x: np.outer(y, y).sum(0) * 1e3,
    lambda y, x: y * 1e-3,
    lambda y, x: np.log(y),  # ends at zero
    lambda y, x: y * 0.0 + x * 0.0,
    lambda y, x: np.sum(y) + y * x,
]
# Not analytic, or not even continuous.
KINKS = [
    lambda y, x: np.where(np.real(y) > 0.5, y, x),
    lambda y, x: np.abs(y) * x,
    lambda y, x: np.maximum(np.real(y), 0.3),
    lambda y, x: np.round(np.real(y), 1),
]
points = st.sampled_from([0.0, 0.3, -0.7, 1.0, 2.5, -40.0, 1e3, 1e-4])


@st.composite
def functions(draw):
    chosen = draw(st.lists(st.sampled_from(range(len(PARTS))), min_size=1, max_size=3))
    kink = draw(st.sampled_from([None, None, None, *range(len(KINKS))]))

    def f(a, x):
        y = a
        for part in chosen:
            y = PARTS[part](y, x)
        return y if kink is None else KINKS[kink](y, x)

    return f


@always_the_same(60)
@given(
    functions(),
    st.lists(points, min_size=1, max_size=3),
    points,
    st.sampled_from(["finite-difference", "complex-step"]),
)
def test_black_boxes(f, a, x, method):
    a = np.array(a)
    with np.errstate(all="ignore"):
        y = f(a, x)
        if not np.all(np.isfinite(y)) or np.max(np.abs(y)) > 1e6:
            return
        expected = cr.jacfwd(f, argnums=(0, 1))(a, x)
        if not all(np.all(np.isfinite(part)) for part in expected):
            return
        box = cr.primitive(f, derivative=method)
        for jacobian in (cr.jacfwd, cr.jacrev):
            try:
                found = jacobian(box, argnums=(0, 1))(a, x)
            except cr.InaccurateDerivativeError:
                continue
            for one, other in zip(found, expected, strict=True):
                scale = np.max(np.abs(other), initial=0.0) + np.max(np.abs(y)) + 1e-9
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * scale)
