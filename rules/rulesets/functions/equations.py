"""Equations at an answer: the Jacobian of their residual, and whether it tells how that moves."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ....config import (
    ConvergenceWarning,
    HasForwardsMode,
    SingularJacobianError,
    frule_via_ad,
    rrule_via_ad,
    user_frame,
    user_line,
)
from ... import NoTangent, Traced, as_structured, jacobian_via_ad, value
from ...shapes import FLOATS

# What is said of an answer: how far a step of Newton's method may go from it, relative to its size
# and in all; by how much the Jacobian may change along that, which at an m-fold root is
# (m - 1) / m; and how small a step tells nothing.
FAR, FAR_FROM_ZERO, BENT, NO_STEP = 1e-3, 1e-4, 0.4, 1e-11


def _is_finite(x: Any) -> bool:
    if type(x) is np.ndarray:
        return bool(np.isfinite(x).all())
    finite = math.isfinite(x) if type(x) in FLOATS else np.isfinite(x)
    return bool(finite if type(finite) is bool or np.ndim(finite) == 0 else np.all(finite))


def _largest(x: Any) -> Any:
    return abs(x) if type(x) in FLOATS or np.ndim(x) == 0 else np.abs(x).max(initial=0.0)


class System:
    """The residual, and its linearization at an answer."""

    jacobian: Any

    def __init__(self, config: Any, residual: Callable) -> None:
        self.config, self.residual = config, residual

    def linearized(self, x: Any) -> Any:
        """Return the residual at ``x``, and find its Jacobian there."""
        raise NotImplementedError

    def check(self, x: Any, r: Any) -> None:
        """Look whether the Jacobian at ``x``, where the residual is ``r``, will do.

        Raises
        ------
        SingularJacobianError
        """
        if not _is_finite(r):
            raise singular("the residual is not finite")
        if not _is_finite(self.jacobian):
            raise singular("the Jacobian of the residual is not finite")
        if self.is_singular():
            raise singular("the Jacobian of the residual is singular")
        self.check_beside(x, r)

    def is_singular(self) -> bool:
        raise NotImplementedError

    def solve(self, r: Any) -> Any:
        raise NotImplementedError

    def push(self, x: Any, xdot: Any) -> tuple[Any, Any]:
        """Return the residual at ``x``, and how it changes along ``xdot``."""
        y, ydot = frule_via_ad(self.config, (NoTangent(), xdot), self.residual, x)
        return y, value(as_structured(y, ydot))

    def check_beside(self, x: Any, r: Any) -> None:
        """Look whether a step to the solution that is beside ``x`` would find another slope."""
        step = self.solve(r)
        far, size = _largest(step), _largest(x)
        if far > FAR * size + FAR_FROM_ZERO:
            _warn_far(far)
        elif isinstance(self.config, HasForwardsMode):
            tells = far > NO_STEP * size  # by chance: a recording does not ask for it alone
            if isinstance(x, Traced) or tells:
                bent = self.solve(self.push(x - step, step)[1]) - step
                if tells & (_largest(bent) > BENT * far):
                    raise singular("the Jacobian of the residual is singular nearby")


class EntrywiseSystem(System):
    """Of a number, or of numbers with an equation for each."""

    def linearized(self, x: Any) -> Any:
        ones = np.ones_like(x)[()]
        if isinstance(self.config, HasForwardsMode):
            y, self.jacobian = self.push(x, ones)
        else:
            y, pullback = rrule_via_ad(self.config, self.residual, x)
            self.jacobian = value(as_structured(x, pullback(np.ones_like(y))[1]))
        return y

    def is_singular(self) -> bool:
        return not (self.jacobian if type(self.jacobian) in FLOATS else np.all(self.jacobian))

    def solve(self, r: Any) -> Any:
        return r / self.jacobian


class VectorSystem(System):
    """Of a vector."""

    def linearized(self, x: Any) -> Any:
        y, slopes = jacobian_via_ad(self.config, self.residual, x)
        self.jacobian = value(slopes)
        return y

    def is_singular(self) -> bool:
        """Say whether it is to rounding, in whatever units rows and columns are measured."""
        a = self.jacobian
        for axis in (1, 0):
            largest = np.abs(a).max(axis=axis, keepdims=True, initial=0.0)
            if not largest.all():
                return True
            a = a / largest
        return np.size(a) > 0 and np.linalg.cond(a, 1) > 0.1 / np.finfo(a.dtype).eps

    def solve(self, r: Any) -> Any:
        return np.linalg.solve(self.jacobian, r)


def _warn_far(far: float) -> None:
    frame = user_frame()
    message = ConvergenceWarning(
        f"an answer in {user_line()} is about {far:.1g} from a solution of its equations, and its "
        "derivative is no better.\n"
        "  let the solver go on: smaller tolerances, more iterations, another start"
    )
    if frame is None:
        warnings.warn(message, stacklevel=2)
    else:
        place = frame.f_code.co_filename, frame.f_lineno
        warnings.warn_explicit(message, ConvergenceWarning, *place)


def singular(what: str) -> SingularJacobianError:
    """Build the error for an answer that is not determined."""
    return SingularJacobianError(
        f"{what} at an answer in {user_line()}, so there is no derivative: the equations do not "
        "say how the answer moves.\n"
        "  it may be a multiple root, a turning point, one of many solutions, or a function with "
        "kinks; write cr.value(...) where no derivative is wanted"
    )
