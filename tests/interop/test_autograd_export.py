"""``interop.autograd.export``: functions of NumPy code in autograd."""

import numpy as np
import pytest

autograd = pytest.importorskip("autograd")

import autograd.numpy as anp
from autograd.differential_operators import make_jvp_reversemode

import chainrules as cr
from chainrules.interop.autograd import export

X = np.array([0.3, 0.5, 1.2])
Z = np.array([0.3 + 0.4j, 1 - 0.2j])


def ours(x):
    return np.sum(np.sin(x) * x**2)


def theirs(x):
    return anp.sum(anp.sin(x) * x**2)


def repeated(f, times):
    for _ in range(times):
        f = autograd.grad(lambda x, f=f: anp.sum(f(x) ** 2))
    return f(X)


TRANSFORMATIONS = {
    "call": lambda f: f(X),
    "grad": lambda f: autograd.grad(f)(X),
    "value_and_grad": lambda f: autograd.value_and_grad(f)(X),
    "elementwise_grad": lambda f: autograd.elementwise_grad(lambda x: f(x) * x)(X),
    "jacobian": lambda f: autograd.jacobian(lambda x: f(x) * x)(X),
    "hessian": lambda f: autograd.hessian(f)(X),
    "third": lambda f: autograd.jacobian(autograd.hessian(f))(X),
    "fourth": lambda f: autograd.jacobian(autograd.jacobian(autograd.hessian(f)))(X),
    "hessian_vector_product": lambda f: autograd.hessian_vector_product(f)(X, X),
    "make_hvp": lambda f: autograd.make_hvp(f)(X)[0](X),
    "make_jvp": lambda f: autograd.make_jvp(f)(X)(X),
    "make_jvp_reversemode": lambda f: make_jvp_reversemode(f)(X)(X),
    "forward over reverse": lambda f: autograd.make_jvp(autograd.grad(f))(X)(X),
    "reverse over forward": lambda f: autograd.grad(lambda x: autograd.make_jvp(f)(x)(X)[1])(X),
    "forward over forward": lambda f: autograd.make_jvp(lambda x: autograd.make_jvp(f)(x)(X)[1])(X)(
        X
    ),
    "thrice": lambda f: repeated(f, 3),
    "ggnvp": lambda f: autograd.make_ggnvp(lambda x: f(x) * x)(X)(X),
    "checkpoint": lambda f: autograd.grad(autograd.checkpoint(f))(X),
    "mixed": lambda f: autograd.hessian(lambda x: f(anp.exp(x)) ** 2 * anp.sum(x))(X),
    "of a float": lambda f: autograd.grad(autograd.grad(f))(0.3),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformations(name):
    transform = TRANSFORMATIONS[name]
    expected, found = transform(theirs), transform(export(ours))
    np.testing.assert_allclose(numbers(expected), numbers(found), rtol=1e-9)


def numbers(found):
    return np.hstack(list(map(np.ravel, found if isinstance(found, tuple) else (found,))))


def complex_ours(z):
    return np.conj(z) * z**2


def complex_theirs(z):
    return anp.conj(z) * z**2


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: autograd.make_vjp(f)(Z)[0](Z * (1 + 1j)),
        lambda f: autograd.make_jvp(f)(Z)(Z * (1 + 1j))[1],
        lambda f: autograd.make_vjp(lambda z: autograd.make_vjp(f)(z)[0](Z * (1 + 1j)))(Z)[0](Z),
        lambda f: autograd.grad(lambda z: anp.sum(anp.abs(f(z)) ** 2))(Z),
        lambda f: autograd.grad(lambda x: anp.sum(anp.imag(f(x * (1 + 2j)))))(X),
        lambda f: autograd.holomorphic_grad(lambda z: anp.sum(f(z)))(Z),
    ],
    ids=["vjp", "jvp", "vjp of vjp", "real loss", "of real numbers", "holomorphic_grad"],
)
def test_complex(transform):
    np.testing.assert_allclose(transform(complex_theirs), transform(export(complex_ours)))


# ---- structures ----------------------------------------------------------------------------------


@export
def of_trees(params, n, *, scale=1.0):
    w, (b, _) = params["w"], params["b"]
    return {"y": (w * b * scale, np.sum(w) ** 2), "count": n + 1, "flags": w > 0.4}


def loss_of_trees(params):
    found = of_trees(params, 5, scale=params["b"][0])
    assert found["count"] == 6
    assert found["flags"].tolist() == [False, True, True]
    return anp.sum(found["y"][0]) * found["y"][1]


def same_loss(params):
    w, (b, _) = params["w"], params["b"]
    return anp.sum(w * b * b) * anp.sum(w) ** 2


PARAMS = {"w": X, "b": [2.0, 1.0]}


def flat(params):
    return np.hstack([params["w"], *params["b"]])


def test_trees():
    expected, found = autograd.grad(same_loss)(PARAMS), autograd.grad(loss_of_trees)(PARAMS)
    np.testing.assert_allclose(flat(expected), flat(found))
    _, slope = autograd.make_jvp(same_loss)(PARAMS)(PARAMS)
    np.testing.assert_allclose(slope, autograd.make_jvp(loss_of_trees)(PARAMS)(PARAMS)[1])


@pytest.mark.parametrize(
    "transform", [autograd.hessian, lambda f: autograd.jacobian(autograd.hessian(f))]
)
def test_several_results_to_higher_orders(transform):
    # A result in a box of an outer derivative was taken for one that does not move.
    def of_vector(loss):
        return lambda x: loss({"w": x, "b": [x[0], x[1]]})

    np.testing.assert_allclose(
        transform(of_vector(same_loss))(X), transform(of_vector(loss_of_trees))(X)
    )


def test_some_results_in_use():
    two = export(lambda x: (x**2, np.sin(x)))
    expected = autograd.hessian(lambda x: anp.sum(anp.sin(x) ** 2))(X)
    np.testing.assert_allclose(expected, autograd.hessian(lambda x: anp.sum(two(x)[1] ** 2))(X))


def test_one_result_in_a_tuple():
    one = export(lambda x: (np.sum(x**2),))
    np.testing.assert_allclose(2 * X, autograd.grad(lambda x: one(x)[0])(X))


# ---- what the function gets ----------------------------------------------------------------------


def test_it_may_write_to_what_it_gets():
    @export
    def writes(x):
        x[0] = 0.0
        return np.sum(x**2)

    before = X.copy()
    np.testing.assert_array_equal([0, 1.0, 2.4], autograd.grad(writes)(X))
    np.testing.assert_array_equal(before, X)


def test_where_nothing_is_followed_it_is_the_function():
    given = []
    f = export(lambda x: given.append(x) or x)
    assert X is f(X)
    assert X is given[0]
    np.testing.assert_allclose(cr.grad(ours)(X), cr.grad(export(ours))(X))
    np.testing.assert_allclose(cr.hessian(ours)(X), cr.hessian(export(ours))(X))


def test_rules_of_the_function():
    @cr.primitive
    def scaled(x):
        return np.asarray(x) * 2

    @cr.rrule.register(scaled)
    def scaled_rrule(scaled, x):
        return scaled(x), lambda ybar: (cr.NoTangent(), 5 * ybar)

    assert 5.0 == autograd.grad(export(scaled))(1.0)
    assert 5.0 == autograd.make_jvp(export(scaled))(1.0)(1.0)[1]


# ---- errors --------------------------------------------------------------------------------------


def test_errors():
    with pytest.raises(TypeError, match="export takes a function, not int"):
        export(3)
    with pytest.raises(TypeError, match="returned str"):
        autograd.grad(export(lambda x: "text"))(1.0)
    with pytest.raises(cr.LostDerivativeError, match="needs a plain number"):
        autograd.grad(export(lambda x: float(x) ** 2))(1.0)
