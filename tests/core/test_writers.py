"""Everything that writes into an array, through everything that shows its memory.

What NumPy has written is seen by us as well, in the value and in all that is read after it, or the
write is refused.
"""

import copy

import numpy as np
import pytest
from quietly import quietly

import chainrules as cr

X = np.array([0.7, -1.2, 2.5, 0.3])

# Each takes an array of four numbers, traced or not, and writes into it.
WRITERS = {
    "item": lambda v, x: v.__setitem__(0, 2.0 * x[1]),
    "slice": lambda v, x: v.__setitem__(slice(1, 3), x[:2]),
    "list": lambda v, x: v.__setitem__([0, 2], 1.5),
    "mask": lambda v, x: v.__setitem__(np.arange(4) > 1, 1.5),
    "ellipsis": lambda v, x: v.__setitem__(..., 1.5),
    "+=": lambda v, x: v.__iadd__(1.5),
    "*=": lambda v, x: v.__imul__(x),
    "/=": lambda v, x: v.__itruediv__(2.0),
    "**=": lambda v, x: v.__ipow__(2),
    "//=": lambda v, x: v.__ifloordiv__(2.0),
    "%=": lambda v, x: v.__imod__(2.0),
    "np.add.at": lambda v, x: np.add.at(v, [0, 0], 1.5),
    "np.add.at traced": lambda v, x: np.add.at(v, [0, 0], x[:2]),
    "np.subtract.at": lambda v, x: np.subtract.at(v, [1, 2], 1.5),
    "np.multiply.at": lambda v, x: np.multiply.at(v, [1, 2], 1.5),
    "np.divide.at": lambda v, x: np.divide.at(v, [1, 1], 2.0),
    "np.power.at": lambda v, x: np.power.at(v, [0], 2),
    "np.maximum.at": lambda v, x: np.maximum.at(v, [0, 1], 0.1),
    "np.minimum.at": lambda v, x: np.minimum.at(v, [0, 1], 0.1),
    "np.negative.at": lambda v, x: np.negative.at(v, [0, 3]),
    "np.square.at": lambda v, x: np.square.at(v, [0, 3]),
    "np.put": lambda v, x: np.put(v, [0, 2], [1.0, 2.0]),
    "np.place": lambda v, x: np.place(v, np.arange(4) > 1, [1.0, 2.0]),
    "np.putmask": lambda v, x: np.putmask(v, np.arange(4) > 1, [1.0, 2.0]),
    "np.copyto": lambda v, x: np.copyto(v, 1.5),
    "np.copyto where": lambda v, x: np.copyto(v, x, where=np.arange(4) > 1),
    "np.put_along_axis": lambda v, x: np.put_along_axis(v, np.array([0, 3]), 1.5, 0),
    "np.fill_diagonal": lambda v, x: np.fill_diagonal(v.reshape(2, 2), 1.5),
    "np.nan_to_num": lambda v, x: np.nan_to_num(v, copy=False, posinf=1.0),
    "out of add": lambda v, x: np.add(v, 1.5, out=v),
    "out of multiply where": lambda v, x: np.multiply(v, x, out=v, where=np.arange(4) > 1),
    "out of sin": lambda v, x: np.sin(x, out=v),
    "out by position": lambda v, x: np.exp(x, v),
    "out of divmod": lambda v, x: np.divmod(x, 2.0, out=(v, np.empty(4, like=v))),
    "out of sum": lambda v, x: np.sum(x, out=v[0, ...]),
    "out of cumsum": lambda v, x: np.cumsum(x, out=v),
    "out of accumulate": lambda v, x: np.multiply.accumulate(x, out=v),
    "out of reduce": lambda v, x: np.add.reduce(x, out=v[0, ...]),
    "out of reduceat": lambda v, x: np.add.reduceat(x, [0, 1, 2, 3], out=v),
    "out of outer": lambda v, x: np.multiply.outer(x[:2], x[2:], out=v.reshape(2, 2)),
    "out of clip": lambda v, x: np.clip(x, 0.0, 1.0, out=v),
    "out of take": lambda v, x: np.take(x, [1, 0, 3, 2], out=v),
    "out of choose": lambda v, x: np.choose([0, 1, 0, 1], [x, x * 2.0], out=v),
    "out of compress": lambda v, x: np.compress([True] * 4, x * 2.0, out=v),
    "out of concatenate": lambda v, x: np.concatenate([x[2:], x[:2]], out=v),
    "out of stack": lambda v, x: np.stack([x[2:], x[:2]], out=v.reshape(2, 2)),
    "out of dot": lambda v, x: np.dot(np.eye(4) * 2.0, x, out=v),
    "out of matmul": lambda v, x: np.matmul(np.eye(4) * 2.0, x, out=v),
    "out of einsum": lambda v, x: np.einsum("i,i->i", x, x, out=v),
    "out of mean": lambda v, x: np.mean(x, out=v[0, ...]),
    "out of max": lambda v, x: np.max(x, out=v[0, ...]),
    "out of median": lambda v, x: np.median(x, out=v[0, ...]),
    "out of round": lambda v, x: np.round(x, out=v),
    "out of trace": lambda v, x: np.trace(x.reshape(2, 2), out=v[0, ...]),
    "fill": lambda v, x: v.fill(1.5),
    "sort": lambda v, x: v.sort(),
    "sort kind": lambda v, x: v.sort(kind="stable"),
    "partition": lambda v, x: v.partition(2),
    "put": lambda v, x: v.put([0, 2], [1.0, 2.0]),
    "setflags": lambda v, x: (v.setflags(write=True), v.__setitem__(0, 1.5)),
    "flat": lambda v, x: v.flat.__setitem__(slice(0, 2), 1.5),
    "flat =": lambda v, x: setattr(v, "flat", [1.0, 2.0]),
    "real =": lambda v, x: setattr(v, "real", 1.5),
    "shuffle": lambda v, x: np.random.default_rng(0).shuffle(v),
    "permuted": lambda v, x: np.random.default_rng(0).permuted(v, out=v),
    "legacy shuffle": lambda v, x: np.random.RandomState(0).shuffle(v),
    "nditer": lambda v, x: [
        entry.__setitem__(..., 1.5)  # type: ignore[index]
        for entry in np.nditer(v, ["refs_ok"], [["readwrite"]])
    ],
    "frompyfunc at": lambda v, x: np.frompyfunc(lambda a, b: a + b, 2, 1).at(v, [0], 1.5),
    "frompyfunc out": lambda v, x: np.frompyfunc(lambda a: a, 1, 1)(x, out=v, casting="unsafe"),
    "apply": lambda v, x: np.apply_along_axis(lambda row: row.fill(1.5), 0, v),
}
# A shape belongs to who sets it: of what np.asarray gave it is not that of the traced array.
SHAPES = {
    "resize": lambda v, x: v.resize((2, 2)),
    "shape =": lambda v, x: setattr(v, "shape", (2, 2)),
}
# Each shows the memory of an array, or some copy of it; NumPy says which.
HANDLES = {
    "itself": lambda v: v,
    "asarray": np.asarray,
    "asanyarray": np.asanyarray,
    "array": lambda v: np.array(v, copy=None),
    "array copy": np.array,
    "ascontiguousarray": np.ascontiguousarray,
    "asfortranarray": np.asfortranarray,
    "asarray_chkfinite": np.asarray_chkfinite,
    "require": lambda v: np.require(v, requirements="C"),
    "atleast_1d": np.atleast_1d,
    "matrix": lambda v: np.asarray(np.asarray(v).view(np.matrix)).reshape(-1),
    "view": lambda v: v.view(),
    "view of a class": lambda v: v.view(np.ndarray),
    "a view of asarray": lambda v: np.asarray(v)[:],
    "reversed twice": lambda v: np.asarray(v)[::-1][::-1],
    "reshaped asarray": lambda v: np.asarray(v).reshape(2, 2).reshape(4),
    "reshaped": lambda v: v.reshape(2, 2).reshape(4),
    "ravel": np.ravel,
    "slice": lambda v: v[:],
    "as_strided": np.lib.stride_tricks.as_strided,
    "broadcast_to": lambda v: np.broadcast_to(v, (4,)),
    "squeeze": lambda v: np.squeeze(v[None]),
    "copy.copy": copy.copy,
    "memoryview": lambda v: memoryview(np.asarray(v)).obj,
    "masked data": lambda v: np.ma.array(v, copy=False).data,
    "ndarray": lambda v: np.ndarray.__getitem__(np.asarray(v), ...),
    "split": lambda v: np.split(v, 1)[0],
    "real": lambda v: v.real,
    "mT": lambda v: v.reshape(2, 2).T.T.reshape(4),
    "flat base": lambda v: np.atleast_2d(v)[0],
}
MODES = {
    "plain": lambda f, x: f(x),
    "reverse": lambda f, x: cr.value_and_grad(f)(x)[0],
    "forward": lambda f, x: cr.jvp(f, (x,), (np.ones_like(x),))[0],
    "nested": lambda f, x: cr.jvp(cr.value_and_grad(f), (x,), (np.ones_like(x),))[0][0],
}
REFUSALS = cr.ChainRulesError, TypeError, ValueError, AttributeError


def program(write, show):
    def f(x):
        y = x * 1.0
        write(show(y), x)
        return np.sum(y * np.arange(1.0, 5.0)) + np.sum(np.sin(show(y) + 0.0))

    return f


def outcome(f, run):
    try:
        with quietly():
            return float(run(f, X.copy()))
    except REFUSALS as error:
        return error


def show_plainly(show):
    """Say whether what is shown of a traced array is an array of NumPy's."""
    found = []
    cr.grad(lambda x: (found.append(type(show(x * 1.0)) is np.ndarray), x[0])[1])(X)
    return found[0]


def at_of_what_is_read_only():
    """Say whether NumPy itself refuses ``ufunc.at`` of an array that is read-only (since 2.5.5)."""
    v = np.zeros(1)
    v.flags.writeable = False
    try:
        np.add.at(v, [0], 1.0)
    except ValueError:
        return True
    return False


AT_REFUSES = at_of_what_is_read_only()


def test_out_that_stands_for_a_traced_array_is_refused():
    """NumPy asks the traced operand, which then writes the sum: the refusal is ours as well."""

    def product(x):
        a = np.asarray(x)
        return np.sum(np.multiply(a, x, out=a))

    def some(x):
        a = np.asarray(x)
        return np.sum(np.add(a[1:], x[1:], out=a[1:]))

    for f in (product, some):
        for transform in (cr.grad(f), lambda x, f=f: cr.jvp(f, (x,), (x,))):
            with pytest.raises(cr.MutationError, match=r"np.asarray, .* cannot be written to"):
                transform(X.copy())


def test_what_a_refused_write_says():
    def f(x):
        v = np.asarray(x)
        np.add.at(v, [0], 1.5)
        return np.sum(x)

    line = f.__code__.co_firstlineno + 1
    for handles in (f, lambda x: f(x[::-1])):
        with pytest.raises(cr.MutationError) as error:
            cr.grad(handles)(X)
        if AT_REFUSES:
            assert str(error.value).endswith(
                "is read-only: what NumPy made of a traced array by np.asarray, or by a call that "
                "does the same, cannot be written to.\n  write into the traced array itself, or "
                "into a copy (np.array(x)); np.asarray of chainrules.numpy gives the traced array"
            )
            continue
        assert str(error.value) == (
            "the array that np.asarray, or a function that calls it, made of a traced one in "
            f"test_writers.py:{line} was written to, by ufunc.at, and the traced one would not "
            "show it.\n"
            "  write into the traced array itself, np.add.at(x, ...), or into a copy (x.copy())"
        )


def test_a_refused_write_of_what_is_long_gone():
    def f(x):
        np.add.at(np.asarray(x), [0], 1.5)
        return cr.grad(lambda x: np.sum(x * x))(x) @ x

    with pytest.raises(cr.MutationError, match="is read-only" if AT_REFUSES else "by ufunc"):
        cr.grad(f)(X)


@pytest.mark.parametrize("mode", list(MODES)[1:])
@pytest.mark.parametrize("handle", HANDLES)
def test_no_write_is_lost(handle, mode):
    lost = []
    given = {} if show_plainly(HANDLES[handle]) else SHAPES
    for name, write in (WRITERS | given).items():
        f = program(write, HANDLES[handle])
        ours, right = outcome(f, MODES[mode]), outcome(f, MODES["plain"])
        if isinstance(ours, Exception):
            continue
        if isinstance(right, Exception) or not np.isclose(ours, right, 1e-12, 1e-12):
            lost.append((name, right, ours))
    assert [] == lost
