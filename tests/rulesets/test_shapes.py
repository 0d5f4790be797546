"""Reshaping, moving axes and entries, repeating, padding, diagonals, dtypes, grids."""

import numpy as np
import pytest

import chainrules as cr
from chainrules.config import frule_via_ad, rrule_via_ad
from chainrules.rules.tracing.funnel import astype
from chainrules.testing import primal_with_tangent, test_frule, test_rrule

RNG = np.random.default_rng(0)
V = RNG.normal(size=4)
A = RNG.normal(size=(3, 4))
B = RNG.normal(size=(2, 3, 4))
Z = np.array(0.7)
EMPTY = np.zeros((0, 3))


def check(f, *args, second_order=True, **kwargs):
    """Both modes, by the rule; by the engine where ``f`` is composed of other functions."""
    rules = {}, {}
    if cr.rrule(f, *args, **kwargs) is None:
        f, args = of_floats(f, args)
        rules = {"frule_f": frule_via_ad}, {"rrule_f": rrule_via_ad}
    test_frule(f, *args, second_order=second_order, **rules[0], **kwargs)
    test_rrule(f, *args, second_order=second_order, **rules[1], **kwargs)


def of_floats(f, args):
    """``f`` as a function of what is no integer: an engine traces every number it is given."""
    places = [i for i, x in enumerate(args) if np.asarray(x).dtype.kind in "fc"]

    def of_floats_only(*xs, **kwargs):
        given = dict(zip(places, xs, strict=True))
        return f(*(given.get(i, x) for i, x in enumerate(args)), **kwargs)

    return of_floats_only, [args[i] for i in places]


def name(x):
    return getattr(x, "__name__", None)


# fmt: off
CASES = [
    (np.reshape, A, (2, 6)), (np.reshape, A, -1), (np.reshape, B, (4, 3, 2), "F"),
    (np.reshape, 1.5, (1, 1)), (np.reshape, EMPTY, (3, 0)), (np.reshape, Z, ()),
    (np.ravel, A), (np.ravel, B, "F"), (np.ravel, 1.5), (np.ravel, EMPTY),
    (np.transpose, A), (np.transpose, B), (np.transpose, B, (1, 2, 0)),
    (np.transpose, B, (-1, 0, -2)), (np.transpose, V), (np.transpose, 1.5),
    (np.matrix_transpose, B),
    (np.linalg.matrix_transpose, B),
    (np.swapaxes, B, 0, -1),
    (np.moveaxis, B, 0, -1), (np.moveaxis, B, (0, 1), (-1, 0)),
    (np.rollaxis, B, 2), (np.rollaxis, B, 0, 2), (np.rollaxis, B, -1, -3), (np.rollaxis, B, 1, 3),
    (np.expand_dims, A, 1), (np.expand_dims, A, (0, -1)), (np.expand_dims, 1.5, 0),
    (np.squeeze, A[None]), (np.squeeze, A[None, :, None], 0), (np.squeeze, A[:1, :1]),
    (np.copy, A), (np.copy, 1.5),
    (np.broadcast_to, V, (3, 4)), (np.broadcast_to, A[:, :1], (2, 3, 4)),
    (np.broadcast_to, 1.5, (2,)), (np.broadcast_to, A, (3, 4)), (np.broadcast_to, A[:1], (0, 4)),
    (np.broadcast_arrays, A, V, 1.5), (np.broadcast_arrays, A),
    (np.atleast_1d, 1.5), (np.atleast_1d, 1.5, A),
    (np.atleast_2d, V), (np.atleast_2d, 1.5, V, B),
    (np.atleast_3d, 1.5), (np.atleast_3d, V, A, B),
    (np.flip, B), (np.flip, B, 1), (np.flip, B, (0, 2)),
    (np.fliplr, A),
    (np.flipud, A),
    (np.rot90, A), (np.rot90, A, 2), (np.rot90, B, 3, (0, 2)),
    (np.roll, A, 5), (np.roll, A, -1, 0), (np.roll, A, (1, 2), (0, 1)), (np.roll, 1.5, 1),
    (np.repeat, A, 2), (np.repeat, A, 3, 1), (np.repeat, A, [1, 0, 2], 0), (np.repeat, 1.5, 3),
    (np.repeat, V, [2, 1, 0, 3]), (np.repeat, A, [2], -1), (np.repeat, A, 0, 0),
    (np.tile, A, 2), (np.tile, A, (2, 1)), (np.tile, V, (2, 3)), (np.tile, B, (2,)),
    (np.tile, 1.5, 3), (np.tile, A, (2, 1, 1, 2)), (np.tile, A, ()),
    (np.resize, A, (5, 4)), (np.resize, A, (2, 2)), (np.resize, 1.5, 3), (np.resize, EMPTY, (2,)),
    (np.pad, A, 1), (np.pad, A, (1, 2)), (np.pad, A, ((1, 0), (2, 3))), (np.pad, V, (0, 2)),
    (np.pad, A, 2, "edge"), (np.pad, A, 2, "reflect"), (np.pad, A, 5, "symmetric"),
    (np.pad, A, 3, "wrap"),
    (np.tril, A), (np.tril, B, -1), (np.tril, V, 1),
    (np.triu, A, 1), (np.triu, B), (np.triu, V),
    (np.diag, V), (np.diag, V, -2), (np.diag, A), (np.diag, A, 2), (np.diag, A, -1),
    (np.diag, A, 9),
    (np.diagonal, A), (np.diagonal, B, 1), (np.diagonal, B, -1, 2, 0), (np.diagonal, B, 0, -1, 1),
    (np.linalg.diagonal, B),
    (np.diagflat, A), (np.diagflat, A, 1), (np.diagflat, 1.5),
    (np.trace, A), (np.trace, B, 1), (np.trace, B, -1, 2, 1), (np.trace, B, 9),
    (np.linalg.trace, B),
    (np.meshgrid, V, A[0]), (np.meshgrid, V, 1.5, A[0]), (np.meshgrid, V), (np.meshgrid, 1.5, V),
    (np.ix_, V), (np.ix_, V, A[0]), (np.ix_, np.zeros(0), V),
    (np.vander, V), (np.vander, V, 6), (np.vander, V, 1), (np.vander, np.zeros(2), 3),
    (np.vander, V, 0),
    (np.linspace, 0.3, 2.0, 5), (np.linspace, 0.3, V, 5), (np.linspace, V, A, 3),
    (np.linspace, 0.3, 2.0, 5, False), (np.linspace, 0.3, 2.0, 1), (np.linspace, 0.3, 2.0, 0),
    (np.linspace, 0.3, 2.0, 4, True, True),
    (np.logspace, 0.3, 2.0, 4), (np.logspace, 0.3, V, 4),
    (np.geomspace, 0.3, 2.0, 4), (np.geomspace, -0.3, -2.0, 4, False),
    (astype, A, "f8"),
    (np.astype, A, "c16"),
    (astype, 1.5, "f8"),
]
# fmt: on


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_case(case):
    check(*case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_of_complex_numbers(case):
    f, x, *options = case
    if f not in (np.geomspace, astype):
        check(f, x * (1 - 0.5j), *options, second_order=False)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_of_single_precision(case):
    f, x, *options = case
    if not any(np.size(option) > 3 for option in options) and f is not astype:
        check(f, np.float32(x), *options, second_order=False)


@pytest.mark.parametrize(
    ("f", "args", "kwargs"),
    [
        (np.reshape, (A,), {"shape": (4, 3), "order": "F"}),
        (np.moveaxis, (B,), {"source": 0, "destination": 2}),
        (np.tile, (A,), {"reps": 2}),
        (np.broadcast_to, (V,), {"shape": (2, 4)}),
        (np.pad, (A, 1), {"constant_values": 2.0}),
        (np.pad, (A, 1), {"mode": "reflect", "reflect_type": "even"}),
        (np.meshgrid, (V, A[0]), {"indexing": "ij"}),
        (np.meshgrid, (V, A[0], A[1]), {"sparse": True}),
        (np.vander, (V,), {"increasing": True}),
        (np.linspace, (0.3, V, 4), {"axis": -1}),
        (np.linspace, (0.3, 2.0, 4), {"dtype": "f4"}),
        (np.logspace, (0.3, 2.0, 4), {"base": 2.5}),
    ],
    ids=name,
)
def test_of_keywords(f, args, kwargs):
    check(f, *args, **kwargs)


def test_pad_with_traced_constants():
    def padded(x):
        constants = (x[0, 0], 2 * x[0, 1]), (0.5, x[0, 0])
        return np.pad(x, ((1, 0), (2, 1)), constant_values=constants)

    check(padded, A)


def test_full_like():
    check(lambda x: np.full_like(x, x[0]), A)
    check(lambda x: np.full_like(x, x[0, 0], shape=(2,), dtype="f4"), A)


def test_sliding_windows():
    windows = np.lib.stride_tricks.sliding_window_view
    check(lambda x: windows(x, 2), V)
    check(lambda x: windows(x, (2, 3)), A)
    check(lambda x: windows(x, 2, axis=1), B)


def test_lists_beside_traced_values():
    y = cr.jvp(lambda x: np.atleast_2d(x, [1.0, 2.0])[1], (1.5,), (1.0,))[0]
    np.testing.assert_array_equal([[1.0, 2.0]], y)


def test_pad_by_axis():
    check(np.pad, A, {1: (1, 2)})


def test_order_that_depends_on_memory_is_refused():
    with pytest.raises(cr.MissingRuleError, match="follows the strides of the array"):
        cr.grad(lambda x: np.sum(np.ravel(x, "K")))(A)


# ---- dtypes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [np.float32(1.5), np.float32(A), A, 1.5, Z])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_conversion(x, dtype):
    xdot = np.ones_like(x)
    y, ydot = cr.jvp(lambda x: astype(x, dtype), (x,), (xdot,))
    assert dtype == y.dtype == ydot.dtype
    xbar = cr.vjp(lambda x: astype(x, dtype), x)[1](ydot)[0]
    np.testing.assert_array_equal(xdot, xbar)
    assert np.asarray(x).dtype == np.asarray(xbar).dtype


@pytest.mark.parametrize("dtype", [int, bool])
def test_conversion_to_integers_is_constant(dtype):
    for f in (lambda x: x * astype(x, dtype), lambda x: x * np.astype(x, dtype)):
        np.testing.assert_array_equal(A.astype(dtype), cr.jvp(f, (A,), (np.ones_like(A),))[1])
        np.testing.assert_array_equal(A.astype(dtype), cr.vjp(f, A)[1](np.ones_like(A))[0])


@pytest.mark.filterwarnings("ignore:Casting complex")
def test_conversion_of_complex_numbers_to_real_ones():
    check(astype, A * (1 + 2j), "f8", second_order=False)


@pytest.mark.parametrize("f", [np.array, np.asarray, np.asanyarray, np.ascontiguousarray])
def test_array_like_a_traced_one(f):
    def total(x):
        return np.sum(f([x, 2 * x], like=x) * [1.0, 10.0])

    assert 21.0 == cr.grad(total)(1.5)
    assert 21.0 == cr.jvp(total, (1.5,), (1.0,))[1]


def test_array_with_more_axes():
    assert (1, 1, 2) == cr.jacobian(lambda x: np.array([x, x], ndmin=3, like=x))(1.5).shape


# ---- values that a transpose must not depend on ------------------------------------------------


def test_integers():
    np.testing.assert_array_equal(np.ones((2, 2)), cr.grad(lambda x: np.sum(np.transpose(x) * 1.0))(
        np.array([[1, 2], [3, 4]])))  # fmt: skip


@pytest.mark.parametrize("dtype", [complex, np.complex64, np.float32])
@pytest.mark.parametrize("offset", [0, 1, -2])
def test_a_trace_in_another_dtype(dtype, offset):
    _, pullback = cr.vjp(lambda x: np.trace(x, offset, dtype=dtype), A)
    np.testing.assert_array_equal(2 * np.eye(3, 4, offset), pullback(dtype(2.0))[0])


def test_linspace_ends_exactly_at_stop():
    y, _ = cr.jvp(np.linspace, (0.1, 0.7, 7), (1.0, 1.0, cr.NoTangent()))
    np.testing.assert_array_equal(np.linspace(0.1, 0.7, 7), y)


def test_tangent_of_a_chosen_direction():
    test_frule(np.tile, primal_with_tangent(V, np.eye(4)[1]), 2)
