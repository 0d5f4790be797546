"""Second derivatives where numbers are equal: those of smooth functions are right."""

import itertools

import numpy as np
import pytest
from counted_calls import calls_of
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules.compiling.losses import Losses


def both_ways(x):
    return np.stack([x, x[::-1]])


def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def pairwise_logsumexp(x):
    m = np.maximum(np.maximum(x[0], x[1]), x[2])
    return m + np.log(np.sum(np.exp(x - m)))


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


# Smooth functions of three numbers that are written by what puts numbers in order or chooses
# among them, and what each one is.
SMOOTH = {
    "sort": (lambda x: np.sum(np.sort(x) ** 2), lambda x: np.sum(x**2)),
    "partition": (lambda x: np.sum(np.partition(x, 1) ** 2), lambda x: np.sum(x**2)),
    "max and min": (lambda x: np.max(x[:2]) * np.min(x[:2]), lambda x: x[0] * x[1]),
    "median": (lambda x: np.max(x) * np.min(x) * np.median(x), np.prod),
    "nanmax": (lambda x: np.nanmax(x) * np.nanmin(x) * np.nanmedian(x), np.prod),
    "reduce": (lambda x: np.maximum.reduce(x) * np.fmin.reduce(x) * np.median(x), np.prod),
    "quantile": (
        lambda x: np.quantile(x, 0) * np.percentile(x, 100) * np.quantile(x, 0.5), np.prod
    ),
    "ptp": (lambda x: np.ptp(x[:2]) ** 2, lambda x: (x[0] - x[1]) ** 2),
    "axis": (
        lambda x: np.sum(np.max(both_ways(x), axis=0) * np.min(both_ways(x), axis=0)),
        lambda x: np.sum(x * x[::-1]),
    ),
    "maximum": (lambda x: np.sum(np.maximum(x, 2 - x) ** 2 + np.minimum(x, 2 - x) ** 2),
                lambda x: np.sum(x**2 + (2 - x) ** 2)),
    "fmax": (lambda x: np.sum(np.fmax(x, x[::-1]) * np.fmin(x, x[::-1])),
             lambda x: np.sum(x * x[::-1])),
    "clip": (lambda x: np.sum((np.clip(x, 1, 9) - 1) ** 2 + (np.clip(x, -9, 1) - 1) ** 2),
             lambda x: np.sum((x - 1) ** 2)),
    "clip at arrays": (lambda x: np.sum(np.clip(x, x[::-1], 9) * np.clip(x, -9, x[::-1])),
                       lambda x: np.sum(x * x[::-1])),
    "initial": (lambda x: np.max(x[:1], initial=1.0) * np.min(x[:1], initial=1.0), lambda x: x[0]),
    "abs": (lambda x: np.sum(np.abs(x - x[::-1]) ** 2), lambda x: np.sum((x - x[::-1]) ** 2)),
    "abs of numbers": (lambda x: abs(x[0] - x[2]) * np.fabs(x[2] - x[0]) + abs(x[1] - x[0]) ** 2,
                       lambda x: (x[0] - x[2]) ** 2 + (x[1] - x[0]) ** 2),
    "where": (lambda x: np.max(x, where=np.arange(3) > 0, initial=0) * np.min(x[1:]),
              lambda x: x[1] * x[2]),
    "median of an even number": (lambda x: np.median(np.append(x, x[0])) * 2
                                 + np.max(np.append(x, x[0])) + np.min(np.append(x, x[0])),
                                 lambda x: np.sum(x) + x[0]),
    "quantile between": (lambda x: np.sum(np.quantile(x[:2], np.array([0.25, 0.75])) ** 2),
                         lambda x: 0.625 * (x[0] ** 2 + x[1] ** 2) + 0.75 * x[0] * x[1]),
    "accumulate": (lambda x: np.sum(np.maximum.accumulate(x[:2])[1:] * np.minimum.accumulate(x)[1]),
                   lambda x: x[0] * x[1]),
    "cube of a bound": (lambda x: np.sum(np.clip(x - 1, 0, np.inf) ** 3), lambda x: 0.0
                        + np.sum(np.where(x > 1, x - 1, 0.0) ** 3)),
    "logsumexp": (logsumexp, lambda x: np.log(np.sum(np.exp(x)))),
    "logsumexp of maximum": (pairwise_logsumexp, lambda x: np.log(np.sum(np.exp(x)))),
    "softmax": (lambda x: softmax(x)[0], lambda x: np.exp(x[0]) / np.sum(np.exp(x))),
}  # fmt: skip
POINTS = [np.array(x) for x in ((1.0, 1, 1), (1.0, 1, 2), (2.0, 1, 1), (2.0, 1.5, 0.5))]
HESSIANS = {
    "hessian": cr.hessian,
    "one direction at a time": lambda f: lambda x: np.stack(
        [cr.hvp(f, (x,), (e,)) for e in np.eye(3)]
    ),
    "a block of directions": lambda f: lambda x: cr.hvp(f, (x,), (np.eye(3),), block=True),
    "forward over reverse": lambda f: cr.jacfwd(cr.jacrev(f)),
    "forward over forward": lambda f: cr.jacfwd(cr.jacfwd(f)),
    "reverse over reverse": lambda f: cr.jacrev(cr.jacrev(f)),
    "reverse over forward": lambda f: cr.jacrev(cr.jacfwd(f)),
    "linearized": lambda f: lambda x: np.stack(
        [cr.linearize(cr.grad(f), x)[1](e) for e in np.eye(3)]
    ),
}  # fmt: skip


def assert_same_hessians(f, same, how):
    for x in POINTS:
        expected, found = cr.hessian(same)(x), HESSIANS[how](f)(x)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def assert_same_third_derivatives(f, same):
    for x in POINTS:
        expected = cr.jacfwd(cr.hessian(same))(x)
        for third in (
            cr.jacfwd(cr.hessian(f)),
            cr.jacrev(cr.hessian(f)),
            cr.jacfwd(cr.jacfwd(cr.jacfwd(f))),
            cr.jacrev(cr.jacrev(cr.jacrev(f))),
            cr.jacrev(cr.jacfwd(cr.jacrev(f))),
        ):
            np.testing.assert_allclose(third(x), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("how", HESSIANS)
@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivative_at_ties_is_that_of_the_smooth_function(name, how):
    assert_same_hessians(*SMOOTH[name], how)


@pytest.mark.parametrize("name", [name for name in SMOOTH if name != "cube of a bound"])
def test_third_derivative_at_ties(name):
    assert_same_third_derivatives(*SMOOTH[name])


@pytest.mark.parametrize("name", SMOOTH)
def test_first_derivative_is_finite(name):
    f, same = SMOOTH[name]
    for x in POINTS:
        expected = cr.grad(same)(x)
        np.testing.assert_allclose(cr.grad(f)(x), expected, rtol=1e-12)
        np.testing.assert_allclose(cr.jacfwd(f)(x), expected, rtol=1e-12)


def test_numbers_that_move_together_have_no_kink():
    def f(x):
        return np.max(x[0] * np.ones(3)) ** 3 + np.maximum(x, x)[1] ** 2 + np.sort(x[[0, 0]])[0]

    x = np.array([1.0, 2.0])
    for hessian in (cr.hessian, lambda f: cr.jacfwd(cr.jacfwd(f))):
        np.testing.assert_allclose([[6, 0], [0, 2]], hessian(f)(x))


def test_no_kink_where_nothing_moves():
    """Rows of padding are equal numbers that depend on nothing."""
    padded = np.zeros((2, 3))
    found = cr.hessian(lambda w: np.sum(np.maximum(padded @ w, 0)) + np.sum(w**2))(np.ones(3))
    np.testing.assert_array_equal(2 * np.eye(3), found)


def test_no_kink_where_a_selection_left_it_out():
    def f(x):
        return np.sum(np.where(x > 5, np.maximum(x, 1.0), x**2))

    np.testing.assert_array_equal(2 * np.eye(2), cr.hessian(f)(np.ones(2)))


def test_kinks_of_equal_infinities_are_left_alone():
    x = np.array([np.inf, np.inf, 1.0])
    for f in (np.max, lambda x: np.sum(np.sort(x)), lambda x: np.sum(np.maximum(x, x[::-1]))):
        assert np.all(np.isfinite(cr.grad(f)(x)))
        assert np.all(np.isfinite(cr.jacfwd(cr.grad(f))(x)))


def test_all_orders_of_ties_among_four():
    """Sorted or not, and whichever are equal: the function is the same, and smooth."""
    for x in itertools.product((1.0, 2.0), repeat=4):
        x = np.array(x)
        found = cr.hessian(lambda x: np.sum(np.sort(x.reshape(2, 2), axis=1) ** 2))(x)
        np.testing.assert_allclose(2 * np.eye(4), found, rtol=1e-12, atol=1e-12)


# Symmetric functions of three numbers, and how these may be put in order. All are smooth.
ORDERS = [
    np.sort,
    lambda x: np.partition(x, 1),
    lambda x: np.stack([np.min(x), np.median(x), np.max(x)]),
    lambda x: np.quantile(x, [0, 0.5, 1]),
    lambda x: np.stack([np.sort(x)[0], np.sum(x) - np.max(x) - np.min(x), np.fmax.reduce(x)]),
    lambda x: np.sort(x.reshape(1, 3, 1), axis=1)[0, :, 0],
    lambda x: np.min(x) + np.stack([0 * x[0], np.median(x) - np.min(x), np.ptp(x)]),
]


def symmetric(y, w):
    """Each choice of coefficients makes a function in which the order does not count."""
    sums = np.sum(y), np.sum(y**2), np.prod(y), np.sum(np.exp(w[3] * y))
    return sums[0] * sums[1] * w[0] + np.sin(w[1] * sums[2]) * sums[3] + w[2] * sums[1] ** 2


@pytest.mark.parametrize("seed", range(40))
def test_symmetric_functions_of_numbers_in_order_are_smooth(seed):
    random = np.random.default_rng(seed)
    order = ORDERS[seed % len(ORDERS)]
    w, x = random.normal(size=4), random.choice([-0.5, 0.25, 1.0], size=3)
    expected = cr.hessian(lambda x: symmetric(x, w))(x)
    for hessian in HESSIANS.values():
        found = hessian(lambda x: symmetric(order(x), w))(x)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("f", [np.maximum, np.minimum, np.fmax, np.fmin])
@pytest.mark.parametrize("shapes", [((3,), ()), ((2, 3), (3,)), ((2, 1), (3,)), ((), ())])
def test_broadcast_arguments_of_the_larger_and_the_smaller(f, shapes):
    a, b = (np.ones(shape) for shape in shapes)
    other = {np.maximum: np.minimum, np.minimum: np.maximum, np.fmax: np.fmin, np.fmin: np.fmax}[f]
    for h in (
        lambda f: cr.hessian(f, (0, 1)),
        lambda f: cr.jacrev(cr.jacrev(f, (0, 1)), (0, 1)),
        lambda f: cr.jacfwd(cr.jacfwd(f, (0, 1)), (0, 1)),
    ):
        found = h(lambda a, b: np.sum(f(a, b) * other(a, b)))(a, b)
        expected = h(lambda a, b: np.sum(a * b))(a, b)
        for row, expected_row in zip(found, expected, strict=True):
            for block, expected_block in zip(row, expected_row, strict=True):
                np.testing.assert_allclose(block, expected_block, atol=1e-12)


def test_float32_stays_float32_at_ties():
    x = np.ones(3, np.float32)
    for name, (f, same) in SMOOTH.items():
        if name in ("quantile", "quantile between"):  # NumPy's own quantiles are of float64
            continue
        for hessian in (cr.hessian, lambda f: cr.jacrev(cr.jacrev(f))):
            found = hessian(f)(x)
            assert found.dtype == np.float32, name
            np.testing.assert_allclose(found, cr.hessian(same)(x), rtol=1e-4, atol=1e-5)


def test_gradient_at_ties_is_the_same_where_it_is_differentiated_again():
    x = np.ones(3)
    for f in (np.max, lambda x: np.sort(x)[2], lambda x: np.median(x) + np.maximum(x, 1.0)[0],
              lambda x: np.sum(np.clip(x, 1, 2)),
              lambda x: np.minimum.accumulate(x)[1]):  # fmt: skip
        gradient = cr.grad(f)
        expected = gradient(x)
        np.testing.assert_array_equal(expected, cr.jvp(gradient, (x,), (x,))[0])
        np.testing.assert_array_equal(expected, cr.vjp(gradient, x)[0])
        np.testing.assert_allclose(cr.jacfwd(f)(x), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "f", [np.max, lambda x: np.sort(x)[0], lambda x: np.maximum(x, 1.0)[0]], ids=range(3)
)
def test_linear_in_tangents_at_ties(f):
    """First derivatives are linear in the tangent, with the even shares."""
    x = np.ones(3)
    pushed = cr.jacrev(lambda v: cr.jvp(f, (x,), (v,))[1])(x)
    np.testing.assert_allclose(pushed, cr.grad(f)(x), rtol=1e-12)
    pulled = cr.jacfwd(lambda ybar: cr.vjp(f, x)[1](ybar)[0])(1.0)
    np.testing.assert_allclose(pulled, cr.grad(f)(x), rtol=1e-12)


def test_nan_that_is_passed_over_at_ties():
    x = np.array([np.nan, 1.0, 1.0])

    def f(x):
        pair = np.fmax(x[0], x[1]) * np.fmin(x[2], x[0])
        return np.nanmax(x) * np.nanmin(x) + np.nanmedian(x) ** 2 + pair

    expected = np.zeros((3, 3))
    expected[1:, 1:] = [[0.5, 2.5], [2.5, 0.5]]
    for hessian in HESSIANS.values():
        np.testing.assert_allclose(hessian(f)(x), expected)


def test_values_of_unique_have_no_second_derivative_at_ties():
    """``sum(counts * values**2)`` is smooth, and no choice among equal numbers tells it."""

    def f(x):
        values, counts = np.unique(x, return_counts=True)
        return np.sum(counts * values**2)

    assert np.all(np.isnan(cr.hessian(f)(np.ones(2))))
    np.testing.assert_allclose(cr.hessian(f)(np.array([2.0, 1.0])), 2 * np.eye(2))


# Functions of ``d``, in which numbers of ``x`` stand twice, and what they are of ``x``.
TWICE = {
    "unique": (lambda d: np.sum(np.unique(d) ** 3), lambda x: np.sum(x**3)),
    "unique with counts": (lambda d: np.sum(np.unique(d, return_counts=True)[0] ** 3),
                           lambda x: np.sum(x**3)),
    "unique rows": (lambda d: np.sum(np.unique(np.stack([d, d]), axis=0) ** 3),
                    lambda x: np.sum(x**3) + x[0] ** 3),
    "union1d": (lambda d: np.sum(np.union1d(d, d) ** 3), lambda x: np.sum(x**3)),
    "unique_values": (lambda d: np.sum(np.unique_values(d) ** 3), lambda x: np.sum(x**3)),
    "sort": (lambda d: np.sum(np.sort(d) ** 3), lambda x: np.sum(x**3) + x[0] ** 3),
    "max": (lambda d: np.max(d) ** 3, lambda x: x[2] ** 3),
    "min": (lambda d: np.min(d) ** 3, lambda x: x[0] ** 3),
    "partition": (lambda d: np.partition(d, 1)[1] ** 3, lambda x: x[0] ** 3),
    "median": (lambda d: np.median(d) ** 3, lambda x: ((x[0] + x[1]) / 2) ** 3),
}  # fmt: skip


@pytest.mark.parametrize("name", TWICE)
def test_a_number_that_is_given_twice_is_one_number(name):
    f, same = TWICE[name]
    x = np.array([1.0, 2.0, 4.0])
    for hessian in HESSIANS.values():
        ours = hessian(lambda x: f(np.concatenate([x, x[:1]])))(x)
        np.testing.assert_allclose(ours, cr.hessian(same)(x))


def test_other_numbers_are_smooth_beside_a_tie_of_unique():
    found = cr.jacfwd(cr.grad(lambda x: np.sum(np.unique(x) ** 2)))(np.array([1.0, 1.0, 5.0]))
    np.testing.assert_array_equal([0.0, 0.0, 2.0], found[:, 2])


HESSIANS_OF_TWO = (cr.hessian, lambda f: cr.jacrev(cr.jacrev(f)), lambda f: cr.jacfwd(cr.jacfwd(f)))


def test_structural_zeros_pass_a_tie_that_is_differentiated_again():
    def f(x):
        return np.sum(np.where(x > 0, np.maximum(np.log(x), 0.0), 0.0) ** 2)

    x = np.array([0.0, 1.0])
    with np.errstate(divide="ignore", invalid="ignore"):  # of the log of 0
        for hessian in HESSIANS_OF_TWO:
            assert np.all(np.isfinite(hessian(f)(x)))


# Smooth functions whose calls put the same numbers in different orders.
CROSSED = {
    "arguments swapped": (lambda x: np.maximum(x[0], x[1]) * np.minimum(x[1], x[0]) * x[2],
                          np.prod),
    "reversed": (lambda x: np.max(x[:2]) * np.min(x[1::-1]) + x[2], lambda x: x[0] * x[1] + x[2]),
    "two bounds": (lambda x: np.sum((np.maximum(x - 1, 0) - np.maximum(1 - x, 0)) ** 2),
                   lambda x: np.sum((x - 1) ** 2)),
    "two clips": (lambda x: np.sum((np.clip(x - 1, 0, 9) - np.clip(1 - x, 0, 9)) * x[::-1]),
                  lambda x: np.sum((x - 1) * x[::-1])),
    "negative": (lambda x: np.max(x[:2]) * -np.max(-x[:2]), lambda x: x[0] * x[1]),
    "sorts": (lambda x: np.sum(np.sort(x[:2]) * np.sort(x[1::-1])),
              lambda x: np.sum(x[:2] ** 2)),
    "medians": (lambda x: np.sort(x)[0] * np.median(x[::-1]) * np.fmax.reduce(x[[1, 2, 0]]),
                np.prod),
}  # fmt: skip


@pytest.mark.parametrize("how", HESSIANS)
@pytest.mark.parametrize("name", CROSSED)
def test_choices_in_different_orders_agree_along_a_direction(name, how):
    assert_same_hessians(*CROSSED[name], how)


@pytest.mark.parametrize("name", CROSSED)
def test_third_derivative_of_choices_in_different_orders(name):
    assert_same_third_derivatives(*CROSSED[name])


def stepped(x):
    """Return ``x`` after a way through a program: steps, writes, rules by hand, objects."""
    y = np.zeros(3, like=x)
    for i in range(3):
        y[i] = x[i] + 0.0
    y[:2] *= np.exp(0 * y[0])
    y = cr.map(lambda v: v * 1.0, y)
    q, r = np.linalg.qr(np.diag(1 + 0 * y))
    parts = {"a": (r @ q @ y)[:2], "b": np.concatenate([y, y])[5:]}
    return np.concatenate([parts["a"], parts["b"]])


@pytest.mark.parametrize("name", CROSSED)
def test_motion_along_the_steps_of_a_program(name):
    f, same = CROSSED[name]
    x = np.ones(3)
    expected = cr.hessian(same)(x)
    for hessian in HESSIANS.values():
        found = hessian(lambda x: f(stepped(x)))(x)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_motion_of_arguments_in_containers():
    def f(p):
        a, b = p["a"], p["b"][0]
        return np.maximum(a, b) * np.minimum(b, a)

    p = {"a": np.float64(2.0), "b": [2.0, 5]}
    found = cr.jacrev(cr.grad(f))(p)
    assert [found["a"]["a"], found["a"]["b"][0], found["b"][0]["a"], found["b"][0]["b"][0]] == [
        0, 1, 1, 0,
    ]  # fmt: skip


@pytest.mark.slow
def test_ties_in_every_step_of_a_loop():
    """Each search for the motion ends where the last one began."""

    def f(x, n):
        for _ in range(n):
            x = np.maximum(x, 2.0) + np.minimum(2.0, x) - 2.0
        return x**2

    assert cr.jacrev(cr.grad(f))(2.0, 50) == pytest.approx(2.0)
    counts = [len(calls_of(lambda n=n: cr.jacrev(cr.grad(f))(2.0, n))) for n in (100, 200)]
    assert counts[1] < 2.2 * counts[0]


# The same number, each by another function or in another order of its argument.
LARGEST = [
    np.max, lambda x: -np.min(-x), np.nanmax, np.fmax.reduce, lambda x: np.sort(x)[-1],
    lambda x: -np.partition(-x, 0)[0], lambda x: np.quantile(x, 1.0),
    lambda x: np.maximum.accumulate(x)[-1], lambda x: -np.minimum.accumulate(-x)[-1],
    lambda x: np.max(np.stack([x, x[::-1]]), axis=1)[1], lambda x: np.max(x, initial=-9.0),
    lambda x: np.min(x) + np.ptp(x),
]  # fmt: skip
MIDDLE = [
    np.median, lambda x: -np.median(-x), lambda x: np.sort(x)[1], lambda x: np.percentile(x, 50),
    lambda x: -np.partition(-x, 1)[1], lambda x: np.sum(x) - np.max(x[::-1]) - np.min(x),
    lambda x: np.nanmedian(np.append(x, np.nan)),
]  # fmt: skip
ITSELF = [
    lambda u: np.maximum(u, 0) - np.maximum(-u, 0),
    lambda u: np.maximum(0, u) + np.minimum(0, u),
    lambda u: np.clip(u, 0, 9) + np.clip(u, -9, 0),
    lambda u: np.clip(u, 0, 9) - np.clip(-u, 0, 9),
    lambda u: np.fmax(u, 0) - np.fmax(-u, 0),
    lambda u: np.max(np.stack([u, 0 * u]), axis=0) - np.max(np.stack([0 * u, -u]), axis=0),
]
PRODUCT = [
    lambda a, b: np.maximum(a, b) * np.minimum(b, a),
    lambda a, b: np.fmax(b, a) * -np.max(np.stack([-b, -a])),
    lambda a, b: np.clip(a, b, 9) * np.clip(b, -9, a),
    lambda a, b: np.sort(np.stack([b, a]))[0] * np.maximum(b, a),
]
small = st.integers(-1, 1).map(float)
triple = st.lists(small, min_size=3, max_size=3).map(np.array)


@st.composite
def crossed(draw):
    """A smooth function at a tie, and the same without choices: of sums, products and squares."""
    pick, order = lambda fs: draw(st.sampled_from(fs)), st.permutations(range(3))
    orders = [draw(order) for _ in range(3)]
    first, second, third, itself, product = map(pick, (LARGEST, MIDDLE, LARGEST, ITSELF, PRODUCT))
    x0 = draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=3, max_size=3).map(np.array))
    # Linear forms of the numbers, so that these are equal along some directions.
    forms = np.stack([draw(triple) for _ in range(3)]) if draw(st.booleans()) else np.eye(3)
    w = np.array([draw(st.sampled_from([-1.5, 0.5, 1.0])) for _ in range(4)])

    def f(x):
        z = forms @ (x - x0)
        y = np.stack([first(z[orders[0]]), second(z[orders[1]]), -third(-z[orders[2]])])
        return tail(x, y, itself(x - x0), product(x[0] - x0[0], x[1] - x0[1]))

    def same(x):
        return tail(x, forms @ (x - x0), x - x0, (x[0] - x0[0]) * (x[1] - x0[1]))

    def tail(x, y, u, q):
        sums = np.sum(y), np.sum(y**2), np.prod(1 + y)
        return (sums[0] + w[0]) * (sums[1] + sums[2]) + np.sum(w[1:] * u * x[::-1]) + np.exp(q)

    return f, same, x0


@pytest.mark.slow
@settings(max_examples=3)
@given(crossed(), triple, triple)
def test_smooth_functions_of_choices_in_any_order(program, v, u):
    f, same, x = program
    second, third = cr.hessian(same)(x), cr.jacfwd(cr.hessian(same))(x)

    def slope(x):
        return cr.jvp(f, (x,), (u,))[1]

    for expected, found in (
        (second, cr.hessian(f)(x)),
        (second, cr.hessian(f, sparse=True)(x).toarray()),
        (second, cr.jacfwd(cr.jacrev(f))(x)),
        (second, cr.jacfwd(cr.jacfwd(f))(x)),
        (second, cr.jacrev(cr.jacrev(f))(x)),
        (second, cr.jacrev(cr.jacfwd(f))(x)),
        (second @ v, cr.grad(lambda x: np.sum(cr.grad(f)(x) * v))(x)),
        (second @ v, cr.grad(lambda x: cr.jvp(f, (x,), (v,))[1])(x)),
        (second @ v, cr.hvp(f, (x,), (v,))),
        (second @ v, cr.linearize(cr.grad(f), x)[1](v)),
        (np.stack([v, u]) @ second, cr.hvp(f, (x,), (np.stack([v, u]),), block=True)),
        (v @ second @ u, cr.jvp(slope, (x,), (v,))[1]),
        (third, cr.jacfwd(cr.hessian(f))(x)),
        (third, cr.jacrev(cr.hessian(f))(x)),
        (third, cr.jacfwd(cr.jacfwd(cr.jacfwd(f)))(x)),
        (third, cr.jacrev(cr.jacrev(cr.jacrev(f)))(x)),
        (third @ v, cr.jvp(cr.hessian(f), (x,), (v,))[1]),
        (third @ v @ u, cr.jvp(lambda x: cr.hvp(f, (x,), (u,)), (x,), (v,))[1]),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


def test_float32_of_choices_in_different_orders():
    for f, same in CROSSED.values():
        for x in (np.ones(3, np.float32), np.array([1, 1, 2], np.float32)):
            found = cr.hessian(f)(x)
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, cr.hessian(same)(x), rtol=1e-5, atol=1e-6)


def test_direction_of_a_block_is_one_for_all():
    """Of a function with a kink each row belongs to the same smooth one: they are linear."""
    x, v = np.ones(3), np.array([1.0, -2.0, 0.5])
    push = cr.linearize(cr.grad(lambda x: np.max(x) ** 2 * np.sum(x)), x)[1]
    rows = push(np.stack([v, 2 * v, np.eye(3)[0]]), block=True)
    np.testing.assert_allclose(rows[1], 2 * rows[0])
    np.testing.assert_allclose(push(v), rows[0])


def test_a_tie_with_a_python_number_is_one_in_the_precision_of_the_array():
    def f(x):
        return np.sum((np.maximum(x, 0.1) - 0.1 + np.minimum(x - 0.1, 0.0)) ** 2)

    x = np.full(2, 0.1, np.float32)
    np.testing.assert_allclose(cr.hessian(f)(x), 2 * np.eye(2), rtol=1e-6)


def test_nothing_moves_along_some_directions():
    """The weight of a tie that does not move does: ``(x - relu(x)) * y`` along ``y``."""

    def f(x):
        return (np.maximum(x[0], 0) - np.maximum(-x[0], 0)) * x[1]

    np.testing.assert_array_equal([1, 0], cr.hvp(f, (np.zeros(2),), (np.array([0.0, 1.0]),)))


def test_larger_of_complex_numbers_in_different_orders():
    def f(z):
        return np.real(np.max(z) * np.min(z[::-1]))

    def same(z):
        return np.real(z[0] * z[1])

    z, zdot = np.full(2, 1 + 1j), np.array([1 + 2j, 0.3j])
    np.testing.assert_allclose(
        cr.jvp(cr.grad(f), (z,), (zdot,))[1], cr.jvp(cr.grad(same), (z,), (zdot,))[1]
    )


def newton(p):
    """The root of ``p[0]`` by Newton's method, whose last step may be exactly 0."""
    x = 1.0 + 0.0 * p[0]
    while True:
        step = (x * x - p[0]) / (2 * x)
        x = x - step
        if abs(step) < 1e-13:
            return x * p[1]


def test_abs_at_the_end_of_a_loop_is_not_recorded_for_each_point(monkeypatch):
    monkeypatch.setattr(Losses, "declines", lambda *_: False)  # as it would by the clock
    eager = cr.hessian(newton)
    hessian = cr.compile(eager)
    for a in np.linspace(1.0, 1.03, 25):
        p = np.array([a, 1.5])
        np.testing.assert_allclose(hessian(p), eager(p), rtol=1e-9, atol=1e-12)
    (kind,) = hessian.kinds.values()
    assert kind.recordings <= 8
    assert not kind.reason
