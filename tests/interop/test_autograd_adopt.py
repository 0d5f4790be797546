"""``interop.autograd``: rules that were written for autograd, in programs of ours."""

import types

import numpy as np
import pytest

autograd = pytest.importorskip("autograd")

import autograd.numpy as anp
from autograd.core import primitive_vjps
from autograd.extend import defjvp, defvjp, defvjp_argnums, primitive
from autograd.scipy import integrate, linalg, signal, special, stats

import chainrules as cr
from chainrules.interop.autograd import adopt, adopt_module
from chainrules.testing import WrongDerivativeError, primal_with_tangent, test_frule, test_rrule

RNG = np.random.default_rng(0)
X = RNG.uniform(0.2, 0.8, 4)
POSITIVE = X + 1
M = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
DEFINITE = M @ M.T


def constant(x):
    """An argument in which autograd has no derivative."""
    return primal_with_tangent(x, cr.NoTangent())


HALF_ORDER = constant(2.0)

# The arguments of each primitive of autograd.scipy.
CASES = {
    "stats.norm": (X, 0.1, 1.2),
    "stats.beta": (X, 2.0, 3.0),
    "stats.beta.cdf": (X, HALF_ORDER, constant(3.0)),
    "stats.gamma": (POSITIVE, 2.0),
    "stats.gamma.cdf": (POSITIVE, constant(2.0)),
    "stats.chi2": (POSITIVE, constant(3.0)),
    "stats.poisson": (np.arange(4), 2.5),
    "stats.t": (X, 3.0, 0.1, 1.2),
    "stats.t.cdf": (X, constant(3.0), 0.1, constant(1.2)),
    "stats.t.logcdf": (X, constant(3.0), 0.1, constant(1.2)),
    "stats.dirichlet": (np.array([0.3, 0.7]), np.array([2.0, 3.0])),
    "stats.multivariate_normal": (X[:3], np.zeros(3), DEFINITE),
    "stats.multivariate_normal.entropy": (np.zeros(3), DEFINITE),
    "special": (X,),
    "special.beta": (POSITIVE, POSITIVE + 1),
    "special.betaln": (POSITIVE, POSITIVE + 1),
    "special.betainc": (HALF_ORDER, constant(3.0), X),
    "special.gammainc": (HALF_ORDER, POSITIVE),
    "special.gammaincc": (HALF_ORDER, POSITIVE),
    "special.jn": (2, POSITIVE),
    "special.yn": (2, POSITIVE),
    "special.iv": (2.0, POSITIVE),
    "special.ive": (2.0, POSITIVE),
    "special.polygamma": (1, POSITIVE),
    "special.multigammaln": (3.5, 2),
    "linalg.sqrtm": (DEFINITE,),
    "linalg.solve_triangular": (np.tril(M), X[:3]),
    "linalg.solve_sylvester": (M, M + 1, M),
    "linalg.solve_banded": ((1, 1), M, X[:3]),
    "signal.convolve": (RNG.normal(size=6), RNG.normal(size=3)),
}
# What autograd itself has wrong.
SYMMETRISED = "the gradient in the covariance is symmetrised; SciPy reads one triangle"
NO_ORDER = "the derivative in the order is said to be 0"
WRONG_IN_AUTOGRAD = {
    "stats.multivariate_normal.pdf": SYMMETRISED,
    "stats.multivariate_normal.logpdf": SYMMETRISED,
    "stats.multivariate_normal.entropy": SYMMETRISED,
    "special.iv": NO_ORDER,
    "special.ive": NO_ORDER,
}


def primitives():
    """Yield the primitives with rules that autograd.scipy shows, by name."""
    seen = set()
    for module in (stats, linalg, signal, special):
        family = module.__name__.rpartition(".")[2]
        for name, part in sorted(vars(module).items()):
            inside = {f"{family}.{name}": part}
            if isinstance(part, types.ModuleType) and part.__name__.startswith("autograd.scipy"):
                own = primitives_of(part)
                inside = {f"{family}.{name}.{word}": f for word, f in own.items()}
            for full, f in inside.items():
                if callable(f) and f in primitive_vjps and f not in seen:
                    seen.add(f)
                    yield full, f


def primitives_of(module):
    """Return those that a module of distributions has, without those that it imports."""
    return {name: f for name, f in vars(module).items() if name not in dir(special)}


PRIMITIVES = dict(primitives())


def arguments_of(name):
    return CASES.get(name) or CASES.get(name.rpartition(".")[0]) or CASES["special"]


def check(test, name):
    options = {"lower": True} if name == "linalg.solve_triangular" else {}
    test(adopt(PRIMITIVES[name]), *arguments_of(name), **options)


def test_there_are_all_of_them():
    assert 62 == len(PRIMITIVES)


@pytest.mark.parametrize("test", [test_rrule, test_frule], ids=["rrule", "frule"])
@pytest.mark.parametrize("name", PRIMITIVES)
def test_rules_of_scipy_functions(name, test):
    if name in WRONG_IN_AUTOGRAD:
        with pytest.raises(WrongDerivativeError):
            check(test, name)
    else:
        check(test, name)


# ---- a user's own --------------------------------------------------------------------------------


@primitive
def logsumexp(x):
    largest = np.max(np.asarray(x, float))  # no traced value would come through here
    return largest + np.log(np.sum(np.exp(np.asarray(x, float) - largest)))


defvjp(logsumexp, lambda ans, x: lambda g: g * anp.exp(x - ans))


@primitive
def turned(z, angle):
    return np.asarray(z, complex) * np.exp(1j * float(angle))


defvjp(
    turned,
    lambda ans, z, angle: lambda g: g * anp.exp(1j * angle),
    lambda ans, z, angle: lambda g: anp.real(anp.sum(g * 1j * ans)),
)


@primitive
def cube(x):
    return np.asarray(x, float) ** 3


defjvp(cube, lambda g, ans, x: 3 * x**2 * g)


@primitive
def first_only(a, b):
    return np.asarray(a, float) * np.asarray(b, float)


defvjp(first_only, lambda ans, a, b: lambda g: g * b)


@primitive
def both_at_once(pair, scale):
    a, b = pair
    return np.asarray(a, float) * np.asarray(b, float) * float(scale)


def both_at_once_vjp(argnums, ans, args, kwargs):
    (a, b), scale = args
    found = {
        0: lambda g: (g * b * scale, g * a * scale),
        1: lambda g: anp.sum(g * a * b),
    }
    return lambda g: tuple(found[i](g) for i in argnums)


defvjp_argnums(both_at_once, both_at_once_vjp)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (logsumexp, (X,)),
        (turned, (X + 1j, 0.3)),
        (cube, (X,)),
        (both_at_once, ((X, X + 1), 2.0)),
    ],
)
def test_rules_of_a_user(f, args):
    test_rrule(adopt(f), *args)
    test_frule(adopt(f), *args)


def in_use(x):
    return logsumexp(anp.sin(x)) * anp.sum(anp.array([x[0], logsumexp(x[1:])]) ** 2)


def selects(x):
    parts = [logsumexp(row) for row in anp.stack([x, anp.cos(x)])]
    return anp.where(x[0] > 0, parts[0], parts[1]) + anp.linalg.norm(anp.concatenate([x, x]))


def of_dicts(x):
    params = {"a": x, "b": [x[0], anp.tanh(x)]}
    return logsumexp(params["a"] * params["b"][0]) + anp.dot(params["b"][1], x)


def with_a_gradient(x):
    return logsumexp(x) * anp.sum(autograd.grad(logsumexp)(x)[1:] ** 2)


def with_a_gradient_of_a_list(x):
    return anp.sum(autograd.grad(lambda xs: logsumexp(xs[0]) * xs[1])([x, anp.sum(x)])[0] * x)


PROGRAMS = [in_use, selects, of_dicts, with_a_gradient, with_a_gradient_of_a_list]


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs_that_use_them(f):
    adopted = adopt(f)
    np.testing.assert_allclose(autograd.grad(f)(X), cr.grad(adopted)(X), rtol=1e-12)
    slope = np.sum(autograd.grad(f)(X) * X)
    np.testing.assert_allclose(slope, cr.jvp(adopted, (X,), (X,))[1], rtol=1e-12)
    np.testing.assert_allclose(autograd.hessian(f)(X), cr.hessian(adopted)(X), rtol=1e-10)
    assert f(X) == adopted(X)


def test_autograd_differentiates_what_was_adopted():
    np.testing.assert_array_equal(autograd.grad(logsumexp)(X), autograd.grad(adopt(logsumexp))(X))


def test_code_of_autograd_needs_no_adoption():
    def net(w, b, x):
        return anp.sum(anp.tanh(anp.dot(x, w) + b) ** 2) + anp.sum(anp.array([b[0], b[1] ** 2]))

    w, b, x = RNG.normal(size=(4, 3)), RNG.normal(size=3), RNG.normal(size=(5, 4))
    expected = autograd.grad(net, (0, 1))(w, b, x)
    for e, found in zip(expected, cr.grad(net, (0, 1))(w, b, x)):
        np.testing.assert_allclose(e, found, rtol=1e-12)


def test_a_module():
    norm = adopt_module(stats.norm)
    assert stats.norm.logpdf is not norm.logpdf
    test_rrule(norm.logsf, X, 0.1, 1.2)
    assert "norm" in norm.__name__


def test_functions_of_a_module():
    program = types.ModuleType("program")
    source = "def double(x): return logsumexp(x) * 2"
    vars(program)["logsumexp"] = logsumexp
    exec(source, vars(program))
    shown = adopt_module(program)
    np.testing.assert_allclose(2 * np.exp(X) / np.sum(np.exp(X)), cr.grad(shown.double)(X))


def test_odeint():
    odeint = adopt(integrate.odeint)
    times = np.linspace(0, 1, 4)

    def end(x):
        return np.sum(odeint(lambda y, t, k: -k * y, x[:2], times, (x[2],), rtol=1e-10)[-1])

    x = np.array([1.0, 2.0, 0.5])
    decay = np.exp(-0.5)
    np.testing.assert_allclose([decay, decay, -3 * decay], cr.grad(end)(x), rtol=1e-6)


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: cr.grad(f)(2.0),
        lambda f: cr.jvp(f, (2.0,), (1.0,)),
        lambda f: cr.hvp(f, (2.0,), (1.0,)),
    ],
    ids=["grad", "jvp", "hvp"],
)
def test_an_argument_without_a_rule(transform):
    with pytest.raises(cr.MissingDerivativeError, match="first_only has no vjp in number 1"):
        transform(lambda b: np.sum(adopt(first_only)(X, b)))
    assert 4.0 == cr.grad(lambda b: np.sum(adopt(first_only)(b, 2.0)))(X)[0] * 2


def test_an_integer():
    order = adopt(special.polygamma)
    with pytest.raises(cr.MissingDerivativeError, match="no derivatives in integers"):
        cr.grad(lambda n: order(n, 1.5))(2)
    with pytest.raises(cr.MissingDerivativeError, match="no derivatives in integers"):
        cr.jvp(lambda n: order(n, 1.5), (2,), (1.0,))


def test_a_keyword():
    @primitive
    def scaled(x, scale=1.0):
        return np.asarray(x, float) * scale

    defvjp(scaled, lambda ans, x, scale=1.0: lambda g: g * scale)
    f = adopt(scaled)
    assert 3.0 == cr.grad(lambda x: f(x, scale=3.0))(2.0)
    with pytest.raises(cr.LostDerivativeError, match="option 'scale'"):
        cr.grad(lambda s: f(2.0, scale=s))(3.0)


def test_what_is_no_primitive_or_has_no_rules():
    with pytest.raises(TypeError, match="to which no rule was given"):
        adopt(primitive(lambda x: x))
    with pytest.raises(TypeError, match="takes a function, not int"):
        adopt(3)
    with pytest.raises(TypeError, match="takes a module, not ufunc"):
        adopt_module(np.sin)


def test_a_primitive_without_rules_inside():
    @primitive
    def opaque(x):
        return float(np.asarray(x, float)) ** 2

    with pytest.raises(cr.LostDerivativeError):
        cr.grad(adopt(lambda x: opaque(x)))(2.0)
