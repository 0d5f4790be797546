"""Random programs of a traced array beside one of a class of its own: NumPy's answer, or an error.

The classes mean other things by their operators, by ufuncs, or by both; rules know of none.
"""

import numpy as np
import pytest
from differences import jacobian_of
from hypothesis import given, settings
from hypothesis import strategies as st
from quietly import quietly

import chainrules as cr

X = np.array([[0.31, 0.53], [0.74, 1.17]])
NUMBERS = np.array([[1.0, 2.0], [3.0, 4.0]])
WEIGHTS = np.array([[1.0, -2.0], [3.0, 5.0]])


class OwnOperators(np.ndarray):
    """Whose ``*`` is the product of matrices, and whose ``+`` is no sum."""

    def __mul__(self, other):
        return np.asarray(self) @ np.asarray(other)

    def __rmul__(self, other):
        return np.asarray(other) @ np.asarray(self)

    def __add__(self, other):
        return 3 * np.asarray(self) + np.asarray(other)

    def __radd__(self, other):
        return 3 * np.asarray(self) + 5 * np.asarray(other)


class OwnUfuncs(np.ndarray):
    """Whose ufuncs give twice as much."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return 2 * getattr(ufunc, method)(*map(np.asarray, inputs), **kwargs)


class OwnResults(np.ndarray):
    """Whose results are negated, and plain."""

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return -np.asarray(array)


class Named(np.ndarray):
    """With an attribute, and no more."""

    def __array_finalize__(self, other):
        self.name = getattr(other, "name", "m")


ARRAYS = {
    "a matrix": NUMBERS.view(np.matrix),
    "masked": np.ma.array(NUMBERS, mask=[[False, True], [False, False]]),
    "all masked": np.ma.array(NUMBERS, mask=True),
    "nothing masked": np.ma.array(NUMBERS),
    "with a zero": np.ma.array(NUMBERS - 1.0),
    "own operators": NUMBERS.view(OwnOperators),
    "own ufuncs": NUMBERS.view(OwnUfuncs),
    "own results": NUMBERS.view(OwnResults),
    "named": NUMBERS.view(Named),
    "a memory map": NUMBERS.view(np.memmap),
}
OPERATIONS = (
    """
{y} * m|m * {y}|{y} + m|m + {y}|{y} - m|m - {y}|{y} / m|m / {y}|{y} @ m|m @ {y}|{y} ** 2|-{y}
np.multiply({y}, m)|np.multiply(m, {y})|np.add({y}, m)|np.subtract(m, {y})|np.dot(bare({y}), m)
np.dot(m, bare({y}))|np.matmul(bare({y}), m)|np.concatenate([bare({y}), m])[:2]|{y}.T|{y} * {y}
np.stack([bare({y}), m])[0]|np.where(X > 0.4, bare({y}), m)|np.where(X > 0.4, m, bare({y}))
np.sin({y})|{y} * 0.5|{y} + X|{y}[:, ::-1]|np.einsum("ij,jk->ik", bare({y}), m)|bare({y})
np.sum({y}, axis=0)|np.mean({y}, axis=1)|np.ma.filled({y}, 2.0)|np.maximum({y}, m)
np.add(bare({y}), m, out=np.array(bare({y})))
""".strip()
    .replace("\n", "|")
    .split("|")
)
IN_PLACE = ["y = y * 1.0; y += m", "y = y * 1.0; y *= m", "y = y * 1.0; y[0] = m[1]"]
LINES = [f"y = {operation.format(y='y')}" for operation in OPERATIONS] + IN_PLACE


def bare(y):
    """Return the array without what lies under its mask, which is nobody's number."""
    return np.ma.filled(y, 0.25) if isinstance(y, np.ma.MaskedArray) else y


def program(lines, m):
    code = compile("\n".join(lines), "program", "exec")

    def f(x):
        names = {"np": np, "X": X, "m": m, "y": x, "bare": bare}
        exec(code, names)
        y = np.asarray(bare(names["y"]))
        total = np.sum(y * WEIGHTS[: np.shape(y)[0] if np.ndim(y) == 2 else 1])
        return total + np.sum(x**2)

    return f


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=300)
@given(st.sampled_from(sorted(ARRAYS)), st.lists(st.sampled_from(LINES), min_size=1, max_size=3))
def test_the_derivative_is_of_what_numpy_computes_or_refused(name, lines):
    f = program(lines, ARRAYS[name])
    with quietly():
        try:
            y, expected = float(f(X)), jacobian_of(lambda x: float(f(x)), X)
        except Exception:
            return  # nothing that NumPy computes
        if not np.all(np.isfinite(expected)):
            return
        beside = [jacobian_of(lambda x: float(f(x)), X + h) for h in (1e-4, -1e-4)]
        if not np.allclose(*beside, rtol=1e-2, atol=1e-2):
            return  # two numbers are equal there, of which one is chosen
        for transform in (cr.value_and_grad, forward):
            try:
                value, slope = transform(f)(X)
            except (cr.ChainRulesError, TypeError, AttributeError, ZeroDivisionError):
                continue
            assert np.isclose(float(value), y)
            assert type(slope) is np.ndarray
            assert np.allclose(slope, expected, rtol=1e-5, atol=1e-6)


def forward(f):
    return lambda x: (cr.jvp(f, (x,), (x,))[0], cr.jacfwd(f)(x))


@pytest.mark.parametrize("f", [np.dot, np.inner])
def test_products_of_a_number_are_numpys_or_refused(f):
    m = ARRAYS["own results"]
    for g in (lambda x: np.sum(np.asarray(f(x, m))), lambda x: np.sum(np.asarray(f(m, x)))):
        for transform in (cr.value_and_grad, lambda g: lambda x: cr.jvp(g, (x,), (x,))):
            with pytest.raises(cr.LostDerivativeError, match="OwnResults"):
                transform(g)(np.float64(1.5))  # by objects NumPy negates it


def test_bounds_of_what_does_not_compare_are_refused():
    class Incomparable:
        dtype, shape, ndim = np.dtype(float), (), 0

        def __init__(self, v):
            self.v = v

        def __mul__(self, other):
            return Incomparable(self.v * other)

        __rmul__ = __mul__

        def __array_ufunc__(self, ufunc, method, *xs, **options):
            given = [x.v if isinstance(x, Incomparable) else x for x in xs]
            return Incomparable(getattr(ufunc, method)(*given, **options))

        def __array_function__(self, f, types, args, options):
            given = [x.v if isinstance(x, Incomparable) else x for x in args]
            return Incomparable(f(*given, **options))

    def f(q):
        return np.clip(1.3 * q, 0, 9)

    assert f(Incomparable(1.7)).v == 1.3 * 1.7
    with pytest.raises(cr.LostDerivativeError, match="does not compare"):
        cr.jvp(f, (Incomparable(1.7),), (1.0,))
