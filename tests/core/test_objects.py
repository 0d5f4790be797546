"""np.array([x, y]) and np.asarray(x): object arrays that compute rightly, and heal."""

import warnings

import numpy as np
import pytest
from differences import jacobian_of

import chainrules as cr

X = np.array([0.5, 1.5, 2.0])


def in_a_list(x):
    return np.array([x[0] * x[1], 1.0, x[2]])


def computes_on_objects(x):
    a = np.array([x[0], x[1] * x[2], 2.5])
    b = np.array([x[0], x[1] * x[2]])
    return np.sum(np.sin(b) * b**2) + a.sum() - a.max() + np.dot(a, a)


def meets_a_traced_array(x):
    return np.array([[x[0], x[1]], [x[2], 0.5]]) @ x[:2] * np.array([x[1], x[0]])


def as_array(x):
    return np.asarray(x) * 2.0 + np.exp(np.asarray(x))


def in_a_numpy_function(x):
    a = np.array([x[0], 2.0])
    return np.concatenate([a, x]) * np.linalg.norm(np.concatenate([a * x[1], x]))


def in_a_container(x):
    return {"a": np.array([x[0], x[1]]), "b": [np.array([x[2] * x[2]])]}["a"] * x[2]


def full(x):
    return np.full((2, 2), x[1]) * x[0]


PROGRAMS = [
    in_a_list,
    computes_on_objects,
    meets_a_traced_array,
    as_array,
    in_a_numpy_function,
    in_a_container,
    full,
]


def differences(f):
    return jacobian_of(f, X)


@pytest.mark.parametrize("f", PROGRAMS)
def test_jacobians(f):
    for transform in (cr.jacfwd, cr.jacrev, cr.jacobian):
        found = transform(f)(X)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, differences(f), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_order(f):
    def loss(x):
        return np.sum(f(x) * f(x))

    expected = differences(cr.grad(loss))
    for outer in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(outer(cr.grad(loss))(X), expected, rtol=1e-6, atol=1e-6)


def test_an_object_array_in_the_output_is_healed():
    y, pullback = cr.vjp(lambda x: (np.array([x[0], 2.0 * x[1]]), "text"), X)
    assert y[0].dtype == np.float64
    np.testing.assert_array_equal(pullback((np.ones(2), None))[0], [1.0, 2.0, 0.0])


def test_an_object_array_of_plain_numbers_meets_a_traced_array():
    plain = np.array([1, 2.5, 3], dtype=object)
    np.testing.assert_array_equal(cr.grad(lambda x: np.sum(x * plain))(X), [1.0, 2.5, 3.0])
    np.testing.assert_array_equal(cr.jvp(lambda x: plain + x, (X,), (X,))[1], X)
    with pytest.raises(TypeError):
        cr.grad(lambda x: np.sum(x * np.array(["a", "b", None], dtype=object)))(X)


ARRAYS = np.empty(3, object)
ARRAYS[:] = [np.array([0.1, 0.5]), np.array([0.3]), np.array([1.5, 0.7])]


@pytest.mark.parametrize(
    "call",
    [
        lambda a, x: a + x,
        lambda a, x: x[1] * a,
        lambda a, x: (a**x) / (x + a),
        lambda a, x: np.inner(a, x),
        lambda a, x: x @ a,
        lambda a, x: np.einsum("i,i", a, x),
        lambda a, x: np.linalg.norm(a - x),
        lambda a, x: cr.numpy.linalg.norm(a - x),
        lambda a, x: cr.numpy.cumsum(cr.numpy.add(a, x))[-1],
        lambda a, x: np.add(a, x, out=np.empty(3, object))[2],
    ],
)
def test_an_object_array_of_arrays_is_computed_with_entry_by_entry(call):
    def f(x):
        y = call(ARRAYS, x)
        return sum(np.sum(np.sin(part)) for part in y)

    expected = differences(f)
    for transform in (cr.grad, cr.jacfwd):
        np.testing.assert_allclose(transform(f)(X), expected, rtol=1e-7, atol=1e-7)
    second = differences(cr.grad(f))
    np.testing.assert_allclose(cr.jacfwd(cr.grad(f))(X), second, rtol=1e-6, atol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.BatchWarning)
        warnings.simplefilter("ignore", cr.CompileWarning)
        np.testing.assert_allclose(cr.vmap(f)(np.stack([X, 2.0 * X])), [f(X), f(2.0 * X)])
        np.testing.assert_allclose(cr.compile(cr.grad(f))(X), expected, rtol=1e-7, atol=1e-7)


def test_what_joins_the_arrays_in_an_object_array_takes_a_list():
    for run in (lambda f: cr.vjp(f, X), lambda f: cr.jvp(f, (X,), (X,))):
        with pytest.raises(cr.LostDerivativeError, match="objects that are arrays cannot"):
            run(lambda x: np.concatenate(ARRAYS * x))
    for joined in (lambda a: np.concatenate(list(a)), cr.numpy.concatenate, cr.numpy.hstack):
        gradient = cr.grad(lambda x, joined: np.sum(joined(ARRAYS * x)))(X, joined)
        np.testing.assert_allclose(gradient, [0.6, 0.3, 2.2])


def test_an_object_array_of_an_inner_level_beside_an_outer_one():
    # It was healed by the outer level, which lost the dependence on the inner one.
    def f(x):
        return np.sum(np.array([x[0] * x[1], x[2], x[0]]) * x * x)

    def g(x):
        return np.sum(x * np.array([x[0] * x[1], x[2], x[0]]) @ np.array([x[1], x[1], x[2]]))

    for loss in (f, g):
        expected = differences(cr.grad(loss))
        for outer in (cr.jacfwd, cr.jacrev):
            for inner in (cr.grad, cr.jacfwd):
                np.testing.assert_allclose(outer(inner(loss))(X), expected, rtol=1e-6, atol=1e-6)


def test_a_function_without_a_loop_for_objects_says_what_to_write():
    for run in (cr.grad, lambda f: lambda x: cr.jvp(f, (x,), (x,))):
        message = r"(?s)^numpy\.linalg\.det met .* in test_objects\.py:\d+: .*build .* cr\.array"
        with pytest.raises(cr.LostDerivativeError, match=message):
            run(lambda x: np.linalg.det(np.array([[x[0], x[1]], [x[1], x[2]]])))(X)
        message = r"(?s)^a function met .* in test_objects\.py:\d+: .*chainrules\.numpy"
        with pytest.raises(cr.LostDerivativeError, match=message):
            run(lambda x: np.sum(np.exp(np.array([x[0], 1.0]))))(X)


class UsersError(TypeError):
    """One that a program raises to say something itself."""


def test_an_ordinary_error_stays_as_it_is():
    nothing = None

    def refuses(x):
        raise UsersError("no object array here: this object is not wanted")

    for program in (lambda x: nothing(x), lambda x: iter(3), refuses):
        with pytest.raises(TypeError, match="object is not") as caught:
            cr.grad(program)(X)
        assert not isinstance(caught.value, cr.ChainRulesError)
    with pytest.raises(AttributeError, match="type object 'UsersError' has no attribute"):
        cr.grad(lambda x: UsersError.missing)(X)
