"""``interop.pytensor``: functions of NumPy code in PyTensor."""

import numpy as np
import pytest
from hypothesis import given, settings
from random_functions import points_of_smooth, smooth

pytensor = pytest.importorskip("pytensor")

import pytensor.tensor as pt
from pytensor.gradient import verify_grad

import chainrules as cr
from chainrules.interop.pytensor import export
from chainrules.testing import central_fdm

# No compiler, and no numba: what is ours runs as Python in all modes.
MODE = pytensor.compile.mode.Mode(linker="py", optimizer="fast_compile")
# Before PyTensor 3 it has another name.
pushforward = getattr(pytensor.gradient, "pushforward", pytensor.gradient.Rop)
X, Y = np.array([0.3, 0.5, 1.2]), np.array([1.0, 0.0, 2.0])


def energy(x, s):
    """Python that PyTensor cannot trace."""
    y = np.zeros_like(x * s)
    for i in range(len(x)):
        y[i] = np.sin(x[i] * s) * x[i - 1]
        if y[i] < 0.3:
            y[i] *= 2.0
    return np.sum(y * x)


def evaluate(build, *numbers):
    """Build a graph of one variable for each of these, and evaluate it."""
    variables = [pt.as_tensor_variable(np.asarray(x)).type() for x in numbers]
    return pytensor.function(variables, build(*variables), mode=MODE, on_unused_input="ignore")(
        *numbers
    )


f = export(energy)
TRANSFORMS = {
    "value": (lambda x, v, s: f(x, s) ** 2, lambda x, v, s: energy(x, s) ** 2),
    "grad": (
        lambda x, v, s: pt.grad(f(x, s) ** 2, x),
        lambda x, v, s: cr.grad(lambda x: energy(x, s) ** 2)(x),
    ),
    "grad of the other": (
        lambda x, v, s: pt.grad(f(x, s), s),
        cr.grad(lambda x, v, s: energy(x, s), 2),
    ),
    "hessian": (
        lambda x, v, s: pytensor.gradient.hessian(f(x, s) ** 2, x),
        lambda x, v, s: cr.hessian(lambda x: energy(x, s) ** 2)(x),
    ),
    "mixed second derivative": (
        lambda x, v, s: pt.grad(pt.sum(v * pt.grad(f(x, s), x)), s),
        lambda x, v, s: cr.grad(lambda s: np.sum(v * cr.grad(energy)(x, s)))(s),
    ),
    "pushforward": (
        lambda x, v, s: pushforward(f(x, s) ** 2, x, v),
        lambda x, v, s: cr.jvp(lambda x: energy(x, s) ** 2, (x,), (v,))[1],
    ),
    "pushforward of grad": (
        lambda x, v, s: pushforward(pt.grad(f(x, s), x), x, v),
        lambda x, v, s: cr.hvp(lambda x: energy(x, s), (x,), (v,)),
    ),
    "third": (
        lambda x, v, s: pt.grad(pt.sum(v * pt.grad(pt.sum(v * pt.grad(f(x, s), x)), x)), x),
        lambda x, v, s: cr.grad(lambda x: v @ cr.hvp(lambda x: energy(x, s), (x,), (v,)))(x),
    ),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transformations(name):
    theirs, ours = TRANSFORMS[name]
    np.testing.assert_allclose(ours(X, Y, 1.3), evaluate(theirs, X, Y, 1.3), rtol=1e-9)


@settings(max_examples=15)
@given(points_of_smooth())
def test_random_points_against_finite_differences(point):
    (x, v, s), g = point, export(smooth)

    def both(x, v, s):
        y = g(x, s)
        return pt.sum(v * pt.grad(y, x)), v @ pytensor.gradient.hessian(y, x) @ v

    slope, curvature = evaluate(both, x, v, s)
    along = [central_fdm(5, k)(lambda t: smooth(x + t * v, s), 0.0) for k in (1, 2)]
    np.testing.assert_allclose(along, [slope, curvature], rtol=1e-5, atol=1e-5)


def test_verify_grad():
    numbers = np.random.default_rng(0)
    verify_grad(f, [X, np.array(1.3)], rng=numbers, mode=MODE)
    verify_grad(export(np.linalg.inv, ndim=2), [np.eye(3) + 0.1], rng=numbers, mode=MODE)


def test_several_results():
    g = export(lambda x: (np.cumsum(x), np.sum(x**2)), ndim=(1, 0))

    def cost(x):
        y, z = g(x)
        return pt.sum(y * y) * z

    expected = cr.grad(lambda x: np.sum(np.cumsum(x) ** 2) * np.sum(x**2))(X)
    np.testing.assert_allclose(expected, evaluate(lambda x: pt.grad(cost(x), x), X))
    # One of them alone.
    np.testing.assert_allclose(2 * X, evaluate(lambda x: pt.grad(g(x)[1], x), X))


def test_integers_and_float32():
    g = export(lambda x, i: np.sum(x[i] ** 2))
    i = np.array([0, 0, 2])
    np.testing.assert_allclose(
        [4 * X[0], 0.0, 2 * X[2]], evaluate(lambda x, i: pt.grad(g(x, i), x), X, i)
    )
    gradient = evaluate(lambda x, i: pt.grad(g(x, i), x), X.astype(np.float32), i)
    assert np.float32 == gradient.dtype
    counted = export(lambda x: np.sum(x > 0.4))
    assert 2.0 == evaluate(counted, X)
    np.testing.assert_array_equal(np.zeros(3), evaluate(lambda x: pt.grad(counted(x), x), X))
    with pytest.raises(pytensor.gradient.DisconnectedInputError):
        evaluate(lambda x, i: pt.grad(g(x, i), i), X, i)


def test_a_function_may_write_and_keep():
    kept = np.zeros(3)

    def writes(x):
        x += 1.0
        kept[:] = cr.value(x)
        return x if cr.is_traced(x) else kept

    g = export(writes, ndim=1)
    x = X.copy()
    y, gradient = evaluate(lambda x: (g(x) * 2, pt.grad(pt.sum(g(x) ** 2), x)), x)
    np.testing.assert_allclose(2 * (X + 1), y)
    np.testing.assert_allclose(2 * (X + 1), gradient)
    np.testing.assert_array_equal(X, x)
    np.testing.assert_allclose(X + 1, kept)


def test_equal_derivatives_are_one_node():
    def both(x):
        return pt.grad(f(x, 1.3), x) + pt.grad(f(x, 1.3), x)

    x = pt.dvector()
    graph = pytensor.function([x], both(x), mode=MODE).maker.fgraph
    assert 1 == sum("Pull" in str(node.op) for node in graph.apply_nodes)


def test_rules_are_asked_and_in_our_transforms_it_is_the_function():
    def bare(x):
        return x**3

    cr.scalar_rule(bare, lambda y, x: 100 * x)
    assert 200.0 == evaluate(lambda x: pt.grad(export(bare)(x), x), 2.0)
    np.testing.assert_allclose(cr.grad(energy)(X, 1.3), cr.grad(f)(X, 1.3))


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (lambda: export(3), "export takes a function, not int"),
        (lambda: evaluate(export(np.sin), X), r"results of \(1,\) axes, and of \(0,\) was said"),
        (lambda: evaluate(export(lambda x: (x, x), 1), X), r"of \(1, 1\) axes, and of \(1,\)"),
        (lambda: evaluate(export(np.abs), 1j), "has a complex argument"),
        (lambda: evaluate(export(lambda x: x * 1j), 1.0), "returned complex numbers"),
        (lambda: evaluate(export(lambda x: "a"), 1.0), "returned str"),
    ],
)
def test_what_is_refused(run, text):
    with pytest.raises(TypeError, match=text):
        run()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("linker", ["cvm", "numba"])
def test_other_linkers(linker):
    if linker == "cvm" and not pytensor.config.cxx:
        pytest.skip("no compiler")
    mode = pytensor.compile.mode.Mode(linker=linker, optimizer="fast_run")
    x = pt.dvector()
    gradient = pytensor.function([x], pt.grad(f(x, 1.3) ** 2, x), mode=mode)
    np.testing.assert_allclose(cr.grad(lambda x: energy(x, 1.3) ** 2)(X), gradient(X))


def test_arguments_may_be_any_part_of_a_graph():
    def loss(x, s):  # variables of PyTensor lead to what they are computed from, and back
        return f(pt.exp(2.0 * x) / (1.0 + x), s * s) + f(x, 0.7)

    def ours(x, s):
        return energy(np.exp(2.0 * x) / (1.0 + x), s * s) + energy(x, 0.7)

    found = evaluate(lambda x, s: [loss(x, s), *pt.grad(loss(x, s), [x, s])], X, 0.8)
    for a, b in zip([ours(X, 0.8), *cr.grad(ours, (0, 1))(X, 0.8)], found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
