"""Programs as people write them: plain NumPy, nothing rewritten, every derivative checked."""

import copy
import dataclasses
import importlib

import numpy as np
import pytest
from some_arguments import of_some

import chainrules as cr
from chainrules import numpy as followed

# ---- the programs -----------------------------------------------------------------------------


pytestmark = [
    pytest.mark.every_case,
    pytest.mark.filterwarnings("ignore:the matrix subclass"),
]


def load(name):
    return importlib.import_module(f"programs_{name}")


FAMILIES = ("learning", "statistics", "physics", "numerics")
TRIALS = ("trial_statistics", "trial_physics", "trial_engineering", "trial_computing")
KINDS = "engineering", "fields", "holders", "idioms", "methods", "models", "solvers", "users"
ADOPTED = [load(f"adopted_{name}") for name in KINDS]
MODULES = [load(name) for name in FAMILIES + TRIALS] + ADOPTED
HOMES = {id(f): module for module in ADOPTED for _, f, *_ in module.PROGRAMS + module.REFUSED}


@pytest.fixture(autouse=True)
def home(request):
    """The programs that run as they stand when their module is adopted."""
    f = getattr(request.node, "callspec", None) and request.node.callspec.params.get("f")
    if id(f) not in HOMES:
        yield
        return
    with cr.adopt(HOMES[id(f)]):
        yield


PROGRAMS = [pytest.param(*rest, id=name) for module in MODULES for name, *rest in module.PROGRAMS]
REFUSED = [pytest.param(*rest, id=name) for module in MODULES for name, *rest in module.REFUSED]


# ---- the space of arguments: vectors of real numbers and back ---------------------------------


def is_float(x):
    return isinstance(x, (float, complex, np.inexact)) or (
        isinstance(x, np.ndarray) and x.dtype.kind in "fc"
    )


def children(x):
    if dataclasses.is_dataclass(x):
        return [getattr(x, field.name) for field in dataclasses.fields(x)]
    if isinstance(x, dict):
        return list(x.values())
    return list(x) if isinstance(x, (tuple, list)) else []


def differentiable(x):
    return is_float(x) or any(map(differentiable, children(x)))


def tangent(x, rng):
    """A random tangent: the structure of x, a Tangent for a dataclass."""
    if is_float(x):
        draw = rng.normal(size=np.shape(x))
        if np.iscomplexobj(x):
            draw = draw + 1j * rng.normal(size=np.shape(x))
        return draw if isinstance(x, np.ndarray) else draw.item() if np.ndim(draw) == 0 else draw
    if dataclasses.is_dataclass(x):
        fields = {f.name: getattr(x, f.name) for f in dataclasses.fields(x)}
        moving = {k: tangent(v, rng) for k, v in fields.items() if differentiable(v)}
        return cr.Tangent(type(x), **moving)
    if isinstance(x, dict):
        return {k: tangent(v, rng) for k, v in x.items()}
    if hasattr(x, "_fields"):
        return type(x)(*(tangent(v, rng) for v in x))
    return type(x)(tangent(v, rng) for v in x)


def moved(x, xdot, h):
    """x + h * xdot, in the structure of x."""
    if is_float(x):
        return x + h * xdot
    if dataclasses.is_dataclass(x):
        names = [f.name for f in dataclasses.fields(x) if differentiable(getattr(x, f.name))]
        steps = {k: moved(getattr(x, k), getattr(xdot, k), h) for k in names}
        return dataclasses.replace(x, **steps)
    if isinstance(x, dict):
        return {k: moved(v, xdot[k], h) for k, v in x.items()}
    parts = [moved(v, d, h) for v, d in zip(x, xdot)]
    return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)


def flat(x):
    """The real numbers of a value or a derivative, one after the other."""
    if isinstance(x, (tuple, list)):
        return np.concatenate([np.zeros(0), *map(flat, x)])
    if isinstance(x, dict):
        return flat(list(x.values()))
    x = np.asarray(x)
    assert x.dtype.kind in "fciub", f"not numbers: {x!r}"
    if np.iscomplexobj(x):
        return np.concatenate([x.real.ravel(), x.imag.ravel()])
    return np.array(x, float).ravel()


def inner(xbar, xdot, x):
    """The sum of the products of a cotangent and a tangent of x."""
    if is_float(x):
        assert np.shape(xbar) == np.shape(x)
        return flat(xbar) @ flat(xdot)
    if dataclasses.is_dataclass(x):
        names = [f.name for f in dataclasses.fields(x) if differentiable(getattr(x, f.name))]
        return sum(inner(getattr(xbar, k), getattr(xdot, k), getattr(x, k)) for k in names)
    keys = x.keys() if isinstance(x, dict) else range(len(x))
    return sum(inner(xbar[k], xdot[k], x[k]) for k in keys)


def fixed(f, args):
    """f as a function of its differentiable arguments only, and these."""
    return of_some(f, [i for i, arg in enumerate(args) if differentiable(arg)], args)


def slope(f, args, tangents):
    """The derivative of f along the tangents by central differences, of fourth order."""

    def at(h):
        return flat(f(*(moved(x, d, h) for x, d in zip(args, tangents))))

    h = 1e-4
    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def prepare(f, args, seed=0):
    g, args = fixed(f, args)
    rng = np.random.default_rng(seed)
    return g, args, tuple(tangent(x, rng) for x in args), rng


def close(actual, expected, rtol):
    scale = max(1.0, np.max(np.abs(expected), initial=0))
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol * scale)


# ---- the tests --------------------------------------------------------------------------------


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_jvp(f, args):
    f, args, tangents, _ = prepare(f, args)
    before = copy.deepcopy(args)
    y, ydot = cr.jvp(f, args, tangents)
    close(flat(y), flat(f(*args)), 1e-13)
    close(flat(ydot), slope(f, args, tangents), 1e-7)
    assert np.array_equal(flat_args(args), flat_args(before))


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_vjp(f, args):
    f, args, tangents, rng = prepare(f, args)
    before = copy.deepcopy(args)
    y, pullback = cr.vjp(f, *args)
    close(flat(y), flat(f(*args)), 1e-13)
    ybar = tangent(y, rng)
    xbars = pullback(ybar)
    paired = sum(inner(xbar, xdot, x) for xbar, xdot, x in zip(xbars, tangents, args))
    close(paired, flat(ybar) @ slope(f, args, tangents), 1e-7)
    again = pullback(ybar)
    assert all(inner(a, d, x) == inner(b, d, x) for a, b, d, x in zip(again, xbars, tangents, args))
    assert np.array_equal(flat_args(args), flat_args(before))


def scalar_of(f, args, rng):
    """f, where its output is a number; of other outputs, a random combination."""
    weights = tangent(f(*args), rng)

    def scalar(*xs):
        out = f(*xs)
        if is_float(out) and np.ndim(out) == 0:
            return out
        return weighted(out, weights)

    return scalar


def weighted(y, weights):
    """The sum of the numbers of y, each times its weight."""
    if isinstance(y, dict):
        return sum(weighted(y[k], weights[k]) for k in y)
    if isinstance(y, (tuple, list)):
        return sum(map(weighted, y, weights))
    return np.sum(y * weights)


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_linearize(f, args):
    f, args, tangents, _ = prepare(f, args)
    y, pushforward = cr.linearize(f, *args)
    close(flat(y), flat(f(*args)), 1e-13)
    expected = flat(cr.jvp(f, args, tangents)[1])
    close(flat(pushforward(*tangents)), expected, 1e-12)
    close(flat(pushforward(*tangents)), expected, 1e-12)


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_hessian_vector_product(f, args):
    f, args, tangents, rng = prepare(f, args)
    scalar = scalar_of(f, args, rng)

    def gradient(*xs):
        return cr.grad(scalar, argnums=tuple(range(len(xs))))(*xs)

    rng = np.random.default_rng(7)
    other = tuple(tangent(x, rng) for x in args)
    _, products = cr.jvp(gradient, args, tangents)
    actual = sum(inner(p, d, x) for p, d, x in zip(products, other, args))

    def along(*xs):
        return sum(inner(g, d, x) for g, d, x in zip(gradient(*xs), other, xs))

    close(actual, slope(along, args, tangents)[0], 1e-6)


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_second_derivatives_agree_in_all_orders_of_the_modes(f, args):
    f, args, tangents, rng = prepare(f, args)
    scalar = scalar_of(f, args, rng)
    others = tuple(tangent(x, np.random.default_rng(7)) for x in args)
    everything = tuple(range(len(args)))

    def pair(xbars, xdots):
        return sum(inner(xbar, xdot, x) for xbar, xdot, x in zip(xbars, xdots, args))

    def gradient(*xs):
        return cr.grad(scalar, argnums=everything)(*xs)

    def slope_along_tangents(*xs):
        return cr.jvp(scalar, xs, tangents)[1]

    forward_over_reverse = pair(cr.jvp(gradient, args, tangents)[1], others)
    reverse_over_reverse = pair(cr.vjp(gradient, *args)[1](others), tangents)
    forward_over_forward = cr.jvp(slope_along_tangents, args, others)[1]
    reverse_over_forward = pair(cr.grad(slope_along_tangents, everything)(*args), others)
    close(reverse_over_reverse, forward_over_reverse, 1e-8)
    close(forward_over_forward, forward_over_reverse, 1e-8)
    close(reverse_over_forward, forward_over_reverse, 1e-8)


def test_single_precision_inside_a_program():
    f, (x, double) = next(p[1:] for p in MODULES[6].PROGRAMS if p[0] == "welch_psd")
    slopes = cr.jacobian(f)(x, "float32")
    close(slopes, cr.jacobian(f)(x, double), 1e-5)


@pytest.mark.parametrize(("f", "args", "error", "pattern"), REFUSED)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_refused(f, args, error, pattern, mode):
    f, args, tangents, _ = prepare(f, args)
    f(*args)  # the program itself is right
    run = {"forward": lambda: cr.jvp(f, args, tangents), "reverse": lambda: cr.vjp(f, *args)}
    with pytest.raises(getattr(cr, error), match=pattern):
        run[mode]()


# Refused because they fill plain arrays; with chainrules.numpy they run as they are.
FILLED = """zero_inflated_poisson double_pendulum_rk4 luminosity_distance thomas_solver
    ekf_update lms_adaptive conv2d_im2col renewal_equation natural_spline
    charge_deposit arma_css seir_deaths logs_and_counts buffer_zeros buffer_slice"""


@pytest.mark.parametrize("name", FILLED.split())
def test_with_the_namespace_that_sees_traced_values(name, monkeypatch):
    module, f, args = next(
        (module, *rest[:2]) for module in MODULES for n, *rest in module.REFUSED if n == name
    )
    monkeypatch.setattr(module, "np", followed)
    f, args, tangents, rng = prepare(f, args)
    y, ydot = cr.jvp(f, args, tangents)
    close(flat(y), flat(f(*args)), 1e-13)
    close(flat(ydot), slope(f, args, tangents), 1e-7)
    ybar = tangent(y, rng)
    paired = sum(map(inner, cr.vjp(f, *args)[1](ybar), tangents, args))
    close(paired, flat(ybar) @ slope(f, args, tangents), 1e-7)


def flat_args(args):
    """All numbers of the arguments, those in dataclasses too."""
    if dataclasses.is_dataclass(args):
        return flat_args(children(args))
    if isinstance(args, (tuple, list, dict)):
        return np.concatenate([np.zeros(0), *map(flat_args, children(args))])
    return flat(args) if differentiable(args) else np.zeros(0)
