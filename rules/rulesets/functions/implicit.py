"""Answers of equations: their derivatives by the implicit function theorem, whoever found them.

A solver works with plain numbers. At its answer the residual is evaluated once more, with what is
traced, in arguments and in what functions capture alike; its Jacobian in the unknowns comes from
the engine that follows these. So nothing is differentiated through the steps of the solver.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ....config import (
    ArgumentValueError,
    LostDerivativeError,
    MissingRuleError,
    user_line,
    value_via_ad,
)
from ... import (
    Traced,
    all_settled,
    dtype_of,
    healed,
    innermost,
    is_lazy,
    is_traced,
    levels_of,
    name_of,
    replaced,
    stop_gradient,
    value,
    with_values,
)
from ...shapes import FLOATS
from .equations import EntrywiseSystem, VectorSystem
from .flatten import flatten


def implicit(residual: Callable) -> Callable[[Callable], Callable]:
    """Decorator of a solver, whose answer is differentiated by ``residual(x, *args) = 0``.

    The solver may be written in any language: it gets plain numbers, and is not differentiated.

    Parameters
    ----------
    residual : callable
        ``residual(x, *args)`` is zero at the answer; as many numbers as ``x`` has. It may capture
        traced values.

    Returns
    -------
    callable
        The decorator. The solver returns a number, an array, or a container of these. Its keyword
        arguments are options: they are handed to it alone, and are constants.

    Raises
    ------
    SingularJacobianError
        Where the residual does not determine how the answer moves: its Jacobian in ``x`` is
        singular, as at a double root, or not finite.
    ValueError
        If the residual has more numbers than ``x``, or fewer.
    LostDerivativeError
        If an option is traced.

    Warns
    -----
    ConvergenceWarning
        Where the answer is not good enough for its derivative.

    Notes
    -----
    From ``residual(x(p), p) = 0``: ``xdot = -J^-1 rdot``, with J the Jacobian in x, and rdot the
    tangent of the residual where x stands still. (Griewank and Walther 2008, chapter 15.)

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> @cr.implicit(lambda x, a: x**2 - a)
    ... def root_by_hand(a):
    ...     return float(np.sqrt(a))
    >>> float(cr.grad(root_by_hand)(4.0)), float(cr.hessian(root_by_hand)(4.0))
    (0.25, -0.03125)
    """

    def decorate(solver: Callable) -> Callable:
        @functools.wraps(solver)
        def solved(*args: Any, **options: Any) -> Any:
            _refuse_traced(solver, options)
            args = settled(args)
            x = untraced(solver(*untraced(args), **options))
            return solution(residual, x, args, config_of(args))

        return solved

    return decorate


def fixed_point(step: Callable) -> Callable[[Callable], Callable]:
    """Decorator of a solver, whose answer is differentiated by ``x = step(x, *args)``.

    As ``implicit``, with the residual ``x - step(x, *args)``.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> @cr.fixed_point(lambda x, a: np.cos(a * x))
    ... def iterate(a):
    ...     x = 0.0
    ...     for _ in range(100):
    ...         x = np.cos(a * x)
    ...     return x
    >>> round(float(cr.grad(iterate)(1.0)), 6)
    -0.297474
    """

    return implicit(difference(step))


def difference(step: Callable) -> Callable:
    """Return the residual ``x - step(x, *args)``, which is zero at a fixed point."""

    def residual(x: Any, *args: Any) -> Any:
        return flatten(x)[0] - flatten(settled(step(x, *args)))[0]

    return residual


def _refuse_traced(solver: Any, options: dict) -> None:
    traced = [name for name, x in options.items() if is_traced(settled(x))]
    if traced:
        raise LostDerivativeError(
            f"{name_of(solver)} has no derivative in its option {traced[0]!r}, in {user_line()}: "
            "options go to the solver alone.\n"
            "  pass it by position, and to the residual, too; or write "
            f"{traced[0]}=cr.value(...), where no derivative is wanted"
        )


# ---- what solvers see ---------------------------------------------------------------------------


def settled(x: Any) -> Any:
    """Return what a function of the user's gave, with no buffers and no object arrays."""
    return all_settled(healed(x))


def untraced(x: Any) -> Any:
    """Return ``x`` with plain numbers in place of traced ones."""
    return x if type(x) in FLOATS else stop_gradient(x)


class Watched:
    """A function of the user's as a solver sees it: it takes and gives plain numbers.

    ``config`` is that of the engine that follows what the function captures, if one does.
    """

    def __init__(self, f: Callable) -> None:
        self.f = f
        self.config: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        y = self.f(*args, **kwargs)
        if type(y) in FLOATS or is_real_array(y):
            return y
        self.config = self.config or config_of(y)
        if isinstance(y, Traced) and type(y.primal) in FLOATS:
            return y.primal  # as nearly always
        y = untraced(y)
        known = type(y) is np.ndarray or (type(y) is list and FLOATS.issuperset(map(type, y)))
        return y if known else replaced(in_plain_numbers, y)

    def __getattr__(self, name: str) -> Any:
        if name == "f":
            raise AttributeError(name)
        return getattr(self.f, name)


def in_plain_numbers(x: Any) -> Any:
    """Ask what stands for numbers, as a batched value does, for them: code in C loses a refusal."""
    if not isinstance(x, Traced):
        return x
    number: Any = x
    if np.ndim(number) > 0:
        return np.asarray(number)
    return {"b": bool, "c": complex}.get(_kind(x), float)(number)


def is_real_array(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype.kind == "f"


def config_of(x: Any) -> Any:
    """Return the config of the innermost engine that follows ``x``; None where nothing does."""
    level = innermost((settled(x),))
    return getattr(level, "config", None)


# ---- the answer, with its derivatives -----------------------------------------------------------


def solution(residual: Callable, x: Any, args: tuple = (), config: Any = None) -> Any:
    """Return the plain answer ``x`` with the derivatives of ``residual(x, *args) = 0``.

    ``x`` and the residual are numbers, arrays or containers, with the same count of numbers. The
    config is that of an engine that follows something that the residual depends on.
    """
    if is_real_number(x):
        return entrywise(lambda x, *args: _number(residual(x, *args)), x, args, config)
    vector, unflatten = (x, None) if is_real_array(x) and x.ndim == 1 else flatten(x)

    def of_vector(vector: Any, *args: Any) -> Any:
        r = residual(vector if unflatten is None else unflatten(vector), *args)
        return _fitting(_as_vector(settled(r)), np.size(vector))

    moved = _newton(of_vector, vector, args, config, VectorSystem)
    return moved if unflatten is None else x if moved is vector else unflatten(moved)


def entrywise(residual: Callable, x: Any, args: tuple = (), config: Any = None) -> Any:
    """As ``solution``, of a number; or of an array, where each entry has an equation of its own."""
    return _newton(lambda x, *args: settled(residual(x, *args)), x, args, config, EntrywiseSystem)


def are_apart(residual: Callable, x: Any, args: tuple, config: Any) -> bool:
    """Say whether each entry of the residual depends on its own entry of the array ``x`` alone.

    If so, its pushforward of a direction in general position is that of ones, entry by entry.
    """
    fixed = untraced(args)
    slopes = EntrywiseSystem(config, lambda x: settled(residual(x, *fixed)))
    direction = 1.0 + np.modf(np.arange(1.0, np.size(x) + 1) * np.pi)[0].reshape(np.shape(x))
    slopes.linearized(x)
    expected, found = slopes.jacobian * direction, slopes.push(x, direction)[1]
    close = 1e3 * np.finfo(x.dtype).eps * np.max(np.abs(expected), initial=0.0)
    return bool(np.all(np.abs(found - expected) <= close))


def is_real_number(x: Any) -> bool:
    return np.ndim(x) == 0 and _kind(x) == "f"


def _kind(x: Any) -> str:
    return getattr(dtype_of(x), "kind", "")


def _as_vector(r: Any) -> Any:
    array = isinstance(r, Traced | np.ndarray)
    return r if array and np.ndim(r) == 1 and _kind(r) == "f" else flatten(r)[0]


def _fitting(r: Any, count: int) -> Any:
    if np.size(r) != count:
        unknowns = "one unknown" if count == 1 else f"{count} unknowns"
        raise ArgumentValueError(
            f"the residual has {np.size(r)} numbers for {unknowns}, in {user_line()}.\n"
            "  there must be as many equations as unknowns"
        )
    return r


def _number(r: Any) -> Any:
    r = _fitting(settled(r), 1)
    return r if np.ndim(r) == 0 else np.reshape(r, ())


def is_derivative(config: Any) -> bool:
    """Say whether an engine has derivatives: that of a batch has none of its own."""
    return hasattr(config, "rrule_via_ad") or hasattr(config, "frule_via_ad")


def _newton(residual: Callable, x: Any, args: tuple, config: Any, system: Any) -> Any:
    """Give ``x`` its derivatives: by a step of Newton's method for each order.

    A step ``x - J^-1 residual(x)``, in traced numbers and with the plain Jacobian J, has right
    derivatives of the first order. From there the next has one order more: what is wrong in x it
    multiplies by ``1 - J^-1 J(x)``, which has no constant term. The value stays that of x.
    """
    fixed = untraced(args)
    alike = is_derivative(config) and all(map(operator.is_, fixed, args))
    linear = system(config, lambda x: residual(x, *fixed))
    r = linear.linearized(x) if alike else residual(x, *args)
    if is_lazy(value(r)):
        raise LostDerivativeError(
            f"equations whose residual is an array of dask have no derivative, in {user_line()}: "
            "they are solved by functions of NumPy's.\n"
            "  give arrays of NumPy's, x.compute(), to the function that is differentiated"
        )
    linear.config = config or config_of(r)
    if linear.config is None:
        return x
    if not is_derivative(linear.config):  # a batch, of which somebody further out has derivatives
        if not levels_of(r):
            return x
        raise MissingRuleError(
            f"the derivative of a solution of equations is found for each item, in {user_line()}."
        )
    if not alike:
        linear.linearized(x)
    linear.check(x, value(r))
    orders = len(levels_of(r))
    y = x
    for order in range(orders):
        # Aside: what the residual leaves behind has not yet all derivatives of the answer.
        r = r if order == 0 else value_via_ad(linear.config, lambda y: residual(y, *args), y)
        y = with_values(y - linear.solve(r), x)
    return y
