"""Sums, means, products, spreads, extremes, quantiles, and running sums and products."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from both_modes import both, gradient
from generic_points import text
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr

RNG = np.random.default_rng(3)
X = RNG.normal(size=(2, 3, 4))
Z = X[0] + 1j * X[1]
MASK = np.array([[True, False, True, True], [False, True, True, True], [True, True, False, False]])
WITH_NAN = np.where(MASK, X[0], np.nan)
ZEROS = np.array([[2.0, 0.0, 3.0, 0.5], [0.0, 1.5, 0.0, 2.0], [1.2, 0.7, -1.1, 0.4]])

AXES = [
    {}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}, {"axis": (-1, 0)}, {"axis": None},
    {"axis": ()}, {"keepdims": True}, {"axis": 1, "keepdims": True},
    {"axis": (2, 1), "keepdims": True},
]  # fmt: skip

# With rules of their own.
REDUCTIONS = (np.sum, np.mean, np.prod, np.var, np.std, np.max, np.min, np.nanmax, np.nanmin,
              np.nanvar, np.nanstd)  # fmt: skip
COMPOSED = (np.ptp, np.nansum, np.nanmean, np.nanprod)
COMPLEX = (np.sum, np.mean, np.prod, np.var, np.std, np.nansum, np.nanmean, np.nanprod, np.nanvar)
MASKED = (np.sum, np.mean, np.prod, np.var, np.std)
SKIPPING_NAN = (np.nansum, np.nanmean, np.nanprod, np.nanvar, np.nanstd, np.nanmax, np.nanmin,
                np.nanmedian)  # fmt: skip


def name(f):
    return getattr(f, "__qualname__", str(f)).replace("ufunc.", "")


@pytest.mark.parametrize("options", AXES, ids=text)
@pytest.mark.parametrize("f", [*REDUCTIONS, *COMPOSED], ids=name)
def test_axes(f, options):
    if options.get("axis") == () and f in (np.var, np.std, np.nanvar, np.nanstd, np.nanmean):
        return  # of single numbers: nothing varies
    if f is np.nanmean and options.get("axis") == ():
        return
    both(f, X, **options)


@pytest.mark.parametrize("f", [*REDUCTIONS, *COMPOSED], ids=name)
def test_of_float32(f):
    both(f, X[0].astype(np.float32))
    both(f, X[0].astype(np.float32), axis=1)


@pytest.mark.parametrize("f", COMPLEX, ids=name)
def test_of_complex(f):
    both(f, Z)
    both(f, Z.astype(np.complex64), axis=1)


@pytest.mark.parametrize("f", [*REDUCTIONS, *COMPOSED], ids=name)
def test_of_one_number(f):
    if f in (np.std, np.nanstd, np.var, np.nanvar, np.ptp):
        assert gradient(f, 0.7) == 0
        assert gradient(f, np.array([0.7])) == 0
    else:
        both(f, 0.7)
        both(f, np.array(0.7))
        both(f, np.array([0.7]))


@pytest.mark.parametrize("f", [np.sum, np.prod, np.nansum, np.nanprod], ids=name)
def test_of_nothing(f):
    assert gradient(f, np.zeros((0, 3))).shape == (0, 3)
    assert gradient(f, np.zeros((0, 3)), axis=0).shape == (0, 3)
    assert cr.jvp(f, (np.zeros(0),), (np.zeros(0),))[1] == 0


@pytest.mark.parametrize("f", [np.sum, np.mean, np.prod, np.max, np.std], ids=name)
def test_of_integers(f):
    x = np.array([[1, 5], [3, -2]])
    expected = gradient(f, x * 1.0, axis=0)
    found = gradient(f, x, axis=0)
    assert found.dtype == np.float64
    np.testing.assert_allclose(expected, found)


@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"axis": 0, "keepdims": True}], ids=text)
@pytest.mark.parametrize("f", MASKED, ids=name)
def test_where(f, options):
    both(f, X[0], where=MASK, **options)
    both(f, WITH_NAN, where=MASK, **options)


@pytest.mark.parametrize("f", [np.max, np.min, np.nanmax, np.nanmin], ids=name)
def test_where_and_initial(f):
    both(f, X[0], initial=0.1)
    both(f, X[0], axis=1, initial=-0.1, where=MASK)
    np.testing.assert_array_equal(gradient(f, np.array([1.0, 1.0]), initial=1.0), [1 / 3, 1 / 3])


@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"axis": 0, "keepdims": True}], ids=text)
@pytest.mark.parametrize("f", SKIPPING_NAN, ids=name)
def test_nan_is_passed_over(f, options):
    xbar = gradient(f, WITH_NAN, **options)
    np.testing.assert_array_equal(xbar[~MASK], 0)
    finite = np.where(MASK, X[0], 0)
    both(lambda x: f(np.where(MASK, x, np.nan), **options), finite)


@pytest.mark.parametrize("f", [np.sum, np.mean, np.prod], ids=name)
def test_dtype(f):
    both(f, X[0].astype(np.float32), dtype=np.dtype(np.float64))
    both(f, X[0], axis=1, dtype=np.dtype(np.complex128))
    assert gradient(f, X[0], dtype=np.float32).dtype == np.float64


@pytest.mark.parametrize(
    "options", [{"ddof": 1}, {"correction": 1}, {"ddof": 1, "axis": 1}], ids=text
)
@pytest.mark.parametrize("f", [np.var, np.std, np.nanvar, np.nanstd], ids=name)
def test_degrees_of_freedom(f, options):
    both(f, X[0], **options)


def test_positional_options():
    both(np.sum, X, 1)
    both(np.mean, X, (0, 1))
    both(np.max, X, -1)
    both(np.cumsum, X, 1)


# ---- kinks ----


@pytest.mark.parametrize("f", [np.max, np.amax, np.nanmax, np.median, np.nanmedian], ids=name)
def test_ties_share_evenly(f):
    np.testing.assert_array_equal(gradient(f, np.array([1.0, 3.0, 3.0, 3.0])), [0, *[1 / 3] * 3])
    x = np.array([[2.0, 1.0, 2.0], [5.0, 5.0, 5.0]])
    np.testing.assert_allclose(gradient(f, x, axis=1), [[0.5, 0, 0.5], [1 / 3] * 3])
    _, ydot = cr.jvp(f, (np.array([3.0, 3.0]),), (np.array([1.0, 2.0]),))
    assert ydot == 1.5


@pytest.mark.parametrize(
    "f", [np.max, np.nanmax, np.fmax.reduce, np.median, np.nanmedian], ids=name
)
@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": 0, "keepdims": True}], ids=text)
def test_infinite_derivatives_of_what_was_not_chosen_are_not_read(f, options):
    x = np.array([4.0, 0.0, 4.0])
    with np.errstate(all="ignore"):
        _, ydot = cr.jvp(lambda x: np.sum(f(np.sqrt(x), **options)), (x,), (np.ones(3),))
        xbar = cr.grad(lambda x: np.sum(f(np.sqrt(x), **options)))(x)
    assert ydot == 0.25
    np.testing.assert_array_equal([0.125, 0, 0.125], xbar)


@pytest.mark.parametrize("f", [np.std, np.nanstd], ids=name)
def test_std_of_equal_numbers(f):
    x = np.full((2, 3), 1.7)
    np.testing.assert_array_equal(gradient(f, x, axis=1), np.zeros((2, 3)))
    assert cr.jvp(f, (x,), (X[0, :2, :3],))[1] == 0


@pytest.mark.parametrize("f", [np.std, np.nanstd], ids=name)
def test_std_of_equal_numbers_has_no_second_derivative(f):
    x = np.array([[1.7, 1.7, 1.7], [1.0, 3.0, -2.0]])
    expected = cr.hessian(f)(x[1])
    for hessian in (
        cr.hessian,
        lambda f: cr.jacrev(cr.jacrev(f)),
        lambda f: cr.jacfwd(cr.jacrev(f)),
    ):
        with np.errstate(all="ignore"):
            found = hessian(lambda x: np.sum(f(x, axis=1)))(x)
        assert np.all(np.isnan(found[0, :, 0]))
        np.testing.assert_allclose(expected, found[1, :, 1])
    with np.errstate(all="ignore"):
        assert np.all(np.isnan(cr.jacfwd(cr.jacfwd(f))(x[0])))


@pytest.mark.parametrize("f", [np.max, np.min, np.nanmax, np.nanmin, np.median], ids=name)
def test_choices_of_integers_and_float16(f):
    x = [[1, 5, 5], [3, -2, 3]]
    expected = gradient(f, np.array(x, float), axis=1)
    np.testing.assert_array_equal(expected, gradient(f, np.array(x), axis=1))
    found = gradient(f, np.array(x, np.float16), axis=1)
    assert found.dtype == np.float16
    np.testing.assert_allclose(expected, found, rtol=1e-3)
    _, pullback = cr.rrule(f, np.array(x, float), -1)
    _, xbar, axis_bar = pullback(np.ones(2))
    np.testing.assert_array_equal(expected, xbar)
    assert axis_bar == cr.NoTangent()


def test_second_derivative_of_the_median_of_two_in_the_middle():
    """Two numbers in the middle each weigh a half, and are no tie."""
    x = np.array([3.0, 1.0, 2.0, 7.0])
    expected = np.zeros((4, 4))
    expected[np.ix_([0, 2], [0, 2])] = 0.5
    for hessian in (cr.hessian, lambda f: cr.jacrev(cr.jacrev(f))):
        np.testing.assert_array_equal(expected, hessian(lambda x: np.median(x) ** 2)(x))


def test_options_of_the_median():
    x = np.array([[3.0, 1.0, 2.0], [5.0, 4.0, 7.0]])
    kept = x.copy()
    expected = gradient(np.median, x, axis=(0, 1))
    for options in (
        {"axis": [0, 1]},
        {"overwrite_input": True},
        {"axis": [0, 1], "keepdims": True},
    ):
        np.testing.assert_array_equal(expected, gradient(np.median, x, **options))
    np.testing.assert_array_equal(kept, x)


# ---- products ----


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": 1}], ids=text)
@pytest.mark.parametrize("f", [np.prod, np.cumprod], ids=name)
def test_products_with_zeros(f, options):
    both(f, ZEROS, **options)
    both(f, ZEROS * (1 + 0.3j), **options)


def test_third_derivative_of_prod_at_zeros():
    third = cr.jacfwd(cr.hessian(np.prod))(np.array([0.0, 0.0, 0.0, 5.0]))
    assert third[0, 1, 2] == 5
    assert third[0, 1, 3] == 0


NUMBERS = [0.0, 0.5, -2.0, 3.0, 1e-3, -1e150, 1e-160, 1e-310, 7e200]


def exact(numbers):
    """Return a product, rounded once; None where it is no normal number."""
    y = prod(map(Fraction, numbers), start=Fraction(1))
    return float(y) if y == 0 or 1e-290 < abs(y) < 1e290 else None


@st.composite
def lanes(draw):
    count, length = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    return [[draw(st.sampled_from(NUMBERS)) for _ in range(length)] for _ in range(count)]


@given(lanes(), st.integers(0, 1))
@pytest.mark.filterwarnings("ignore")
def test_products_of_others_are_exact(rows, axis):
    x = np.array(rows) if axis else np.array(rows).T
    gradient = cr.grad(lambda x: np.sum(np.prod(x, axis=axis)))(x)
    second = cr.hvp(lambda x: np.sum(np.prod(x, axis=axis)), (x,), (np.ones_like(x),))
    for lane, slopes, bends in zip(rows, *((gradient, second) if axis else (gradient.T, second.T))):
        places = range(len(lane))
        if None in [exact(lane[i:j]) for i in places for j in range(i, len(lane) + 1)]:
            continue  # NumPy's own product leaves the range of numbers on its way
        others = [exact([lane[j] for j in places if j != i]) for i in places]
        pairs = [
            [exact([lane[k] for k in places if k not in (i, j)]) for j in places if j != i]
            for i in places
        ]
        if None not in others:
            np.testing.assert_allclose(slopes, others, rtol=1e-14, atol=0)
        if None not in others and not any(None in row for row in pairs):
            scale = [sum(map(abs, row)) for row in pairs]
            assert np.all(np.abs(bends - [sum(row) for row in pairs]) <= 1e-13 * np.array(scale))


def test_prod_that_underflows():
    """float32: x.prod() / x would be NaN."""
    x = np.full(40, 1e-2, np.float32)
    np.testing.assert_array_equal(cr.grad(np.prod)(x), np.zeros(40, np.float32))


# ---- averages, medians, quantiles ----


@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"axis": (0, 2), "keepdims": True}], ids=text)
def test_average(options):
    both(np.average, X, **options)
    weights = np.abs(X) + 0.1
    both(lambda x, w: np.average(x, weights=w, **options), X, weights)
    both(lambda x, w: np.average(x, weights=w, returned=True, **options), X, weights)


def test_average_along_one_axis():
    w = np.array([0.2, 1.3, 0.7])
    both(lambda x, w: np.average(x, axis=1, weights=w), X, w)
    both(lambda x, w: np.average(x, axis=(2, 1), weights=w), X, RNG.uniform(1, 2, (4, 3)))
    both(lambda w: np.average(X[0], 0, w), w)
    with pytest.raises(ZeroDivisionError):
        cr.grad(lambda x: np.average(x, weights=np.zeros(3)))(w)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"axis": 0},
        {"axis": 1},
        {"axis": (0, 2), "keepdims": True},
        {"axis": -1, "keepdims": True},
    ],
    ids=text,
)
@pytest.mark.parametrize("f", [np.median, np.nanmedian], ids=name)
def test_median(f, options):
    both(f, X, **options)
    both(f, X[:, :, :3].astype(np.float32), **options)


QUANTILES = (np.quantile, np.nanquantile)
METHODS = ("linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull",
           "median_unbiased", "normal_unbiased", "interpolated_inverted_cdf", "inverted_cdf",
           "averaged_inverted_cdf", "closest_observation")  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("f", QUANTILES, ids=name)
def test_quantile_methods(f, method):
    q = cr.testing.primal_with_tangent(0.37, cr.NoTangent())
    both(f, X[0], q, axis=1, method=method)
    value = cr.vjp(lambda x: f(x, [0.0, 0.21, 0.5, 0.99, 1.0], axis=0, method=method), X)[0]
    np.testing.assert_array_equal(f(X, [0.0, 0.21, 0.5, 0.99, 1.0], axis=0, method=method), value)


@pytest.mark.parametrize("f", QUANTILES, ids=name)
def test_quantile(f):
    both(f, X, 0.37)
    both(f, X, np.array([0.37, 0.81]), axis=(0, 2))
    both(f, X, np.array([[0.37], [0.81]]), axis=1, keepdims=True)
    both(f, X[0].astype(np.float32), 0.37, axis=0)
    both(lambda x: f(x, 0.37, axis=1), X[0])
    value = cr.vjp(lambda x: f(x, 0.37, axis=1), X[0].astype(np.float32))[0]
    np.testing.assert_array_equal(f(X[0].astype(np.float32), 0.37, axis=1), value)
    assert value.dtype == np.float32


def test_percentile():
    both(np.percentile, X[0], 37.0)
    both(np.nanpercentile, X[0], np.array([37.0, 81.0]), axis=1)


def test_quantile_of_nan():
    np.testing.assert_array_equal(
        np.quantile(WITH_NAN, 0.3, axis=1),
        cr.vjp(lambda x: np.quantile(x, 0.3, axis=1), WITH_NAN)[0],
    )
    expected = np.nanquantile(WITH_NAN, [0.3, 0.9], axis=1)
    found = cr.vjp(lambda x: np.nanquantile(x, [0.3, 0.9], axis=1), WITH_NAN)[0]
    np.testing.assert_array_equal(expected, found)
    both(lambda x: np.nanquantile(np.where(MASK, x, np.nan), 0.3, axis=1), X[0])


# ---- running ----

ACCUMULATIONS = (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod)
METHODS_OF_UFUNCS = (np.add.accumulate, np.multiply.accumulate, np.maximum.accumulate,
                     np.minimum.accumulate)  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": -1}], ids=text)
@pytest.mark.parametrize("f", [*ACCUMULATIONS, *METHODS_OF_UFUNCS], ids=name)
def test_accumulations(f, options):
    both(f, X, **options)
    both(f, X[0].astype(np.float32), **options)
    both(f, X[0, 0], **options)
    assert gradient(f, np.zeros((0,)), **options).shape == (0,)


@pytest.mark.parametrize("f", ACCUMULATIONS, ids=name)
def test_accumulations_of_complex(f):
    both(f, Z, axis=1)
    both(f, Z.astype(np.complex64))


@pytest.mark.parametrize("f", [np.cumsum, np.cumprod], ids=name)
def test_accumulations_of_one_number(f):
    both(f, 0.7)
    both(f, np.array(0.7))


@pytest.mark.parametrize("f", [np.nancumsum, np.nancumprod], ids=name)
def test_accumulations_pass_over_nan(f):
    np.testing.assert_array_equal(gradient(f, WITH_NAN, axis=1)[~MASK], 0)
    both(lambda x: f(np.where(MASK, x, np.nan), axis=1), X[0])


@pytest.mark.parametrize("options", [{}, {"include_initial": True}], ids=text)
def test_cumulative(options):
    for f in (np.cumulative_sum, np.cumulative_prod):
        both(f, X[0, 0], **options)
        both(f, X, axis=1, **options)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 8, 9])
def test_cumprod_of_all_lengths(length):
    both(np.cumprod, RNG.normal(size=length))


def test_running_maximum_shares_evenly():
    x = np.array([1.0, 3.0, 2.0, 3.0, 3.0, 5.0])
    jacobian = cr.jacobian(np.maximum.accumulate)(x)
    expected = [
        [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0],
        [0, 1 / 2, 0, 1 / 2, 0, 0], [0, 1 / 3, 0, 1 / 3, 1 / 3, 0], [0, 0, 0, 0, 0, 1],
    ]  # fmt: skip
    np.testing.assert_allclose(expected, jacobian)
    np.testing.assert_allclose(expected, cr.jacfwd(np.maximum.accumulate)(x))


# ---- methods of ufuncs ----

REDUCE = (
    np.add,
    np.multiply,
    np.maximum,
    np.minimum,
    np.fmax,
    np.fmin,
    np.logaddexp,
    np.logaddexp2,
)


@pytest.mark.parametrize(
    "options", [{}, {"axis": -1}, {"axis": None}, {"axis": 1, "keepdims": True}], ids=text
)
@pytest.mark.parametrize("ufunc", REDUCE, ids=name)
def test_reduce(ufunc, options):
    both(ufunc.reduce, X, **options)
    both(ufunc.reduce, X[0].astype(np.float32), **options)


@pytest.mark.parametrize("ufunc", [np.logaddexp, np.logaddexp2], ids=name)
def test_logaddexp_reduce_of_infinities(ufunc):
    x = np.array([[-np.inf, -np.inf], [0.0, -np.inf], [np.inf, 0.0], [900.0, -900.0]])
    xbar = cr.vjp(lambda x: ufunc.reduce(x, axis=1), x)[1](np.ones(4))[0]
    np.testing.assert_array_equal([[0.5, 0.5], [1, 0], [1, 0], [1, 0]], xbar)


@pytest.mark.parametrize("indices", [[0, 2, 5], [1, 3], [4, 1, 1, 3], [0]], ids=str)
def test_add_reduceat(indices):
    both(lambda x: np.add.reduceat(x, indices), RNG.normal(size=7))
    both(lambda x: np.add.reduceat(x, indices, axis=1), RNG.normal(size=(2, 7)))


def test_methods_of_comparisons_are_constant():
    x = np.array([1.0, -2.0])
    assert cr.grad(lambda x: np.sum(x * np.less.outer(x, x)[1]))(x)[0] == 1
    assert cr.grad(lambda x: x[0] * np.logical_and.reduce(x))(x)[0] == 1
