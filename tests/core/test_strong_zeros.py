"""``zero="strong"``: 0 times an infinite or undefined slope is 0, in every transform that asks."""

import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import chainrules as cr

pytestmark = pytest.mark.filterwarnings("ignore:(divide by zero|invalid value):RuntimeWarning")

X = np.array([0.0, 1.0, -3.0])
SLOPES = np.array([1.0, 0.25, 0.0625])


def bounded(x):
    """``x / (1 + abs(x))``, whose slope is 1 at 0; written so that it meets 0 times infinity."""
    return x / (1 + np.sqrt(x**2))


def total(x):
    return np.sum(bounded(x))


def pushed(x, zero=None):
    _, push = cr.linearize(bounded, x, zero=zero)
    return push(np.ones_like(x)), push(np.eye(np.size(x)), block=True).sum(0)


GRADIENTS = {
    "grad": lambda x, **o: cr.grad(total, **o)(x),
    "value_and_grad": lambda x, **o: cr.value_and_grad(total, **o)(x)[1],
    "vjp": lambda x, **o: cr.vjp(bounded, x, **o)[1](np.ones_like(x))[0],
    "jvp": lambda x, **o: cr.jvp(bounded, (x,), (np.ones_like(x),), **o)[1],
    "jacfwd": lambda x, **o: cr.jacfwd(bounded, **o)(x).sum(0),
    "jacrev": lambda x, **o: cr.jacrev(bounded, **o)(x).sum(0),
    "jacobian": lambda x, **o: cr.jacobian(bounded, **o)(x).sum(0),
    "jacobian of many": lambda x, **o: np.diag(cr.jacobian(bounded, **o)(np.tile(x, 3)))[:3],
    "jacobian by rows": lambda x, **o: cr.jacobian(total, **o)(np.tile(x, 3))[:3],
    "linearize": lambda x, **o: pushed(x, **o)[0],
    "linearize in blocks": lambda x, **o: pushed(x, **o)[1],
    "sparse": lambda x, **o: cr.jacfwd(bounded, sparse=True, **o)(x).toarray().sum(0),
    "sparse by rows": lambda x, **o: cr.jacrev(bounded, sparse=True, **o)(x).toarray().sum(0),
    "compiled": lambda x, **o: [cr.compile(cr.grad(total, **o))(x) for _ in range(3)][-1],
    "vmap": lambda x, **o: cr.vmap(cr.grad(bounded, **o))(x),
    "vmap of jvp": lambda x, **o: cr.vmap(lambda t: cr.jvp(bounded, (t,), (1.0,), **o)[1])(x),
    "numbers": lambda x, **o: np.array([cr.grad(bounded, **o)(float(t)) for t in x]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_every_transform_takes_it_and_none_has_it_unasked(name):
    np.testing.assert_allclose(GRADIENTS[name](X, zero="strong"), SLOPES)
    assert np.isnan(GRADIENTS[name](X)[0])


def wirtinger(z, **options):
    return cr.wirtinger(lambda z: z / (1 + np.sqrt(z * np.conj(z))), **options)(z)


def test_wirtinger_derivatives_and_complex_numbers():
    assert all(map(np.isnan, wirtinger(0j)))
    np.testing.assert_allclose(wirtinger(0j, zero="strong"), (1, 0))
    gradient = cr.grad(lambda z: np.real(np.sum(bounded(z))), zero="strong")(np.array([0j, 1 + 0j]))
    np.testing.assert_allclose(gradient, [1, 0.25])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 2)])
def test_dtypes_and_shapes_stay(dtype, shape):
    x = np.zeros(shape, dtype)
    gradient = cr.grad(lambda x: np.real(total(x)), zero="strong")(x)
    _, ydot = cr.jvp(bounded, (x,), (np.ones_like(x),), zero="strong")
    for found in (gradient, ydot):
        assert (np.shape(found), found.dtype) == (shape, dtype)
        np.testing.assert_array_equal(found, np.ones(shape))


def test_numbers_of_python_stay_and_raise_as_they_do():
    y, pullback = cr.vjp(lambda x: x * 2.0 + 1.0, 3.0, zero="strong")
    assert (type(y), pullback(1.0)) == (float, (2.0,))
    with pytest.raises(ZeroDivisionError):
        cr.grad(lambda x: 1.0 / x, zero="strong")(0.0)


def test_branches_broadcasts_and_reductions():
    def rooted(x):
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0) * np.ones((2, 1)))

    x = np.array([0.0, 4.0])
    np.testing.assert_allclose(cr.grad(rooted, zero="strong")(x), [0.0, 0.5])
    spread = cr.grad(lambda x: np.std(x) ** 2 + x[0], zero="strong")
    np.testing.assert_allclose(spread(np.ones(3)), [1.0, 0.0, 0.0])
    product = cr.grad(lambda x: np.sum(np.sqrt(x * 0.0)) + x[0], zero="strong")
    np.testing.assert_allclose(product(np.ones(2)), [np.nan, np.nan])  # zero slope, infinite bar
    _, ydot = cr.jvp(lambda x: np.sqrt(x * 0.0), (np.ones(2),), (np.ones(2),), zero="strong")
    np.testing.assert_array_equal(ydot, [0.0, 0.0])  # forwards the tangent is the zero
    parts = cr.grad(lambda x: sum(np.modf(np.sqrt(x))) ** 2, zero="strong")
    assert parts(0.0) == 0.0


def test_a_function_that_has_a_rule_itself():
    for x in (0.0, np.zeros(2)):
        (xbar,) = cr.vjp(np.sqrt, x, zero="strong")[1](x)
        _, ydot = cr.jvp(np.sqrt, (x,), (x,), zero="strong")
        assert np.isnan(cr.jvp(np.sqrt, (x,), (x,))[1]).all()
        np.testing.assert_array_equal(np.stack([xbar, ydot]), 0.0)
    (xbar,) = cr.vjp(np.std, np.ones(3), zero="strong")[1](0.0)
    np.testing.assert_array_equal(xbar, np.zeros(3))
    (xbar,) = cr.vjp(np.frexp, 0.0, zero="strong")[1]((0.0, 0))
    assert xbar == 0.0


def test_second_derivatives_of_a_cotangent_that_is_zero_here_are_not_lost():
    hessian = cr.hessian(lambda x: np.sum(np.sin(x) ** 2), zero="strong")(np.zeros(2))
    np.testing.assert_array_equal(hessian, 2 * np.eye(2))
    assert np.isnan(cr.hessian(lambda x: np.sqrt(x) ** 3, zero="strong")(0.0))  # 0.75 / sqrt(x)

    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0) * x)

    x = np.array([0.0, 4.0])
    expected = np.diag([0.0, 0.375])
    np.testing.assert_allclose(cr.hessian(f, zero="strong")(x), expected)
    for j, column in enumerate(np.eye(2)):
        np.testing.assert_allclose(cr.hvp(f, (x,), (column,), zero="strong"), expected[j])
    block = cr.hvp(f, (x,), (np.eye(2),), block=True, zero="strong")
    np.testing.assert_allclose(block, expected)


def test_each_of_nested_transforms_decides_for_itself():
    def inner(t):
        return cr.grad(lambda x: bounded(x * t), zero="strong")(0.0)

    assert inner(2.0) == 2.0
    assert np.isnan(cr.jvp(inner, (2.0,), (1.0,))[1])
    assert cr.jvp(inner, (2.0,), (1.0,), zero="strong")[1] == 1.0
    assert np.isnan(cr.grad(lambda t: cr.grad(lambda x: bounded(x * t))(0.0), zero="strong")(2.0))


def test_it_is_a_convention_and_has_no_limit_in_it():
    assert np.isnan(cr.grad(lambda x: np.sqrt(x) ** 2)(0.0))
    assert cr.grad(lambda x: np.sqrt(x) ** 2, zero="strong")(0.0) == 0.0


PLAIN = {
    "arithmetic": lambda x: np.sum(x * np.sin(x) / (2.0 + x) - 3.0 * x[0]),
    "extremes": lambda x: np.max(x) * np.min(np.abs(x)) + np.sum(np.maximum(x, 0.5)),
    "matrices": lambda x: np.sum(np.linalg.inv(np.outer(x, x) + np.eye(3)) @ x),
    "moments": lambda x: np.var(x) + np.prod(x) + np.sum(np.divmod(x, 0.7)[1] ** 2),
    "writes": lambda x: written(x * 1.0),
    "python": lambda x: float.__mul__(2.0, 3.0) * x[0] ** 2 + x[1] ** x[2],
}


def written(y):
    y[1:] = y[:-1] * y[0]
    return np.sum(np.exp(y))


@pytest.mark.parametrize("name", PLAIN)
def test_nothing_changes_where_slopes_are_finite(name):
    f, x = PLAIN[name], np.array([0.3, 1.3, 0.9])
    np.testing.assert_allclose(cr.grad(f, zero="strong")(x), cr.grad(f)(x), 1e-14)
    np.testing.assert_allclose(cr.jacfwd(f, zero="strong")(x), cr.jacfwd(f)(x), 1e-14)
    expected = cr.hessian(f)(x)
    np.testing.assert_allclose(cr.hessian(f, zero="strong")(x), expected, 1e-12, 1e-12)
    cr.testing.check_grad(lambda x: cr.grad(f, zero="strong")(x) @ x, x)


def test_rules_that_call_back_hand_it_on():
    def steps(x, count):
        return cr.loop(count, bounded, x)

    def scanned(x):
        return cr.scan(lambda c, t: (bounded(c) * t, c), x, np.ones(4))[0]

    programs = (
        lambda x: steps(x, 5),
        lambda x: steps(x, 300),
        scanned,
        lambda x: cr.checkpoint(bounded)(x),
        lambda x: np.sum(cr.map(bounded, [x, x])) / 2,
    )
    for f in programs:
        assert cr.grad(f, zero="strong")(0.0) == 1.0
        assert cr.jvp(f, (0.0,), (1.0,), zero="strong")[1] == 1.0
        compiled = cr.compile(cr.grad(f, zero="strong"))
        assert [compiled(0.0) for _ in range(3)] == [1.0] * 3
    with ThreadPoolExecutor(2) as pool:
        mapped = cr.grad(lambda x: np.sum(cr.map(bounded, [x, x], executor=pool)), zero="strong")
        assert mapped(0.0) == 2.0


def test_configs_of_ones_own_have_the_trait_or_are_given_it():
    class Strong(cr.ReverseConfig, cr.StrongZeros):
        pass

    class Mine(cr.ReverseConfig):
        pass

    assert cr.grad(bounded, config=Strong())(0.0) == 1.0
    assert cr.grad(bounded, config=Mine(), zero="strong")(0.0) == 1.0
    asked = []
    kept = cr.primitive(lambda x: 2.0 * x)

    @cr.rrule.register(kept)
    def kept_rrule(config: cr.StrongZeros, kept, x):
        asked.append(type(config).__mro__)
        return kept(x), lambda ybar: (cr.NoTangent(), 2.0 * ybar)

    assert cr.grad(lambda x: kept(x) * x, config=Mine(), zero="strong")(3.0) == 12.0
    assert Mine in asked[0]


def test_what_is_made_can_be_pickled_and_watched():
    gradient = pickle.loads(pickle.dumps(cr.grad(total, zero="strong")))
    np.testing.assert_allclose(gradient(X), SLOPES)
    with cr.debug(nan=True):
        np.testing.assert_allclose(cr.grad(total, zero="strong")(X), SLOPES)
        np.testing.assert_allclose(cr.jacfwd(total, zero="strong")(X), SLOPES)


@pytest.mark.parametrize("name", sorted(GRADIENTS.keys() - {"linearize in blocks"}))
def test_other_words_are_refused(name):
    with pytest.raises(ValueError, match="zero='weak' is none of 'strong', None"):
        GRADIENTS[name](X, zero="weak")


def test_a_rule_that_was_replaced_is_let_go():
    f = cr.primitive(lambda x: x**2)

    def slope(_, x):
        return 2 * x

    cr.scalar_rule(f, slope)
    assert cr.grad(f, zero="strong")(3.0) == 6.0
    cr.scalar_rule(f, lambda _, x: 3 * x)
    assert cr.grad(f, zero="strong")(3.0) == 9.0
    gone = weakref.ref(slope)
    del slope
    gc.collect()
    assert gone() is None
