"""Calls of linear functions, reductions and functions of matrices, in each transform, as text.

Their options stand by place and by name.

Two processes, one with the accelerator and one without, must say the same: values, derivatives,
order of memory, aliasing, errors. ``calls_by_place_and_name.py 0 20`` prints one call of 20.
"""

import itertools
import sys

import linear_calls
import numpy as np
from linear_calls import Dot
from quietly import quietly

import chainrules as cr
from chainrules.rules.containers import iterate_leaves
from chainrules.rules.signatures import positional_names

LARGEST = 60  # calls of one function in one form of its options


def calls():
    """Yield calls of NumPy's functions, of which the first or second argument is to be traced."""
    seen: dict = {}
    for f, args, kwargs in linear_calls.calls(20):
        if not linear_calls.home_of(f).startswith("numpy") or not isinstance(args[0], Dot | list):
            continue
        if f.__module__ == "numpy.fft" and 0 in args[0].shape:
            continue  # NumPy 2.4 makes whatever lies in memory of nothing
        form = f, len(args), tuple(kwargs)
        seen[form] = seen.get(form, 0) + 1
        if seen[form] <= LARGEST:
            yield f, args, kwargs


ALONG = [{}, {"axis": 0}, {"axis": -1}, {"axis": None}, {"axis": (0, 1)}, {"axis": 7}]
ALONG += [{"axis": 1, "keepdims": True}, {"axis": 0, "out": None}, {"keepdims": np._NoValue}]
MASK = np.array([[True, False, True], [True, True, False]])
OF_REDUCTIONS = {
    np.max: [{"initial": 0.5}, {"initial": 0.5, "where": MASK}, {"initial": np._NoValue}],
    np.min: [{"axis": 1, "initial": 0.0, "where": True}, {"axis": np.int64(1)}],
    np.nanmax: [], np.nanmin: [{"axis": (1,)}],
    np.prod: [{"dtype": np.float32}, {"dtype": int}, {"initial": 2.0}, {"where": MASK}],
    np.nanprod: [{"axis": 1, "dtype": complex}],
    np.var: [{"ddof": 1}, {"axis": 0, "dtype": float, "ddof": 1}, {"mean": 0.5}, {"correction": 1}],
    np.std: [{"axis": 1, "ddof": 0.5}, {"where": MASK}, {"axis": 0, "mean": np.zeros((1, 3))}],
    np.nanvar: [{"ddof": 1}], np.nanstd: [],
}  # fmt: skip
OF_MATRICES = [np.linalg.det, np.linalg.inv, np.linalg.slogdet, np.linalg.cholesky, np.linalg.pinv]
REDUCED = [
    Dot(s, t) for s in [(2, 3), (3,), (), (0,), (2, 0)] for t in (float, complex, np.float32)
]
SQUARE = [
    Dot(s, t) for s in [(2, 2), (1, 1), (3, 2, 2), (2, 3)] for t in (float, complex, np.float32)
]


def other_calls():
    """Yield calls of functions that are not linear, of one array."""
    for f, more in OF_REDUCTIONS.items():
        for options in (*ALONG, *more):
            yield from ((f, (x,), options) for x in REDUCED)
    yield from ((f, (x,), {}) for f in OF_MATRICES for x in SQUARE)


def forms(f, args, kwargs):
    """Yield the call as it is, with its options by place, by name, and given twice."""
    yield args, kwargs
    names = positional_names(f)
    arrays = 2 if len(args) > 1 and isinstance(args[1], np.ndarray | Dot) else 1
    if len(args) > arrays and len(names) >= len(args):
        yield args[:arrays], {**dict(zip(names[arrays:], args[arrays:], strict=False)), **kwargs}
        yield args, {**kwargs, names[arrays]: args[arrays]}
    placed = list(args)
    for name in names[len(args) :]:
        if name not in kwargs:
            break
        placed.append(kwargs[name])
    if len(placed) > len(args):
        yield tuple(placed), {k: x for k, x in kwargs.items() if k not in names[: len(placed)]}
    yield args, {**kwargs, "no_such_option": 1}


def points(x, count):
    """Fill in numbers for what stands for traced arrays, one for each of them."""
    if isinstance(x, Dot):
        rng = np.random.default_rng((count, len(x.shape), *x.shape))
        y = rng.normal(size=x.shape)
        if x.dtype is complex:
            y = y + 1j * rng.normal(size=x.shape)
        y = np.asarray(y).astype(x.dtype)
        return np.asfortranarray(y) if count % 2 else y
    if isinstance(x, list | tuple):
        return type(x)(points(part, count + k) for k, part in enumerate(x))
    return x


def said(y, *derivatives):
    """Describe numbers by their bytes, dtype and shape; the first also by its order of memory."""
    words = []
    for x in iterate_leaves((y, *derivatives)):
        if isinstance(x, np.ndarray):
            order = (x.flags.c_contiguous, x.flags.f_contiguous) if x is y else ""
            x = np.where(np.isnan(x), np.nan, x)  # which may have a sign
            words += [x.dtype.str, x.shape, order, hash(x.tobytes())]
        else:
            words += [type(x).__name__, repr(x)]
    return words


def outcome(run):
    try:
        with quietly():
            return said(*run())
    except Exception as error:
        return [type(error).__name__, str(error)]


def told(f, args, kwargs):
    """Return what each transform makes of a call."""
    x = points(args[0], 3)
    rest = points(args[1:], 5)

    def g(x):
        return f(x, *rest, **kwargs)

    def changed(x):
        # A write into a result that is a view is one into the argument.
        x = [part * 1.0 for part in x] if isinstance(x, list) else x * 1.0
        y = g(x)
        y[..., :1] = 0.5
        return x, y

    def pulled(g, x):
        y, pullback = cr.vjp(g, x)
        return y, pullback(y)

    one = [part * 0.5 for part in x] if isinstance(x, list) else x * 0.5
    yield outcome(lambda: cr.jvp(g, (x,), (one,)))
    yield outcome(lambda: cr.jvp(changed, (x,), (one,)))
    yield outcome(lambda: pulled(g, x))
    yield outcome(lambda: pulled(changed, x))
    if isinstance(x, np.ndarray) and x.dtype == float and x.size < 7:
        yield outcome(lambda: (g(x), cr.jacfwd(g)(x)))
        yield outcome(lambda: cr.jvp(lambda x: pulled(g, x), (x,), (one,)))


def main(share, of):
    for number, (f, args, kwargs) in enumerate(itertools.chain(other_calls(), calls())):
        if number % of == share:
            for given, options in forms(f, args, kwargs):
                for mode, words in enumerate(told(f, given, options)):
                    print(linear_calls.home_of(f), f.__name__, given, options, mode, *words)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
