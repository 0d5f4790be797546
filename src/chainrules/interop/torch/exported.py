"""``export``: a function of NumPy code as one of PyTorch."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.utils import _pytree as pytree

from ...config import ArgumentValueError, ExchangeError, user_line
from ...rules import call, is_traced
from ..flat import Batched, FlatFunction, Pull, Push, base_of, plain
from .tensors import as_array, as_tensor, is_inexact


def export(f: Callable) -> Callable:
    """Return the function ``f`` of NumPy code as one of PyTorch, with derivatives by our rules.

    It takes part in ``backward``, ``torch.autograd.grad`` with ``create_graph``, forward-mode AD,
    and ``torch.func`` (``grad``, ``vjp``, ``jvp``, ``jacrev``, ``jacfwd``, ``hessian``, ``vmap``
    and nests of these), to every order. ``torch.compile`` breaks its graph there, and is right.

    Parameters
    ----------
    f : callable
        Takes and returns numbers and arrays, also in tuples, lists and dicts. It gets copies of
        tensors as NumPy's numbers and arrays, and may write to them; all else is handed on.

    Returns
    -------
    callable
        With the arguments of ``f``; it gives tensors, on the CPU. In our transforms it is ``f``.

    Raises
    ------
    TypeError
        If NumPy does not compute with a tensor (on another device, bfloat16); or where torch
        records operations to run them later, and would take what NumPy gives for constants: in
        ``torch.func.linearize``, ``make_fx``, ``torch.export`` and ``torch.jit.trace``.

    Examples
    --------
    >>> import torch
    >>> from chainrules.interop.torch import export
    >>> energy = export(lambda x: np.sum(np.sin(x) * x))
    >>> x = torch.tensor([0.0, 1.0], requires_grad=True)
    >>> energy(x).backward()
    >>> x.grad
    tensor([0.0000, 1.3818])
    """
    if not callable(f):
        raise ExchangeError(f"export takes a function, not {type(f).__name__}.")

    @functools.wraps(f, updated=())
    def exported(*args: Any, **kwargs: Any) -> Any:
        if is_traced((args, kwargs)):
            return call(f, args, kwargs)
        given, spec = pytree.tree_flatten((args, kwargs))
        at = [i for i, x in enumerate(given) if isinstance(x, torch.Tensor | np.ndarray)]
        xs = [
            x if isinstance(x, torch.Tensor) else as_tensor(x) for x in map(given.__getitem__, at)
        ]

        def build(xs: Any) -> tuple[tuple, dict]:
            whole = list(given)
            for i, x in zip(at, xs, strict=True):
                whole[i] = x
            return pytree.tree_unflatten(whole, spec)

        flat = FlatFunction(f, build, pytree.tree_flatten)
        ys = Call.apply(flat, *xs)
        (results,) = flat.known.values()
        return pytree.tree_unflatten(ys, results.structure)

    return exported


class Call(torch.autograd.Function):
    """A flat function in torch: one Function for all of them, and for their derivatives."""

    @staticmethod
    def forward(f: Any, *xs: torch.Tensor) -> tuple:
        if get_proxy_mode() is not None or torch.jit.is_tracing():
            raise ExchangeError(
                f"{base_of(f)} computes in NumPy, which torch cannot record to run it later: it "
                f"would keep its numbers as constants, in {user_line()}.\n"
                "  call it outside of torch.func.linearize, make_fx, torch.export and "
                "torch.jit.trace; torch.func.jvp and vjp take it"
            )
        # A copy of results, too: f may keep what it returns, or return what it was given.
        return tuple([as_tensor(y) for y in f(*[plain(as_array(x)) for x in xs])])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: tuple) -> None:
        ctx.f, *xs = inputs
        ctx.save_for_backward(*xs)
        ctx.save_for_forward(*xs)
        ctx.set_materialize_grads(False)
        ctx.outs = [k for k, y in enumerate(output) if is_inexact(y)]
        ctx.mark_non_differentiable(*[y for y in output if not is_inexact(y)])
        ctx.count = len(output)

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> tuple:
        xs = ctx.saved_tensors
        argnums = [i for i, x in enumerate(xs) if ctx.needs_input_grad[1 + i] and is_inexact(x)]
        outs = [k for k in ctx.outs if bars[k] is not None]
        found: list = [None] * len(xs)
        if argnums and outs:
            pull = Pull(ctx.f, tuple(argnums), tuple(outs))
            for i, xbar in zip(argnums, Call.apply(pull, *xs, *[bars[k] for k in outs])):
                found[i] = xbar
        return None, *found

    @staticmethod
    def jvp(ctx: Any, _: Any, *dots: Any) -> tuple:
        xs = ctx.saved_tensors
        argnums = [i for i, xdot in enumerate(dots) if xdot is not None and is_inexact(xs[i])]
        found: list = [None] * ctx.count
        if argnums and ctx.outs:
            push = Push(ctx.f, tuple(argnums), tuple(ctx.outs))
            for k, ydot in zip(ctx.outs, Call.apply(push, *xs, *[dots[i] for i in argnums])):
                found[k] = ydot
        return tuple(found)

    @staticmethod
    def vmap(info: Any, in_dims: tuple, f: Any, *xs: Any) -> tuple:
        dims = in_dims[1:]
        batched = tuple([d is not None for d in dims])
        if info.batch_size == 0:
            raise ArgumentValueError(
                f"vmap of {base_of(f)} over no items at all, in {user_line()}."
            )
        moved = [x if d is None else x.movedim(d, 0) for x, d in zip(xs, dims)]
        ys = Call.apply(Batched(f, batched, info.batch_size), *moved)
        return ys, (0,) * len(ys)
