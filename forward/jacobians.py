"""Jacobians from columns or rows, for numbers, arrays and containers; and jacfwd."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..rules import NoTangent, array_of, children, is_traced
from ..rules.arguments import Argnums, Arguments, titled
from ..rules.project import ProjectTo, dtype_of, shape_of
from ..rules.surface import is_perturbable_input
from ..rules.tangents import child_tangents, derivative_like
from .linearize import linearize


def leaves(x: Any) -> list:
    """Return the numbers and arrays in ``x`` that can be perturbed."""
    parts = children(x)
    if parts is not None:
        return [leaf for part in parts.values for leaf in leaves(part)]
    return [x] if is_perturbable_input(x) else []


def tangent_leaves(x: Any, t: Any) -> list:
    """Return the parts of the tangent ``t`` that belong to ``leaves(x)``."""
    parts = children(x)
    if parts is not None:
        given = child_tangents(x, t)
        pairs = zip(parts.values, given, strict=True)
        return [leaf for part, partdot in pairs for leaf in tangent_leaves(part, partdot)]
    return [t] if is_perturbable_input(x) else []


def with_leaves(x: Any, values: Any) -> Any:
    """Return a derivative with the structure of ``x`` and the next ``values`` as its leaves."""
    parts = children(x)
    if parts is None:
        return next(values) if is_perturbable_input(x) else NoTangent()
    found = [with_leaves(part, values) for part in parts.values]
    return derivative_like(x, found)


def basis(x: Any) -> list[list]:
    """Return, for each leaf of ``x``, its unit tangents in the structure of all of ``x``."""
    found = leaves(x)
    spaces = [ProjectTo(leaf) for leaf in found]
    units: list[list] = []
    for j, space in enumerate(spaces):
        units.append([])
        for k in range(_size(space)):
            unit = np.zeros(_size(space), space.dtype)
            unit[k] = 1
            values = [other.zeros() for other in spaces]
            values[j] = unit.reshape(space.shape) if space.shape else unit[0]
            units[-1].append(with_leaves(x, iter(values)))
    return units


def _size(space: Any) -> int:
    return int(np.prod(space.shape, dtype=int))


def is_complex(x: Any) -> bool:
    dtype = dtype_of(x)
    return dtype is not None and dtype.kind == "c"


def scaled(x: Any, unit: Any, scale: complex) -> Any:
    """Multiply every complex leaf of a unit tangent; real leaves stay real."""
    values = [
        leaf * scale if is_complex(of) else leaf
        for of, leaf in zip(leaves(x), tangent_leaves(x, unit), strict=True)
    ]
    return with_leaves(x, iter(values))


def jacobian_matrix(apply: Callable, source: Any, target: Any, transposed: bool) -> Any:
    """Apply a linear map to every unit of ``source`` and arrange the results as a Jacobian.

    With ``transposed`` the map is a pullback and the units are cotangents of the output.

    Raises
    ------
    TypeError
        If a complex function of a complex argument is not holomorphic: its derivative is then
        no complex number.
    """
    sources, targets = leaves(source), leaves(target)
    blocks: list[list] = [[] for _ in targets]  # blocks[i][j]: of target i in source j
    for x, units in zip(sources, basis(source), strict=True):
        columns: list[list] = [[] for _ in targets]
        for unit in units:
            given = tangent_leaves(target, apply(unit))
            turned: list = [None] * len(given)
            if is_complex(x):
                turned = tangent_leaves(target, apply(scaled(source, unit, 1j)))
            for column, y, value, other in zip(columns, targets, given, turned, strict=True):
                column.append(_complex_entry(x, y, value, other, transposed))
        for i, (y, column) in enumerate(zip(targets, columns, strict=True)):
            blocks[i].append(_stack(column, shape_of(x), shape_of(y), ProjectTo(y), transposed))
    if transposed:
        rows = [with_leaves(target, iter(row)) for row in zip(*blocks, strict=True)]
        return with_leaves(source, iter(rows))
    columns_of = [with_leaves(source, iter(row)) for row in blocks]
    return with_leaves(target, iter(columns_of))


def _complex_entry(x: Any, y: Any, value: Any, other: Any, transposed: bool) -> Any:
    """Combine the images of 1 and i: one complex derivative, if there is one."""
    if not is_complex(x):
        return value
    if is_complex(y):
        if not is_traced((value, other)) and not np.allclose(
            other, 1j * value, rtol=1e-5, atol=1e-10, equal_nan=True
        ):
            raise TypeError(
                "the function is not holomorphic, so it has no complex Jacobian.\n"
                "  differentiate its real and imaginary parts: jacobian of np.real(f(z)), "
                "np.imag(f(z))"
            )
        return np.conj(value) if transposed else value
    return value + 1j * other


def _stack(column: list, inner: tuple, outer: tuple, space: Any, transposed: bool) -> Any:
    shape = (*inner, *outer) if transposed else (*outer, *inner)
    if not column:
        return np.zeros(shape, space.dtype)
    if not inner:
        return column[0]
    stacked = np.stack([array_of(part) for part in column], axis=0 if transposed else -1)
    return np.reshape(stacked, shape)


def jacfwd(f: Callable, argnums: Argnums = 0) -> Callable:
    """Return a function giving the Jacobian of ``f``, column by column in forward mode.

    Parameters
    ----------
    f : callable
        Returns a number, an array, or a container of these.
    argnums : int, str, or tuple of these, optional
        Which arguments to differentiate, by position or by name.

    Returns
    -------
    callable
        With the arguments of ``f``. Its result has shape ``out.shape + in.shape``; for a tuple
        of argnums, a tuple of these; for containers, the output's structure of the input's.
        Of a complex function of a complex argument it is the complex derivative.

    Raises
    ------
    TypeError
        If a complex function is not holomorphic.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    @functools.wraps(f)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        chosen = Arguments("jacfwd", f, argnums, args, kwargs)
        y, pushforward = linearize(chosen.function(), *chosen.primals)
        primals = chosen.primals if chosen.several else chosen.primals[0]

        def push(unit: Any) -> Any:
            return pushforward(*unit) if chosen.several else pushforward(unit)

        return jacobian_matrix(push, primals, y, transposed=False)

    return titled(jacobian_of, "jacfwd", f)
