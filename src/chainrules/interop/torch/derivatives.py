"""Derivatives by torch of functions of its own, as functions that torch can differentiate again.

The functions take tensors and return tuples of tensors; what moves are those in floating point.
"""

from collections.abc import Callable

import torch

from ...config import MissingDerivativeError, user_line
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
        return gradients(floats, moving, bars)

    return pull_back


def pushed(g: Callable, n: int) -> Callable:
    """Return ``(*xs, *xdots) -> ydots`` for ``n`` arguments."""
    return lambda *args: jvp_of_moving(g, args[:n], args[n:])[1]


def jvp_of_moving(g: Callable, xs: tuple, dots: tuple) -> tuple[tuple, tuple]:
    """Return all results, and the tangents of those that move.

    The pullback is linear in cotangents, and its transpose is the pushforward. Torch's own forward
    mode gives 0 for an operator of ``torch.library`` that has a backward only, without a word.
    """
    ys, moving = with_graph(g, xs)
    floats = [y for y in ys if is_inexact(y)]
    with torch.enable_grad():
        bars = [torch.zeros_like(y, requires_grad=True) for y in floats]
        xbars = gradients(floats, moving, bars)
        dots = tuple([xdot.to(x.dtype) for x, xdot in zip(moving, dots, strict=True)])
        return ys, gradients(list(xbars), bars, list(dots))


def gradients(ys: list, xs: list, bars: list, again: bool = True) -> tuple:
    """Pull cotangents back; zeros where nothing depends on anything.

    The result is on a graph of its own, if it is to be differentiated ``again``.
    """
    pairs = [(y, ybar) for y, ybar in zip(ys, bars, strict=True) if y.requires_grad]
    if not pairs or not xs:
        return tuple([torch.zeros_like(x) for x in xs])
    _refuse_ends(pairs)
    with torch.set_grad_enabled(again):
        return torch.autograd.grad(
            [y for y, _ in pairs],
            xs,
            [ybar for _, ybar in pairs],
            create_graph=again,
            retain_graph=True,
            materialize_grads=True,
            allow_unused=True,
        )


def _refuse_ends(pairs: list) -> None:
    """Refuse what comes out of a backward that is ``once_differentiable``.

    Torch raises only if the way to what moves leads through there, and else gives 0.

    Raises
    ------
    MissingDerivativeError
    """
    todo = [y.grad_fn for y, _ in pairs]
    seen = set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if node.name().endswith("::Error"):
            raise MissingDerivativeError(
                "a torch.autograd.Function has a backward that is once_differentiable, and second "
                f"derivatives and forward mode need its derivative, in {user_line()}.\n"
                "  write its backward of operations that torch differentiates"
            )
        todo += [following for following, _ in node.next_functions]
