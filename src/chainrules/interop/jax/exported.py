"""``export``: a function of NumPy code as one of JAX."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...config import ExchangeError, user_line
from ...rules import call, describe, is_traced
from ..flat import FlatFunction, Results
from .arguments import Held, building, is_data, refuse_held
from .primitive import bind
from .results import results_of_flat


def export(f: Callable, *, result: Callable | None = None) -> Callable:
    """Return the function ``f`` of NumPy code as one of JAX, with derivatives by our rules.

    All transformations of JAX take it: ``jit``, ``grad``, ``jvp``, ``vjp``, ``linearize``,
    ``hessian``, ``vmap``, ``checkpoint``, also inside ``lax.scan`` and ``lax.cond``, and nests of
    these. JAX does not look into ``f``, which is called with NumPy's numbers and arrays; a batch
    of ``vmap`` is one call from compiled code, with a Python loop in it.

    Parameters
    ----------
    f : callable
        Takes and returns numbers and arrays, also in tuples, lists, dicts and what else JAX knows
        as a pytree. Other arguments (text, functions) are handed on; they must be hashable. It
        gets copies of JAX's arrays, and may write to them. It may be called more often than
        once, also when nothing of its result is needed, and from other threads.
    result : callable, optional
        Takes what ``f`` takes, with ``jax.ShapeDtypeStruct`` for arrays, and returns what ``f``
        returns, in the same way. Without it, ``f`` is called at a point that is made up, where
        ``jit`` has to know shapes before there are numbers.

    Returns
    -------
    callable
        With the arguments of ``f``; it gives JAX's arrays. In our own transforms it is ``f``.

    Raises
    ------
    TypeError
        If an argument or a result is no number or array that JAX knows; if the shapes or dtypes
        of results depend on the values of arguments; if ``f`` cannot be called at a point that
        is made up, and there is no ``result``.
    jax.errors.JaxRuntimeError
        For an error of ``f`` inside compiled code; it says what the error says.

    Notes
    -----
    Cotangents are those of JAX: of complex numbers the conjugates of ours.

    Export a function once: what is compiled is kept for that one.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from chainrules.interop.jax import export
    >>> def energy(x):
    ...     total = 0.0
    ...     for i in range(len(x)):
    ...         total = total + x[i] ** 2 * (i + 1)
    ...     return total
    >>> gradient = jax.jit(jax.grad(export(energy)))
    >>> gradient(jnp.array([1.0, 2.0]))
    Array([2., 8.], dtype=float32)
    """
    if not callable(f):
        raise ExchangeError(f"export takes a function, not {type(f).__name__}.")
    flats: dict[tuple, FlatFunction] = {}

    @functools.wraps(f, updated=())
    def exported(*args: Any, **kwargs: Any) -> Any:
        if is_traced((args, kwargs)):
            return call(f, args, kwargs)
        given, tree = jax.tree.flatten((args, kwargs))
        kinds = tuple([DATA if is_data(x) else Held(x) for x in given])
        try:
            flat = flats.get((tree, kinds))
        except TypeError:
            refuse_held(f, kinds)
            raise
        if flat is None:
            flat = FlatFunction(f, building(tree, kinds), jax.tree.flatten)
            flat = flats.setdefault((tree, kinds), flat)
        xs = [jnp.asarray(x) for x, kind in zip(given, kinds) if kind is DATA]
        avals = [jax.typeof(x) for x in xs]
        refuse_dtypes(flat, avals)
        if result is not None:
            _declare(flat, result, avals)
        ys = bind(flat, *xs)
        return jax.tree.unflatten(results_of_flat(flat, avals).structure, ys)

    return exported


DATA = "data"


def refuse_dtypes(flat: FlatFunction, avals: list) -> None:
    """Refuse arrays of JAX that NumPy does not compute with: bfloat16, keys of random numbers.

    Raises
    ------
    TypeError
    """
    for aval in avals:
        if getattr(aval.dtype, "kind", "V") not in "fciub":
            raise ExchangeError(
                f"{flat} was given an array of dtype {aval.dtype}, with which NumPy does not "
                f"compute, in {user_line()}.\n  convert it, for example by x.astype(jnp.float32)"
            )


def _declare(flat: FlatFunction, result: Callable, avals: list) -> None:
    """Note what the user says that the function returns."""
    key = tuple([(tuple(a.shape), np.dtype(a.dtype)) for a in avals])
    if key in flat.known:
        return
    args, kwargs = flat.build([jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals])
    ys, structure = jax.tree.flatten(result(*args, **kwargs))
    for y in ys:
        if not hasattr(y, "shape") or not hasattr(y, "dtype"):
            raise ExchangeError(
                f"result of {flat} returned {describe(y)}.\n"
                "  return jax.ShapeDtypeStruct(shape, dtype) for each array"
            )
    found = Results(
        structure, tuple(tuple(y.shape) for y in ys), tuple(np.dtype(y.dtype) for y in ys)
    )
    flat.known.setdefault(key, found)
