"""Functions of NumPy that give a view of their array, and when.

``ALWAYS`` give a view of every array, or the array itself; ``NEVER`` a new one; for each in
``WHEN`` a predicate says for which arrays. All are compared with what NumPy does, over orders
of memory, dtypes and shapes, and the views with what a traced array gives.
"""

import itertools

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules.tracing.level import value

# ---- the arrays ---------------------------------------------------------------------------------

SHAPES = [(), (1,), (4,), (1, 4), (4, 1), (2, 4), (4, 4), (2, 1, 4), (2, 3, 4), (0, 4), (2, 0, 3)]
DTYPES = [np.float64, np.float32, np.complex128]
LAYOUTS = {
    "C": lambda x: x,
    "F": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    "backwards": lambda x: np.flip(np.ascontiguousarray(np.flip(x))),
    "axes moved": lambda x: np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0)
    if x.ndim > 1 else x,
}  # fmt: skip


def arrays():
    for shape in SHAPES:
        for dtype in DTYPES:
            for layout, lay in LAYOUTS.items():
                x = lay(np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype))
                yield pytest.param(x, id=f"{layout}-{np.dtype(dtype)}-{shape}")


# ---- the table ----------------------------------------------------------------------------------


def in_c(x):
    return x.flags.c_contiguous


def in_f(x):
    return x.flags.f_contiguous


def is_dense(x):
    """Say whether the entries lie side by side, in any order of the axes, and none backwards."""
    steps = sorted((step, n) for step, n in zip(x.strides, x.shape) if n != 1)
    expected = x.itemsize
    for step, n in steps:
        if step != expected:
            return False
        expected *= n
    return True


def joins(x, order="C"):
    """Say whether ``x`` is one axis in ``order``: each step goes on where one ends."""
    axes = [(step, n) for step, n in zip(x.strides, x.shape) if n != 1]
    if order == "F":
        axes = axes[::-1]
    return all(outer == inner * n for (outer, _), (inner, n) in itertools.pairwise(axes))


def is_real(x):
    return x.dtype.kind != "c"


def matrix(f):
    """For two axes at least; any other array is left out."""
    return lambda x: f(x) if x.ndim >= 2 else None


def vector(f):
    return lambda x: f(x) if x.ndim >= 1 else None


ALWAYS = {
    "x": lambda x: x,
    "x[...]": lambda x: x[...],
    "x[None]": lambda x: x[None],
    "x[1:]": vector(lambda x: x[1:]),
    "x[::-1]": vector(lambda x: x[::-1]),
    "x[..., 0]": matrix(lambda x: x[..., 0] if x.shape[-1] else None),
    "x.T": lambda x: x.T,
    "x.mT": matrix(lambda x: x.mT),
    "x.transpose()": lambda x: x.transpose(),
    "x.swapaxes(0, -1)": vector(lambda x: x.swapaxes(0, -1)),
    "x.squeeze()": lambda x: x.squeeze(),
    "x.diagonal()": matrix(lambda x: x.diagonal()),
    "x.real": lambda x: x.real,
    "x.reshape(x.shape)": lambda x: x.reshape(x.shape),
    "x.astype(x.dtype, copy=False)": lambda x: x.astype(x.dtype, copy=False),
    "transpose": np.transpose,
    "permute_dims": np.permute_dims,
    "matrix_transpose": matrix(np.matrix_transpose),
    "linalg.matrix_transpose": matrix(np.linalg.matrix_transpose),
    "swapaxes": vector(lambda x: np.swapaxes(x, 0, -1)),
    "moveaxis": vector(lambda x: np.moveaxis(x, 0, -1)),
    "rollaxis": vector(lambda x: np.rollaxis(x, x.ndim - 1)),
    "squeeze": np.squeeze,
    "expand_dims": lambda x: np.expand_dims(x, 0),
    "broadcast_to": lambda x: np.broadcast_to(x, (3, *x.shape)),
    "broadcast_arrays": lambda x: np.broadcast_arrays(x, np.ones((3, *x.shape)))[0],
    "broadcast_arrays of equal shapes": lambda x: np.broadcast_arrays(x, x)[1],
    "atleast_1d": np.atleast_1d,
    "atleast_2d": np.atleast_2d,
    "atleast_3d": np.atleast_3d,
    "diagonal": matrix(np.diagonal),
    "linalg.diagonal": matrix(np.linalg.diagonal),
    "diag of a matrix": lambda x: np.diag(x) if x.ndim == 2 else None,
    "einsum that adds up nothing": lambda x: np.einsum("...", x),
    "einsum that turns axes": vector(lambda x: np.einsum("i...->...i", x)),
    "einsum by numbers": matrix(lambda x: np.einsum(x, [0, 1, ...], [1, ..., 0])),
    "einsum of a diagonal": matrix(
        lambda x: np.einsum("...ii->...i", x) if x.shape[-1] == x.shape[-2] else None
    ),
    "flip": np.flip,
    "flipud": vector(np.flipud),
    "fliplr": matrix(np.fliplr),
    "rot90": matrix(np.rot90),
    "split": vector(lambda x: np.split(x, [1])[0]),
    "array_split": vector(lambda x: np.array_split(x, 1)[0]),
    "vsplit": matrix(lambda x: np.vsplit(x, [1])[0]),
    "hsplit": matrix(lambda x: np.hsplit(x, [1])[0]),
    "dsplit": lambda x: np.dsplit(x, [1])[0] if x.ndim == 3 else None,
    "unstack": matrix(lambda x: np.unstack(x)[0] if len(x) else None),
    "real": np.real,
    "real_if_close of a real array": lambda x: np.real_if_close(x) if is_real(x) else None,
    "sliding_window_view": vector(
        lambda x: np.lib.stride_tricks.sliding_window_view(x, 1, axis=-1)
    ),
    "trim_zeros": lambda x: np.trim_zeros(x[1:]) if x.ndim == 1 else None,
    "nan_to_num(copy=False)": lambda x: np.nan_to_num(x, copy=False) if x.ndim else None,
}  # fmt: skip

WHEN = {
    # How NumPy reshapes is told by the steps between the axes that are joined.
    "ravel": (np.ravel, in_c),
    "ravel('F')": (lambda x: np.ravel(x, "F"), in_f),
    "ravel('A')": (lambda x: np.ravel(x, "A"), lambda x: in_c(x) or in_f(x)),
    "ravel('K')": (lambda x: np.ravel(x, "K"), is_dense),
    "x.ravel()": (lambda x: x.ravel(), in_c),
    "reshape(-1)": (lambda x: np.reshape(x, -1), joins),
    "reshape(-1, order='F')": (lambda x: np.reshape(x, -1, order="F"), lambda x: joins(x, "F")),
    "x.reshape(-1)": (lambda x: x.reshape(-1), joins),
    "meshgrid(copy=False)": (lambda x: np.meshgrid(x, [1.0, 2.0], copy=False)[0], joins),
    "ix_": (lambda x: np.ix_(x.ravel())[0], in_c),
    "imag": (np.imag, lambda x: not is_real(x)),
    "x.imag": (lambda x: x.imag, lambda x: not is_real(x)),
    "x.conj()": (lambda x: x.conj(), is_real),
    "x.conjugate()": (lambda x: x.conjugate(), is_real),
}

NEVER = {
    "copy": np.copy,
    "x.copy()": lambda x: x.copy(),
    "x.flatten()": lambda x: x.flatten(),
    "x.astype(x.dtype)": lambda x: x.astype(x.dtype),
    "conj": np.conj,
    "x[[0]]": vector(lambda x: x[[0]] if len(x) else None),
    "x[x == x]": lambda x: x[x == x],
    "take": vector(lambda x: np.take(x, [0], 0) if len(x) else None),
    "diag of a vector": lambda x: np.diag(x) if x.ndim == 1 else None,
    "diagflat": np.diagflat,
    "roll": lambda x: np.roll(x, 1),
    "repeat": lambda x: np.repeat(x, 1),
    "tile": lambda x: np.tile(x, 1),
    "resize": lambda x: np.resize(x, x.shape),
    "tril": matrix(np.tril),
    "triu": matrix(np.triu),
    "concatenate": vector(lambda x: np.concatenate([x])),
    "stack": lambda x: np.stack([x]),
    "block": lambda x: np.block(x),
    "append": lambda x: np.append(x, []),
    "delete": lambda x: np.delete(x, []) if x.ndim else None,
    "insert": lambda x: np.insert(x, 0, 1.0),
    "pad": lambda x: np.pad(x, 0),
    "where": lambda x: np.where(True, x, x),
    "select": lambda x: np.select([np.ones(x.shape, bool)], [x]),
    "choose": lambda x: np.choose(np.zeros(x.shape, int), [x]) if x.ndim else None,
    "clip": lambda x: np.clip(x, None, 9.0) if is_real(x) else None,
    "sort": vector(np.sort),
    "gradient": lambda x: np.gradient(x, axis=-1) if x.ndim and x.shape[-1] > 1 else None,
    "meshgrid": lambda x: np.meshgrid(x, [1.0])[0],
    "nan_to_num": lambda x: np.nan_to_num(x) if x.ndim else None,
    "positive": np.positive,
    "angle": np.angle,
    "sum of one": lambda x: np.sum(x[None], 0) if x.ndim else None,
    "max of one": lambda x: np.max(x[None], 0) if x.ndim and is_real(x) else None,
}  # fmt: skip

TABLE = {
    **{name: (f, lambda x: True) for name, f in ALWAYS.items()},
    **{name: (f, lambda x: False) for name, f in NEVER.items()},
    **WHEN,
}
EACH = pytest.mark.parametrize("name", TABLE)


def cases(name):
    """Yield the arrays that a function takes, what it gives, and whether it should be a view."""
    f, is_view = TABLE[name]
    for case in arrays():
        x = case.values[0]
        y = f(x)
        if isinstance(y, np.ndarray):
            yield case.id, x, y, is_view(x)


@EACH
def test_numpy_gives_a_view(name):
    for which, x, y, expected in cases(name):
        if x.size and y.size:  # nothing has no memory to share
            assert np.shares_memory(x, y) == expected, which


REFUSED = {"ravel('K')"}  # for traced arrays of several axes


@pytest.mark.parametrize("name", [name for name in TABLE if name not in REFUSED])
def test_traced_array_gives_a_view_where_numpy_does(name):
    f, _ = TABLE[name]
    for which, x, y, _ in cases(name):
        if not (x.size and y.size):
            continue
        layout = which.partition("-")[0]

        expected = np.shares_memory(y, x)

        def look(x, f=f, layout=layout, expected=expected, which=which):
            x = laid_out(x, layout)
            assert np.shares_memory(value(f(x)), value(x)) == expected, which
            return 0.0

        base = base_of(x, layout)
        cr.vjp(look, base)
        cr.jvp(look, (base,), (np.zeros_like(base),))


def base_of(x, layout):
    """An array in the order of C, of which ``laid_out`` makes the like of ``x`` by views."""
    if layout == "F":
        return np.ascontiguousarray(x.T)
    if layout == "strided" and x.ndim:
        return np.repeat(x, 2, axis=-1)
    if layout == "backwards":
        return np.ascontiguousarray(np.flip(x))
    if layout == "axes moved" and x.ndim > 1:
        return np.ascontiguousarray(np.moveaxis(x, 0, -1))
    return np.ascontiguousarray(x) if x.ndim else x


def laid_out(x, layout):
    if layout == "F":
        return x.T
    if layout == "strided" and x.ndim:
        return x[..., ::2]
    if layout == "backwards":
        return np.flip(x)
    if layout == "axes moved" and x.ndim > 1:
        return np.moveaxis(x, -1, 0)
    return x
