"""``primitive``, and derivatives for functions that nobody can look into.

Compiled code, foreign functions, programs: where there is no formula, slopes are taken by finite
differences or by a complex step, with an estimate of their error; or the user gives the Jacobian.
"""

import functools
from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast, overload

import numpy as np

from .config import (
    ArgumentTypeError,
    ArgumentValueError,
    InaccurateDerivativeError,
    MissingDerivativeError,
    RuleError,
    user_line,
)
from .rules import (
    ProjectTo,
    describe,
    dtype_of,
    is_traced,
    name_of,
    value,
)
from .rules import primitive as _primitive
from .rules.tracing.object_arrays import healed, is_object_array
from .rules.tracing.running import apart

F = TypeVar("F", bound=Callable)
Method = Literal["finite-difference", "complex-step"]
METHODS = ("finite-difference", "complex-step")


def _rules() -> Any:
    from . import _rulesets  # not loaded for a module that has its functions marked, and no more

    return _rulesets.functions.black_boxes


@overload
def primitive(
    f: F, *, derivative: Method | None = None, jac: Callable | None = None, tolerance: float = ...
) -> F: ...
@overload
def primitive(
    f: None = None,
    *,
    derivative: Method | None = None,
    jac: Callable | None = None,
    tolerance: float = ...,
) -> Callable[[F], F]: ...
def primitive(
    f: Any = None,
    *,
    derivative: Method | None = None,
    jac: Callable | None = None,
    tolerance: float = 1e-4,
) -> Any:
    """Return ``f`` as a function whose calls with traced values use its rules.

    Needed for functions that NumPy's protocols do not see: functions of other libraries, of the
    ``math`` module, or Python functions with a rule of their own. Where no rule answers, ``f``
    itself is run on the traced values. With ``derivative`` or ``jac`` the rules are made here, and
    ``f``, which may be anything, gets plain numbers and arrays only.

    Parameters
    ----------
    f : callable
        A function; or a class that is defined in Python, for its constructor. Without it,
        ``primitive(...)`` is a decorator. With ``derivative`` or ``jac`` it is a function of
        numbers and arrays (what else it takes is constant) that returns one number or array, the
        same each time, and writes to none of its arguments.
    derivative : {"finite-difference", "complex-step"}, optional
        How to find slopes. Differences are central, of five points, with a step that is adapted
        (one-sided where ``f`` ends): ten to thirty calls of ``f`` for a direction. A complex step
        is exact to rounding, at one call for a direction and five more to check it; ``f`` must be
        real, take complex numbers and be analytic: no ``abs``, no comparisons.
    jac : callable, optional
        Takes what ``f`` takes and returns the Jacobian, of shape ``y.shape + x.shape``; where
        ``f`` has several positional arguments, a tuple of them, with None for what is constant.
    tolerance : float, optional
        How large the estimated error of a slope may be, relative to the largest slope in the same
        direction and to ``|y| / max(|x|, 1)``.

    Returns
    -------
    callable
        With the signature of ``f``. Register rules on this one. Of a class it is a subclass, with
        the name of the class, to be used in its place: a decorator makes it so.

    Raises
    ------
    InaccurateDerivativeError
        Where a slope is asked for: if its estimated error is above the tolerance (noise, a jump,
        numbers of low precision), or if a complex step and differences contradict each other.
    MissingDerivativeError
        For second derivatives, which differences do not give. Those of a ``jac`` are followed: it
        is plain NumPy code, or a ``primitive`` itself.
    TypeError
        If ``f`` takes or returns complex numbers, which need a ``jac`` (``f'(z)``, of a
        holomorphic ``f``); or if ``f`` or ``jac`` returns something else than said above.

    Notes
    -----
    ``jvp`` by differences takes one direction; reverse mode, and Jacobians in both modes, one for
    each entry of the arguments that are differentiated, and keep the Jacobian.

    Examples
    --------
    >>> import math
    >>> import chainrules as cr
    >>> sin = cr.primitive(math.sin)
    >>> cr.scalar_rule(sin, lambda y, x: math.cos(x))
    >>> cr.grad(sin)(0.0)
    1.0

    What cannot be looked into:

    >>> erf = cr.primitive(math.erf, derivative="finite-difference")
    >>> round(float(cr.grad(lambda x: erf(x) ** 2)(0.5)), 10)
    0.9148124499
    >>> @cr.primitive(jac=lambda a, x: (np.diag(x), np.diag(a)))
    ... def multiply(a, x):
    ...     return np.array([p * q for p, q in zip(a.tolist(), x.tolist())])
    >>> cr.hessian(lambda x: np.sum(multiply(x, x)))(np.ones(2))
    array([[2., 0.],
           [0., 2.]])
    """
    if f is None:
        return functools.partial(primitive, derivative=derivative, jac=jac, tolerance=tolerance)
    if derivative is None and jac is None:
        return _seen(f)
    if derivative is not None and jac is not None:
        raise ArgumentTypeError("primitive takes derivative=... or jac=..., and got both.")
    if derivative is not None and derivative not in METHODS:
        raise ArgumentValueError(
            f"primitive knows no derivative={derivative!r}.\n"
            f"  write one of {', '.join(map(repr, METHODS))}, or jac=..."
        )
    if isinstance(f, type):
        raise ArgumentTypeError(
            f"{f.__name__} is a class, and only functions have a Jacobian.\n"
            "  write primitive for a function that calls it"
        )
    method = cast(str, derivative)

    def jacobians_of(source: Callable) -> Any:
        return Slopes(source, method, tolerance) if jac is None else given_by(source, f)

    return _rules().with_jacobian(_seen(f), f, jacobians_of, jac)


def _seen(f: Callable) -> Any:
    """Return the primitive of ``f``, whose rules are asked of object arrays of traced numbers, too.

    Otherwise the body would get objects, and C code would read their addresses as numbers.
    """

    def run(f: Callable, args: tuple, kwargs: dict) -> Any:
        if any(map(is_object_array, (*args, *kwargs.values()))):
            args, kwargs = healed((args, kwargs))
            if is_traced((args, kwargs)):
                return seen(*args, **kwargs)
        return apart(f, args, kwargs)

    seen = _primitive(f, run)
    return seen


# ---- a Jacobian that is given --------------------------------------------------------------------


def given_by(jac: Callable, f: Callable) -> Callable:
    """Return what gives the Jacobian in one argument, from a function that gives all of them."""

    def jacobian(args: tuple, options: dict, y: Any, i: int) -> Any:
        try:
            found = jac(*args, **options)
        except Exception as error:  # a compiled one may raise anything of a traced value
            if not is_traced(args):
                raise
            raise MissingDerivativeError(
                f"a second derivative of {name_of(f)} needs that of its jac, which cannot be "
                f"differentiated, in {user_line()}: {error}\n"
                "  write jac with NumPy, or make it a cr.primitive with a derivative of its own"
            ) from error
        found = found if isinstance(found, tuple) else (found,)
        # There may be more than arguments were given: those with defaults.
        if len(found) < len(args):
            raise RuleError(
                f"the jac of {name_of(f)} returned {len(found)} Jacobians for {len(args)} "
                "arguments.\n  return a tuple with one for each, and None for what is constant"
            )
        j = found[i]
        shape = np.shape(y) + np.shape(args[i])
        if j is None:
            return np.zeros(shape)
        if np.shape(j) != shape:
            raise RuleError(
                f"the jac of {name_of(f)} gave argument {i} a Jacobian of shape {np.shape(j)}.\n"
                f"  it is y.shape + x.shape, which is {shape}"
            )
        return j

    return jacobian


# ---- slopes that are measured --------------------------------------------------------------------


class Slopes:
    """Jacobians of ``f`` by differences or by a complex step, whose error is estimated."""

    __slots__ = ("f", "method", "tolerance")

    def __init__(self, f: Callable, method: str, tolerance: float) -> None:
        self.f = f
        self.method = method
        self.tolerance = tolerance

    def __call__(self, args: tuple, options: dict, y: Any, i: int) -> Any:
        """Return the Jacobian in argument ``i``."""
        return _rules().measured(self, args, options, value(y), i)

    def jacobian(self, args: tuple, options: dict, y: Any, i: int) -> Any:
        """Measure the Jacobian in argument ``i``, one column after the other."""
        line = self.line(args, options, y, [i])
        columns = [self.slope(line, unit) for unit in np.eye(line.space.size)]
        shape, dtype = np.shape(y) + np.shape(args[i]), ProjectTo(y).dtype
        if not columns:
            return np.zeros(shape, dtype)
        return np.reshape(np.stack(columns, axis=-1), shape).astype(dtype)

    def along(self, args: tuple, options: dict, y: Any, moving: list, dots: list) -> Any:
        """Return the derivative where arguments ``moving`` move along ``dots``."""
        line = self.line(args, options, y, moving)
        direction = line.space.pack(tuple(dots))
        if not np.any(direction):
            return np.zeros(np.shape(y))
        return np.reshape(self.slope(line, direction), np.shape(y))

    def line(self, args: tuple, options: dict, y: Any, moving: list) -> Any:
        from .testing.coordinates import Coordinates
        from .testing.oracle import DirectionalFunction

        xs = tuple(args[i] for i in moving)
        for part in (y, *xs):
            dtype = dtype_of(part)
            if dtype is not None and dtype.kind == "c":
                raise ArgumentTypeError(
                    f"{name_of(self.f)} is given {describe(part)} or returns it, and derivatives "
                    f"of black boxes by {self.method} are for real numbers, in {user_line()}.\n"
                    "  give jac=..., or make real and imaginary parts two arguments"
                )

        def moved(values: tuple) -> Any:
            given = list(args)
            for i, x in zip(moving, values, strict=True):
                given[i] = x
            return self.f(*given, **options)

        space = Coordinates(xs, tuple(map(np.ones_like, xs)))
        result = Coordinates(y, np.ones_like(y))
        return DirectionalFunction(moved, space, np.zeros(space.size), result)

    def slope(self, line: Any, direction: np.ndarray) -> np.ndarray:
        """Return the derivative along a direction, or raise where it cannot be trusted."""
        from .testing.complex_step import complex_step, consistent
        from .testing.oracle import QUICK, adaptive, quiet

        line.direction = direction
        with quiet():
            if self.method == "finite-difference":
                found = adaptive(line)
                self.refuse_bad(line, found)
                return found.value
            exact = complex_step(line.imaginary)
            agree = exact is not None and (
                consistent(exact, QUICK.estimate(line)) or consistent(exact, adaptive(line))
            )
        if exact is None or not agree:
            raise InaccurateDerivativeError(
                f"{name_of(self.f)} has no derivative by a complex step, in {user_line()}: "
                + (
                    "it fails for complex numbers, or gives none that are finite.\n"
                    if exact is None
                    else "finite differences give another one.\n"
                )
                + "  is it analytic, without abs, comparisons, or conversions to float? "
                'write derivative="finite-difference"'
            )
        return exact.value

    def refuse_bad(self, line: Any, found: Any) -> None:
        moved = line.start[line.direction != 0] / np.max(np.abs(line.direction))
        reach = max(1.0, np.max(np.abs(moved), initial=0.0))
        largest = np.max(np.abs(found.value), initial=0.0)
        worst = np.max(found.error, initial=0.0)
        scale = largest + np.max(np.abs(line.result.values()), initial=0.0) / reach
        if found.step > 0:
            # Steps by powers of two may agree by chance, of a function that jumps by small steps.
            s = 0.61 * found.step
            left, near_left, near, right = (line(k * s) for k in (-2, -1, 1, 2))
            off = np.abs((8 * (near - near_left) - (right - left)) / (12 * s) - found.value)
            worst = max(worst, np.max(off[np.isfinite(off)], initial=0.0))
            # Where value and slope are zero, the slopes beside the point count.
            beside = np.abs([left - line(0.0), right - line(0.0)])
            scale = max(scale, np.max(beside[np.isfinite(beside)], initial=0.0) / (2 * s))
        if not worst <= self.tolerance * scale:  # nor where it is not a number
            raise InaccurateDerivativeError(
                f"finite differences of {name_of(self.f)} may be off by {worst:.2g}, and the "
                f"largest slope is {largest:.2g}, in {user_line()}.\n"
                "  is it noisy, or of low precision, or is there a jump or a kink? give "
                f"tolerance=... above {self.tolerance:g}, or jac=..."
            )
