"""vmap: a function of one item as a function of many, which runs once for all of them.

``vmap(f)(xs)`` is what ``np.stack([f(x) for x in xs])`` gives.
"""

from collections.abc import Callable
from typing import Any, ParamSpec

from ..config import memory
from ..config.tracebacks import trim_traceback
from ..rules.engines.arguments import titled
from ..rules.engines.inputs import taken
from ..rules.refusals.table import refusal
from .axes import Axes, Items, axes_of_call, check_axes, items_of_arrays, items_of_call, paired
from .batch import Batch

P = ParamSpec("P")


def vmap(
    f: Callable[P, Any],
    in_axes: Axes = 0,
    out_axes: Axes = 0,
    axis_size: int | None = None,
    ways: int = 16,
) -> Callable[P, Any]:
    """Return a function that evaluates ``f`` at many items at once.

    Parameters
    ----------
    f : callable
        A function of one item. It runs once for all items, on values that stand for the number or
        the array of each; in adopted modules and in NumPy code as it stands.
    in_axes : int, None, or a container of these, optional
        Which axis of the arguments is that of the items. An int is for all arguments; a tuple has
        one entry for each by position, a dict one for each that it names, where others are shared;
        an entry is an int, None for what all items share, or a container of these for the parts of
        a container. Arguments by keyword have their items along axis 0, as in JAX.
    out_axes : int, None, or a container of these, optional
        Where the results have the axis of the items; None for what is the same for all.
    axis_size : int, optional
        Number of items, where no argument says it.
    ways : int, optional
        Where Python asks something that the items answer unlike (``if x > 0``, the end of a
        ``while`` loop, a shape, an index), the batch is split by the answers, and ``f`` runs again
        for each part; in so many parts at most. Then the rest of the items go one after another,
        and a ``BatchWarning`` names the line. 1 refuses to split, as JAX does.

    Returns
    -------
    callable
        With the arguments of ``f``. Its results are those of ``f`` with one axis more, of a dtype
        that holds those of all items; containers of such results where ``f`` returns containers.

    Raises
    ------
    TypeError, ValueError
        If an argument has no such axis, or arguments have different numbers of items.
    BatchError
        If ``ways`` is 1, and the items would go different ways, or ``f`` draws random numbers; and
        if results of different items have different shapes or containers.

    Notes
    -----
    ``f`` is taken for a function of its arguments: what it does besides, such as counting its
    calls, it does once for each way, and not once for each item. It may write into its arguments:
    the caller's arrays stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> xs = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    >>> cr.vmap(np.sort)(xs)
    array([[1., 2., 3.],
           [0., 4., 5.]])
    >>> loss = lambda w, x: np.sum(np.tanh(w * x)) ** 2
    >>> cr.vmap(cr.grad(loss), in_axes=(None, 0))(np.ones(3), xs).shape
    (2, 3)

    Each item goes its own way:

    >>> half_or_triple = lambda n: n // 2 if n % 2 == 0 else 3 * n + 1
    >>> cr.vmap(half_or_triple)(np.array([6, 7, 8]))
    array([ 3, 22,  4])
    """
    check_axes(in_axes, "in_axes")
    check_axes(out_axes, "out_axes")
    if not isinstance(ways, int) or ways < 1:
        raise refusal("number of ways", ways=repr(ways))

    in_front = type(in_axes) is int and in_axes == 0 and axis_size is None

    def batched(*args: P.args, **kwargs: P.kwargs) -> Any:
        used = memory.pool.use_pool()
        try:
            items = items_of_arrays(args) if in_front and not kwargs else None
            call = args, kwargs
            if items is None:
                call, items = arguments(f, in_axes, axis_size, args, kwargs)
            return Batch(f, call, items, ways).results(out_axes)
        except BaseException as error:
            trim_traceback(error)
            raise
        finally:
            memory.pool.leave_pool(used)

    return titled(batched, "vmap", vmap, f, in_axes, out_axes, axis_size, ways)


def arguments(
    f: Callable, in_axes: Axes, axis_size: int | None, args: tuple, kwargs: dict
) -> tuple[tuple, Items]:
    """Return the arguments of a call as they are now, and their items."""
    placed = tuple([taken(x) for x in args])
    named = {k: taken(x) for k, x in kwargs.items()}
    by_place, by_name = axes_of_call(f, in_axes, placed, named)
    given: list = []
    for k, x in enumerate(placed):
        given += paired(x, by_place[k], f"argument {k}")
    for name, x in named.items():
        given += paired(x, by_name[name], f"argument {name!r}")
    return (placed, named), items_of_call(f, given, axis_size)
