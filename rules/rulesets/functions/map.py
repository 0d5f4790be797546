"""``map``, ours and Python's, and the other functions that take a function.

Their rules call back through the config they are handed, so they serve every engine. Those of
``reduce`` and ``accumulate`` are in ``folds``, that of ``scan`` in ``scan``.
"""

import builtins
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ....config import (
    AllOf,
    HasForwardsMode,
    HasReverseMode,
    MissingRuleError,
    frule_via_ad,
    rrule_via_ad,
)
from ....config.progress import ending, long_work
from ... import (
    ZERO,
    AbstractZero,
    NoTangent,
    ProjectTo,
    Tangent,
    call,
    child_tangents,
    frule,
    is_perturbable_input,
    iterate_leaves,
    rrule,
    sum_tangents,
)
from .bodies import Back, prepares_for, refuse_options, takes_no_other
from .checkpoint import checkpoint
from .folds import accumulate, reduce
from .scan import recordings, scan
from .sequences import (
    ResultStructure,
    Sequence,
    form_of,
    gather,
    has_held,
    held,
    own_items,
    pull_item,
    released,
    released_call,
    stack,
    sum_of_fbars,
    unstack,
    unzip,
)

__all__ = ["accumulate", "checkpoint", "map", "reduce", "scan"]


# What jax.vmap and jax.lax.map have.
_AXES = (
    "items are rows: write cr.map(f, np.moveaxis(xs, axis, 0)), and for what all items share "
    "cr.map(lambda x: f(x, shared), xs)"
)
_INSTEAD = {
    "in_axes": _AXES,
    "out_axes": "results are rows: write np.moveaxis(cr.map(f, xs), 0, axis)",
    "axis_size": "the shortest sequence says how many items there are",
    "batch_size": "items are evaluated one by one; write executor=... to have several at once",
}


@takes_no_other(_INSTEAD)
def map(
    f: Callable,
    *xs: Any,
    executor: Any = None,
    back: Back = None,
    progress: bool = False,
    chunksize: int | None = None,
    timeout: float | None = None,
) -> Any:
    """Apply ``f`` to the items of one or more sequences, side by side.

    Parameters
    ----------
    f : callable
        Takes one item of every sequence.
    *xs : array_like
        Arrays (their items are rows) or other iterables. The shortest ends it.
    executor : optional
        Where to call ``f``: anything that has ``submit`` (of ``concurrent.futures``, of loky,
        ``client.get_executor()``), or a ``dask.distributed.Client`` (extra ``dask``), for which
        items may be futures.
    back : {"tape", "slopes", "recompute"}, optional
        On an executor, how reverse mode comes back to an item: by its tape, which stays with the
        worker that made it (of a ``Client``, or a thread); by its gradient, found together with
        the value, where that is one real number; or by a second evaluation. Without it slopes
        where that is possible, else a tape, else a second evaluation. Second derivatives evaluate
        again.
    progress : bool, optional
        On an executor, whether to show a progress bar by tqdm (the extra ``progress``) each time
        that all items are evaluated.
    chunksize : int, optional
        On an executor, how many items a task takes. Without it those that take less than 50 ms are
        joined, as many as the time of the first ones tells.
    timeout : float, optional
        On an executor, how many seconds all items may take, each time that they are evaluated.

    Returns
    -------
    array, list or tuple
        A stacked array where the first sequence is an array (for results that are containers,
        a container of stacked arrays), a tuple where it is a tuple, else a list.

    Raises
    ------
    TypeError
        If the executor is none, or if ``f`` cannot be pickled to be sent there.
    ValueError
        If the executor knows no such way back.
    LostDataError
        If a worker of a pool is lost, or with one of a cluster data that were scattered there.
    TimeoutError
        If the items take longer than ``timeout``. What has not begun is cancelled then, as it is
        by an error of an item, and by Ctrl-C.
    MutationError
        If ``f`` did not give the same when it was evaluated again.

    Notes
    -----
    ``f`` may write into its items: the arrays of which they are rows stay as they are.

    On an executor traced values that ``f`` captures are taken out of it and sent to every worker
    (but for those in global variables, which are an error); of their cotangents workers of a
    ``Client`` send the sum. ``f`` gives the same each time that it is called with the same items,
    does not write into them, and what it leaves behind elsewhere is not seen. A worker that is
    lost is no loss to a ``Client``: what it had is computed again, from futures of tasks
    (``client.map(load, names)``), but not from data that were scattered. Captured arrays above 1 MB
    are sent once to each worker. Jacobians and Hessians take a map for each direction. A map inside
    of an item, on the same executor, is evaluated where it stands.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.map(lambda x: x * x, np.array([1.0, 2.0]))
    array([1., 4.])
    >>> cr.map(lambda x, y: x * y, [1.0, 2.0], (3.0, 4.0, 5.0))
    [3.0, 8.0]
    >>> cube_or_not = lambda x: x**3 if x > 0 else -x
    >>> cr.grad(lambda xs: np.sum(cr.map(cube_or_not, xs)))(np.array([2.0, -1.0]))
    array([12., -1.])

    On threads; for processes or a cluster that is the line to change:

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool:
    ...     cr.grad(lambda w: sum(cr.map(lambda x: np.sin(w * x), [0.0, 1.0], executor=pool)))(0.0)
    np.float64(1.0)
    """
    if executor is not None:
        from .executors import MapOptions, is_under_way, map_on

        if not is_under_way(executor):
            return map_on(executor, f, xs, MapOptions(back, progress, chunksize, timeout))
    else:
        refuse_options("map", back, progress, chunksize, timeout)
    # Whole numbers go as constants (``held``), which rules take back (``released``).
    return call(map, (f, *held(xs)), {})


def mapped(f: Callable, *xs: Any) -> Any:
    xs = released(xs)
    ys = results_of(builtins.map(f, *builtins.map(own_items, xs)), _count(xs))
    return gather(ys, form_of(xs[0]), xs[0])


def results_of(results: Iterable, total: int | None, name: str = "map") -> list:
    """Return the results, whose making shows itself as work if it takes long."""
    work = None if recordings else long_work(name, total, "items")
    with ending(work):
        return list(results if work is None else work.over(results))


def _count(xs: Iterable) -> int | None:
    """Return how many items there are, if all sequences say it."""
    return min([len(x) for x in xs]) if all(hasattr(x, "__len__") for x in xs) else None


prepares_for(map, mapped)


def form_of_map(function: Any, x: Any) -> Any:
    """Return the form of the results over ``x``; those of Python's own ``map`` are listed."""
    return list if function is builtins.map else form_of(x)


@frule.register(map)
@frule.register(builtins.map)
def map_frule(config: HasForwardsMode, tangents, map, f, *xs):
    _, fdot, *xsdot = tangents
    xs = released(xs)
    columns = [list(x) for x in xs]
    dots = [unstack(xdot, len(items)) for xdot, items in zip(xsdot, columns)]
    results = (
        frule_via_ad(config, (fdot, *row_dot), f, *row)
        for row, row_dot in zip(zip(*columns), zip(*dots))
    )
    ys, ydots = unzip(results_of(results, _count(columns)), 2)
    form = form_of_map(map, xs[0])
    return gather(ys, form, xs[0]), ResultStructure(ys, form).collect(ydots)


@rrule.register(map)
@rrule.register(builtins.map)
def map_rrule(config: HasReverseMode, map, f, *xs):
    columns = [[held(item) for item in released(x)] if has_held(x) else list(x) for x in xs]
    xs = released(xs)
    sequences = [Sequence(x, len(items)) for x, items in zip(xs, columns)]
    pairs = results_of((item_rrule(config, f, row) for row in zip(*columns)), _count(columns))
    ys, pullbacks = unzip(pairs, 2)
    form = form_of_map(map, xs[0])
    results = ResultStructure(ys, form)
    count = 1 + len(xs)

    def map_pullback(ybar):
        pairs = [*zip(pullbacks, results.split(ybar))]
        # Last first: f may have written what its next call read.
        bars = (pull_item(pullback, bar, count) for pullback, bar in reversed(pairs))
        back = results_of(bars, len(pairs), "map, back")
        fbars, *xsbars = unzip(reversed(back), count)
        return (
            NoTangent(),
            sum_of_fbars(f, fbars),
            *(sequence.collect(xbars) for sequence, xbars in zip(sequences, xsbars)),
        )

    return gather(ys, form, xs[0]), map_pullback


def item_rrule(config: Any, f: Any, row: tuple) -> tuple[Any, Callable]:
    """Call ``f`` with one item of each sequence, of which some may hold whole numbers."""
    if not has_held(row):
        return rrule_via_ad(config, f, *row)
    y, pullback = rrule_via_ad(config, released_call, f, row, {})

    def item_pullback(ybar: Any) -> tuple:
        _, fbar, rowbar, _ = pullback(ybar)
        return fbar, *child_tangents(row, rowbar)

    return y, item_pullback


@rrule.register(map)
@rrule.register(builtins.map)
def map_numbers_rrule(config: AllOf[HasForwardsMode, HasReverseMode], map, f, xs: np.ndarray):
    """Real numbers: push a unit tangent through each call, and keep the slope, not a tape."""
    pushed = push_units(config, f, xs)
    if pushed is None:
        return map_rrule(config, map, f, xs)
    ys, slopes = unzip(pushed, 2)
    form = form_of_map(map, xs)
    results = ResultStructure(ys, form)
    sequence = Sequence(xs, len(ys))
    slopes = results.collect(slopes) if form is stack else slopes

    def map_numbers_pullback(ybar):
        if form is stack:
            return NoTangent(), NoTangent(), sequence.space(weigh(slopes, ybar, kept=1))
        xbars = [weigh(slope, bar) for slope, bar in zip(slopes, results.split(ybar))]
        return NoTangent(), NoTangent(), sequence.collect(xbars)

    return gather(ys, form, xs), map_numbers_pullback


def push_units(config: Any, f: Any, xs: Any) -> list | None:
    """Push 1 through ``f`` at each of ``xs``; None where that is not for forward mode to do."""
    real = np.ndim(xs) == 1 and xs.dtype.kind in "fiu"
    if not real or is_functor(f) or (len(xs) and has_only_rrule(config, f, xs[0])):
        return None
    unit = ProjectTo(xs).dtype.type(1)
    try:
        return results_of((frule_via_ad(config, (NoTangent(), unit), f, x) for x in xs), len(xs))
    except MissingRuleError:
        return None  # f calls something that only reverse mode has a rule for


def is_functor(f: Any) -> bool:
    """Say whether ``f`` has fields of its own that can be differentiated."""
    return any(is_perturbable_input(leaf) for leaf in iterate_leaves(f))


def has_only_rrule(config: Any, f: Any, x: Any) -> bool:
    """Say whether the derivative somebody gave ``f`` is an rrule, which must not be passed by."""
    pushed = frule.find(config, f, (x,)) is not None and not frule.is_derived(f)
    return not pushed and rrule.find(config, f, (x,)) is not None


def weigh(slope: Any, ybar: Any, kept: int = 0) -> Any:
    """Pull ``ybar`` back to a real number whose unit tangent moves the output by ``slope``.

    From ``ydot = slope * xdot``: ``xbar = Re <slope, ybar>``, summed over all axes of the output.
    The first ``kept`` axes, where many numbers are stacked, are not summed over.
    """
    if isinstance(slope, AbstractZero) or isinstance(ybar, AbstractZero):
        return ZERO
    if isinstance(slope, Tangent):
        keys = slope.keys()
        return sum_tangents(weigh(slope[key], ybar[key], kept) for key in keys)
    axes = tuple(range(kept, np.ndim(slope)))
    return np.sum(np.real(np.conj(slope) * ybar), axis=axes)
