"""One primitive of JAX for all exported functions, and for their derivatives of all orders.

Its parameter is a flat function. Its jvp is the primitive of ``Push``, the transpose of
that is the primitive of ``Pull``, and its batching rule is the primitive of ``Batched``.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.buffer_callback import buffer_callback
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ...config import ExchangeError, MissingRuleError
from ..flat import Batched, Derivative, Pull, Push, base_of, is_empty, plain
from .results import LEAKED, axes_of, captured, results, varying_like

FLOAT0 = jax.dtypes.float0

chainrules_p = Primitive("chainrules")
chainrules_p.multiple_results = True


def bind(f: Any, *xs: Any) -> list:
    """Call the flat function ``f`` in JAX, with arguments that vary along the same axes."""
    axes = axes_of(map(jax.typeof, xs))
    if axes:
        others = [tuple(axes - axes_of([jax.typeof(x)])) for x in xs]
        xs = tuple(
            jax.lax.pcast(x, names, to="varying") if names else x for x, names in zip(xs, others)
        )
    return chainrules_p.bind(*xs, f=f)


# ---- evaluation ----------------------------------------------------------------------------------


def evaluate(f: Any, xs: Any) -> tuple:
    """Call ``f`` with copies of JAX's arrays, which are not to be written to or kept.

    Buffers of compiled code even can be written to, and are gone after the call.
    """
    try:
        return f(*[plain(np.asarray(x)) for x in xs])
    except LEAKED as error:
        raise captured(f) from error


def run(f: Any, avals: list, xs: Any) -> list[np.ndarray]:
    """Evaluate ``f`` for compiled code, which knows what comes."""
    if is_empty(f):
        return [np.zeros(a.shape, a.dtype) for a in avals]
    ys = evaluate(f, xs)
    found = [np.asarray(y, a.dtype) for y, a in zip(ys, avals, strict=True)]
    for y, a in zip(found, avals, strict=True):
        if y.shape != a.shape:
            raise ExchangeError(
                f"{base_of(f)} returned an array of shape {y.shape}, and of shape {a.shape} for "
                "other numbers of the same shapes and dtypes. JAX needs to know before.\n"
                "  let the result have one shape, whatever the values are"
            )
    return found


@chainrules_p.def_impl
def _call(*xs: Any, f: Any) -> list:
    avals = [jax.typeof(x) for x in xs]
    if is_empty(f):
        return [jnp.zeros(a.shape, a.dtype) for a in results(f, avals)]
    ys = evaluate(f, xs)  # first: what comes is known then
    # A copy: f may keep what it returns, and write to it.
    return [
        jnp.array(np.asarray(y), a.dtype, copy=True)
        for y, a in zip(ys, results(f, avals), strict=True)
    ]


@chainrules_p.def_abstract_eval
def _abstract(*avals: Any, f: Any) -> list:
    return varying_like(results(f, avals), avals)


def _lowered(*xs: Any, f: Any) -> Any:
    """Call ``f`` from compiled code, on any device: what it takes is copied to the host."""
    avals, shapes = _shapes(f, xs)
    return jax.pure_callback(lambda *xs: run(f, avals, xs), shapes, *xs)


def _lowered_on_cpu(*xs: Any, f: Any) -> Any:
    """Call ``f`` from compiled code on the CPU, where NumPy reads and writes XLA's own buffers."""
    avals, shapes = _shapes(f, xs)

    def fill(context: Any, outs: Any, *xs: Any) -> None:
        for out, y in zip(outs, run(f, avals, xs), strict=True):
            np.asarray(out)[...] = y

    return buffer_callback(fill, shapes)(*xs)


def _shapes(f: Any, xs: Any) -> tuple[list, list]:
    avals = results(f, [jax.typeof(x) for x in xs])
    return avals, [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals]


mlir.register_lowering(chainrules_p, mlir.lower_fun(_lowered, multiple_results=True))
mlir.register_lowering(
    chainrules_p, mlir.lower_fun(_lowered_on_cpu, multiple_results=True), platform="cpu"
)


# ---- derivatives ---------------------------------------------------------------------------------


def _jvp(primals: Any, tangents: Any, *, f: Any) -> tuple[list, list]:
    ys = bind(f, *primals)
    argnums = tuple([i for i, xdot in enumerate(tangents) if _is_some(xdot)])
    outs = tuple([k for k, y in enumerate(ys) if jnp.issubdtype(y.dtype, jnp.inexact)])
    dots: list = [ad.Zero(jax.typeof(y).to_tangent_aval()) for y in ys]
    if argnums and outs:
        push = Push(f, argnums, outs)
        found = bind(push, *primals, *[tangents[i] for i in argnums])
        for k, ydot in zip(outs, found, strict=True):
            dots[k] = ydot
    return ys, dots


def _is_some(t: Any) -> bool:
    return type(t) is not ad.Zero and t.dtype != FLOAT0


def _transpose(bars: Any, *args: Any, f: Any) -> list:
    """Transpose a pushforward in its tangents, a pullback in its cotangents.

    Some of them may be known, such as zeros that JAX filled in: the transpose in the others does
    not depend on them.
    """
    linear = [i for i, x in enumerate(args) if ad.is_undefined_primal(x)]
    n = _split(f, len(args))
    if n is None or min(linear) < n:
        raise MissingRuleError(
            f"the transpose of {base_of(f)} was asked for, and JAX cannot know that it is linear.\n"
            "  write jax.vjp, or jax.linear_transpose of jax.linearize(f, x)[1]"
        )
    given = [k for k, bar in enumerate(bars) if type(bar) is not ad.Zero]
    transposed: list = [None] * len(args)
    if not given:
        return transposed
    other = _transposed(f, n, [i - n for i in linear], given)
    found = bind(other, *args[:n], *[bars[k] for k in given])
    for i, bar in zip(linear, found, strict=True):
        transposed[i] = bar
    return transposed


def _split(f: Any, count: int) -> int | None:
    """Return how many arguments come before those that ``f`` is linear in, if there are some."""
    while isinstance(f, Batched):
        f = f.f
    return f.split(count) if isinstance(f, Derivative) else None


def _transposed(f: Any, n: int, linear: list, given: list) -> Any:
    """Return the transpose in some of what ``f`` is linear in, of some of its results."""
    if isinstance(f, Batched):
        batched = *f.batched[:n], *[True for _ in given]
        return Batched(_transposed(f.f, n, linear, given), batched, f.size)
    if isinstance(f, Push):
        argnums, outs = [f.argnums[i] for i in linear], [f.outs[k] for k in given]
        return Pull(f.f, tuple(argnums), tuple(outs), transpose=True)
    argnums, outs = [f.argnums[k] for k in given], [f.outs[i] for i in linear]
    return Push(f.f, tuple(argnums), tuple(outs))


ad.primitive_jvps[chainrules_p] = _jvp
ad.primitive_transposes[chainrules_p] = _transpose


# ---- batches -------------------------------------------------------------------------------------


def _batch(args: Any, dims: Any, *, f: Any) -> tuple[list, list]:
    """Map over an axis, in one call of ``f`` on all items.

    All tangents and cotangents get the axis, so that the transpose gives one for each item.
    """
    size = next(x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None)
    args = [x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(args, dims, strict=True)]
    batched = [d is not None for d in dims]
    n = _split(f, len(args))
    for i in range(len(args) if n is None else n, len(args)):
        if not batched[i]:
            args[i] = jnp.broadcast_to(args[i], (size, *args[i].shape))
            batched[i] = True
    ys = bind(Batched(f, tuple(batched), size), *args)
    return ys, [0] * len(ys)


batching.primitive_batchers[chainrules_p] = _batch
