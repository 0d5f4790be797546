"""``export``: a function of NumPy code as one of autograd."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from autograd.builtins import tuple as boxed_tuple
from autograd.extend import defjvp_argnums, defvjp_argnums, primitive
from autograd.tracer import getval, isbox

from ...config import ArgumentTypeError
from ...rules import call, dtype_of, is_traced
from ..flat import FlatFunction, Pull, Push, plain
from .boxes import has_box, opened
from .trees import leaves_of, mapped


def export(f: Callable) -> Callable:
    """Return the function ``f`` of NumPy code as one of autograd, with derivatives by our rules.

    It takes part in all that autograd does (``grad``, ``jacobian``, ``hessian``, ``make_jvp``,
    ``make_vjp``, ``checkpoint`` and nests of these), to every order, in both modes.

    Parameters
    ----------
    f : callable
        Takes and returns numbers and arrays, also in tuples, lists and dicts. It gets copies of
        what autograd follows, and may write to them; all else is handed on.

    Returns
    -------
    callable
        With the arguments of ``f``. Where autograd follows nothing, and in our transforms, it is
        ``f``.

    Raises
    ------
    TypeError
        If ``f`` returns what is neither a number nor an array.

    Notes
    -----
    Cotangents of complex numbers are autograd's, which are the conjugates of ours.

    Examples
    --------
    >>> import autograd
    >>> from chainrules.interop.autograd import export
    >>> @export
    ... def energy(x):
    ...     y = np.zeros_like(x)
    ...     y[1:] = np.sin(x[:-1]) * x[:-1]
    ...     return np.sum(y)
    >>> autograd.grad(energy)(np.array([0.0, 1.0, 2.0])).round(4)
    array([0.    , 1.3818, 0.    ])
    """
    if not callable(f):
        raise ArgumentTypeError(f"export takes a function, not {type(f).__name__}.")

    @functools.wraps(f, updated=())
    def exported(*args: Any, **kwargs: Any) -> Any:
        given = opened((args, kwargs))
        if not has_box(given):
            return call(f, args, kwargs) if is_traced(given) else f(*args, **kwargs)

        def build(xs: Any) -> tuple[tuple, dict]:
            left = iter(xs)
            return mapped(lambda x: next(left) if isbox(x) else x, given)

        flat = FlatFunction(f, build, _flattened)
        ys = run(flat, *filter(isbox, leaves_of(given)))
        (results,) = flat.known.values()
        found = _results(ys, len(results.shapes))
        return mapped(lambda _: next(found), results.structure)

    return exported


def _flattened(y: Any) -> tuple[list, Any]:
    return list(leaves_of(y)), y if isinstance(y, tuple | list | dict) else None


def _results(ys: Any, count: int) -> Iterator[Any]:
    """Yield each of the results; whole numbers, which nobody follows, without their boxes."""
    for k in range(count):
        y = ys[k] if count != 1 else ys
        yield y if _is_inexact(y) else getval(y)[()]


def _is_inexact(x: Any) -> bool:
    dtype = dtype_of(getval(x))
    return dtype is not None and dtype.kind in "fc"


@primitive
def run(f: Any, *xs: Any) -> Any:
    """Evaluate a flat function: one primitive for all of them, and for their derivatives."""
    # A copy of results, too: f may keep what it returns, or return what it was given.
    ys = [np.array(y) for y in f(*[plain(np.asarray(x)) for x in xs])]
    found = tuple([y[()] if y.ndim == 0 and y.dtype.kind in "fc" else y for y in ys])
    return found[0] if len(found) == 1 else found


def _inexact(ys: Any) -> tuple[int, ...]:
    """Return which results move; they may be in a box of an outer derivative."""
    values = getval(ys)
    several = values if type(values) is tuple else (values,)
    return tuple([k for k, y in enumerate(several) if _is_inexact(y)])


def _run_vjp(argnums: Any, ys: Any, args: Any, kwargs: dict) -> Callable:
    f, *xs = args
    outs = _inexact(ys)
    pull = Pull(f, tuple([i - 1 for i in argnums]), outs, transpose=True)

    def vjp(ybar: Any) -> Any:
        bars = [ybar[k] for k in outs] if type(getval(ys)) is tuple else [ybar]
        xbars = run(pull, *xs, *bars)
        return (xbars,) if len(argnums) == 1 else [xbars[i] for i in range(len(argnums))]

    return vjp


def _run_jvp(argnums: Any, xdots: Any, ys: Any, args: Any, kwargs: dict) -> Any:
    f, *xs = args
    outs = _inexact(ys)
    ydots = run(Push(f, tuple([i - 1 for i in argnums]), outs), *xs, *xdots)
    values = getval(ys)
    if type(values) is not tuple:
        return ydots
    found = iter([ydots] if len(outs) == 1 else [ydots[k] for k in range(len(outs))])
    return boxed_tuple(
        [next(found) if k in outs else np.zeros_like(y) for k, y in enumerate(values)]
    )


defvjp_argnums(run, _run_vjp)
defjvp_argnums(run, _run_jvp)
