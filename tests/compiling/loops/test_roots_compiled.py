"""Root finders in a recording: SciPy's roots, at other parameters in each call."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loop_transforms import TRANSFORMS, USUAL

import chainrules as cr

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")
from cached import recordings
from scipy import optimize as scipys

import chainrules.scipy

ours = chainrules.scipy.optimize
P = np.array([1.0, 3.0, 0.5])
BRACKETED = ["bisect", "brentq", "brenth", "ridder"]
STARTED = ["secant", "secant from two", "newton", "halley"]


def cubic(x, p):
    return x * (x * x + p[0]) - p[1]


def falling(x, p):
    return p[1] * np.exp(-p[2] * x) - p[0] * x


def kepler(x, p):
    return x - 0.3 * p[2] * np.sin(x) - 0.5 * p[1]


def bent(x, p):
    return x * x - p[0] * p[1] if x < 4.5 else 15.75 + x - p[0] * p[1]


def horner(x, p):
    y = 0.0
    for c in (1.0, p[2], p[0], -2.0 * p[1]):
        y = y * x + c
    return y


def arrays(x, p):
    return np.sum(np.arctan(p * x)) + p @ np.array([0.1, -0.5, 0.2]) + x - 2.0


FAMILIES = [cubic, falling, kepler, bent, horner, arrays]


def root(module, method, f, p, ends=(0.0, 5.0), **options):
    """Return the root of ``f`` that a method of a module finds."""
    if method in BRACKETED:
        return getattr(module, method)(lambda x: f(x, p), *ends, **options)
    if method == "secant from two":
        options["x1"] = 1.7
    elif method != "secant":
        options["fprime"] = lambda x: cr.grad(f)(x, p)
        if method == "halley":
            options["fprime2"] = lambda x: cr.grad(cr.grad(f))(x, p)
    return module.newton(lambda x: f(x, p), 1.0, **options)


@pytest.mark.parametrize("f", FAMILIES)
@pytest.mark.parametrize("method", BRACKETED + STARTED)
def test_roots_are_scipys_and_one_recording_serves_them(method, f, rounds):
    compiled = cr.compile(lambda p: root(ours, method, f, p), fallback="error", check=False)
    for k in range(8):
        p = P * (1 + 0.07 * k)
        found, own = compiled(p), root(scipys, method, f, p)
        assert type(found) is type(own)
        np.testing.assert_allclose(found, own, rtol=1e-12, atol=2e-12)
    assert rounds
    assert recordings(compiled) == 1


def derived(d, method, f):
    """Return the transform ``d`` of a function of a root."""

    def loss(p):
        x = root(ours, method, f, p)
        return np.sin(x) * p[0] + x**2

    return d(loss)


@pytest.mark.parametrize(
    ("method", "transform", "f"),
    [
        pytest.param(method, transform, f, id=f"{method}-{transform}-{f.__name__}")
        for i, f in enumerate(FAMILIES)
        for j, transform in enumerate([*USUAL, "third"])
        for k, method in enumerate(["brentq", "bisect", "secant", "newton"])
        if (i + j + k) % 2 == 0  # each two of these meet
    ],
)
def test_derivatives_are_as_without_compile(method, transform, f, rounds):
    d = derived(TRANSFORMS[transform], method, f)
    compiled = cr.compile(d, fallback="error", check=False)
    for k in range(4):
        p = P * (1 + 0.07 * k)
        for found, expected in zip(np.atleast_1d(compiled(p)), np.atleast_1d(d(p))):
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert rounds
    assert recordings(compiled) == 1


@pytest.mark.parametrize("method", BRACKETED)
def test_args_and_ends_that_move(method, rounds):
    def f(p):
        x = getattr(ours, method)(cubic, -0.1 * p[2], p[0] + p[1], args=(p,))
        return x, getattr(ours, method)(lambda x, a, b: a * x - b, 4.0 * p[1], -1, (p[0], p[1]))

    compiled = cr.compile(cr.jacrev(lambda p: np.stack(f(p))), fallback="error", check=False)
    for k in range(6):
        p = P * (1 + 0.07 * k)
        np.testing.assert_allclose(compiled(p), cr.jacrev(lambda p: np.stack(f(p)))(p), rtol=1e-9)
    assert rounds
    assert recordings(compiled) == 1


@pytest.mark.parametrize("method", BRACKETED)
def test_ends_that_are_roots(method):
    def f(p):
        return getattr(ours, method)(lambda x: (x - p[0]) * (x + 4.0), 1.0, p[1])

    compiled = cr.compile(cr.value_and_grad(f), fallback="error", check=False)
    for p in ([1.0, 3.0], [1.0, 2.0], [2.0, 2.0], [3.0, 3.0], [1.5, 2.0]):
        value, slopes = compiled(np.array(p))
        assert abs(value - p[0]) < 4e-12
        np.testing.assert_allclose(slopes, [1.0, 0.0], atol=1e-9)
    assert recordings(compiled) == 3


@pytest.mark.parametrize("method", BRACKETED)
@pytest.mark.parametrize(
    ("f", "more"),
    [
        (lambda x, p: x * x + p[0], {}),
        (lambda x, p: np.log(x - 2.0 * p[0]), {}),
        (cubic, {"xtol": -1.0}),
        (cubic, {"rtol": 1e-20}),
        (cubic, {"maxiter": 3}),
        (cubic, {"maxiter": -3}),
        (cubic, {"maxiter": 2.5}),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_errors_of_brackets_are_scipys(method, f, more):
    def moved(p):
        # Of the first call it is a root, that others may fail at what is recorded.
        return root(ours, method, f if p[0] > 0.0 else cubic, p, **more)

    with pytest.raises(Exception) as own:  # noqa: PT011
        root(scipys, method, f, P, **more)
    with pytest.raises(type(own.value)) as found:
        cr.compile(cr.grad(moved), check=False)(P)
    assert str(found.value)[:30] == str(own.value)[:30]


def test_errors_of_a_replay_are_scipys():
    def f(p):
        return ours.brentq(lambda x: x**3 - p[0], 0.0, 2.0, maxiter=9)

    compiled = cr.compile(f, fallback="error", check=False)
    assert abs(compiled(np.array([1.0])) - 1.0) < 1e-11
    with pytest.raises(ValueError, match="different signs"):
        compiled(np.array([9.0]))
    with pytest.raises(RuntimeError, match="Failed to converge after 9"):
        compiled(np.array([1e-9]))


@pytest.mark.parametrize("method", STARTED)
@pytest.mark.parametrize(
    ("f", "more"),
    [
        (lambda x, p: x * x + p[0], {}),
        (lambda x, p: 0.0 * x + p[0], {}),
        (cubic, {"tol": 0.0}),
        (cubic, {"maxiter": 1}),
        (cubic, {"maxiter": 0}),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_errors_of_starts_are_scipys(method, f, more):
    with pytest.raises(Exception) as own:  # noqa: PT011
        root(scipys, method, f, P, **more)
    with pytest.raises(type(own.value)) as found:
        cr.compile(cr.grad(lambda p: root(ours, method, f, p, **more)), check=False)(P)
    assert str(found.value)[:30] == str(own.value)[:30]


@pytest.mark.parametrize("method", BRACKETED + STARTED)
@pytest.mark.parametrize("f", [cubic, falling])
def test_as_many_rounds_are_enough_as_of_scipy(method, f, rounds):
    enough = root(scipys, method, f, P, full_output=True)[1].iterations
    own = root(scipys, method, f, P, maxiter=enough)

    def of_at_most(maxiter):
        return cr.compile(lambda p: root(ours, method, f, p, maxiter=maxiter), check=False)

    for maxiter in (enough, enough + 1):
        assert abs(of_at_most(maxiter)(P) - own) < 4e-12
    assert rounds
    assert len(set(rounds)) == 1
    with pytest.raises(RuntimeError, match=f"Failed to converge after {enough - 1}"):
        of_at_most(enough - 1)(P)


@settings(max_examples=15)
@given(
    st.sampled_from(FAMILIES),
    st.sampled_from(BRACKETED + STARTED),
    st.sampled_from([2e-12, 1e-8, 1e-3]),
    st.sampled_from([1e-15, 1e-6]),
    st.lists(st.tuples(*[st.floats(0.05, 6.0)] * 3), min_size=2, max_size=3),
    st.sampled_from([(0.0, 5.0), (-2.5, 9.0), (7.0, -1.25)]),
)
def test_random_equations(f, method, tolerance, rtol, parameters, ends):
    more = {"xtol" if method in BRACKETED else "tol": tolerance, "rtol": rtol}

    def run(module, p):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return root(module, method, f, p, ends, **more)
            except (RuntimeError, ValueError) as error:
                return str(error)[:20]

    def ours_of(p):
        return root(ours, method, f, p, ends, **more)

    compiled = cr.compile(ours_of, check=False)
    for p in map(np.array, parameters):
        own = run(scipys, p)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(own, str):
                with pytest.raises((RuntimeError, ValueError), match=re.escape(own)):
                    compiled(p)
            else:
                # Rounding may decide a test of nearness otherwise.
                np.testing.assert_allclose(compiled(p), own, rtol=1e-11 + rtol, atol=2 * tolerance)
