"""Quadratures in a recording: SciPy's integrals, at other parameters in each call."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")
from cached import recordings
from scipy import integrate as scipys

import chainrules.scipy

ours, special = chainrules.scipy.integrate, chainrules.scipy.special
P = np.array([1.0, 3.0, 0.5])


def wave(t, p):
    return np.exp(-p[0] * t * t) * np.cos(p[1] * t) / (p[2] + abs(t))


def bell(t, p):
    return p[1] * np.exp(-((t - p[2]) ** 2) * p[0])


def root(t, p):
    return p[1] * np.sqrt(abs(t) + p[0])


def singular(t, p):
    return p[1] * abs(t - p[2]) ** (-0.3 * p[0] / (1 + p[0]))


def bent(t, p):
    return p[0] * t if t < p[2] else p[1] * np.exp(-t)


def arrays(t, p):
    return np.sum(np.exp(-p * t * t)) + p @ np.array([0.1, -0.5, 0.2]) * np.exp(-abs(t))


def bessel(t, p):
    return special.j0(p[0] * t) * np.exp(-p[1] * t * t) * p[2]


def constant(t, p):
    return 2


FAMILIES = [wave, bell, root, singular, bent, arrays, bessel, constant]
ENDLESS = [wave, bell, arrays]
LINE = [(0.0, np.inf), (-np.inf, 1.0), (-np.inf, np.inf), (np.inf, 0.0)]


def integral(module, f, p, ends=(0.0, 5.0), **options):
    return module.quad(lambda t: f(t, p), *ends, **options)


@pytest.mark.parametrize(
    ("f", "ends"),
    [(f, (0.0, 5.0)) for f in FAMILIES]
    + [(f, (2.0, -1)) for f in (wave, bent, arrays)]
    + [(bell, ends) for ends in LINE],
)
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
def test_integrals_and_errors_are_scipys_and_one_recording_serves_them(f, ends):
    compiled = cr.compile(lambda p: integral(ours, f, p, ends), fallback="error", check=False)
    for k in range(8):
        p = P * (1 + 0.07 * k)
        (found, error), (own, own_error) = compiled(p), integral(scipys, f, p, ends)
        np.testing.assert_allclose(found, own, rtol=1e-13)
        np.testing.assert_allclose(error, own_error, rtol=0.1, atol=1e-12)
    assert recordings(compiled) == 1


def derived(d, f, ends=lambda p: (0.0, 5.0)):
    """Return the transform ``d`` of a function of an integral."""

    def loss(p):
        y = integral(ours, f, p, ends(p))[0]
        return np.sin(y) * p[0] + y**2

    return d(loss)


TRANSFORMS = {
    "grad": cr.grad,
    "jvp": lambda f: lambda p: cr.jvp(f, (p,), (np.cos(p),)),
    "hvp": lambda f: lambda p: cr.hvp(f, (p,), (np.cos(p),)),
    "hessian": cr.hessian,
    "jacfwd": cr.jacfwd,
    "jacrev": lambda f: cr.jacrev(lambda p: np.stack([f(p), p[0]])),
}
ENDS = {
    "fixed": lambda p: (0.0, 5.0),
    "moving": lambda p: (p[2], p[0] + p[1]),
    "half a line": lambda p: (p[2], np.inf),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(
    ("ends", "f"),
    [
        ("fixed", wave),
        ("fixed", bessel),
        ("moving", root),
        ("moving", arrays),
        ("half a line", bell),
    ],
)
def test_derivatives_are_as_without_compile(transform, ends, f):
    d = derived(TRANSFORMS[transform], f, ENDS[ends])
    compiled = cr.compile(d, fallback="error", check=False)
    for k in range(2):
        p = P * (1 + 0.07 * k)
        for found, expected in zip(np.atleast_1d(compiled(p)), np.atleast_1d(d(p))):
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)
    assert recordings(compiled) == 1


def test_third_derivatives():
    def f(a):
        return ours.quad(lambda t: np.exp(-a * t), 0.0, 1.0)[0]

    third = cr.compile(cr.grad(cr.grad(cr.grad(f))), fallback="error", check=False)
    for a in (1.0, 1.3, 2.0):
        own = scipys.quad(lambda t, a=a: -(t**3) * np.exp(-a * t), 0.0, 1.0)[0]
        np.testing.assert_allclose(third(a), own, rtol=1e-9)
    assert recordings(third) == 1


@pytest.mark.parametrize("f", [singular, bent])
def test_derivatives_of_hard_integrands_hold_to_the_tolerances(f):
    """On the nodes of the value they would not: they are integrated by themselves."""

    def g(p):
        return ours.quad(f, 0.0, 2.0, args=(p,), epsabs=1e-9, epsrel=1e-9, limit=100)[0]

    compiled = cr.compile(cr.grad(g), fallback="error", check=False)
    for k in range(2):
        p = P * (1 + 0.07 * k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_allclose(compiled(p), cr.grad(g)(p), rtol=1e-6, atol=1e-6)
    assert recordings(compiled) == 1


def test_points_and_args_that_move():
    def g(p):
        y = ours.quad(bent, 0.0, p[1], args=(p,), points=[0.5])[0]
        return y + ours.quad(lambda t, a, b: a * t + b, 0, 1, (p[0], p[2]), epsabs=1e-9)[0]

    compiled = cr.compile(cr.value_and_grad(g), fallback="error", check=False)
    for k in range(4):
        p = P * np.array([1 + 0.07 * k, 1 + 0.05 * k, 1.0])
        (found, slopes), (own, expected) = compiled(p), cr.value_and_grad(g)(p)
        np.testing.assert_allclose(found, own, rtol=1e-12)
        np.testing.assert_allclose(slopes, expected, rtol=1e-7)
    assert recordings(compiled) == 1


def test_what_an_integrand_captures_may_change():
    rate = {"of": 1.0}

    def g(a):
        return ours.quad(lambda t: rate["of"] * np.exp(-a * t), 0.0, 1.0)[0]

    compiled = cr.compile(cr.grad(g), fallback="error", check=False)
    for k in range(4):
        rate["of"] = 1.0 + k
        for a in (1.0, 1.0, 1.0 + 0.1 * k):
            np.testing.assert_allclose(compiled(a), cr.grad(g)(a), rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_an_integrand_that_counts_its_calls_is_called():
    def g(a):
        calls = []

        def f(t):
            calls.append(t)
            return np.exp(-a * t)

        return ours.quad(f, 0.0, 1.0)[0] * len(calls)

    compiled = cr.compile(g, check=False)
    for k in range(4):
        a = 1.0 + 0.1 * k
        np.testing.assert_allclose(compiled(a), g(a), rtol=1e-13)


def test_errors_of_an_integrand_are_its_own():
    def g(a):
        def f(t):
            if a > 2.0 and t > 0.5:
                raise ValueError("too far")
            return a * t

        return ours.quad(f, 0.0, 1.0)[0]

    compiled = cr.compile(cr.grad(g), fallback="error", check=False)
    np.testing.assert_allclose(compiled(1.0), 0.5)
    np.testing.assert_allclose(compiled(1.5), 0.5)
    with pytest.raises(ValueError, match="too far"):
        compiled(3.0)
    np.testing.assert_allclose(compiled(1.7), 0.5)


def test_warnings_are_scipys():
    def g(a):
        return ours.quad(lambda t: a * np.sin(1 / t), 1e-3, 1.0, limit=5)[0]

    compiled = cr.compile(g, fallback="error", check=False)
    for a in (1.0, 1.1, 1.2):
        with pytest.warns(scipys.IntegrationWarning, match="maximum number of subdivisions"):
            compiled(a)


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.sampled_from(FAMILIES),
    st.lists(st.tuples(*[st.floats(0.05, 6.0)] * 3), min_size=2, max_size=3),
    st.tuples(*[st.sampled_from([-np.inf, -1.0, 0.0, 0.3, 2.0, 7.0, np.inf])] * 2),
    st.sampled_from([1.49e-8, 1e-4]),
)
def test_random_integrals(f, parameters, ends, tolerance):
    ends = ends if f in ENDLESS else tuple(np.clip(ends, -2.0, 5.0).tolist())

    def g(module, p):
        return integral(module, f, p, ends, epsabs=tolerance, epsrel=tolerance)[0]

    compiled = cr.compile(cr.value_and_grad(lambda p: g(ours, p)), check=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipys.IntegrationWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        for p in map(np.array, parameters):
            (found, slopes), own = compiled(p), g(scipys, p)
            np.testing.assert_allclose(found, own, rtol=1e-11, atol=1e-12)
            expected = cr.grad(lambda p: g(ours, p))(p)
            if np.all(np.isfinite(expected)):
                near = 10 * tolerance * (1 + np.max(np.abs(expected)))
                np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=near)
