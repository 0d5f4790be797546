"""Derivatives by JAX of functions of its own, as functions that JAX can differentiate again.

The functions take arrays and return tuples of arrays; what moves are those in floating point.
Cotangents are ours: of complex numbers the conjugates of JAX's.
"""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp


def is_inexact(x: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(x), jnp.inexact)


def of_moving(g: Callable, xs: tuple) -> tuple[Callable, list]:
    """Return ``g`` as a function of what moves, to what moves and all it returns; and the point."""
    at = [i for i, x in enumerate(xs) if is_inexact(x)]

    def h(*moving: Any) -> tuple[tuple, tuple]:
        whole = list(xs)
        for i, x in zip(at, moving, strict=True):
            whole[i] = x
        ys = g(*whole)
        return tuple([y for y in ys if is_inexact(y)]), ys

    return h, [jnp.asarray(xs[i]) for i in at]


def vjp_of_moving(g: Callable, xs: tuple) -> tuple[tuple, Callable]:
    """Return all results, and the pullback of those that move: of JAX, a pytree."""
    h, moving = of_moving(g, xs)
    _, pullback, ys = jax.vjp(h, *moving, has_aux=True)
    return ys, pullback


def pull(pullback: Callable, bars: tuple) -> tuple:
    """Apply a pullback of JAX to cotangents of ours."""
    return tuple(map(conjugate, pullback(tuple(map(conjugate, bars)))))


def jvp_of_moving(g: Callable, xs: tuple, dots: tuple) -> tuple[tuple, tuple]:
    """Return all results, and the tangents of those that move."""
    h, moving = of_moving(g, xs)
    dots = tuple([jnp.asarray(xdot, x.dtype) for x, xdot in zip(moving, dots, strict=True)])
    if not _has_custom_vjp(h, moving):
        _, ydots, ys = jax.jvp(h, tuple(moving), dots, has_aux=True)
        return ys, ydots
    # JAX has no forward mode for it. The pullback is linear, and its transpose is the pushforward.
    floats, pullback, ys = jax.vjp(h, *moving, has_aux=True)
    (ydots,) = jax.linear_transpose(pullback, floats)(dots)
    return ys, ydots


def pushed(g: Callable, n: int) -> Callable:
    """Return ``(*xs, *xdots) -> ydots`` for ``n`` arguments."""
    return lambda *args: jvp_of_moving(g, args[:n], args[n:])[1]


def pulled(g: Callable, n: int) -> Callable:
    """Return ``(*xs, *ybars) -> xbars`` for ``n`` arguments."""

    def pull_back(*args: Any) -> tuple:
        ys, pullback = vjp_of_moving(g, args[:n])
        floats = [y for y in ys if is_inexact(y)]
        bars = [jnp.asarray(ybar, y.dtype) for y, ybar in zip(floats, args[n:], strict=True)]
        return pull(pullback, tuple(bars))

    return pull_back


def conjugate(x: Any) -> Any:
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


def _has_custom_vjp(h: Callable, xs: list) -> bool:
    """Say whether somewhere in ``h`` there is a function with a pullback by hand only."""
    try:
        jaxpr = jax.make_jaxpr(h)(*xs)
    except jax.errors.ConcretizationTypeError:
        return False  # it branches on numbers; if there is one, JAX says that it cannot push it
    return any(name.startswith("custom_vjp_call") for name in _primitives(jaxpr.jaxpr))


def _primitives(jaxpr: Any) -> Iterator[str]:
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for held in equation.params.values():
            for part in held if isinstance(held, tuple | list) else (held,):
                inner = getattr(part, "jaxpr", part)
                if hasattr(inner, "eqns"):
                    yield from _primitives(inner)
