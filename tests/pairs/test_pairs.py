"""Each feature around each other: value, both modes and second orders.

Of the two orders of a pair one meets ties, too, and the other both ways to the second order.

Dask, whose arrays are what a program is called with, has no wrapper: each feature gets such points.

Every check is right, or is refused by an error of ours; which pairs are refused is said by name.
"""

import re
import warnings

import numpy as np
import pytest
from exact import along, jacobian, pulled
from features import FEATURES, V, W, made, plain

import chainrules as cr

POINTS = [np.array([0.3, -0.7, 0.9]), np.array([0.0, 0.5, 0.5])]
NAMES = [name for name, feature in FEATURES.items() if feature.here]
NUMBERS = {name: number for number, name in enumerate(["adopt", *NAMES])}
PAIRS = [(a, b) for a in NUMBERS for b in NUMBERS][1:]

# Many evaluations of a body with many, or derivatives of derivatives: one point.
MANY = {"implicit", "fixed_point", "root", "minimize", "quad", "solve_ivp", "threads"}
INSIDE = {"jvp", "linearize", "vjp", "grad", "jacfwd", "jacrev", "hessian", "hvp"}
SECOND = {"hessian", "hvp"}

# Features that have no second derivatives, or not everywhere a derivative: what the error says.
REFUSED = {
    "differences": "no second ones",
    "complex step": "no second ones|has no derivative by a complex step",
    "np.asarray": "would drop the derivative|met an object array of traced numbers",
    "sparse=True": "a sparse derivative holds plain numbers",
}
# Pairs that are wrong, or fail without a word of ours, for a cause that is known.
KNOWN: dict[tuple[str, str], str] = {}


def program(outer, inner):
    """Return the program of a pair; "adopt" outside adopts the modules of all that is inside."""
    if outer == "adopt":
        return made(inner, outer_adopted=True, inner_adopted=True), plain(inner)
    if inner == "adopt":
        return made(outer, inner_adopted=True), plain(outer)
    return made(outer, inner), plain(inner, outer)


def checks(f, exact, x, *, first, curved, deep, both):
    """Yield each mode with what it gives, and what is right; the first point meets all modes.

    Of second order it meets ``both`` ways where that is the only point.
    """

    def loss(x):
        return np.sum(W * f(x))

    point = x.astype(np.longdouble) if deep else x
    slopes = jacobian(exact)(point)
    yield "vjp", lambda: cr.vjp(f, x)[1](W)[0], W @ slopes
    if first:
        yield "value", lambda: f(x), exact(point[None])[0]
        yield "jvp", lambda: cr.jvp(f, (x,), (V,))[1], slopes @ V
    if curved:
        product = pulled(along(exact, V), W)(point)
        yield "forward over reverse", lambda: cr.hvp(loss, (x,), (V,)), product
    if first and curved and both:
        slope = lambda x: cr.jvp(loss, (x,), (V,))[1]  # noqa: E731
        yield "reverse over forward", lambda: cr.grad(slope)(x), product


def param(pair):
    marks = [pytest.mark.xfail(strict=True, reason=KNOWN[pair])] if pair in KNOWN else []
    return pytest.param(*pair, marks=marks, id=" around ".join(pair))


# Features whose code takes no arrays of dask: solvers, other libraries, C.
NOT_OF_DASK = {
    "implicit", "fixed_point", "root", "minimize", "ctypes", "cffi", "numba", "jax", "torch",
    "sparse=True",
}  # fmt: skip
# Their errors are those of dask beside an array of NumPy's: seconds of what is plain in first ones;
# of an integral the second order takes a hundred graphs of dask.
FIRST_OF_DASK = {"differences", "complex step", "autograd", "quad"}


def points(outer, inner):
    """Return where a pair is tried: at ties, too, in one of the two orders of a pair."""
    pair, i, j = {outer, inner}, NUMBERS[outer], NUMBERS[inner]
    once = pair <= MANY or pair <= INSIDE or "quad" in pair
    return POINTS[:1] if once or ((i + j) % 2 == 0) != (i <= j) else POINTS


@pytest.mark.parametrize(("outer", "inner"), [*map(param, PAIRS)])
def test_pairs(outer, inner):
    f, exact = program(outer, inner)
    refused = {outer, inner} & set(REFUSED)
    deep = {outer, inner} <= INSIDE or bool({outer, inner} & SECOND)
    words = "|".join([REFUSED[name] for name in refused])
    xs = points(outer, inner)
    for number, x in enumerate(xs):
        # Each mode of a function of JAX is compiled: the two that have all in them will do.
        first = number == 0 and "jax" not in (outer, inner)
        order = {"first": first, "curved": not {outer, inner} <= SECOND, "deep": deep}
        order["both"] = len(xs) == 1
        for mode, run, right in checks(f, exact, x, **order):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", cr.CompileWarning)
                try:
                    found = run()
                except Exception as error:
                    if refused and re.search(words, str(error)):
                        continue
                    raise
            right = np.asarray(right, float)
            scale = 1 + np.max(np.abs(right))
            np.testing.assert_allclose(found / scale, right / scale, atol=2e-6, err_msg=mode)


@pytest.mark.filterwarnings("ignore:.*is not implemented by Dask:FutureWarning")
@pytest.mark.parametrize("name", ["implicit", "fixed_point", "root"])
def test_equations_of_dask_are_refused(name):
    point = pytest.importorskip("dask.array").asarray(POINTS[0], chunks=2)
    pytest.importorskip(FEATURES[name].needs)
    for derivative in (cr.grad(lambda x: np.sum(made(name)(x))), cr.jacfwd(made(name))):
        with pytest.raises(cr.LostDerivativeError, match=r"array of dask.*\n.*x\.compute\(\)"):
            derivative(point)
        assert np.all(np.isfinite(derivative(point.compute())))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*is not implemented by Dask:FutureWarning")
@pytest.mark.filterwarnings("ignore::chainrules.CompileWarning")
@pytest.mark.parametrize("name", ["adopt", *NAMES])
def test_points_of_dask(name):
    if name in NOT_OF_DASK:
        pytest.skip("takes no arrays of dask")
    dask, lazy = pytest.importorskip("dask"), pytest.importorskip("dask.array").asarray
    if name == "adopt":
        f, exact = made(None, inner_adopted=True), plain()
    else:
        f, exact = made(name), plain(name)
    x = POINTS[0].astype(np.longdouble)
    product = pulled(along(exact, V), W)(x)
    slopes = jacobian(exact)(x)
    point, v = lazy(POINTS[0], chunks=2), lazy(V, chunks=2)
    with dask.config.set(scheduler="synchronous"):
        found = [f(point), cr.vjp(f, point)[1](lazy(W, chunks=2))[0], cr.jvp(f, (point,), (v,))[1]]
        right = [exact(x[None])[0], W @ slopes, slopes @ V]
        if name not in FIRST_OF_DASK:
            found.append(cr.hvp(lambda x: np.sum(W * f(x)), (point,), (v,)))
            right.append(product)
        for ours, theirs in zip(found, right):
            np.testing.assert_allclose(ours, np.asarray(theirs, float), atol=4e-6)
