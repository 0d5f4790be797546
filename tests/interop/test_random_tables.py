"""Random chains of steps of pandas: values are its own, and both modes agree with differences."""

import warnings

import numpy as np
import pytest

pd = pytest.importorskip("pandas", minversion="3.0")

from differences import jacobian_of
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr

pytestmark = pytest.mark.filterwarnings("ignore")
INDEX = pd.Index(list("pqrstu"))
A = pd.Series([1.1, 0.4, np.nan, 2.3, 1.7, 0.9], index=INDEX)
B = pd.Series([0.3, 1.2, 0.8, 0.5, 2.1, 1.4], index=INDEX[::-1])
KEYS = pd.Series(list("mnmnmo"), index=INDEX)
X = np.array([0.7, 1.3])

# Each takes a Series or what is left of one, and the parameters.
STEPS = {
    "times": lambda s, x: s * x[0],
    "after": lambda s, x: x[1] - s,
    "aligned": lambda s, x: s + B,
    "plain first": lambda s, x: B * s,
    "over": lambda s, x: s / (1.5 + B.to_numpy()[: len(s)] if len(s) <= 6 else 2.0),
    "power": lambda s, x: (s * s + 1.0) ** x[0],
    "exp": lambda s, x: np.exp(-s),
    "sin": lambda s, x: np.sin(s * x[1]),
    "abs": lambda s, x: abs(s - 0.55),
    "dropna": lambda s, x: s.dropna(),
    "fillna": lambda s, x: s.fillna(x[0]),
    "ffill": lambda s, x: s.ffill(),
    "shift": lambda s, x: s.shift(1),
    "diff": lambda s, x: s.diff(),
    "cumsum": lambda s, x: s.cumsum(),
    "sort": lambda s, x: s.sort_index(ascending=False),
    "by value": lambda s, x: s.sort_values(),
    "half": lambda s, x: s.iloc[: max(len(s) // 2, 1)],
    "large": lambda s, x: s[s > 0.3],
    "where": lambda s, x: s.where(s > 0.4, x[1]),
    "mask": lambda s, x: s.mask(s > 0.9),
    "clip": lambda s, x: s.clip(0.1, 1.05),
    "reindex": lambda s, x: s[~s.index.duplicated()].reindex(INDEX),
    "concat": lambda s, x: pd.concat([s, B]),
    "less its mean": lambda s, x: s - s.mean(),
    "standardized": lambda s, x: (s - s.mean()) / (1.0 + s.std()),
    "groups": lambda s, x: s[~s.index.duplicated()].groupby(KEYS).transform("sum"),
    "means": lambda s, x: s.groupby(level=0).mean(),
    "frame": lambda s, x: pd.DataFrame({"a": s, "b": s * x[0]}).sum(axis=1),
    "apply": lambda s, x: s.apply(lambda t: t * x[1]),
    "round trip": lambda s, x: s.to_frame("c").reset_index(drop=True)["c"],
    "written": lambda s, x: s.copy().pipe(lambda y: (y.__setitem__(y.index[0], x[0]), y)[1]),
}
ENDS = {
    "sum": lambda s: s.sum(),
    "mean": lambda s: s.mean(),
    "squares": lambda s: (s**2).sum(),
    "numpy": lambda s: np.sum(s.to_numpy()[~np.isnan(cr.value(s.to_numpy()))]),
    "max": lambda s: s.max(),
    "median": lambda s: s.median(),
    "dot": lambda s: s.fillna(0.0).dot(s.fillna(0.0)),
}


def program(names, end):
    def f(x):
        s = A * x[0] + x[1] * 0.1
        for name in names:
            s = STEPS[name](s, x)
        return ENDS[end](s)

    return f


@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=5), st.sampled_from(sorted(ENDS)))
def test_random_chains(names, end):
    f = program(names, end)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = f(X)
        except Exception as error:
            with pytest.raises(type(error)):
                cr.jvp(f, (X,), (X,))
            return
        y, gradient = cr.value_and_grad(f)(X)
        found, ydot = cr.jvp(f, (X,), (np.array([1.0, -0.4]),))
        np.testing.assert_allclose([y, found], [value, value], rtol=1e-12)
        if not np.isfinite(value):
            return
        np.testing.assert_allclose(ydot, gradient @ [1.0, -0.4], rtol=1e-9, atol=1e-9)
        expected, coarser = jacobian_of(f, X), jacobian_of(f, X, 4e-6)
        if np.allclose(expected, coarser, rtol=1e-4, atol=1e-5):  # and no kink beside it
            np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)
