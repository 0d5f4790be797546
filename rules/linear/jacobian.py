"""Whole Jacobians and gradients for rules, by the config that a rule was given."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...config import HasForwardsMode, HasReverseMode, frule_via_ad, rrule_via_ad
from ..annotations import Value
from ..shapes import shape_of
from ..tangents.filled import as_structured
from ..tangents.project import ProjectTo
from ..tangents.structural import NoTangent, unthunk
from ..tracing.funnel import array_of
from .directions import Directions, arrange, run_program
from .leaves import tangent_leaves
from .program import LinearProgram


def jacobian_via_ad(config: Any, f: Callable, x: Value) -> tuple[Any, Any]:
    """Return ``f(x)`` and its Jacobian, with the engine behind ``config``.

    In forward mode, if the engine has it: ``f`` is run once, for all directions.

    Shapes: ``x``, a real number or array, ``f(x)`` likewise; the Jacobian is
    ``f(x).shape + x.shape``.

    Examples
    --------
    >>> from chainrules.rules import jacobian_via_ad
    >>> jacobian_via_ad(cr.ForwardConfig(), lambda x: x * x, np.array([1.0, 2.0]))[1]
    array([[2., 0.],
           [0., 4.]])
    """
    if not isinstance(config, HasForwardsMode):
        return _by_rows(config, f, x)
    if shape_of(x) == ():
        y, ydot = frule_via_ad(config, (NoTangent(), ProjectTo(x).dtype.type(1)), f, x)
        return y, as_structured(y, unthunk(ydot))
    program = LinearProgram()
    y, ydot = frule_via_ad(config, (NoTangent(), program.input(x)), f, x)
    program.finish(tangent_leaves(y, ydot))
    images = run_program(program, Directions([x]), [y])
    return y, arrange(images, x, y, transposed=False)


def _by_rows(config: Any, f: Callable, x: Value) -> tuple[Any, Any]:
    y, pullback = rrule_via_ad(config, f, x)
    units = np.eye(np.size(y), dtype=ProjectTo(y).dtype)
    rows = [as_structured(x, pullback(np.reshape(unit, shape_of(y)))[1]) for unit in units]
    return y, np.reshape(array_of(rows), shape_of(y) + shape_of(x))


def gradient_via_ad(config: Any, f: Callable, x: Value) -> Any:
    """Return the gradient of ``f``, which returns a real number, at the real number or array ``x``.

    In reverse mode, if the engine behind ``config`` has it.

    Examples
    --------
    >>> from chainrules.rules import gradient_via_ad
    >>> gradient_via_ad(cr.ForwardConfig(), lambda x: np.sum(x * x), np.array([1.0, 2.0]))
    array([2., 4.])
    """
    if not isinstance(config, HasReverseMode):
        return jacobian_via_ad(config, f, x)[1]
    y, pullback = rrule_via_ad(config, f, x)
    return as_structured(x, unthunk(pullback(ProjectTo(y)(1.0))[1]))
