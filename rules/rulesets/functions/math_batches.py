"""Batch forms of Python's modules math and cmath: NumPy's functions, on a whole batch of numbers.

Where Python's function raises for one of the items, there is no form: the items go one by one, and
the first of these says it. Numbers are NumPy's, which may differ from Python's in the last bit.
"""

import cmath
import functools
import importlib
import math

import numpy as np

from ... import Block, Traced, batch_form, dtype_of, rank_of
from .math import NUMPYS, SAME

LARGEST = 2.0**62  # the whole numbers of a batch are integers of 64 bits


def without_levels(x):
    """Return the array under a traced one; None where it stands for others, in a recording."""
    while isinstance(x, Traced):
        if x.records:
            return None
        block = getattr(x, "block", None)
        x = x.primal if block is None else block
    return x


def is_refused(y, xs):
    """Say whether Python's function raises for one of the items, of which NumPy gives ``y``."""
    y, xs = without_levels(y), [without_levels(x) for x in xs]
    if y is None or any(x is None for x in xs):
        return True
    odd = ~np.isfinite(y)
    if not odd.any():
        return False
    nan = functools.reduce(np.logical_or, map(np.isnan, xs))
    infinite = functools.reduce(np.logical_or, map(np.isinf, xs))
    return bool(np.any(np.isnan(y) & ~nan) or np.any(np.isinf(y) & ~infinite & ~nan))


def numbers_of_batch(args, kinds):
    """Return a batch's arguments as arrays of numbers and numbers; None where one is another."""
    for x in args:
        dtype = dtype_of(x.values if type(x) is Block else x)
        known = dtype.kind in kinds if dtype is not None else isinstance(x, float | int | complex)
        if rank_of(x) or not known:
            return None
    return [x.values if type(x) is Block else x for x in args]


def by_arrays(f, g, kinds="fiub", dtype=float, check=is_refused):
    """Let ``g`` of arrays of ``dtype`` give what ``f`` gives of each number."""

    def form(*args, **options):
        xs = numbers_of_batch(args, kinds)
        if xs is None or any(type(x) is Block for x in options.values()):
            return NotImplemented
        xs = [x.astype(dtype) if dtype_of(x) not in (None, dtype) else x for x in xs]
        try:
            with np.errstate(all="ignore"):
                y = g(*xs, **options)
        except ImportError:  # without SciPy
            return NotImplemented
        return NotImplemented if check(y, xs) else y

    batch_form(f)(form)


def never(y, xs):
    return without_levels(y) is None


# ---- elementwise --------------------------------------------------------------------------------


def log(x, base=None):
    return np.log(x) if base is None else np.log(x) / np.log(base)


def of_scipy(name):
    def call(x):
        return getattr(importlib.import_module("scipy.special"), name)(x)

    return call


OWN = {
    "log": log, "hypot": lambda *xs: functools.reduce(np.hypot, map(np.abs, xs)),
    "erf": of_scipy("erf"), "erfc": of_scipy("erfc"), "gamma": of_scipy("gamma"),
    "lgamma": of_scipy("gammaln"),
}  # fmt: skip
OTHERS = sorted({*SAME.split()} - {"ldexp"})  # whose second number is an integer of Python's
for _name in (*OTHERS, *OWN):
    _g = OWN.get(_name) or getattr(np, NUMPYS.get(_name, _name))
    if hasattr(math, _name):
        by_arrays(getattr(math, _name), _g)
    if hasattr(cmath, _name):
        by_arrays(getattr(cmath, _name), _g, "fiubc", complex)


@batch_form(math.ldexp, math.remainder, math.modf, math.frexp)
def one_by_one(*args):
    return NotImplemented


# ---- piecewise constant -------------------------------------------------------------------------


def isclose(a, b, *, rel_tol=1e-9, abs_tol=0.0):
    near = np.abs(a - b) <= np.maximum(rel_tol * np.maximum(np.abs(a), np.abs(b)), abs_tol)
    return (a == b) | (near & np.isfinite(a) & np.isfinite(b))


def as_integers(rounded):
    return lambda x: rounded(x).astype(np.int64)


def is_too_large(y, xs):
    x = without_levels(xs[0])
    return x is None or not np.all(np.abs(x) < LARGEST)


for _name in ("isfinite", "isnan", "isinf"):
    by_arrays(getattr(math, _name), getattr(np, _name), check=never)
    by_arrays(getattr(cmath, _name), getattr(np, _name), "fiubc", complex, check=never)
by_arrays(math.isclose, isclose, check=never)
for _name in ("floor", "ceil", "trunc"):
    by_arrays(getattr(math, _name), as_integers(getattr(np, _name)), check=is_too_large)
