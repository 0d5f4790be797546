"""Derivatives by torch of functions of its own, as functions that torch can differentiate again.

The functions take tensors and return tuples of tensors; what moves are those in floating point.
"""

from collections.abc import Callable

import torch

from .tensors import is_inexact


def with_graph(g: Callable, xs: tuple) -> tuple[tuple, list]:
    """Return the results of ``g``, on a graph that begins at what moves; and what moves."""
    whole = [
        x.detach().requires_grad_(True) if is_inexact(x) and not x.requires_grad else x for x in xs
    ]
    with torch.enable_grad():
        ys = g(*whole)
    return ys, [x for x in whole if is_inexact(x)]


def pulled(g: Callable, n: int) -> Callable:
    """Return ``(*xs, *ybars) -> xbars`` for ``n`` arguments.

    By a graph, in which every ``autograd.Function`` takes part: ``torch.func`` refuses older ones.
    """

    def pull_back(*args: torch.Tensor) -> tuple:
        ys, moving = with_graph(g, args[:n])
        floats = [y for y in ys if is_inexact(y)]
        bars = [ybar.to(y.dtype) for y, ybar in zip(floats, args[n:], strict=True)]
        return _gradients(floats, moving, bars)

    return pull_back


def pushed(g: Callable, n: int) -> Callable:
    """Return ``(*xs, *xdots) -> ydots`` for ``n`` arguments."""
    return lambda *args: jvp_of_moving(g, args[:n], args[n:])[1]


def jvp_of_moving(g: Callable, xs: tuple, dots: tuple) -> tuple[tuple, tuple]:
    """Return all results, and the tangents of those that move."""
    at = [i for i, x in enumerate(xs) if is_inexact(x)]
    dots = tuple([xdot.to(xs[i].dtype) for i, xdot in zip(at, dots, strict=True)])

    def h(*moving: torch.Tensor) -> tuple[tuple, tuple]:
        whole = list(xs)
        for i, x in zip(at, moving, strict=True):
            whole[i] = x
        ys = g(*whole)
        return tuple([y for y in ys if is_inexact(y)]), ys

    try:
        _, ydots, ys = torch.func.jvp(h, tuple([xs[i] for i in at]), dots, has_aux=True)
        return ys, tuple(ydots)
    except (RuntimeError, NotImplementedError):
        # A Function without forward mode, or one that torch.func does not take: the pullback is
        # linear in cotangents, and its transpose is the pushforward.
        return _jvp_by_transpose(g, xs, dots)


def _jvp_by_transpose(g: Callable, xs: tuple, dots: tuple) -> tuple[tuple, tuple]:
    ys, moving = with_graph(g, xs)
    floats = [y for y in ys if is_inexact(y)]
    with torch.enable_grad():
        bars = [torch.zeros_like(y, requires_grad=True) for y in floats]
        xbars = _gradients(floats, moving, bars)
        return ys, _gradients(list(xbars), bars, list(dots))


def _gradients(ys: list, xs: list, bars: list) -> tuple:
    """Pull cotangents back, on a graph of their own; zeros where nothing depends on anything."""
    pairs = [(y, ybar) for y, ybar in zip(ys, bars, strict=True) if y.requires_grad]
    if not pairs:
        return tuple([torch.zeros_like(x) for x in xs])
    with torch.enable_grad():
        return torch.autograd.grad(
            [y for y, _ in pairs],
            xs,
            [ybar for _, ybar in pairs],
            create_graph=True,
            materialize_grads=True,
            allow_unused=True,
        )
