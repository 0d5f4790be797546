"""The methods of NumPy's ufuncs: ``reduce``, ``reduceat`` and ``outer``."""

import numpy as np

from ..definitions import composed, linear_rule, non_differentiable
from ..project import ProjectTo
from ..registry import frule, rrule
from ..tangents import NoTangent
from .numpy_constant import COMPARISONS, LOGIC
from .numpy_elementwise import or_one
from .numpy_indexing import scatter
from .numpy_reductions import restore


def reduces_as(reduce, function):
    @composed(reduce)
    def as_function(array, axis=0, dtype=None, keepdims=False, **options):
        if dtype is not None:
            options["dtype"] = dtype
        return function(array, axis=axis, keepdims=keepdims, **options)


reduces_as(np.add.reduce, np.sum)
reduces_as(np.multiply.reduce, np.prod)
reduces_as(np.maximum.reduce, np.max)
reduces_as(np.minimum.reduce, np.min)
reduces_as(np.fmax.reduce, np.nanmax)
reduces_as(np.fmin.reduce, np.nanmin)

EXP = {np.logaddexp.reduce: np.exp, np.logaddexp2.reduce: np.exp2}


def portions(exp, x, y, axis):
    """``exp(x - y)``, which sums to 1; even between equal infinities."""
    infinite = np.isinf(y) & (x == y)
    number = or_one(np.sum(infinite, axis=axis, keepdims=True, dtype=y.dtype))
    portion = exp(np.where(infinite, 0, x) - np.where(infinite, 0, y))
    return np.where(infinite, 1 / number, portion)


@frule.register(np.logaddexp.reduce)
@frule.register(np.logaddexp2.reduce)
def logaddexp_reduce_frule(tangents, reduce, x, *, axis=0, keepdims=False):
    _, xdot = tangents
    y = reduce(x, axis=axis, keepdims=keepdims)
    terms = portions(EXP[reduce], x, restore(y, axis, keepdims, np.ndim(x)), axis) * xdot
    return y, np.sum(terms, axis=axis, keepdims=keepdims)


@rrule.register(np.logaddexp.reduce)
@rrule.register(np.logaddexp2.reduce)
def logaddexp_reduce_rrule(reduce, x, *, axis=0, keepdims=False):
    project_x = ProjectTo(x)
    y = reduce(x, axis=axis, keepdims=keepdims)

    def logaddexp_reduce_pullback(ybar):
        portion = portions(EXP[reduce], x, restore(y, axis, keepdims, project_x.ndim), axis)
        return NoTangent(), project_x(portion * restore(ybar, axis, keepdims, project_x.ndim))

    return y, logaddexp_reduce_pullback


@linear_rule(np.add.reduceat)
def add_reduceat_transpose(ybar, space, indices, axis=0, dtype=None):
    """Segment k sums from ``indices[k]`` up to the next index, or one entry where that is less."""
    axis = axis % space.ndim
    lengths = np.maximum(np.diff(indices, append=space.shape[axis]), 1)
    ends = np.cumsum(lengths)
    position = np.arange(ends[-1]) + np.repeat(np.array(indices) + lengths - ends, lengths)
    index = (*(slice(None),) * axis, position)
    return scatter(np.repeat(ybar, lengths, axis), space.shape, space.dtype, index)


# Of comparisons and logic the methods are as constant as the functions.
for _ufunc in (*COMPARISONS, *LOGIC):
    if isinstance(_ufunc, np.ufunc) and _ufunc.nin == 2:
        non_differentiable(_ufunc.outer, _ufunc.reduce, _ufunc.accumulate, _ufunc.reduceat)
