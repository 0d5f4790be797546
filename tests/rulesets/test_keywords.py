"""Every keyword of NumPy's functions is differentiated through, or refused with a reason.

The first half goes through the signatures themselves, so that a new keyword, or a new refusal,
fails until it is entered here. The second half looks closer at keywords with rules of their own.
"""

from typing import Any

import numpy as np
import pytest

import chainrules as cr
from chainrules.coverage import functions
from chainrules.rules.signatures import name_of, parameters
from chainrules.testing import check_grad

RNG = np.random.default_rng(11)
X = RNG.uniform(0.2, 0.9, (3, 4))
Y = RNG.uniform(0.2, 0.9, (3, 4))
V, W = X[0], Y[0]
C = RNG.uniform(0.2, 0.9, (2, 3, 4))
S = X[:, :3] + 2 * np.eye(3)
SYMMETRIC = S + S.T
M = X > 0.4
SINGLE = np.float32

# ---- through the signatures -------------------------------------------------------------------

# The arguments of functions that need more than one matrix.
ARGUMENTS: dict = {  # annotated, as a type checker would compare all their overloads
    np.append: (V, W), np.array_split: (X, 2), np.astype: (X, SINGLE), np.block: ([X, Y],),
    np.broadcast_to: (V, (3, 4)), np.bincount: (np.array([0, 1, 1, 2]), V), np.choose: None,
    np.compress: (np.array([True, False, True]), X, 0), np.convolve: (V, W[:2]),
    np.correlate: (V, W[:2]), np.cross: (X[:, :3], Y[:, :3]), np.delete: (V, 1), np.dot: (X, Y.T),
    np.dsplit: (C, 2), np.einsum: ("ij,ij->i", X, Y), np.expand_dims: (X, 0),
    np.extract: (M, X), np.full_like: (X, V), np.geomspace: (V, W + 1), np.inner: (X, Y),
    np.histogram2d: (V, W), np.insert: (V, 1, 0.5), np.interp: (V, np.arange(4.0) / 4, W),
    np.intersect1d: (V, V[::-1]), np.kron: (V, W), np.linspace: (V, W), np.logspace: (V, W),
    np.moveaxis: (X, 0, 1), np.nanpercentile: (X, 30), np.nanquantile: (X, 0.3),
    np.outer: (V, W), np.pad: (X, 1), np.partition: (X, 1), np.percentile: (X, 30),
    np.poly: (V,), np.polyadd: (V, W), np.polyder: (V,), np.polydiv: (V, W[:2]),
    np.polyfit: (np.arange(4.0), V, 1), np.polyint: (V,), np.polymul: (V, W), np.polysub: (V, W),
    np.polyval: (V, W), np.quantile: (X, 0.3), np.repeat: (X, 2), np.reshape: (X, (4, 3)),
    np.resize: (X, (5,)), np.roll: (X, 1), np.rollaxis: (X, 1), np.roots: (V,),
    np.select: ([X > 0.5], [X]), np.setdiff1d: (V, W), np.setxor1d: (V, W), np.split: (X, 3),
    np.swapaxes: (X, 0, 1), np.take: (X, [1, 0]), np.take_along_axis: (X, np.zeros((3, 1), int)),
    np.tensordot: (X, Y.T), np.tile: (X, 2), np.union1d: (V, W), np.vander: (V,), np.vdot: (V, W),
    np.vsplit: (X, 3), np.hsplit: (X, 2), np.where: (M, X, Y), np.matmul: (X, Y.T),
    np.vecdot: (X, Y), np.arccosh: (X + 1,), np.ediff1d: (V,), np.ldexp: (X, 2),
    np.permute_dims: (X,), np.cumulative_sum: (V,), np.cumulative_prod: (V,),
    np.trim_zeros: (V,), np.stack: ([X, Y],), np.concatenate: ([X, Y],),
    np.vstack: ([X, Y],), np.hstack: ([X, Y],), np.dstack: ([X, Y],), np.column_stack: ([X, Y],),
    np.apply_over_axes: (np.sum, X, 0), np.histogramdd: (X,),
    np.linalg.cross: (X[:, :3], Y[:, :3]), np.linalg.matmul: (X, Y.T), np.linalg.outer: (V, W),
    np.linalg.vecdot: (X, Y), np.linalg.tensordot: (X, Y.T), np.linalg.solve: (S, X),
    np.linalg.lstsq: (X.T, V), np.linalg.multi_dot: ([X, Y.T, X],),
    np.linalg.matrix_power: (S, 2), np.linalg.cond: (S,), np.linalg.tensorsolve: (S, V[:3]),
    np.linalg.tensorinv: (S,), np.linalg.cholesky: (SYMMETRIC,), np.linalg.eigh: (SYMMETRIC,),
    np.linalg.eigvalsh: (SYMMETRIC,), np.linalg.svdvals: (X,),
}  # fmt: skip
SQUARE = (np.linalg.det, np.linalg.inv, np.linalg.slogdet, np.linalg.eig, np.linalg.eigvals)

# Values to give, by the name of the keyword.
VALUES = {
    "axis": 1, "axes": (1, 0), "keepdims": True, "descending": True, "where": M,
    "dtype": SINGLE, "initial": 0.5,
    "order": "F", "casting": "same_kind", "subok": True, "ddof": 1, "correction": 1,
    "offset": 1, "k": 1, "n": 3, "s": (3, 3), "norm": "ortho", "copy": True, "device": "cpu",
    "overwrite_input": True, "weights": Y, "returned": True, "method": "hazen", "deg": True,
    "axis1": 1, "axis2": 0, "axisa": 0, "axisb": 0, "axisc": 0, "edge_order": 2, "mode": "wrap",
    "include_initial": True, "num": 5, "endpoint": False, "retstep": True, "base": 3.0,
    "optimize": True, "p": 2, "ord": 1, "mean": np.full((1, 1), 0.5), "rcond": 1e-9,
    "rtol": 1e-9, "tol": 50, "x": Y, "dx": 0.5,
    "return_index": True, "return_inverse": True, "return_counts": True, "equal_nan": False,
    "sorted": True, "ndmin": 3, "kind": "stable", "stable": True, "start": 1,
    "prepend": 0.1, "append": 0.1, "to_end": 0.1, "to_begin": 0.1, "N": 3, "increasing": True,
    "left": 0.1, "right": 0.2, "period": 0.4, "assume_unique": True, "return_indices": True,
    "nan": 1.0, "posinf": 2.0, "neginf": 3.0, "shape": (3, 4), "bins": 3, "range": (0.1, 1.0),
    "density": True, "default": 0.5, "discont": 3.5, "trim": "f", "indexing": "ij",
    "sparse": True, "m": 1, "full": False, "cov": False, "w": np.ones(4), "rowvar": False,
    "bias": True, "y": Y, "fweights": np.array([1, 2, 1, 1]), "aweights": W, "UPLO": "U",
    "upper": True, "full_matrices": False, "compute_uv": False, "ind": 1, "min": 0.3, "max": 0.7,
}  # fmt: skip

SPECIAL: dict = {
    (np.append, "axis"): 0, (np.delete, "axis"): 0, (np.insert, "axis"): 0, (np.diff, "n"): 2,
    (np.compress, "axis"): 0, (np.convolve, "mode"): "same", (np.correlate, "mode"): "full",
    (np.linspace, "axis"): -1, (np.logspace, "axis"): -1, (np.geomspace, "axis"): -1,
    (np.polyint, "k"): [0.5], (np.trapezoid, "axis"): 0, (np.unwrap, "axis"): 0,
    (np.unwrap, "period"): 6.0, (np.tensordot, "axes"): 1, (np.linalg.tensordot, "axes"): 1,
    (np.average, "axis"): 0, (np.rot90, "axes"): (1, 0), (np.flip, "axis"): (0, 1),
    (np.squeeze, "axis"): (), (np.unstack, "axis"): 1, (np.linalg.qr, "mode"): "r",
    (np.linalg.tensorsolve, "axes"): (0,), (np.pad, "mode"): "mean", (np.trim_zeros, "axis"): 0,
    (np.fft.fftshift, "axes"): 1, (np.fft.ifftshift, "axes"): 1, (np.linalg.cross, "axis"): 1,
    (np.cross, "axis"): 1, (np.cross, "axisa"): 1, (np.cross, "axisb"): 1, (np.vecdot, "axis"): 0,
    (np.ravel, "order"): "A", (np.reshape, "order"): "A", (np.sort, "order"): None,
    (np.partition, "order"): None, (np.partition, "kind"): "introselect",
    (np.linalg.norm, "ord"): "fro", (np.linalg.matrix_norm, "ord"): "fro",
    (np.linalg.vector_norm, "ord"): 3, (np.linalg.vecdot, "axis"): 0,
    (np.histogram, "weights"): Y, (np.histogramdd, "weights"): V[:3],
    (np.histogram2d, "weights"): W, (np.histogram2d, "range"): [[0, 1], [0, 1]],
    (np.histogramdd, "range"): [[0, 1]] * 4, (np.linalg.lstsq, "rcond"): 1e-9,
    (np.median, "axis"): (0, 1), (np.nanmedian, "axis"): (0, 1), (np.clip, "a_min"): 0.3,
    (np.clip, "a_max"): 0.7, (np.clip, "min"): 0.3, (np.clip, "max"): 0.7,
    (np.polyfit, "rcond"): 1e-12, (np.linalg.cond, "p"): 2,
    (np.cov, "y"): Y, (np.corrcoef, "y"): Y, (np.take, "mode"): "clip",
    (np.nan_to_num, "copy"): True, (np.stack, "axis"): 1, (np.interp, "period"): 2.0,
    (np.cumsum, "axis"): 1, (np.diagonal, "axis1"): 0, (np.diagonal, "axis2"): -1,
    (np.cumulative_sum, "axis"): 0, (np.cumulative_prod, "axis"): 0,
    (np.trace, "axis1"): 0, (np.trace, "axis2"): -1, (np.split, "axis"): 0,
    (np.full_like, "order"): "C", (np.full_like, "subok"): False,
}  # fmt: skip

EXTREMES = (np.max, np.amax, np.nanmax, np.min, np.amin, np.nanmin)

# What goes with a value, where it cannot be given alone.
QUANTILES = (np.quantile, np.percentile, np.nanquantile, np.nanpercentile)
TRANSFORMS = (np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn)
TOGETHER: dict[Any, dict[str, Any]] = {
    **{(f, "weights"): {"method": "inverted_cdf"} for f in QUANTILES},
    **{(f, "where"): {"initial": 0.5} for f in EXTREMES},
    **{(f, "s"): {"axes": (0, 1)} for f in TRANSFORMS},
    (np.clip, "a_min"): {"a_max": 0.8},
    (np.clip, "a_max"): {"a_min": 0.3},
    (np.clip, "min"): {"max": 0.8},
    (np.clip, "max"): {"min": 0.3},
}

# Refused, by the reason. Each says so by name, and what to write instead.
NOT_FOLLOWED: dict = {
    "follows another algorithm, for matrices that nothing shows to be Hermitian": {
        (np.linalg.pinv, "hermitian"): True, (np.linalg.svd, "hermitian"): True,
    },
    "makes a plain array: NumPy asks no protocol; cr.array and chainrules.numpy take a dtype": {
        (f, "dtype"): SINGLE for f in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray)
    },
}  # fmt: skip
REFUSED = {key: (x, why) for why, entries in NOT_FOLLOWED.items() for key, x in entries.items()}

# Not seen by NumPy's protocols, or about what a traced array cannot be.
NOTHING_TO_TEST = {"like", "out", "args", "kwargs", "kw", "varargs", "arys", "xi", "operands",
                   "ndmax"}  # fmt: skip

# These write into their argument, take functions, or have signatures of their own; they have
# tests elsewhere.
ELSEWHERE = {
    np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal, np.full,
    np.apply_along_axis, np.piecewise, np.meshgrid, np.broadcast_arrays, np.gradient, np.choose,
    np.bincount, np.atleast_1d, np.atleast_2d, np.atleast_3d,
}  # fmt: skip


# Numbers that are equal only here, and residuals that are 0 but for rounding.
WITHOUT_DIFFERENCES = {np.intersect1d, np.linalg.lstsq}


def followed():
    """Yield each function of NumPy with a derivative, and its keywords."""
    seen = set()
    for module in (np, np.linalg, np.fft):
        for _, f in functions(module):
            methods = cr.rrule.methods.get(f)
            skipped = methods is None or (methods.kind is not None and methods.kind.constant)
            if skipped or f in seen or f in ELSEWHERE or isinstance(f, np.ufunc):
                continue
            seen.add(f)
            yield f


def arguments_of(f):
    return ARGUMENTS.get(f, (S,) if f in SQUARE else (X,))


def keywords_of(f):
    given = len(arguments_of(f))
    names = [p.name for p in (parameters(f) or ())[given:]]
    return [name for name in names if name not in NOTHING_TO_TEST]


KEYWORDS = [(f, name) for f in followed() for name in keywords_of(f)]


def leaves(y):
    return [part for parts in y for part in leaves(parts)] if isinstance(y, tuple | list) else [y]


def same(expected, found):
    for e, y in zip(leaves(expected), leaves(found), strict=True):
        e, y = np.asarray(e), np.asarray(y)
        assert (e.shape, e.dtype) == (y.shape, y.dtype)
        # Where the rule goes another way than NumPy, the last bits may differ.
        np.testing.assert_allclose(e, y, rtol=1e-6 if e.dtype == SINGLE else 1e-12, atol=1e-14)


def active(args):
    """The place of the first argument that can be differentiated."""
    for i, x in enumerate(args):
        part = x[0] if isinstance(x, list) else x
        if isinstance(part, np.ndarray) and part.dtype.kind == "f":
            return i
    raise AssertionError("no argument to differentiate")


def of_first(f, args, options):
    i = active(args)
    parts = args[i][1:] if isinstance(args[i], list) else None

    def g(x):
        given = x if parts is None else [x, *parts]
        if "overwrite_input" in options:
            given = given * 1.0
        return f(*args[:i], given, *args[i + 1 :], **options)

    return g, args[i] if parts is None else args[i][0]


@pytest.mark.parametrize(("f", "name"), KEYWORDS, ids=lambda x: x if type(x) is str else name_of(x))
def test_keyword(f, name):
    if (f, name) in REFUSED:
        option, why = REFUSED[f, name]
        wanted = "cr.array" if "cr.array" in why else name
        g, x = of_first(f, arguments_of(f), {name: option})
        for run in (lambda: cr.vjp(g, x), lambda: cr.jvp(g, (x,), (x,))):
            with pytest.raises((cr.MissingRuleError, cr.LostDerivativeError), match=wanted):
                run()
        return
    option = SPECIAL[f, name] if (f, name) in SPECIAL else VALUES.get(name)
    assert name in VALUES or (f, name) in SPECIAL, "enter a value for this keyword, or refuse it"
    options = {name: option, **TOGETHER.get((f, name), {})}
    g, x = of_first(f, arguments_of(f), options)
    same(g(x), cr.vjp(g, x)[0])
    same(g(x), cr.jvp(g, (x,), (x,))[0])
    if name == "dtype":
        check_dtype(f, x, g)
    elif f not in WITHOUT_DIFFERENCES:
        check_grad(g, x)


def check_dtype(f, x, g):
    """In single precision differences say little: compare with the derivative in double."""
    plain, _ = of_first(f, arguments_of(f), {})
    _, expected = cr.jvp(plain, (x,), (np.ones_like(x),))
    y, found = cr.jvp(g, (x,), (np.ones_like(x),))
    assert np.asarray(found).dtype == np.asarray(y).dtype == SINGLE
    np.testing.assert_allclose(expected, found, rtol=1e-4, atol=1e-5)
    _, pullback = cr.vjp(g, x)
    (xbar,) = pullback(np.ones_like(y))
    assert xbar.dtype == x.dtype
    np.testing.assert_allclose(np.sum(found), np.sum(xbar), rtol=1e-4, atol=1e-4)


# ---- options of ufuncs ------------------------------------------------------------------------

F = X.astype(SINGLE)
LOOPS = [
    lambda x: np.add(x, 2.3, dtype=SINGLE),
    lambda x: np.sqrt(x, dtype="f4"),
    lambda x: np.logaddexp(x, Y, dtype=SINGLE),
    lambda x: np.matmul(x, Y.T, dtype=SINGLE),
    lambda x: np.modf(x, dtype=SINGLE)[0],
    lambda x: np.divmod(x, 0.3, dtype=SINGLE)[1],
    lambda x: np.conjugate(x, dtype=SINGLE),
    lambda x: np.add(x, Y, signature="ff->f"),
    lambda x: np.multiply.outer(x, V, dtype=SINGLE),
    lambda x: np.exp(x, where=M, out=np.zeros_like(x, dtype=SINGLE), dtype=SINGLE),
]


@pytest.mark.parametrize("f", LOOPS, ids=range(len(LOOPS)))
def test_dtype_of_a_ufunc(f):
    """To the last bit what NumPy gives, and the derivative of the cast arguments."""
    y, pullback = cr.vjp(f, X)
    np.testing.assert_array_equal(f(X), y)
    assert f(X).dtype == y.dtype == SINGLE
    expected, pull = cr.vjp(f, F)
    np.testing.assert_array_equal(expected, y)
    np.testing.assert_allclose(pull(y)[0], pullback(y)[0], rtol=1e-5)
    assert pullback(y)[0].dtype == np.float64


@pytest.mark.parametrize("f", [
    lambda x: np.sqrt(x, dtype=np.float64), lambda x: np.power(x - 0.5, 0.5, dtype=complex),
    lambda x: np.absolute(x * (1 + 1j), dtype=float), lambda x: np.multiply(x, x, casting="no"),
    lambda x: np.add(x, Y, order="F", subok=False), lambda x: np.exp(x, where=True),
    lambda x: x * np.floor(4 * x, dtype=SINGLE), lambda x: x * np.greater(x, 0.5, dtype=bool),
    lambda x: x * np.add(4 * x, 0.7, dtype=int, casting="unsafe"),
], ids=range(9))  # fmt: skip
def test_options_of_a_ufunc(f):
    same(f(X), cr.vjp(f, X)[0])
    assert f(X).flags.fnc == cr.vjp(f, X)[0].flags.fnc
    check_grad(f, X)


def ufuncs():
    found = {f for f in vars(np).values() if isinstance(f, np.ufunc) and f in cr.rrule.kinds}
    plain = {f for f in found if cr.rrule.kinds[f].constant}
    # ldexp takes integers, frexp gives some, float_power has no loop for single precision.
    return sorted(found - plain - {np.ldexp, np.frexp, np.float_power}, key=ufunc_name)


def ufunc_name(f):
    return getattr(f, "__name__", str(f))


@pytest.mark.parametrize("ufunc", ufuncs(), ids=ufunc_name)
def test_options_of_every_ufunc(ufunc):
    if ufunc.signature is not None:
        args = {np.matmul: (X, Y.T), np.vecdot: (X, Y)}.get(ufunc, (S, S[0]))
        args = args[::-1] if ufunc.__name__ == "vecmat" else args
    else:
        args = (X + (ufunc is np.arccosh), Y)[: ufunc.nin]
    for options in (
        {"dtype": SINGLE}, {"casting": "no"}, {"order": "F"}, {"order": "A"}, {"subok": False},
    ):  # fmt: skip
        g, x = of_first(ufunc, args, options)
        same(g(x), cr.vjp(g, x)[0])
        plain, _ = of_first(ufunc, args, {})
        expected, found = (cr.vjp(f, x)[1](np.ones_like(f(x)))[0] for f in (plain, g))
        np.testing.assert_allclose(expected, found, rtol=1e-4, atol=1e-5)


def test_a_ufunc_refuses_what_numpy_refuses():
    with pytest.raises(TypeError, match="Cannot cast ufunc"):
        cr.grad(lambda x: np.sum(np.add(x, x, dtype=int)))(X)
    with pytest.raises(cr.MissingRuleError, match="dtype=object"):
        cr.grad(lambda x: np.sum(np.add(x, x, dtype=object)))(X)


# ---- methods of ufuncs ------------------------------------------------------------------------

# Above 0, and without zeros: for divisions and powers.
POSITIVE = (np.subtract, np.divide, np.hypot, np.float_power, np.fmod, np.remainder, np.copysign,
            np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp,
            np.logaddexp2)  # fmt: skip
REORDERABLE = (np.hypot, np.add, np.multiply, np.maximum, np.logaddexp)


def check_method(f, x):
    same(f(x), cr.vjp(f, x)[0])
    check_grad(f, x)


@pytest.mark.parametrize("ufunc", POSITIVE, ids=ufunc_name)
def test_methods(ufunc):
    for options in ({}, {"axis": 1}, {"axis": -1}, {"axis": 1, "dtype": np.float64}):
        check_method(lambda x, o=options: ufunc.accumulate(x, **o), C)
        check_method(lambda x, o=options: ufunc.reduceat(x, [0, 1, 0], **o), C)
        check_method(lambda x, o=options: ufunc.reduce(x, keepdims=True, **o), C)
    check_method(lambda x: ufunc.reduce(x, initial=0.5, where=C > 0.4, axis=1), C)
    check_method(lambda x: ufunc.reduce(x), F)
    check_method(lambda x: ufunc.reduce(x), V[:1])
    check_method(lambda x: ufunc.outer(x, Y), V)
    assert cr.grad(lambda x: np.sum(ufunc.accumulate(x)))(V[:0]).shape == (0,)


@pytest.mark.parametrize("ufunc", REORDERABLE, ids=ufunc_name)
def test_reduce_along_several_axes(ufunc):
    check_method(lambda x: ufunc.reduce(x, axis=(0, -1), initial=0.5), C)
    check_method(lambda x: ufunc.reduce(x, axis=None, keepdims=True), C)


@pytest.mark.parametrize("options", [{}, {"where": V > 0.5}, {"where": [True]}])
def test_reduce_of_one_axis_is_a_number(options):
    y, ydot = cr.jvp(lambda x: np.hypot.reduce(x, initial=0.5, **options), (V,), (V,))
    assert type(y) is type(ydot) is np.float64


def test_reduce_refuses_what_numpy_refuses():
    with pytest.raises(ValueError, match="not reorderable"):
        cr.grad(lambda x: np.subtract.reduce(x, axis=None))(X)
    with pytest.raises(ValueError, match="zero-size array"):
        cr.grad(lambda x: np.divide.reduce(x))(V[:0])
    with pytest.raises(TypeError, match="cannot accumulate on a scalar"):
        cr.grad(lambda x: np.hypot.accumulate(x))(np.array(1.0))


def test_reductions_that_numpy_gets_wrong_have_no_rule():
    for reduce in (np.power.reduce, np.arctan2.reduce):
        with pytest.raises(cr.MissingRuleError, match="has no rrule"):
            cr.grad(lambda x, reduce=reduce: reduce(x))(V)


# ---- reductions -------------------------------------------------------------------------------


@pytest.mark.parametrize("reduce", [np.sum, np.prod, *EXTREMES], ids=ufunc_name)
def test_initial_is_differentiated(reduce):
    for options in ({}, {"axis": 1}, {"axis": 0, "keepdims": True}, {"where": M}):

        def from_it(x, options=options):
            return reduce(x * 1.0, initial=x[0, 0] * 0.9, **options)

        check_method(from_it, X)
    y = cr.jvp(lambda x: np.sum(x, initial=2.5), (X,), (X,))
    np.testing.assert_allclose([np.sum(X) + 2.5, np.sum(X)], y)


def test_a_tie_with_initial_is_shared():
    np.testing.assert_array_equal(
        [1 / 3, 1 / 3, 1 / 3],
        cr.grad(lambda x: np.max(x[:2] * 1.0, initial=x[2]))(np.ones(3)),
    )


@pytest.mark.parametrize("f", [np.var, np.std, np.nanvar, np.nanstd], ids=ufunc_name)
@pytest.mark.parametrize(
    "options", [{}, {"axis": 1, "ddof": 1}, {"axis": (0, 2), "where": C > 0.4}]
)
def test_mean_is_differentiated(f, options):
    kept = {"keepdims": True, **{k: x for k, x in options.items() if k != "ddof"}}
    check_method(lambda x: f(x, mean=np.mean(x, **kept), **options), C)
    check_method(lambda x: f(x, mean=np.square(np.mean(x, **kept)), **options), C)
    check_method(lambda x: f(x, mean=np.mean(C, **kept) + 0.1, keepdims=True, **options), C)
    # With its own mean given, the derivative is that without.
    np.testing.assert_allclose(
        cr.grad(lambda x: np.sum(f(x, **options)))(C),
        cr.grad(lambda x: np.sum(f(x, mean=np.mean(x, **kept), **options)))(C),
    )


def test_an_integer_dtype_is_refused():
    for f in (np.sum, np.mean, np.prod, np.cumsum, np.cumprod, np.var, np.trace):
        with pytest.raises(cr.MissingRuleError, match="truncates the numbers"):
            cr.grad(lambda x, f=f: np.sum(f(x, dtype=int)))(X)
    with pytest.raises(cr.MissingRuleError, match="truncates the numbers"):
        cr.grad(lambda x: np.sum(np.stack([x, x], dtype=int, casting="unsafe")))(X)


def test_methods_of_arrays_write_into_out():
    for f in (
        lambda x: x.sum(0, out=np.zeros_like(x[0])),
        lambda x: x.cumsum(1, out=np.zeros_like(x)),
        lambda x: x.mean(1, out=np.zeros_like(x[:, 0])),
    ):
        check_method(f, X)


INTO = {
    np.sum: {"axis": 0}, np.prod: {"axis": 0}, np.mean: {"axis": 1}, np.cumsum: {"axis": 0},
    np.cumprod: {"axis": 1}, np.var: {"axis": 0}, np.std: {"axis": 0}, np.max: {"axis": 0},
    np.round: {"decimals": 2}, np.trace: {}, np.nansum: {"axis": 0}, np.nanmean: {"axis": 0},
    np.nanvar: {"axis": 0}, np.median: {"axis": 0}, np.ptp: {"axis": 0}, np.sin: {},
    np.add.reduce: {"axis": 0}, np.multiply.accumulate: {"axis": 0}, np.clip: {"min": -1, "max": 1},
    np.add.reduceat: {"indices": [0, 1]}, np.logaddexp.reduce: {"axis": 0},
}  # fmt: skip


@pytest.mark.parametrize("dtype", [float, complex, np.float16])
@pytest.mark.parametrize("f", INTO, ids=ufunc_name)
def test_out_of_another_dtype_decides_where_numpy_lets_it(f, dtype):
    x = RNG.normal(size=(40, 30)).astype(np.float32)
    options = INTO[f]
    shape = np.shape(f(x, **options))

    def into(x):
        return f(x, **options, out=np.zeros_like(x, dtype=dtype, shape=shape))

    try:
        own = into(x)
    except (TypeError, ValueError):
        with pytest.raises((TypeError, ValueError)):
            cr.vjp(into, x)
        return
    xdot = RNG.normal(size=x.shape).astype(x.dtype)
    y, pullback = cr.vjp(into, x)
    forward, ydot = cr.jvp(into, (x,), (xdot,))
    same(own, y)
    same(own, forward)
    bound = 2e-2 if dtype is np.float16 else 1e-4
    without = cr.jvp(lambda x: f(x, **options), (x,), (xdot,))[1]
    np.testing.assert_allclose(without, ydot, bound, bound)
    ybar = np.ones_like(ydot)
    np.testing.assert_allclose(
        np.sum(pullback(ybar)[0] * xdot), np.vdot(ybar, ydot).real, 5 * bound, 50 * bound
    )
    assert own.dtype == cr.compile(into)(x).dtype


def test_out_of_another_dtype_of_what_is_constant():
    x = RNG.normal(size=7).astype(np.float32)

    def rounded(x):
        return np.round(x, 1, out=np.zeros(7))

    same(rounded(x), cr.jvp(rounded, (x,), (x,))[0])
    same(rounded(x), cr.vjp(rounded, x)[0])


# ---- quantiles --------------------------------------------------------------------------------

WEIGHTED = [{}, {"axis": 1}, {"axis": (0, -1), "keepdims": True}]


@pytest.mark.parametrize("options", WEIGHTED, ids=str)
@pytest.mark.parametrize("f", [np.quantile, np.nanquantile], ids=ufunc_name)
def test_weighted_quantiles(f, options):
    weights = RNG.uniform(0.1, 1, C.shape)
    weights[0, 0, 0] = 0
    for q in (0.3, np.array([0.0, 0.5, 1.0])):
        check_method(lambda x, q=q: f(x, q, method="inverted_cdf", weights=weights, **options), C)
    missing = np.where(C > 0.4, C, np.nan)
    missing[:, 1] = C[:, 1]
    options = {"method": "inverted_cdf", "weights": weights, **options}
    same(f(missing, 0.4, **options), cr.vjp(lambda x: f(x, 0.4, **options), missing)[0])


def test_quantiles_refuse_what_numpy_refuses():
    with pytest.raises(ValueError, match="is not a valid method"):
        cr.grad(lambda x: np.quantile(x, 0.3, method="best"))(X)
    with pytest.raises(ValueError, match="supports weights"):
        cr.grad(lambda x: np.quantile(x, 0.3, weights=Y))(X)


@pytest.mark.parametrize("method", ["inverted_cdf", "closest_observation", "averaged_inverted_cdf"])
def test_steps_of_quantiles_share_ties(method):
    x = np.array([2.0, 1.0, 2.0, 2.0, 5.0])
    found = cr.grad(lambda x: np.quantile(x, 0.5, method=method))(x)
    np.testing.assert_allclose([1 / 3, 0, 1 / 3, 1 / 3, 0], found)


# ---- what is refused by other means -------------------------------------------------------------


def test_refusals_outside_of_signatures():
    windows = np.lib.stride_tricks.sliding_window_view
    for f, name in (
        (lambda x: np.clip(x, 0.3, 0.7, dtype=SINGLE), "'dtype'"),
        (lambda x: np.matmul(x, Y.T, axes=[(0, 1), (0, 1), (0, 1)]), "'axes'"),
        (lambda x: windows(x, 2, axis=1, writeable=True), "'writeable'"),
    ):
        with pytest.raises(cr.MissingRuleError, match=f"does not support the keyword {name}"):
            cr.vjp(f, X)
    with pytest.raises(cr.LostDerivativeError, match="no derivative in its option 'where'"):
        cr.grad(lambda x: np.sum(x, where=x))(X)


def test_nan_to_num_in_place():
    def f(x):
        y = np.log(x - 0.5)
        np.nan_to_num(y, copy=False)
        return np.sum(y)

    with np.errstate(all="ignore"):
        expected = cr.grad(lambda x: np.sum(np.nan_to_num(np.log(x - 0.5))))(X)
        np.testing.assert_array_equal(expected, cr.grad(f)(X))
        assert f(X) == cr.vjp(f, X)[0]


# ---- padding ----------------------------------------------------------------------------------

PADDINGS = [
    ("edge", {}), ("wrap", {}), ("reflect", {}), ("symmetric", {}),
    ("reflect", {"reflect_type": "odd"}), ("symmetric", {"reflect_type": "odd"}),
    ("constant", {"constant_values": ((1, 2), (3.0, 4))}),
    ("linear_ramp", {}), ("linear_ramp", {"end_values": 2.0}),
    ("linear_ramp", {"end_values": ((1, 2), (3.0, 4))}), ("maximum", {}),
    ("minimum", {"stat_length": 2}), ("mean", {"stat_length": ((1, 2), (3, 2))}), ("median", {}),
    ("median", {"stat_length": 3}),
]  # fmt: skip


@pytest.mark.parametrize("width", [0, 2, (1, 3), ((1, 2), (0, 7)), {1: (3, 1)}], ids=str)
@pytest.mark.parametrize(("mode", "options"), PADDINGS, ids=str)
def test_pad(mode, options, width):
    for x in (X, F, X[:, :1]):
        check_method(lambda x: np.pad(x, width, mode, **options), x)


def test_pad_with_traced_ends():
    check_method(lambda x: np.pad(x, 2, "linear_ramp", end_values=x[0, 0]), X)
    check_method(lambda x: np.pad(x, 2, "linear_ramp", end_values=((x[0, 0], 1), (2, 3))), X)
    check_method(lambda x: np.pad(x, 1, constant_values=(x[0, 0], 2 * x[0, 1])), F)


def test_pad_shares_ties():
    xbar = cr.grad(lambda x: np.pad(x, (1, 0), "maximum")[0])(np.array([2.0, 1.0, 2.0]))
    np.testing.assert_array_equal([0.5, 0, 0.5], xbar)


def test_pad_refusals():
    with pytest.raises(cr.MissingRuleError, match="does not support a function as mode"):
        cr.grad(lambda x: np.sum(np.pad(x, 1, lambda *args: None)))(X)
    with pytest.raises(cr.MissingRuleError, match="rounds integers"):
        cr.grad(lambda x: np.sum(np.pad(x, 1, "mean")))(np.array([1, 2]))
    with pytest.raises(ValueError, match="unsupported keyword"):
        cr.grad(lambda x: np.sum(np.pad(x, 1, "mean", end_values=1)))(X)
    with pytest.raises(ValueError, match="can't extend empty axis"):
        cr.grad(lambda x: np.sum(np.pad(x, 1, "mean")))(V[:0])


def test_an_empty_padding_is_zeros():
    """NumPy leaves there what the memory happens to hold."""
    np.testing.assert_array_equal(np.ones(4), cr.grad(lambda x: np.sum(np.pad(x, 2, "empty")))(V))


# ---- orders of memory -------------------------------------------------------------------------


@pytest.mark.parametrize("x", [X, X.T, np.asfortranarray(C), C[:, ::2], V], ids=range(5))
@pytest.mark.parametrize("f", [
    lambda x: np.ravel(x, "A"), lambda x: np.reshape(x, -1, order="A"), lambda x: x.flatten("A"),
    lambda x: np.ravel(x, "F"), lambda x: x.flatten(order="F"), lambda x: np.copy(x, order="A"),
    lambda x: x.astype(np.float64, order="F"),
], ids=range(7))  # fmt: skip
def test_orders(f, x):
    weights = np.arange(float(x.size))

    def loss(x):
        return np.sum(weights * np.square(f(x).ravel()))

    expected = f(x)
    for y in (cr.vjp(f, x)[0], cr.jvp(f, (x,), (x,))[0]):
        np.testing.assert_array_equal(expected, y)
    tangent = x.copy(order="C")  # which lies otherwise than x
    slope = cr.jvp(loss, (x,), (tangent,))[1]
    np.testing.assert_allclose(np.sum(cr.grad(loss)(x) * tangent), slope)
    np.testing.assert_allclose(2 * loss(x), slope)


def test_order_k_of_a_vector_is_its_order():
    check_method(lambda x: np.ravel(x, "K"), V)


def test_flatten_is_a_copy():
    def f(x):
        y = np.sin(x)
        z = y.flatten()
        z[0] = 7.0
        return np.sum(y) + np.sum(z)

    check_method(f, X)


def test_astype_without_a_copy_is_the_array_itself():
    def f(x):
        y = np.sin(x)
        y.astype(np.float64, copy=False)[0] = 7.0
        return np.sum(y)

    check_method(f, X)


# ---- cross products, and numbers that occur once ----------------------------------------------


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) >= "2.5.0",
    reason="vectors in the plane are no longer taken",
)
def test_cross_in_the_plane():
    a, b, c = X[:, :2], Y[:, :2], Y[:, :3]
    for left, right in ((a, b), (a, c), (c, a), (a, b[0])):
        check_grad(np.cross, left, right)
        same(np.cross(left, right), cr.vjp(np.cross, left, right)[0])
    check_grad(lambda a, b: np.cross(a, b, axisa=0, axisb=1, axisc=0), a.T, c)
    check_grad(lambda a, b: np.cross(a, b, axis=0), a.T, b.T)
    check_grad(lambda a, b: np.cross(a, b, axisa=0, axisc=0), X, Y.T)


def test_unique_shares():
    x = np.array([3.0, 1, 3, 2, 1, 3])
    expected = [[0, 1 / 2, 0, 0, 1 / 2, 0], [0, 0, 0, 1, 0, 0], [1 / 3, 0, 1 / 3, 0, 0, 1 / 3]]
    for f in (np.unique, lambda x: np.unique(x, return_index=True)[0]):
        np.testing.assert_allclose(expected, cr.jacobian(f)(x))
        np.testing.assert_allclose(expected, cr.jacfwd(f)(x))
    rows = np.array([[1.0, 2], [3, 4], [1, 2]])
    found = cr.grad(lambda x: np.sum(np.unique(x, axis=0) * np.array([[1, 2], [3, 4]])))(rows)
    np.testing.assert_array_equal([[0.5, 1], [3, 4], [0.5, 1]], found)


@pytest.mark.parametrize("options", [
    {}, {"equal_nan": False}, {"return_counts": True}, {"return_inverse": True, "axis": 0},
], ids=str)  # fmt: skip
def test_unique_keeps_the_numbers(options):
    x = np.array([3.0, 1, 3, 2, 1, 3, np.nan, np.nan, -0.0, 0.0])
    same(np.unique(x, **options), cr.vjp(lambda x: np.unique(x, **options), x)[0])
    same(np.unique(x[:0]), cr.vjp(np.unique, x[:0])[0])
    same(np.unique_values(x), cr.vjp(np.unique_values, x)[0])


def handed_on(f):
    """Return ``f`` as wrappers of NumPy's functions call it: with all that may not be given."""
    none = np._NoValue
    return {
        np.mean: lambda x: f(x, axis=0, keepdims=none, where=none),
        np.sum: lambda x: f(x, axis=0, keepdims=none, initial=none, where=none),
        np.prod: lambda x: f(x, axis=0, keepdims=none, initial=none, where=none),
        np.max: lambda x: f(x, axis=0, keepdims=none, initial=none, where=none),
        np.var: lambda x: f(x, axis=0, keepdims=none, where=none, mean=none, correction=none),
        np.nanmean: lambda x: f(x, axis=0, keepdims=none, where=none),
        np.nanmax: lambda x: f(x, axis=0, keepdims=none, initial=none, where=none),
        np.nanmedian: lambda x: f(x, axis=0, keepdims=none),
        np.average: lambda x: f(x, axis=0, keepdims=none),
        np.ptp: lambda x: f(x, axis=0, keepdims=none),
        np.diff: lambda x: f(x, prepend=none, append=none),
        np.add.reduce: lambda x: f(x, axis=0, initial=none),
    }[f]


@pytest.mark.parametrize(
    "f",
    [np.mean, np.sum, np.prod, np.max, np.var, np.nanmean, np.nanmax, np.nanmedian, np.average,
     np.ptp, np.diff, np.add.reduce],
    ids=ufunc_name,
)  # fmt: skip
def test_what_stands_for_not_given_is_left_out(f):
    plainly = f if f is np.diff else lambda x: f(x, axis=0)
    check_method(handed_on(f), X)
    np.testing.assert_array_equal(
        cr.jacobian(handed_on(f))(X), cr.jacobian(plainly)(X), strict=True
    )


@pytest.mark.parametrize("dtype", [np.int8, np.int32, bool, np.float32, float])
def test_an_average_is_computed_in_the_dtype_of_numpys(dtype):
    a = np.array([[1, 2], [3, 4]]).astype(dtype)
    weights = np.array([[0.1, 0.2], [0.3, 0.4]], np.float32)
    for given in (weights, weights.tolist()):
        expected = np.average(a, weights=given)
        y, _ = cr.vjp(lambda w: np.average(a, weights=w), np.asarray(given))
        np.testing.assert_array_equal(expected, y, strict=True)


@pytest.mark.parametrize("reduce", [np.sum, np.prod, np.max, np.min, np.nanmax, np.add.reduce])
@pytest.mark.parametrize("initial", [0.5, np.float64(0.5), np.float32(0.5)], ids=type)
def test_a_traced_initial_leaves_the_dtype(reduce, initial):
    x = np.array([0.25, 2.0], np.float32)
    expected = reduce(x, initial=initial)
    y, ydot = cr.jvp(lambda x, i: reduce(x, initial=i), (x, initial), (x, initial))
    np.testing.assert_array_equal(expected, y, strict=True)
    assert ydot.dtype == expected.dtype
