"""Random programs with quantities of pint, astropy, unyt: the slopes of magnitudes, or an error."""

import numpy as np
import pytest
from differences import jacobian_of
from hypothesis import given, settings
from hypothesis import strategies as st
from programs_of_units import PACKAGES
from quietly import quietly

import chainrules as cr

P = np.array([0.31, 1.17])
WEIGHTS = np.array([1.0, -2.0, 3.0, 5.0])
LENGTH_UNITS = ("km", "m", "cm")
# Lines of a program: y and z are quantities or numbers, arrays of two or single ones.
OPERATIONS = [
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / {b}", "{a} ** 2", "-{a}", "abs({a})",
    "{a} * 0.5", "2.0 / {a}", "{a} * unit", "unit * {a}", "{a} / unit", "{a} % {b}", "{a} // {b}",
    "{a} + 0", "{a} * x", "x * {a}", "x / {a}", "{a} ** x[0]", "{a} * x[1]", "np.sqrt({a})",
    "np.cbrt({a})", "np.exp({a})", "np.log({a})", "np.sin({a})", "np.arctan2({a}, {b})",
    "np.hypot({a}, {b})", "np.maximum({a}, {b})", "np.minimum({a}, c)", "np.sum({a})",
    "np.mean({a})", "np.cumsum({a})", "np.prod({a})", "np.std({a})", "np.dot({a}, {b})",
    "np.multiply({a}, {b})", "np.add(c, {a})", "np.where({a} > {b}, {a}, {b})",
    "np.where({a} > c, {a}, 2 * {a})", "np.concatenate([{a}, {b}])[:2]", "np.stack([{a}, {b}])[1]",
    "np.clip({a}, c / 2, c)", "np.linalg.norm({a})", "np.square({a})", "np.power({a}, 3)",
    "np.reciprocal({a})", "{a}[0]", "{a}[::-1]", "{a}.sum()", "{a}.mean()", "{a}.max()",
    "{a}.copy()", "{a}.T", "{a}.reshape((2, 1))[:, 0]", "{a}.to(unit)", "{a}.to(small)",
    "np.diff({a})", "np.interp(c, {a}, {b})", "np.full_like({a}, 1.0)", "np.zeros_like({a})",
    "np.ones_like({a})", "np.round({a}, 1)", "np.median({a})", "np.var({a})",
    "np.outer({a}, {b})[0]", "np.trapezoid({a}, {b})", "np.nan_to_num({a})", "np.abs({a})",
    "np.sign({a}) * {b}", "np.heaviside({a}, 0.5)", "({a} if {a}.sum() > c else {b})",
    "{a} == {b}", "({a} > {b}) * {a}", "np.sort({a})", "np.argsort({a})", "np.ptp({a})",
    "np.float_power({a}, 2)", "np.matmul({a}, {b})", "{a} @ {b}", "np.roll({a}, 1)",
    "np.tile({a}, 2)[:2]", "np.repeat({a}, 2)[1:3]", "np.einsum('i,i->i', {a}, {b})", "c * {a}",
    "np.broadcast_to({a}, (2, 2))[0]", "np.linalg.solve(np.eye(2) * c, {a})", "np.add.reduce({a})",
    "np.subtract.outer({a}, {b})[0]",
]  # fmt: skip
WRITES = [
    "y = y * 1.0; y += {a}", "y = y * 1.0; y *= {a}", "y = y * 1.0; y -= c",
    "z = y * 1.0; y = z[:1]; z[0] = {a}[1]; y = y + z", "y = y * 1.0; y /= {a}",
    "y = y * 1.0; y[1] = c", "y = y * 1.0; y[::-1][0] = {a}[0]",
]  # fmt: skip
OPERANDS = ("y", "z", "c", "q")
LINES = st.builds(
    lambda line, a, b, to: ("" if line in WRITES else f"{to} = ") + line.format(a=a, b=b),
    st.sampled_from([*OPERATIONS, *WRITES]),
    st.sampled_from(OPERANDS), st.sampled_from(OPERANDS), st.sampled_from(["y", "y", "z"]),
)  # fmt: skip


def program(u, name, lines, unit, small, captured):
    """Return a program as a function of plain numbers, whose result is plain, and its quantity."""
    code = compile("\n".join(lines), "program", "exec")
    c = u(0.7, unit)

    def f(q, x):
        names = {"np": np, "y": q, "z": 2 * q, "q": q, "c": c, "x": x}
        names |= {"unit": u.unit(unit), "small": u.unit(small)}
        exec(code, names)
        y = names["y"]
        y = getattr(y, "magnitude" if name == "pint" else "value", y)
        return np.sum(y * WEIGHTS[: np.size(y)].reshape(np.shape(y))) if np.ndim(y) else y

    if captured:  # the quantity is a constant, and x is what is differentiated
        constant = u(P, unit)
        return lambda x: f(constant, x)
    return lambda x: f(u(x, unit), x)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, u in PACKAGES.items() if u is not None])
@settings(max_examples=300)
@given(
    st.lists(LINES, min_size=1, max_size=4),
    st.sampled_from(LENGTH_UNITS),
    st.sampled_from(LENGTH_UNITS),
    st.booleans(),
)
def test_the_derivative_is_that_of_the_magnitudes_or_an_error(name, lines, unit, small, captured):
    check(name, lines, unit, small, captured)


def check(name, lines, unit="km", small="m", captured=False):
    """Compare the derivatives of a program with differences; return whether there are any."""
    u = PACKAGES[name]
    f = program(u, name, lines, unit, small, captured)
    with quietly():
        try:
            value = f(P)
            coarse, expected = (jacobian_of(lambda x: float(f(x)), P, h) for h in (1e-4, 1e-5))
        except Exception:
            return False  # nothing that the package computes
        scale = np.max(np.abs(expected))
        if not (np.isfinite(scale) and np.allclose(coarse, expected, 1e-3, 1e-3 * scale)):
            return False
        if np.asarray(value).dtype.kind not in "fc":
            return False
        for transform in (forward, reverse):
            try:
                y, found = transform(f, P)
            except Exception as error:
                if not _is_refusal(error):
                    raise
                continue
            np.testing.assert_allclose(y, value, 1e-9, 1e-9 * scale)
            if np.any(np.isnan(found)):  # an infinite slope of a root, times zero
                continue
            np.testing.assert_allclose(found, expected, 1e-4, 1e-4 * scale + 1e-9)
    return True


def forward(f, x):
    return f(x), cr.jacfwd(f)(x)


def reverse(f, x):
    return cr.value_and_grad(f)(x)


def _is_refusal(error):
    """Say whether an error is one of ours, or of the package's about units."""
    return (
        isinstance(error, cr.errors.ChainRulesError) or "nit" in f"{type(error).__name__} {error}"
    )
