"""Gradients of functions that return one real number: the pull of the cotangent 1.

``grad(f)(x)`` is what ``vjp(f, x)[1](1.0)`` gives, for the arguments that ``argnums`` chooses.
"""

from collections.abc import Callable
from typing import Any, Concatenate, Literal, TypeVar, overload

import numpy as np

from ..config import IndependentOutputWarning, RuleConfig, memory, user_line, warn_user
from ..config.tracebacks import trim_traceback
from ..rules import ProjectTo, ZeroTangent, children, describe, next_level
from ..rules.annotations import Function, FunctionOf, P, Value
from ..rules.containers import LEAVES
from ..rules.engines.arguments import Argnums, Arguments, takes_argnums, titled
from ..rules.engines.inputs import as_given
from ..rules.engines.strong_levels import Zero, as_asked
from ..rules.refusals.table import refusal
from ..rules.shapes import dtype_of, shape_of
from ..rules.signatures import name_of
from ..rules.tangents.fitting import as_numpys_beside
from ..rules.tangents.structural import derivative_like, is_one_number
from ..rules.tracing.object_arrays import with_own_arrays
from ..rules.tracing.running import is_running
from ..rules.tracing.stop import value
from .vjp import REVERSE, for_user, value_and_pull

# An array that has a gradient of its own type: not one of integers, whose is of float64.
X = TypeVar("X", bound=np.ndarray[Any, np.dtype[np.inexact[Any]]])
Y = TypeVar("Y")
Aux = TypeVar("Aux")


@overload
def value_and_grad(
    f: Callable[Concatenate[X, P], Y],
    argnums: Literal[0] = 0,
    has_aux: bool = False,
    *,
    config: RuleConfig = ...,
    zero: Zero = ...,
) -> FunctionOf[X, P, tuple[Y, X]]: ...


@overload
def value_and_grad(
    f: Callable[P, Y],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    config: RuleConfig = ...,
    zero: Zero = ...,
) -> Callable[P, tuple[Y, Any]]: ...


@takes_argnums
def value_and_grad(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    config: RuleConfig = REVERSE,
    zero: Zero = None,
) -> Callable[P, Any]:
    """Return a function giving the value of ``f`` and its gradient.

    Parameters
    ----------
    f : callable
        Returns one real number; with ``has_aux``, a pair of that and anything else.
    argnums : int, str, or tuple of these, optional
        Which arguments to differentiate, by position or by name.
    has_aux : bool, optional
        Whether ``f`` returns ``(y, aux)``; ``aux`` is handed on and not differentiated.
    config : RuleConfig, optional
        What rules are handed: a ``ReverseConfig``, or a subclass with traits of its own.
    zero : "strong", optional
        Whether 0 times an infinite or undefined slope is 0: see ``grad``.

    Returns
    -------
    callable
        With the arguments of ``f``; gives ``(y, gradient)``, or ``((y, aux), gradient)``. The
        gradient has the shape, dtype and structure of the argument; a tuple for a tuple of
        argnums. Of a complex argument x + iy it is df/dx + i df/dy, which points uphill.

    Raises
    ------
    TypeError
        If the output is not one real number, or argnums does not name an argument.
    MissingRuleError
        If ``f`` calls a function that has no rule.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> y, gradient = cr.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    >>> float(y), gradient
    (5.0, array([2., 4.]))
    """
    gradient = untitled_gradient("value_and_grad", f, argnums, has_aux, config, zero, True)
    words = {"config": config, "zero": zero}
    return titled(gradient, "value_and_grad", value_and_grad, f, argnums, has_aux, **words)


def untitled_gradient(
    name: str,
    f: Callable,
    argnums: Argnums,
    has_aux: bool,
    config: RuleConfig,
    zero: Zero = None,
    with_value: bool = False,
) -> Callable:
    """Return the gradient of ``f`` as a function without a name, for one call of a transform."""
    if not callable(f):
        raise refusal("no function", name=name, x=type(f).__name__)
    asked = as_asked(config, zero)

    def gradient(*args: object, **kwargs: object) -> Any:
        used = memory.pool.use_pool()
        try:
            chosen = Arguments(name, f, argnums, args, kwargs)
            aux: list[Any] = []
            function = _first_of_pair(chosen.f, aux) if has_aux else chosen.f
            y, pull = value_and_pull(asked, function, chosen.args, chosen.kwargs, chosen.positions)
            xbars = pull(_seed(name, f, y), True)
            if xbars and type(xbars[0]) is ZeroTangent:
                _warn_if_independent(name, f, pull, xbars)
            found = tuple(map(for_user, chosen.primals, xbars))
            gradients = found if chosen.several else found[0]
            if with_value:
                return ((y, value(aux[0])) if has_aux else y), gradients
            return (gradients, value(aux[0])) if has_aux else gradients
        except BaseException as error:
            trim_traceback(error)
            raise
        finally:
            memory.pool.leave_pool(used)

    return gradient


def _warn_if_independent(name: str, f: Function, pull: Callable, xbars: list) -> None:
    """Warn of a gradient to which no path leads, unless derivatives are nested.

    The derivative of a linear function is constant, and rightly so: within a transform, or of a
    function that calls one, a gradient may well be zero.
    """
    if is_running() or not all(isinstance(xbar, ZeroTangent) for xbar in xbars):
        return
    recording = getattr(pull, "__self__", None)
    if recording is not None and next_level() != recording.tape.number + 1:
        return  # a transform ran inside
    warn_user(
        IndependentOutputWarning(
            f"the result of {name_of(f)} does not depend on what {name} differentiates, in "
            f"{user_line()}: the gradient is zero.\n"
            "  print(cr.explain(f, x)) shows the steps, and which of them are constant"
        )
    )


def gradient_for(
    f: Callable, argnums: Argnums, has_aux: bool, name: str, config: RuleConfig, zero: Zero = None
) -> Callable:
    """Return the gradient of ``f``, whose errors speak of the transform ``name`` made of it."""
    gradient = untitled_gradient(name, f, argnums, has_aux, config, zero)
    return titled(gradient, "grad", gradient_for, f, argnums, has_aux, name, config, zero)


def _first_of_pair(f: Callable, aux: list) -> Callable:
    """Return ``f`` without the second thing that it returns, which is appended to ``aux``."""

    def first(*args: object, **kwargs: object) -> Any:
        pair = f(*args, **kwargs)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise refusal("no pair", f=name_of(f))
        aux.append(with_own_arrays(pair[1]))
        return pair[0]

    return first


@overload
def grad(
    f: Callable[Concatenate[X, P], Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    *,
    config: RuleConfig = ...,
    zero: Zero = ...,
) -> FunctionOf[X, P, X]: ...


@overload
def grad(
    f: Callable[Concatenate[X, P], tuple[Any, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    config: RuleConfig = ...,
    zero: Zero = ...,
) -> FunctionOf[X, P, tuple[X, Aux]]: ...


@overload
def grad(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    config: RuleConfig = ...,
    zero: Zero = ...,
) -> Callable[P, Any]: ...


@takes_argnums
def grad(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    config: RuleConfig = REVERSE,
    zero: Zero = None,
) -> Callable[P, Any]:
    """Return a function giving the gradient of ``f``, in reverse mode.

    Parameters
    ----------
    f : callable
        A function of numbers, arrays or containers of these, which returns one real number.
    argnums : int or tuple of int, optional
        The positional arguments to differentiate in; by default the first.
    has_aux : bool, optional
        Whether ``f`` returns a pair: the number, and anything else that is to be returned too.
    config : RuleConfig, optional
        The engine that rules are asked for; by default reverse mode.
    zero : "strong", optional
        Whether 0 times an infinite or undefined slope is 0, in place of NaN. It holds for exact
        zeros of cotangents (in forward mode, of tangents) at elementwise functions and reductions.
        A zero slope times an infinite cotangent stays NaN, and so do rules of matrices. At 0
        it loses the derivative of ``sqrt(x)**2``; so it is off by default. Nested transforms
        decide each for itself.

    Returns
    -------
    callable
        With the arguments of ``f``; gives the gradient, or ``(gradient, aux)``. See
        ``value_and_grad`` for its form.

    Raises
    ------
    TypeError, MissingRuleError
        As ``value_and_grad`` does.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.grad(lambda w, x: np.sum(w * x), argnums=1)(np.array([1.0, 2.0]), np.ones(2))
    array([1., 2.])
    >>> norm = lambda x: np.sqrt(np.sum(x**2))
    >>> with np.errstate(divide="ignore"):
    ...     cr.grad(lambda x: norm(x) ** 2 + x[0], zero="strong")(np.zeros(2))
    array([1., 0.])
    """
    return gradient_for(f, argnums, has_aux, "grad", config, zero)


def _seed(name: str, f: Function, y: Value) -> Any:
    """Return the cotangent 1 of ``y``: a real number, or a container of one as a DataArray is."""
    if y.__class__ is np.float64 or type(y) is float:
        return as_numpys_beside(y, 1.0)
    y = y if type(y) in LEAVES else as_given(y)
    parts = None if type(y) in LEAVES else children(y)
    number = y if parts is None or not is_one_number(y, parts) else parts.values[0]
    dtype = dtype_of(number)
    if dtype is None or shape_of(number) != () or dtype.kind not in "fiu":
        remedy = (
            "reduce it, for example with np.sum, or use jacobian"
            if dtype is not None and dtype.kind in "fiu"
            else "differentiate its real part or its absolute value, or use vjp"
            if dtype is not None and dtype.kind == "c"
            else "return one number; with has_aux=True, a pair of it and anything else"
        )
        raise refusal("no scalar output", name=name, f=name_of(f), y=describe(y), instead=remedy)
    if parts is None:
        return ProjectTo(y)(1.0)
    return derivative_like(y, [ProjectTo(part)(1.0) for part in parts.values])
