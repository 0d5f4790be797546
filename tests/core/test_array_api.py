"""The array API standard: chainrules.numpy takes what its strict reference takes, and traced."""

import inspect
import re

import numpy
import pytest
from differences import slope_of
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules import numpy as np

strict = pytest.importorskip("array_api_strict")
array_namespace = pytest.importorskip("array_api_compat").array_namespace

FLOATS, COMPLEX = ("float64", "float32"), ("complex128", "complex64")
INTEGERS = ("int64", "int8", "uint16")
REALS, NUMBERS = FLOATS + INTEGERS, FLOATS + COMPLEX + INTEGERS


# ---- arguments ---------------------------------------------------------------------------------


def shapes(least=0, most=3):
    return st.lists(st.integers(0, 3), min_size=least, max_size=most).map(tuple)


@st.composite
def arrays(draw, dtypes=FLOATS, shape=None, least=0):
    """Arrays of distinct numbers, in the domain of most functions."""
    shape = draw(shapes(least)) if shape is None else shape
    dtype = draw(st.sampled_from(dtypes))
    rng = numpy.random.default_rng(draw(st.integers(0, 9)))
    if dtype == "bool":
        x = rng.random(shape) < 0.5
    elif dtype in INTEGERS:
        x = rng.integers(0, 9, shape)
    else:
        x = rng.uniform(0.1, 0.9, shape) + (1j * rng.normal(size=shape) if dtype in COMPLEX else 0)
    return numpy.asarray(x, dtype)


@st.composite
def pairs(draw, dtypes=FLOATS):
    """Two arrays that broadcast, of one dtype; or an array and a Python number, or the reverse."""
    x = draw(arrays(dtypes))
    kept = tuple(draw(st.sampled_from((n, 1))) for n in x.shape[draw(st.integers(0, x.ndim)) :])
    y = draw(arrays((x.dtype.name,), kept))
    number = {"b": True, "i": 2, "u": 2, "f": 0.5, "c": 0.5 + 1j}[x.dtype.kind]
    return draw(st.sampled_from(((x, y), (y, x), (x, number), (number, x))))


@st.composite
def along(draw, name="axis", dtypes=FLOATS, least=1, several=False, **options):
    """An array, and options: an axis of it, and some of those given."""
    x = draw(arrays(dtypes, least=least).filter(lambda x: x.size))
    axis = st.integers(-x.ndim, x.ndim - 1)
    if several:
        axis |= st.sampled_from((None, tuple(range(x.ndim))))
    drawn = {word: draw(st.sampled_from(values)) for word, values in options.items()}
    return (x,), {name: draw(axis)} | drawn


@st.composite
def matrices(draw, dtypes=FLOATS, square=True, definite=False):
    stack, n = draw(shapes(0, 1)), draw(st.integers(1, 3))
    x = draw(arrays(dtypes, (*stack, n if square else draw(st.integers(1, 3)), n)))
    if definite:
        x = x @ numpy.conj(numpy.swapaxes(x, -1, -2))
    return x + numpy.eye(n, dtype=x.dtype) if square else x


def alone(arguments):
    return arguments.map(lambda x: ((x,), {}))


def several(arguments):
    return arguments.map(lambda x: (tuple(x), {}))


def with_options(arguments, **options):
    drawn = {name: st.sampled_from(values) for name, values in options.items()}
    return st.tuples(arguments.map(lambda x: (x,)), st.fixed_dictionaries(drawn))


@st.composite
def reshaped(draw, of):
    """An array, and the arguments that ``of`` chooses for its shape."""
    x = draw(arrays(least=1).filter(lambda x: x.size))
    return (x, *of(x, draw)), {}


@st.composite
def lists(draw, alike):
    x = draw(arrays(least=1))
    rest = [draw(arrays((x.dtype.name,), x.shape)) for _ in range(draw(st.integers(0, 2)))]
    return ([x, *rest],), {"axis": draw(st.integers(-x.ndim, x.ndim - alike))}


def axis_of(x, draw):
    return draw(st.integers(-x.ndim, x.ndim - 1))


BOTH = {"keepdims": (False, True)}


def each(words, arguments):
    return dict.fromkeys(words.split(), arguments)


CALLS = each(
    "asinh cos cosh exp expm1 log log10 log1p log2 reciprocal sin sinh sqrt tan tanh asin acos "
    "atan",
    alone(arrays(FLOATS + COMPLEX)),
)
CALLS |= each("abs square negative positive sign round", alone(arrays(NUMBERS)))
CALLS |= each("zeros_like ones_like empty_like", alone(arrays(NUMBERS)))
CALLS |= each("ceil floor trunc isfinite isinf isnan", alone(arrays(REALS)))
CALLS |= each("real imag conj", alone(arrays(COMPLEX)))
CALLS |= each(
    "unique_all unique_counts unique_inverse unique_values nonzero",
    alone(arrays(NUMBERS, least=1)),
)
CALLS |= each("atanh signbit", alone(arrays(FLOATS)))
CALLS |= each("acosh", alone(arrays(FLOATS).map(lambda x: x + 1)))
CALLS |= each("bitwise_invert", alone(arrays((*INTEGERS, "bool"))))
CALLS |= each("logical_not", alone(arrays(("bool",))))
CALLS |= each("add subtract multiply equal not_equal", several(pairs(NUMBERS)))
CALLS |= each("divide pow", several(pairs(FLOATS + COMPLEX)))
CALLS |= each(
    "atan2 copysign floor_divide remainder hypot logaddexp nextafter",
    several(pairs()),
)
CALLS |= each(
    "maximum minimum less less_equal greater greater_equal",
    several(pairs(REALS)),
)
CALLS |= each("logical_and logical_or logical_xor", several(pairs(("bool",))))
CALLS |= each(
    "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift",
    several(pairs(INTEGERS)),
)
CALLS |= each("sum prod", along(dtypes=NUMBERS, several=True, **BOTH))
CALLS |= each("max min mean all any", along(several=True, **BOTH))
CALLS |= each("std var", along(several=True, correction=(0, 0.5), **BOTH))
CALLS |= each("argmax argmin", along(**BOTH))
CALLS |= each("cumulative_sum cumulative_prod", along(include_initial=(False, True)))
CALLS |= each("sort argsort", along(descending=(False, True), stable=(True,)))
CALLS |= each("tril triu", with_options(matrices(square=False), k=(-1, 0, 1)))
CALLS |= {
    "count_nonzero": along(dtypes=NUMBERS, several=True, **BOTH),
    "diff": along(n=(1, 2)),
    "flip": along(several=True),
    "roll": st.tuples(alone(arrays(least=1)), st.integers(-2, 2)).map(
        lambda drawn: (drawn[0][0], {"shift": drawn[1]})
    ),
    "expand_dims": along(),
    "squeeze": reshaped(lambda x, draw: (x.ndim,)).map(
        lambda c: ((c[0][0][..., None], c[0][1]), {})
    ),
    "permute_dims": reshaped(lambda x, draw: (draw(st.permutations(range(x.ndim))),)).map(
        lambda c: ((c[0][0], tuple(c[0][1])), {})
    ),
    "moveaxis": reshaped(lambda x, draw: (axis_of(x, draw), axis_of(x, draw))),
    "reshape": reshaped(lambda x, draw: ((-1,),)),
    "tile": reshaped(lambda x, draw: ((2,) * draw(st.integers(0, 3)),)),
    "repeat": reshaped(lambda x, draw: (2,)).map(lambda c: (c[0], {"axis": 0})),
    "broadcast_to": reshaped(lambda x, draw: ((2, *x.shape),)),
    "broadcast_arrays": several(pairs().filter(lambda p: not isinstance(p[0], float))).filter(
        lambda c: not any(isinstance(x, float) for x in c[0])
    ),
    "matrix_transpose": alone(matrices(FLOATS, square=False)),
    "concat": lists(1),
    "stack": lists(0),
    "unstack": along(),
    "meshgrid": several(st.lists(arrays(("float64",), (2,)), min_size=1, max_size=3)),
    "take": along().map(lambda c: ((*c[0], numpy.zeros(2, int)), c[1])),
    "take_along_axis": along().map(lambda c: ((*c[0], numpy.argsort(*c[0], **c[1])), c[1])),
    "searchsorted": arrays(("float64",), (3,)).map(lambda x: ((numpy.sort(x), x), {})),
    "isin": arrays(INTEGERS, least=1).map(lambda x: ((x, x[:1]), {})),
    "where": arrays().map(lambda x: ((x > 0.5, x, x * 2), {})),
    "clip": with_options(arrays(), min=(None, 0.2), max=(None, 0.7)),
    "astype": alone(arrays(NUMBERS)).map(lambda c: ((c[0][0], "complex128"), {})),
    "asarray": with_options(arrays(NUMBERS), copy=(None, True)),
    "full_like": arrays(NUMBERS).map(lambda x: ((x, 2), {})),
    "matmul": matrices(FLOATS + COMPLEX).map(lambda x: ((x, x), {})),
    "vecdot": along().map(lambda c: (c[0] * 2, c[1])),
    "tensordot": matrices().map(lambda x: ((x, x), {"axes": x.ndim})),
}
LINALG = {
    "cholesky": with_options(matrices(definite=True), upper=(False, True)),
    "cross": arrays(("float64",), (2, 3)).map(lambda x: ((x, x[::-1]), {"axis": -1})),
    "det": alone(matrices(FLOATS)),
    "diagonal": with_options(matrices(square=False), offset=(-1, 0, 1)),
    "eigh": alone(matrices(definite=True)),
    "eigvalsh": alone(matrices(definite=True)),
    "inv": alone(matrices(FLOATS + COMPLEX)),
    "matmul": CALLS["matmul"],
    "matrix_norm": with_options(matrices(square=False), ord=("fro", "nuc", 2, -1), **BOTH),
    "matrix_power": matrices(FLOATS).map(lambda x: ((x, 3), {})),
    "matrix_rank": alone(matrices()),
    "matrix_transpose": CALLS["matrix_transpose"],
    "outer": arrays(("float64",), (3,)).map(lambda x: ((x, x * 2), {})),
    "pinv": alone(matrices()),
    "qr": alone(matrices()),
    "slogdet": alone(matrices()),
    "solve": matrices().map(lambda x: ((x, x[..., :1] * 1), {})),
    "svd": with_options(matrices(), full_matrices=(False,)),
    "svdvals": alone(matrices(square=False)),
    "tensordot": CALLS["tensordot"],
    "trace": with_options(matrices(square=False), offset=(-1, 0, 1)),
    "vecdot": CALLS["vecdot"],
    "vector_norm": along(several=True, ord=(1, 2, 3, float("inf")), **BOTH),
}
FFT = {name: along(dtypes=COMPLEX) for name in ("fft", "ifft", "hfft")}
FFT |= {name: along(dtypes=("float64",)) for name in ("rfft", "ihfft")}
FFT |= {name: alone(arrays(("complex128",), (2, 3))) for name in ("fftn", "ifftn", "irfftn")}
FFT |= {
    "irfft": arrays(("complex128",), (2, 3)).map(lambda x: ((x,), {"axis": -1})),
    "rfftn": alone(arrays(("float64",), (2, 3))),
    "fftshift": alone(arrays(least=1)),
    "ifftshift": alone(arrays(least=1)),
}
# What takes no array.
OF_NUMBERS = {
    "arange", "broadcast_shapes", "empty", "eye", "from_dlpack", "full", "linspace", "ones",
    "zeros", "can_cast", "finfo", "iinfo", "isdtype", "result_type", "__array_namespace_info__",
}  # fmt: skip
FREQUENCIES = {"fftfreq", "rfftfreq"}


def functions_of(space):
    return {name for name in space.__all__ if inspect.isfunction(getattr(space, name))}


# ---- one call, plain and traced ----------------------------------------------------------------


def put(f, x):
    """Apply ``f`` to the arrays of an argument."""
    if isinstance(x, numpy.ndarray):
        return f(x)
    return [f(part) for part in x] if isinstance(x, list) else x


def plain(y):
    """Return the arrays of a result as NumPy's."""
    parts = y if isinstance(y, tuple | list) else [y]
    return [numpy.asarray(cr.value(part)) for part in parts]


def found_in(space, path):
    return getattr(space if path[0] is None else getattr(space, path[0]), path[1])


def is_in_standard(path, args, options):
    """Say whether the reference takes the call."""
    given = [put(strict.asarray, x) for x in args]
    if path[1] == "astype":
        given[1] = strict.complex128
    try:
        found_in(strict, path)(*given, **options)
    except (TypeError, ValueError, IndexError):
        return False
    return True


def check(path, args, options):
    """Compare a call by chainrules.numpy with NumPy's own: of plain, dual and taped arrays."""
    f, own = found_in(np, path), found_in(numpy, path)
    try:
        expected = plain(own(*args, **options))
    except TypeError as missing:  # NumPy does not take it: as the option ``descending``
        with pytest.raises(TypeError, match=re.escape(str(missing))):
            f(*args, **options)
        return
    moving = []
    for x in args:
        put(lambda x: moving.append(x) if x.dtype.kind in "fc" else None, x)
    found = [plain(f(*args, **options))]

    def traced(*moved):
        rest = iter(moved)
        given = [put(lambda x: next(rest) if x.dtype.kind in "fc" else x, x) for x in args]
        found.append(plain(f(*given, **options)))
        return 0.0

    cr.jvp(traced, tuple(moving), tuple(moving))
    cr.vjp(traced, *moving)
    for parts in found:
        assert len(parts) == len(expected)
        for y, wanted in zip(parts, expected, strict=True):
            assert (y.dtype, y.shape) == (wanted.dtype, wanted.shape)
            if path[1] != "empty_like":
                bound = 1e-4 if wanted.dtype.name in ("float32", "complex64") else 1e-9
                numpy.testing.assert_allclose(y, wanted, rtol=bound, atol=bound)


PATHS = [
    *[(None, name) for name in sorted(CALLS)],
    *[("linalg", name) for name in sorted(LINALG)],
    *[("fft", name) for name in sorted(FFT)],
]
OF_ROOM = {None: CALLS, "linalg": LINALG, "fft": FFT}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: ".".join(filter(None, path)))
@settings(max_examples=10)
@given(data=st.data())
def test_what_the_reference_takes(path, data):
    args, options = data.draw(OF_ROOM[path[0]][path[1]])
    with numpy.errstate(all="ignore"):
        if is_in_standard(path, args, options):
            check(path, args, options)


def test_the_search_has_every_function():
    flags = {name for name in dir(strict) if "flags" in name}
    assert functions_of(strict) - flags == CALLS.keys() | OF_NUMBERS
    assert functions_of(strict.linalg) == LINALG.keys()
    assert functions_of(strict.fft) == FFT.keys() | FREQUENCIES


# ---- programs that are written to the standard -------------------------------------------------

X = numpy.array([[0.5, 1.2, 0.7], [0.9, 0.1, 0.4], [0.3, 0.8, 1.1]])


def normalized(x):
    xp = x.__array_namespace__()
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return xp.sum(xp.linalg.vector_norm(e / xp.sum(e, axis=-1, keepdims=True), axis=0) ** 3)


def filled(x):
    xp = x.__array_namespace__(api_version="2023.12")
    y = xp.zeros(x.shape, dtype=x.dtype, device=x.device)
    y[0, 0] = x[1, 1] ** 2
    return xp.sum(xp.concat([y, x.to_device("cpu")], axis=0) ** 2)


def built(x):
    xp = x[0, 0].__array_namespace__()  # NumPy's number has one, too
    pair = xp.asarray([x[0, 0], x[1, 1]])
    return xp.sum(pair**2) + xp.std(x, correction=1) + xp.linalg.trace(xp.matmul(x.mT, x))


def by_wrapper(x):
    xp = array_namespace(x, 2.0)
    return xp.sum(xp.asarray([x[0, 0], x[1, 2]]) ** 3) * xp.mean(x)


@pytest.mark.parametrize("f", [normalized, filled, built, by_wrapper])
def test_derivatives_of_programs_of_the_standard(f):
    h = 1e-5
    expected = numpy.zeros(X.shape)
    for index in numpy.ndindex(X.shape):
        step = numpy.zeros(X.shape)
        step[index] = h
        expected[index] = (f(X + step) - f(X - step)) / (2 * h)
    gradient = cr.grad(f)
    for derivative in (gradient, cr.jacfwd(f), cr.compile(gradient)):
        numpy.testing.assert_allclose(derivative(X), expected, rtol=1e-7, atol=1e-9)
    both = numpy.stack([X, X[::-1] + 0.1])
    numpy.testing.assert_allclose(cr.vmap(gradient)(both), list(map(gradient, both)), rtol=1e-12)
    moved = slope_of(gradient, (X,), (X,), h)
    numpy.testing.assert_allclose(cr.hvp(f, (X,), (X,)), moved, rtol=1e-6, atol=1e-8)


def test_namespaces_are_those_of_the_primal():
    found = []

    def f(x, number):
        found.append((x.__array_namespace__(), x.device, hasattr(number, "__array_namespace__")))
        with pytest.raises(ValueError, match="2001"):
            x.__array_namespace__(api_version="2001.12")
        with pytest.raises(ValueError, match="Unsupported device"):
            x.to_device("gpu")
        return numpy.sum(x) * number

    cr.grad(f)(X, 2.0)
    cr.jvp(f, (X, 2.0), (X, 1.0))
    cr.hessian(f, argnums=(0, 1))(X, 2.0)
    cr.vmap(f, in_axes=(0, None))(X, 2.0)
    assert found
    assert all(answer == (np, "cpu", False) for answer in found)


def test_arrays_of_dask_have_none():
    array = pytest.importorskip("dask.array")
    given = array.from_array(X, chunks=2)
    assert not hasattr(given, "__array_namespace__")

    def f(x):
        assert not hasattr(x, "__array_namespace__")
        return (x**2).sum()

    numpy.testing.assert_allclose(cr.grad(f)(given).compute(), 2 * X)


def test_a_plain_array_beside_a_traced_one_says_what_to_adopt():
    def f(x):
        return numpy.sum(array_namespace(x, X).exp(x))

    with pytest.raises(cr.LostDerivativeError, match=r'write cr.adopt\("array_api_compat"\)'):
        cr.grad(f)(X)
