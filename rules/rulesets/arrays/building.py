"""Arrays built from others: in another dtype, padded, repeated to a shape, on a grid.

Most are composed. A map of indices says which entry of the inputs each entry of the result is.
"""

import math

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.lib.stride_tricks import sliding_window_view

from ... import (
    ZeroTangent,
    array_of,
    as_dtype,
    astype,
    block_rule,
    composed,
    dtype_of,
    is_traced,
    lies_in_order,
    linear_rule,
    own_valued,
    pair_rule,
    pattern_rule,
    shape_of,
    value,
    zeros_pass,
)
from ...refusals.table import refusal
from .elementwise import as_array

# ---- dtypes ---------------------------------------------------------------------------------


def is_continuous(dtype):
    """Say whether a conversion to ``dtype`` is smooth: to integers it is piecewise constant.

    Text, times and fields may become numbers again, whose derivative would be lost.
    """
    kind = np.dtype(dtype).kind
    if kind not in "fcOiub":
        raise refusal("dtype of no numbers", dtype=np.dtype(dtype))
    return kind in "fcO"


@pair_rule(astype)
def astype_pair(astype, x, *, dtype, **options):
    smooth = is_continuous(dtype)

    def kept(tangent):
        return tangent if smooth else ZeroTangent()

    return astype(x, dtype, **options), kept, kept


zeros_pass.add(astype)


@block_rule(astype)
def astype_block(x, dtype, **options):
    return astype(x.values, dtype, **options)


@pattern_rule(astype)
def astype_pattern(x, dtype, **options):
    return x


@composed(np.astype)
def astype_of(x, dtype, /, *, copy=True, device=None):
    return x.astype(dtype, copy=copy)


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None):
    y = laid_out(converted(object, dtype), object, order, copy)
    missing = ndmin - y.ndim
    return np.reshape(y, (1,) * missing + y.shape) if missing > 0 else y


def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    return laid_out(converted(a, dtype), a, order, copy)


def converted(x, dtype):
    """Return ``x`` as an array of this dtype: an array that has it is itself, as in NumPy."""
    same = dtype is not None and hasattr(x, "dtype") and dtype_of(x) == np.dtype(dtype)
    return array_of(x, None if same else dtype)


# The options of ``copy`` by the names that the array API's wrapper of NumPy gives them.
_COPIES = {np._CopyMode.ALWAYS: True, np._CopyMode.NEVER: False, np._CopyMode.IF_NEEDED: None}


def laid_out(y, given, order, copy):
    """Return ``y``, made of what was ``given``, in the memory layout ``order``."""
    copy = _COPIES.get(copy, copy)
    if not hasattr(y, "__len__"):
        return np.copy(y)  # a number as an array
    if (order != "A" or copy) and not lies_in_order(y, order):
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return np.copy(y, order="C" if order == "A" else order)
    return np.copy(y, order=order or "K") if copy and y is given else y


def ascontiguousarray(a, dtype=None, *, like=None):
    return np.atleast_1d(asarray(a, dtype, "C"))


def asfortranarray(a, dtype=None, *, like=None):
    return np.atleast_1d(asarray(a, dtype, "F"))


def asarray_chkfinite(a, dtype=None, order=None):
    np.asarray_chkfinite(value(array_of(a)))  # which says what is not finite
    return asarray(a, dtype, order)


def require(a, dtype=None, requirements=None, *, like=None):
    if not requirements:
        return asarray(a, dtype)
    wanted = {str(word)[:1].upper() for word in requirements}
    orders = wanted & {"C", "F"}
    if len(orders) > 1:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = orders.pop() if orders else "A"
    y = asarray(a, dtype, order)
    # A traced array takes what is written to it, whether the plain one under it does or not.
    return np.copy(y, order=order) if "O" in wanted and not y.flags.owndata else y


def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    y = np.copy(np.broadcast_to(array_of(fill_value), shape), order=order)
    return y if dtype is None else as_dtype(y, dtype)


def arange(start=None, stop=None, step=1, dtype=None, *, device=None, like=None):
    """The number of entries is constant; the first argument alone is where it stops."""
    if stop is None:
        start, stop = 0, start
    start, step = (0 if start is None else start), (1 if step is None else step)
    count = max(math.ceil((value(stop) - value(start)) / value(step)), 0)
    y = start + step * np.arange(count)
    return y if dtype is None else as_dtype(y, dtype)


def fromiter(iter, dtype, count=-1, *, like=None):
    return as_dtype(array_of(iter if count < 0 else iter[:count]), dtype)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    a, fill_value = as_array(a), as_array(fill_value)
    shape = np.shape(a) if shape is None else shape
    if is_traced(fill_value):
        return np.copy(as_dtype(np.broadcast_to(fill_value, shape), dtype or dtype_of(a)))
    y = np.zeros_like(a, dtype, shape=shape)
    y[...] = fill_value
    return y


# What the mirrors of NumPy's constructors do with traced values; NumPy itself asks nobody, but for
# like=x, and where it has made an array of objects.
CONSTRUCTORS = {
    np.array: array, np.asarray: asarray, np.asanyarray: asarray,
    np.ascontiguousarray: ascontiguousarray, np.asfortranarray: asfortranarray,
    np.asarray_chkfinite: asarray_chkfinite, np.require: require,
    np.full: own_valued(np.full, full), np.arange: own_valued(np.arange, arange),
    np.fromiter: own_valued(np.fromiter, fromiter),
    np.full_like: own_valued(np.full_like, full_like),
}  # fmt: skip
for _f in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.full):
    composed(_f)(CONSTRUCTORS[_f])
composed(np.full_like, value="own")(full_like)


# ---- axes in front, and common shapes -------------------------------------------------------


def for_each(f):
    """Compose a function of any number of arrays: one result for one, a tuple for several."""

    def of_each(*arrays):
        ys = tuple(f(as_array(x)) for x in arrays)
        return ys[0] if len(ys) == 1 else ys

    return of_each


def as_1d(x):
    return x if shape_of(x) else np.reshape(x, (1,))


def as_2d(x):
    return x if np.ndim(x) >= 2 else np.reshape(x, (1, -1))


def as_3d(x):
    if np.ndim(x) >= 3:
        return x
    return np.expand_dims(x, ((0, 1, 2), (0, 2), 2)[np.ndim(x)])


composed(np.atleast_1d)(for_each(as_1d))
composed(np.atleast_2d)(for_each(as_2d))
composed(np.atleast_3d)(for_each(as_3d))


def as_broadcast(x, shape):
    """Broadcast ``x``: a view that can be written into where no entry becomes many."""
    if np.shape(x) == shape:
        return x
    return (np.reshape if np.size(x) == math.prod(shape) else np.broadcast_to)(x, shape)


@composed(np.broadcast_arrays)
def broadcast_arrays(*args, subok=False):
    args = [as_array(x) for x in args]
    shape = np.broadcast_shapes(*map(np.shape, args))
    # NumPy lets a program write into entries that are many at once, and warns: here they refuse.
    return tuple(as_broadcast(x if hasattr(x, "__len__") else np.copy(x), shape) for x in args)


@composed(np.meshgrid)
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    rank = len(xi)
    axes = list(range(rank))
    if indexing == "xy":
        axes[:2] = axes[1::-1]
    shapes = [tuple(-1 if k == axis else 1 for k in range(rank)) for axis in axes]
    grids = [np.reshape(x, shape) for x, shape in zip(xi, shapes)]
    grids = tuple(grids) if sparse else np.broadcast_arrays(*grids)
    return tuple(np.copy(grid, order="C") for grid in grids) if copy else grids


@composed(np.ix_)
def ix_(*args):
    """Give each vector an axis of its own: of masks their positions, of numbers a view."""
    xs = [as_array(x) for x in args]
    if any(np.ndim(x) != 1 for x in xs):
        raise ValueError("Cross index must be 1 dimensional")
    xs = [np.flatnonzero(x) if dtype_of(x) == np.bool_ else x for x in xs]
    axes = [[k for k in range(len(xs)) if k != axis] for axis in range(len(xs))]
    return tuple(np.expand_dims(x, others) for x, others in zip(xs, axes))


# ---- by a map of indices --------------------------------------------------------------------


def indices_of(x, start=0):
    """Return the number of each entry of ``x``, in the shape of ``x``, counted from ``start``."""
    return np.reshape(np.arange(start, start + np.size(x)), np.shape(x))


@composed(np.resize)
def resize(a, new_shape):
    if 0 in np.shape(a):
        return np.zeros_like(a, shape=new_shape)
    return np.take(a, np.resize(indices_of(a), new_shape))


@linear_rule(sliding_window_view, moves=True, drops=True, axes="axis")
def sliding_window_view_transpose(ybar, space, window_shape, axis=None, subok=False):
    """Windows overlap, so that ``writeable=True`` is not supported: which write is the last?"""
    widths = np.atleast_1d(window_shape).tolist()
    axes = range(len(space.shape)) if axis is None else axis
    axes = normalize_axis_tuple(axes, len(space.shape), allow_duplicate=True)
    lengths, shape = [], list(space.shape)
    for width, k in zip(widths, axes, strict=True):
        lengths.append(shape[k])
        shape[k] -= width - 1
    for k, length in zip(reversed(axes), reversed(lengths), strict=True):
        ybar = summed_windows(ybar, k, length)
    return ybar.copy()  # in order C, however NumPy lays out what it pads


def summed_windows(windows, axis, length):
    """Add the windows along an axis, the entries of which are along the last one, where they were.

    Row ``j`` of all entries ``j`` begins at place ``j``. In rows that are longer by one than what
    they are laid into it begins there by itself: ``j * (length + 1)`` is ``j * length + j``.
    """
    rows = np.moveaxis(windows, axis, -1)
    *outer, width, count = np.shape(rows)
    rest = [(0, 0)] * (len(outer) + 1)
    rows = np.pad(rows, [*rest, (0, length + 1 - count)])
    laid = np.reshape(rows, (*outer, width * (length + 1)))[..., : width * length]
    return np.moveaxis(np.sum(np.reshape(laid, (*outer, width, length)), axis=-2), -1, axis)


# ---- grids of numbers -----------------------------------------------------------------------


def steps_of(start, stop, num, endpoint):
    """Return the numbers of the steps in front of the axes of ``start`` and ``stop``."""
    dtype = dtype_of(stop - start)
    dtype = dtype if is_continuous(dtype) else None
    steps = np.arange(num, dtype=dtype or float)
    return np.reshape(steps, (-1,) + (1,) * np.ndim(stop - start)), num - 1 if endpoint else num


@composed(np.linspace, value="own")
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    start, stop = as_array(start), as_array(stop)
    steps, count = steps_of(start, stop, num, endpoint)
    parts = steps / max(count, 1)
    y = (1 - parts) * start + parts * stop
    y = np.moveaxis(y, 0, axis)
    if dtype is not None:
        y = as_dtype(y if is_continuous(dtype) else np.floor(y), dtype)
    if not retstep:
        return y
    return y, (stop - start) / count if count > 0 else np.nan


@composed(np.logspace, value="own")
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    base = np.expand_dims(base, axis) if np.ndim(base) > 0 else base
    y = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return y if dtype is None else as_dtype(y, dtype)


@composed(np.geomspace, value="own")
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    start, stop = as_array(start), as_array(stop)
    steps, count = steps_of(start, stop, num, endpoint)
    y = start * np.power(stop / start, steps / max(count, 1))
    if endpoint and num > 1:
        y = np.where(steps == count, stop, y)
    # NumPy never returns less than double precision here (2.4).
    dtype = np.result_type(y, np.float64) if dtype is None else dtype
    return as_dtype(np.moveaxis(y, 0, axis), dtype)


@composed(np.vander, value="own")
def vander(x, N=None, increasing=False):  # noqa: N803 - NumPy's name
    count = np.size(x) if N is None else N
    x = astype(x, np.result_type(x, np.dtype(int)))
    powers = [np.ones_like(x)]
    while len(powers) < count:
        powers.append(powers[-1] * x)
    y = np.stack(powers[:count], axis=-1) if count else np.zeros_like(x, shape=(np.size(x), 0))
    return y if increasing else np.flip(y, axis=-1)
