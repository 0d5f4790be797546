"""``import_``: a function of PyTorch inside programs of NumPy code."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from ...config import ExchangeError, user_line
from ...rules import describe, healed, is_traced, name_of
from ...rules.rulesets.functions.foreign import Foreign, parts
from ...rules.tracing.funnel import as_imported
from .derivatives import gradients, jvp_of_moving, pulled, pushed, with_graph
from .tensors import as_array, as_tensor, is_inexact


def import_(f: Callable) -> Callable:
    """Return the function ``f`` of PyTorch as one of NumPy code, with torch's derivatives as rules.

    It is evaluated and differentiated by torch, to every order, wherever our transforms meet it.

    Parameters
    ----------
    f : callable
        A function of tensors, an ``nn.Module``, or ``apply`` of a ``torch.autograd.Function``.
        Takes and returns tensors, also in tuples, lists and dicts. It gets tensors, with copies,
        for arrays, NumPy's numbers, and Python's ``float`` and ``complex``; all else (``int``,
        text) is handed on. What it captures, such as the parameters of a module, is constant.

    Returns
    -------
    callable
        With the arguments of ``f``; it gives NumPy's arrays, which show the memory of tensors and
        are read-only.

    Raises
    ------
    TypeError
        If an argument or a result is none that both libraries know.
    MissingDerivativeError
        If an integer argument is differentiated: torch has no derivatives in integers; and for
        a second derivative through a ``backward`` that is ``once_differentiable``.

    Notes
    -----
    Forward mode is the transpose of reverse mode, so that a ``torch.autograd.Function`` needs no
    ``jvp``; its ``backward`` has to be made of what torch differentiates. One that is
    ``once_differentiable`` has gradients only.

    Examples
    --------
    >>> import torch
    >>> import numpy as np
    >>> import chainrules as cr
    >>> from chainrules.interop.torch import import_
    >>> norm = import_(torch.linalg.vector_norm)
    >>> cr.grad(lambda x: norm(np.sin(x)) ** 2)(np.array([0.0, np.pi / 4])).round(4)
    array([0., 1.])
    """
    if not callable(f):
        raise ExchangeError(f"import_ takes a function, not {type(f).__name__}.")

    @functools.wraps(f, updated=())
    def imported(*args: Any, **kwargs: Any) -> Any:
        given, spec = pytree.tree_flatten((args, kwargs))
        given = [_taken(x) for x in given]
        at = [i for i, x in enumerate(given) if _is_data(x)]
        for i, x in enumerate(given):
            if i not in at and is_traced(x):
                raise ExchangeError(
                    f"{name_of(f)} was given a {type(x).__name__} with numbers that are "
                    f"differentiated, and torch does not know its parts, in {user_line()}.\n"
                    "  give numbers, arrays, and tuples, lists and dicts of these"
                )

        structure = None

        def g(*xs: torch.Tensor) -> tuple:
            nonlocal structure
            whole = list(given)
            for i, x in zip(at, xs, strict=True):
                whole[i] = x
            args, kwargs = pytree.tree_unflatten(whole, spec)
            ys, structure = pytree.tree_flatten(f(*args, **kwargs))
            for y in ys:
                if not isinstance(y, torch.Tensor):
                    raise ExchangeError(
                        f"{name_of(f)} returned {describe(y)}, and import_ is for functions that "
                        f"return tensors, in {user_line()}.\n  return torch.as_tensor(y), or leave "
                        "it out"
                    )
            return tuple(ys)

        y = foreign_of(name_of(f), g)(*[given[i] for i in at])
        assert structure is not None
        return pytree.tree_unflatten(parts(y), structure)

    return as_imported(imported)


def _taken(x: Any) -> Any:
    """Return ``x`` as NumPy has it: a tensor, or an array of traced numbers, as an array."""
    if type(x) is np.ndarray and x.dtype == object:
        return healed(x)
    return as_array(x) if isinstance(x, torch.Tensor) else x


def _is_data(x: Any) -> bool:
    # A plain integer is a size or an axis; one that is differentiated is asked for its slope.
    if isinstance(x, int) and not is_traced(x):
        return False
    return isinstance(x, int | float | complex | np.ndarray | np.generic)


def foreign_of(name: str, g: Callable) -> Foreign:
    """Return the foreign function of ``g``, from tensors to a tuple of tensors."""

    # In inference mode torch makes tensors that have no derivative, not even when that has ended.
    @torch.inference_mode(False)
    def run(*xs: Any) -> Any:
        with torch.no_grad():
            return shown(g(*map(as_tensor, xs)))

    @torch.inference_mode(False)
    def vjp(*xs: Any) -> tuple[Any, Callable]:
        ys, moving = with_graph(g, tuple(map(as_tensor, xs)))
        floats = [y for y in ys if is_inexact(y)]

        @torch.inference_mode(False)
        def pullback_of_arrays(*bars: Any) -> tuple:
            fitting = [as_tensor(ybar).to(y.dtype) for y, ybar in zip(floats, bars, strict=True)]
            return parts(shown(gradients(floats, moving, fitting, again=False)))

        return shown(ys), pullback_of_arrays

    @torch.inference_mode(False)
    def jvp(xs: tuple, dots: tuple) -> tuple[Any, tuple]:
        with torch.no_grad():
            ys, found = jvp_of_moving(g, tuple(map(as_tensor, xs)), tuple(map(as_tensor, dots)))
        several = shown(found) if len(found) != 1 else (shown(found),)
        return shown(ys), several

    return Foreign(
        name,
        run=run,
        vjp=vjp,
        jvp=jvp,
        push=lambda n: foreign_of(f"the pushforward of {name}", pushed(g, n)),
        pull=lambda n: foreign_of(f"the pullback of {name}", pulled(g, n)),
    )


def shown(ys: tuple) -> Any:
    """Return arrays that show the memory of tensors, and numbers: one by itself, or a tuple."""
    found = []
    for y in ys:
        array = as_array(y)
        array.flags.writeable = False  # torch may read it yet, for a derivative
        found.append(array[()] if array.ndim == 0 else array)
    return found[0] if len(found) == 1 else tuple(found)
