"""Entries that a reduction leaves out give its result no tangent, and no cotangent comes back.

Not even an infinite one, or NaN, in any mode or order.
"""

import numpy as np
import pytest

import chainrules as cr

WHERE = np.array([True, True, False, True])
X = np.array([1.0, 2.0, 0.0, 3.5])
TWO = lambda x: np.stack([x, 2.0 * x])  # noqa: E731
MASKED = {
    "sum": lambda x: np.sum(x**2, where=WHERE),
    "mean": lambda x: np.mean(x**2, where=WHERE),
    "prod": lambda x: np.prod(x, where=WHERE),
    "var": lambda x: np.var(x, where=WHERE),
    "std": lambda x: np.std(x, where=WHERE, ddof=1),
    "var of rows": lambda x: np.sum(np.var(TWO(x), axis=1, where=WHERE, keepdims=True)),
    "std of rows": lambda x: np.sum(np.std(TWO(x), axis=1, where=WHERE)),
    "max": lambda x: np.max(x**2, where=WHERE, initial=0.0),
    "min": lambda x: np.min(x**2, where=WHERE, initial=99.0),
    "logaddexp": lambda x: np.logaddexp.reduce(x, where=WHERE, initial=0.0),
    "hypot": lambda x: np.hypot.reduce(x, where=WHERE, initial=0.0),
    "hypot of rows": lambda x: np.sum(np.hypot.reduce(TWO(x), axis=1, where=WHERE, initial=0.0)),
    "multiply": lambda x: np.multiply.reduce(x, where=WHERE),
    "mean that is given": lambda x: np.var(x, where=WHERE, mean=np.mean(x[:2])),
}
OF_NUMBERS = {
    "nansum": lambda x: np.nansum(x**2),
    "nanprod": np.nanprod,
    "nanmean": lambda x: np.nanmean(x**2),
    "nanvar": np.nanvar,
    "nanstd": lambda x: np.nanstd(x, ddof=1),
    "nanvar of rows": lambda x: np.sum(np.nanvar(TWO(x), axis=1)),
    "nanstd of rows": lambda x: np.sum(np.nanstd(TWO(x), axis=1, keepdims=True)),
    "nanstd where": lambda x: np.nanstd(x, where=WHERE),
    "nanmax": lambda x: np.nanmax(x) ** 2,
    "nanmin": lambda x: np.nanmin(x) ** 2,
    "nanmedian": lambda x: np.nanmedian(x) ** 2,
    "nanquantile": lambda x: np.nanquantile(x, 0.3) ** 2,
    "nanpercentile": lambda x: np.sum(np.nanpercentile(x, [30, 60]) ** 2),
    "nancumsum": lambda x: np.nancumsum(x)[-1] ** 2,
    "nancumprod": lambda x: np.nancumprod(x)[-1] ** 2,
    "fmax": lambda x: np.fmax.reduce(x) ** 2,
}
ALONG = {
    "jvp": lambda f, x, t: cr.jvp(f, (x,), (t,))[1],
    "linearize": lambda f, x, t: cr.linearize(f, x)[1](t),
    "forward over forward": lambda f, x, t: cr.jvp(lambda x: cr.jvp(f, (x,), (t,))[1], (x,), (t,))[
        1
    ],
    "forward over reverse": lambda f, x, t: cr.jvp(cr.grad(f), (x,), (t,))[1][0],
    "reverse over forward": lambda f, x, t: cr.grad(lambda x: cr.jvp(f, (x,), (t,))[1])(x)[0],
}
CASES = [
    pytest.param(f, x, id=name)
    for table, x in ((MASKED, X), (OF_NUMBERS, np.where(WHERE, X, np.nan)))
    for name, f in table.items()
]


@pytest.mark.parametrize("mode", ALONG)
@pytest.mark.parametrize(("f", "x"), CASES)
def test_tangents_of_what_is_left_out(f, x, mode):
    with np.errstate(all="ignore"):
        expected = ALONG[mode](f, x, np.array([1.0, -0.5, 0.0, 0.3]))
        for left_out in (np.nan, np.inf, 1e3):
            found = ALONG[mode](f, x, np.array([1.0, -0.5, left_out, 0.3]))
            np.testing.assert_allclose(expected, found)


@pytest.mark.parametrize(("f", "x"), CASES)
def test_infinite_derivatives_of_what_is_left_out(f, x):
    """The square root of 0 has an infinite derivative, which nothing selected."""

    def rooted(x):
        y = np.sqrt(x)
        return f(y if f in MASKED.values() else np.where(WHERE, y, np.nan))

    with np.errstate(all="ignore"):
        gradient, hessian = cr.grad(rooted)(X), cr.hessian(rooted)(X)
        beside = X + np.array([0.0, 0.0, 1.0, 0.0])
        np.testing.assert_allclose(cr.grad(rooted)(beside), gradient)
        np.testing.assert_allclose(cr.hessian(rooted)(beside), hessian)
