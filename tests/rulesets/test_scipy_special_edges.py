"""Rules of scipy.special at zeros, poles, ends and far out; derivatives in orders; lookups."""

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import special

import chainrules as cr

pytestmark = pytest.mark.every_case  # no row stands for another one
INFINITY = math.inf


def slope(f, *args, argnum=0):
    return float(cr.grad(f, argnums=argnum)(*args))


def curvature(f, x):
    return float(cr.grad(cr.grad(f))(x))


# The expected slope, the function, the point and the argument. Slopes by hand or by DLMF.
EDGES = [
    (0.0, special.xlogy, (0.0, 0.0), 1), (-INFINITY, special.xlogy, (0.0, 0.0), 0),
    (0.0, special.xlog1py, (0.0, -1.0), 1), (INFINITY, special.entr, (0.0,), 0),
    (0.0, special.rel_entr, (0.0, 0.0), 1), (1.0, special.kl_div, (0.0, 0.5), 1),
    (0.5, special.exprel, (0.0,), 0), (0.5, special.exprel, (1e-9,), 0),
    (0.25, special.expit, (0.0,), 0), (math.exp(-50), special.expit, (50.0,), 0),
    (0.0, special.expit, (-1000.0,), 0), (1.0, special.log_expit, (-1000.0,), 0),
    (math.exp(-50), special.log_expit, (50.0,), 0), (INFINITY, special.logit, (0.0,), 0),
    (0.0, special.huber, (1.0, 0.0), 1), (0.0, special.pseudo_huber, (1.0, 0.0), 1),
    (0.0, special.pseudo_huber, (0.0, 0.0), 0), (0.0, special.pseudo_huber, (0.0, 0.0), 1),
    (4.0, special.boxcox, (0.0, 0.5), 1), (0.0, special.tklmbda, (3.0, 0.5), 0),
    (1000.001, special.log_ndtr, (-1000.0,), 0), (0.0, special.log_ndtr, (1000.0,), 0),
    (-1 / (math.sqrt(math.pi) * 1e12), special.erfcx, (1e6,), 0),
    (-0.5e-12, special.dawsn, (1e6,), 0), (INFINITY, special.erfinv, (1.0,), 0),
    (1.0, special.rgamma, (0.0,), 0), (-1.0, special.rgamma, (-1.0,), 0),
    (2.0, special.rgamma, (-2.0,), 0), (-1.0, special.spence, (1.0,), 0),
    (-1.0, special.poch, (-1.0, 3.0), 0), (1.5, special.binom, (2.0, 2.0), 0),
    (1.0, special.gammainc, (1.0, 0.0), 1), (0.0, special.gammainc, (2.0, 0.0), 1),
    (1.0, special.betainc, (1.0, 1.0, 0.0), 2), (0.0, special.betainc, (2.0, 2.0, 1.0), 2),
    (0.5, special.j1, (0.0,), 0), (0.5, special.i1, (0.0,), 0), (0.0, special.i0e, (0.0,), 0),
    (0.5, special.beip, (0.0,), 0), (0.0, special.berp, (0.0,), 0),
    (-2 / math.pi, special.it2struve0, (0.0,), 0),
    (math.pi / 8, special.ellipk, (0.0,), 0), (-math.pi / 8, special.ellipe, (0.0,), 0),
    (0.0, special.ellipkinc, (0.0, 0.5), 1), (0.5, special.agm, (1.0, 1.0), 0),
    (6.0, special.eval_legendre, (3, -1.0), 1), (0.0, special.eval_legendre, (0, 1.0), 1),
    (0.0, special.kolmogorov, (0.0,), 0), (0.0, special.bdtr, (7.0, 5, 0.3), 2),
    (0.0, special.bdtr, (2.5, 5, 0.3), 0), (0.0, special.pdtr, (2.5, 0.3), 0),
    # The lower end of a parameter: differences to the right. DLMF 8.8.14 and, for b = 1, x**a.
    (-special.exp1(1.3), special.gammainc, (0.0, 1.3), 0),
    (special.exp1(1.3), special.gammaincc, (0.0, 1.3), 0),
    (-special.exp1(0.65) / 2, special.chdtr, (0.0, 1.3), 0),
    (-special.exp1(1.3), special.gdtr, (0.5, 0.0, 2.6), 1),
    (math.log(0.4), special.betainc, (0.0, 1.0, 0.4), 0),
    (-math.log(0.6), special.betainc, (1.0, 0.0, 0.4), 1),
    (math.log(0.6), special.betaincc, (1.0, 0.0, 0.4), 1),
    (2 / 3 * math.cos(3 * math.acos(0.4)), special.eval_gegenbauer, (3, 0.0, 0.4), 1),
    # Infinite parameters and arguments.
    (0.0, special.stdtr, (INFINITY, 0.7), 0), (0.0, special.gammainc, (INFINITY, 1.3), 0),
    (0.0, special.gammainc, (INFINITY, 1.3), 1), (0.0, special.gammainc, (2.5, INFINITY), 1),
    (0.0, special.chdtr, (INFINITY, 1.3), 0), (0.0, special.gdtr, (0.6, INFINITY, 0.9), 1),
    (0.0, special.betainc, (INFINITY, 1.2, 0.4), 0),
    (0.0, special.betainc, (0.3, INFINITY, 0.4), 2),
    (0.0, special.beta, (INFINITY, 1.2), 0), (0.0, special.beta, (INFINITY, 1.2), 1),
    (0.0, special.exprel, (-INFINITY,), 0), (0.0, special.boxcox, (0.3, INFINITY), 1),
    (0.0, special.boxcox1p, (0.3, -INFINITY), 1), (4.0, special.boxcox1p, (-1.0, 0.5), 1),
    (0.0, special.elliprd, (0.3, INFINITY, 0.4), 2), (0.0, special.elliprj, (1, 2, 3, INFINITY), 0),
    (math.exp(-0.32) / math.sqrt(2 * math.pi), special.stdtr, (INFINITY, 0.8), 1),
    (0.0, special.stdtrit, (INFINITY, 0.3), 0),
    # Ends of quantiles, where these do not move; zeros of means.
    (0.0, special.gammaincinv, (1.3, 0.0), 0), (0.0, special.gammainccinv, (1.3, 1.0), 0),
    (0.0, special.betaincinv, (1.3, 1.2, 0.0), 0), (0.0, special.betaincinv, (1.3, 1.2, 1.0), 1),
    (0.0, special.fdtri, (3.0, 4.5, 0.0), 1), (0.0, special.gdtrix, (0.6, 1.2, 0.0), 1),
    (0.0, special.agm, (0.0, 1.2), 1), (INFINITY, special.agm, (0.0, 1.2), 0),
    (special.elliprf(0, 1.2, 0.4) / 4, special.elliprg, (0.0, 1.2, 0.4), 0),
    # Carlson's degenerate integral is 1 / sqrt(x) where its arguments are equal.
    (-1 / 6e3, special.elliprc, (100.0, 100.0), 0), (-1 / 3e3, special.elliprc, (100.0, 100.0), 1),
    # Even no event at all is more probable than that.
    (0.0, special.pdtrik, (0.1, 1.2), 1), (0.0, special.bdtrik, (0.1, 5.0, 0.3), 0),
    (0.0, special.nbdtrik, (0.1, 2.0, 0.6), 2),
    # Gamma has a pole at a + b: there beta is 0 and crosses it.
    (-(math.gamma(-0.5) ** 2), lambda a: special.beta(a, -0.5), (-0.5,), 0),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "f", "args", "argnum"), EDGES)
def test_edge(expected, f, args, argnum):
    with np.errstate(divide="ignore", invalid="ignore"):  # other partials are infinite there
        found = slope(f, *args, argnum=argnum)
    assert expected == pytest.approx(found, rel=1e-7, abs=1e-12)


EULER = 0.5772156649015329

# Derivatives in orders and shapes, where they are known in closed form.
ORDERS = [
    (math.pi / 2 * special.y0(1.3), special.jv, (0.0, 1.3)),  # DLMF 10.15.3
    (-math.pi / 2 * special.j0(1.3), special.yv, (0.0, 1.3)),
    (-special.k0(1.3), special.iv, (0.0, 1.3)),  # DLMF 10.38.4
    (0.0, special.kv, (0.0, 1.3)),
    # From gammainc(a, x) = 1 - Gamma(a, x) / Gamma(a), and DLMF 8.8.14 at a = 1.
    (
        -special.exp1(1.3) - math.exp(-1.3) * (math.log(1.3) + EULER),
        special.gammainc,
        (1.0, 1.3),
    ),
    (0.4 * math.log(0.4), special.betainc, (1.0, 1.0, 0.4)),  # it is x**a / (a beta(a, 1))
    (-0.5 * math.log(2 * math.pi), special.zetac, (0.0,)),
    (-0.9375482543158438, special.zetac, (2.0,)),
    (math.log(1.3) * 1.3**0.7, lambda p: special.hyp2f1(p, 0.8, 0.8, 1 - 1 / 1.3), (0.7,)),
]


@pytest.mark.parametrize(("expected", "f", "args"), ORDERS)
def test_derivatives_in_orders_to_eleven_digits(expected, f, args):
    assert expected == pytest.approx(slope(f, *args), rel=2e-11, abs=2e-12)


def test_second_derivatives_where_the_first_is_a_limit():
    assert 1 / 3 == pytest.approx(curvature(special.exprel, 0.0))
    assert 0.5 == pytest.approx(curvature(special.spence, 1.0))
    assert 9 * math.pi / 64 == pytest.approx(curvature(special.ellipk, 0.0))
    assert -3 * math.pi / 64 == pytest.approx(curvature(special.ellipe, 0.0))
    assert 0.0 == curvature(special.j1, 0.0)
    assert 2 * EULER == pytest.approx(curvature(special.rgamma, 0.0))  # x + EULER * x**2 + ...


def test_second_derivatives_of_distributions_at_the_ends():
    # gammainc(2, x) = x**2 / 2 - x**3 / 3 + ..., and betainc(2, 3, x) = 6 x**2 - 8 x**3 + 3 x**4;
    # fdtr(4, 2, x) = (2 x / (2 x + 1))**2.
    assert 1.0 == pytest.approx(curvature(lambda x: special.gammainc(2.0, x), 0.0))
    assert -1.0 == pytest.approx(curvature(lambda x: special.gammaincc(2.0, x), 0.0))
    assert 12.0 == pytest.approx(curvature(lambda x: special.betainc(2.0, 3.0, x), 0.0))
    assert 0.0 == pytest.approx(curvature(lambda x: special.betainc(2.0, 3.0, x), 1.0))
    assert -12.0 == pytest.approx(curvature(lambda x: special.betainc(3.0, 2.0, x), 1.0))
    assert 0.0 == curvature(lambda x: special.gammainc(4.0, x), 0.0)
    assert 0.25 == pytest.approx(curvature(lambda x: special.chdtr(4.0, x), 0.0))
    assert 8.0 == pytest.approx(curvature(lambda x: special.fdtr(4.0, 2.0, x), 0.0))
    ends = np.array([0.0, 0.5, 1.0])
    many = cr.grad(lambda x: np.sum(cr.grad(lambda x: np.sum(special.betainc(3, 2, x)))(x)))(ends)
    np.testing.assert_allclose(many, [0.0, 3.0, -12.0], rtol=1e-12, atol=0)


def test_arrays_of_ends_and_others():
    a = np.array([0.0, 0.5, 2.0, INFINITY])
    for f in special.gammainc, special.gammaincc:
        sums = cr.grad(lambda a, f=f: np.sum(f(a, 1.3)))(a)
        np.testing.assert_allclose([slope(f, float(each), 1.3) for each in a], sums, rtol=1e-10)


def test_arrays_that_mix_branches():
    x = np.array([-30.0, -0.5, 0.0, 0.5, 20.0])
    for f in special.erfcx, special.dawsn, special.log_ndtr, special.exprel, special.it2j0y0:
        many = f(x)[0] if f.nout > 1 else f(x)
        assert many.shape == x.shape
        if f.nout == 1:
            sums = cr.grad(lambda x, f=f: np.sum(f(x)))(x)
            np.testing.assert_array_equal([slope(f, float(each)) for each in x], sums)


@pytest.mark.parametrize("x", [[0.0, 1e-9, 0.3, 0.99], [1.0, 5.0, -3.0], [1e-7, -0.5, 2.0]])
def test_first_bessel_function_near_zero_and_far(x):
    def along(f):
        return lambda x: cr.jvp(f, (x,), (np.ones_like(x),))[1]

    f = special.j1
    for n in (1, 2, 3):
        f = along(f)
        np.testing.assert_allclose(f(np.array(x)), special.jvp(1, x, n), rtol=1e-8, atol=1e-15)


def test_tiny_tails_keep_their_digits():
    """The slope of a survival function in its shape, where the distribution function is 1."""
    h = 1e-4
    expected = (special.gammaincc(3 + h, 60.0) - special.gammaincc(3 - h, 60.0)) / (2 * h)
    assert expected == pytest.approx(slope(special.gammaincc, 3.0, 60.0), rel=1e-6, abs=0)


def test_python_functions_made_of_ufuncs():
    assert -0.9375482543158438 == pytest.approx(slope(special.zeta, 2.0))
    w = special.lambertw(2.0).real
    assert w / (2 * (1 + w)) == pytest.approx(slope(lambda x: np.real(special.lambertw(x)), 2.0))


@pytest.mark.parametrize("name", ["jn", "yn", "in", "kn"])
def test_what_spherical_bessel_functions_are_made_of(name):
    f = getattr(special._ufuncs, f"_spherical_{name}", None)
    if f is None:
        pytest.skip("this SciPy has no such ufunc")
    python_function = getattr(special, f"spherical_{name}")
    assert python_function(2, 1.3, derivative=True) == pytest.approx(slope(f, 2, 1.3, argnum=1))
    h = 1e-4
    ends = [python_function(2, 1.3 + sign * h, derivative=True) for sign in (1, -1)]
    expected = (ends[0] - ends[1]) / (2 * h)
    assert expected == pytest.approx(curvature(lambda x: f(2, x), 1.3), rel=1e-6)


@pytest.mark.slow
def test_rules_are_loaded_at_the_first_call_and_scipy_is_not():
    """Importing chainrules must not import SciPy; asking for a rule loads its rules."""
    code = (
        "import sys, numpy as np, chainrules as cr\n"
        "assert 1.0 == cr.grad(np.sin)(0.0)\n"
        "assert 'scipy' not in sys.modules\n"
        "from scipy import special\n"
        "assert 'chainrules.rules.rulesets.special.ufuncs' not in sys.modules\n"
        "assert abs(cr.grad(special.erf)(0.0) - 1.1283791670955126) < 1e-15\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
