"""Functions of Python's math and cmath on a batch: one call, the loop's numbers, its errors."""

import cmath as pythons_cmath
import math as pythons
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr
from chainrules import cmath, math

# Of whole numbers, of a sequence, or of two results with an integer: item after item, and right.
OTHERS = {
    "comb", "dist", "factorial", "frexp", "fsum", "gcd", "isqrt", "lcm", "ldexp", "modf", "perm",
    "prod", "sumprod", "fma",
}  # fmt: skip
POINTS = [np.array([0.3, 0.7, 0.2]), np.array([1.3, 2.7, 5.2]), np.array([-0.5, 0.0, 1.0])]


def functions(module):
    names = [name for name, f in vars(module).items() if callable(f) and name[0] != "_"]
    return sorted(set(names) - OTHERS - {"phase", "polar", "rect"})


def takes(f, *args):
    try:
        f(*args)
    except TypeError:
        return False
    except ValueError:
        pass
    return True


def calls(name):
    """Return functions of one number by ``name``, and with a constant in each place."""
    f = getattr(math, name)
    if takes(getattr(pythons, name), 0.5):
        yield f
    if takes(getattr(pythons, name), 0.5, 0.5):
        yield from (lambda x: f(x, 1.5), lambda x: f(1.5, x))


def outcome(f):
    try:
        return f()
    except (ValueError, OverflowError) as error:
        return type(error), str(error)


TRANSFORMS = {
    "value": lambda f: f,
    "grad": lambda f: cr.grad(lambda x: f(x) * 1.0),
    "jvp": lambda f: lambda x: cr.jvp(lambda x: f(x) * 1.0, (x,), (1.0,))[1],
    "hvp": lambda f: lambda x: cr.hvp(lambda x: f(x) * x, (x,), (1.0,)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::chainrules.IndependentOutputWarning")
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", functions(pythons))
def test_as_the_loop(name, transform):
    for f in calls(name):
        g = TRANSFORMS[transform](f)
        for xs in POINTS:
            expected = outcome(lambda: [g(x) for x in xs])  # noqa: B023
            with warnings.catch_warnings():
                if not isinstance(expected, tuple):
                    warnings.simplefilter("error", cr.BatchWarning)
                else:
                    warnings.simplefilter("ignore", cr.BatchWarning)
                found = outcome(lambda: cr.vmap(g)(xs))  # noqa: B023
            if isinstance(expected, tuple):
                assert found == expected
            else:
                np.testing.assert_allclose(found, np.array(expected), rtol=1e-13, atol=1e-15)
                assert getattr(found, "dtype", None) == np.array(expected).dtype


@pytest.mark.parametrize("name", functions(pythons_cmath))
def test_complex_numbers(name):
    f, xs = getattr(cmath, name), np.array([0.3 + 0.2j, -0.7 + 0.1j])
    for args in ((), (0.5 + 1j,)) if name in ("log", "isclose") else ((),):
        if name == "isclose" and not args:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error", cr.BatchWarning)
            found = cr.vmap(lambda x: f(x, *args))(xs)  # noqa: B023
        np.testing.assert_allclose(found, [f(x, *args) for x in xs], rtol=1e-13)


@pytest.mark.filterwarnings("ignore::chainrules.BatchWarning")
@pytest.mark.parametrize("name", sorted(OTHERS & set(dir(pythons))))
def test_what_goes_item_after_item(name):
    of_one = {
        "dist": lambda x: math.dist([x, 1.0], [0.0, x]), "frexp": lambda x: math.frexp(x)[0],
        "fsum": lambda x: math.fsum([x, 1.0]), "ldexp": lambda x: math.ldexp(x, 3),
        "modf": lambda x: math.modf(x)[0], "prod": lambda x: math.prod([x, x]),
        "sumprod": lambda x: math.sumprod([x], [x]), "fma": lambda x: math.fma(x, x, 1.0),
    }  # fmt: skip
    f = of_one.get(name)
    if f is None:
        pytest.skip("of whole numbers")
    xs = np.array([0.3, 2.7])
    np.testing.assert_allclose(cr.vmap(cr.grad(f))(xs), [cr.grad(f)(x) for x in xs], rtol=1e-13)


ONE = ["sin", "sqrt", "exp", "log", "atan", "tanh", "floor", "fabs", "gamma", "log1p"]
TWO = ["hypot", "pow", "atan2", "fmod", "copysign", "log"]
STEP = st.one_of(
    st.tuples(st.sampled_from(ONE), st.integers(0, 4)),
    st.tuples(st.sampled_from(TWO), st.integers(0, 4), st.integers(0, 4)),
    st.tuples(st.sampled_from(["add", "times"]), st.integers(0, 4), st.integers(0, 4)),
)


def program(steps, x):
    values = [x, 0.5 * x, 1.5, x - 1.0]
    for name, *places in steps:
        args = [values[k % len(values)] for k in places]
        if name in ("add", "times"):
            values.append(args[0] + args[1] if name == "add" else args[0] * args[1])
        else:
            values.append(getattr(math, name)(*args))
    return values[-1] * 1.0 + 0.0 * x


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::chainrules.BatchWarning")
@pytest.mark.filterwarnings("ignore::chainrules.IndependentOutputWarning")
@given(
    st.lists(STEP, min_size=1, max_size=5),
    st.lists(st.sampled_from([0.0, 0.3, -0.5, 1.0, 2.5, 800.0]), min_size=1, max_size=4),
    st.sampled_from(["value", "grad", "jvp"]),
)
def test_random_programs(steps, xs, transform):
    f = TRANSFORMS[transform](lambda x: program(steps, x))
    expected = outcome(lambda: np.array([f(x) for x in np.array(xs)]))
    found = outcome(lambda: cr.vmap(f)(np.array(xs)))
    if isinstance(expected, tuple):
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_compiled_and_nested():
    def f(x, y):
        return math.exp(-x * x) * math.hypot(x, y) + math.log(2.0 + x)

    xs, ys = np.array([0.1, 0.4, 0.9]), np.array([1.0, 2.0])
    expected = [[f(x, y) for y in ys] for x in xs]
    both = cr.vmap(lambda x: cr.vmap(lambda y: f(x, y))(ys))
    with warnings.catch_warnings():
        warnings.simplefilter("error", cr.BatchWarning)
        np.testing.assert_allclose(both(xs), expected, rtol=1e-14)
        np.testing.assert_allclose(cr.compile(both)(xs), expected, rtol=1e-14)
        found = cr.grad(lambda xs: np.sum(both(xs)))(xs)
    slopes = [cr.grad(lambda x: sum(f(x, y) for y in ys))(x) for x in xs]
    np.testing.assert_allclose(found, slopes, rtol=1e-13)


def test_views_of_an_array_that_is_differentiated():
    """Such a batch holds a view by an index, whose value is read late."""
    x = np.array([[1.0, 2.0], [3.0, 0.5], [0.2, 0.7]])

    def loss(x):
        return np.sum(cr.vmap(lambda item: math.sqrt(item[0]) * math.exp(item[1]))(x))

    expected = np.exp(x[:, 1]) * np.stack([0.5 / np.sqrt(x[:, 0]), np.sqrt(x[:, 0])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(cr.grad(loss)(x), expected.T, rtol=1e-12)
        assert cr.hessian(loss)(x).shape == (3, 2, 3, 2)


def with_python(name):
    return {
        "root": lambda x: x.item() ** 0.5,
        "quotient": lambda x: 1 / x.item(),
        "remainder": lambda x: 5.0 % x.tolist(),
        "power": lambda x: x.item() ** -1,
        "large": lambda x: (x.item() * 1e200) ** 2,
        "class": lambda x: 1.0 if isinstance(x.item(), np.floating) else x.item() * 2 + x.item(),
    }[name]


@pytest.mark.filterwarnings("ignore::chainrules.BatchWarning")
@pytest.mark.parametrize("name", ["root", "quotient", "remainder", "power", "large", "class"])
@pytest.mark.parametrize("xs", [np.array([0.5, 2.0]), np.array([-8.0, 0.0, 3.0])])
def test_pythons_numbers_raise_and_turn_complex_as_in_a_loop(name, xs):
    f = with_python(name)
    try:
        right = np.stack([f(x) for x in xs])
    except (ZeroDivisionError, OverflowError) as error:
        with pytest.raises(type(error)):
            cr.vmap(f)(xs)
        return
    found = cr.vmap(f)(xs)
    assert found.dtype == right.dtype
    np.testing.assert_allclose(found, right, rtol=1e-14)


def test_an_error_that_is_caught_is_caught_for_its_items_alone():
    def f(x):
        try:
            return 1 / x.item()
        except ZeroDivisionError:
            return 5.0

    np.testing.assert_array_equal(cr.vmap(f)(np.array([2.0, 0.0, 4.0])), [0.5, 5.0, 0.25])
    both = cr.vmap(cr.vmap(f))(np.array([[2.0, 0.0], [0.0, 4.0]]))
    np.testing.assert_array_equal(both, [[0.5, 5.0], [5.0, 0.25]])
