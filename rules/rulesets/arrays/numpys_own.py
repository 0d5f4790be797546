"""Composed rules whose value is NumPy's own.

A function that is composed of others gives the derivative of what NumPy computes, but not always
its last bit, its order of memory, or a number where NumPy gives a number. On these depends what
is a view of it, so here NumPy is called as well, and its result is what the user sees.
"""

import functools

import numpy as np

from ... import (
    NoTangent,
    ProjectTo,
    Traced,
    astype,
    composed,
    computed_into,
    frule,
    holds_traced,
    is_lazy,
    primitive,
    rrule,
    value,
    zeros_pass,
)


@primitive
def with_value(y, own):
    """``own``, with the derivative of ``y``."""
    return own


@frule.register(with_value)
def with_value_frule(tangents, with_value, y, own):
    return with_value(y, own), ProjectTo(own)(tangents[1])


@rrule.register(with_value)
def with_value_rrule(with_value, y, own):
    project_y = ProjectTo(y)

    def with_value_pullback(ybar):
        return NoTangent(), project_y(ybar), NoTangent()

    return with_value(y, own), with_value_pullback


zeros_pass.add(with_value)


def with_values(y, own):
    """``with_value`` of an array, or of each in a tuple or a list of arrays."""
    if isinstance(y, tuple | list):
        parts = map(with_values, y, own)
        return type(y)(*parts) if hasattr(y, "_fields") else type(y)(parts)
    if not isinstance(y, Traced):
        return y if holds_traced(y) else own  # an object array of traced numbers has no other value
    return with_value(y, own)


def composed_for_derivatives(f):
    """Decorator: as ``composed``, but the value is what ``f`` itself returns."""

    def define(body):
        composed(f)(with_own_value(f, body))
        return body

    return define


def with_own_value(f, body):
    """Return ``body``, which has the derivatives of ``f``, with the value that ``f`` returns."""

    @functools.wraps(body)
    def valued(*args, **kwargs):
        if any(is_lazy(value(x)) for x in args):
            return body(*args, **kwargs)  # dask has fewer options, and no order of memory
        own = f(*value(args), **value(kwargs))  # first: it says what is wrong with its input
        return with_values(body(*args, **kwargs), own)

    return valued


@composed_for_derivatives(computed_into)
def rounded_into(f, shape, dtype, *args, **kwargs):
    return astype(f(*args, **kwargs), dtype)


def laid_out_like(y, x):
    """``y``, in the order of memory that NumPy gives a new array which is to be like ``x``."""
    own = np.empty_like(x, y.dtype)
    own[...] = value(y)
    return with_values(y, own)
