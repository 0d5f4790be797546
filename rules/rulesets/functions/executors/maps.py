"""All items of a map as one function, with one frule and one rrule that serve every order.

A ``MapOn`` is called as ``f(shared, owns) -> (adds, gives)``: see ``items``, of which ``owns`` and
``gives`` have one entry each. Its pushforward is a ``MapOn`` of the items' pushforwards, and its
pullback one of their pullbacks.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from .....config import (
    ArgumentTypeError,
    ArgumentValueError,
    HasForwardsMode,
    HasReverseMode,
    LostDerivativeError,
    user_line,
)
from .....config.thresholds import BYTES_OF_SLOPES, ITEMS_FOLDED
from .... import (
    ZERO,
    AbstractZero,
    NoTangent,
    Tangent,
    add,
    child_tangents,
    describe,
    frule,
    innermost,
    instances,
    is_traced,
    name_of,
    rrule,
    unthunk,
)
from ....containers import LEAVES
from ..bodies import asked
from ..checkpoint import captured
from ..closures import TakenOut
from ..sequences import form_of, gather
from .chunks import is_inside, place_of
from .cluster import Cluster, is_client, is_future, is_in_task
from .elsewhere import refuse_state
from .holes import emptied
from .items import Both, Item, PullItem, PushItem, digest, flattened, from_leaves, moving
from .pools import Pool, Site, Threads, is_threads
from .tasks import (
    SharedCall,
    hold,
    pull,
    run_aside,
    run_item,
    scaled,
    value_of,
    with_light_slopes,
    with_slopes,
)

WAYS = (None, "tape", "slopes", "recompute")


class MapOn:
    """``h`` of all items, at ``site``; ``datas`` has what is constant, one entry for each."""

    __slots__ = ("__name__", "back", "datas", "h", "site")

    def __init__(self, site: Site, h: Any, datas: list, back: str | None, name: str) -> None:
        self.site, self.h, self.datas, self.back = site, h, datas, back
        self.__name__ = name

    def __call__(self, shared: tuple, owns: tuple) -> tuple[tuple, tuple]:
        level = innermost((shared, owns))
        if level is not None:
            return level.call(self, (shared, owns), {})
        return self.run(SharedCall(self.h, shared), owns)

    def run(self, call: SharedCall, owns: tuple, task: Callable = run_item) -> tuple[tuple, tuple]:
        site = self.site
        handles = site.start(task, call, self.datas, owns)
        if isinstance(self.h, Item):
            gives = site.finish(handles, self.__name__)
            return (), tuple([y for _, y in gives])
        return self.sums(handles, owns)

    def sums(self, handles: list, owns: tuple, name: str = "") -> tuple[tuple, tuple]:
        """Wait for tasks that each give a pair; add up the first parts, and list the others."""
        empty = self.h.gives_nothing(owns)
        sums, gives = self.site.finish_sums(handles, not empty, name or self.__name__)
        return sums, tuple([self.h.nothing for _ in handles] if empty else gives)

    def of(self, kind: Any, config: Any, datas: list | None = None) -> "MapOn":
        """Return the map of what ``kind`` makes of ``h``."""
        back = None if self.back == "slopes" else self.back
        datas = self.datas if datas is None else datas
        return MapOn(self.site, kind(self.h, config), datas, back, self.__name__)


LEAVES.add(MapOn)


@frule.register(instances(MapOn))
def map_on_frule(config: HasForwardsMode, tangents, f, shared, owns):
    _, shareddot, ownsdot = tangents
    shareddot = flattened(shared, shareddot)
    ownsdot = [flattened(own, dot) for own, dot in zip(owns, child_tangents(owns, ownsdot))]
    given = (shared, shareddot), tuple(zip(owns, ownsdot))
    if is_traced((shareddot, ownsdot)):
        # Who follows them may be after what is linear in them.
        adds, gives = f(shared, owns)
        addsdot, givesdot = f.of(PushItem, config)(*given)
    else:
        both, pairs = f.of(Both, config)(*given)
        adds, addsdot = both[: len(both) // 2], both[len(both) // 2 :]
        gives, givesdot = tuple([y for y, _ in pairs]), [dot for _, dot in pairs]
    placed_dots = [from_leaves(y, dot) for y, dot in zip(gives, givesdot)]
    ydot = Tangent(tuple, Tangent(tuple, *addsdot), Tangent(tuple, *placed_dots))
    return (adds, gives), ydot


@rrule.register(instances(MapOn))
def map_on_rrule(config: HasReverseMode, f, shared, owns):
    again = EvaluatedAgain(config, f, shared, owns)
    if is_traced((shared, owns)):
        y, pull_once = f(shared, owns), again.pull
    else:
        y, pull_once = with_pullback(again)
    adds, gives = y
    digests = [digest(give) for give in gives]

    def map_on_pullback(ybar):
        addsbar, givesbar = child_tangents(y, ybar)
        addbars = tuple([unthunk(bar) for bar in child_tangents(adds, addsbar)])
        bars = [flattened(y, bar) for y, bar in zip(gives, child_tangents(gives, givesbar))]
        idle = is_zero(addbars)
        chosen = [i for i, bar in enumerate(bars) if not (idle and is_zero(bar))]
        pull_chosen = again.pull if is_traced((addbars, bars)) else pull_once
        sharedbar, found = (), {}
        if chosen:
            sharedbar, found = pull_chosen(addbars, bars, chosen, digests)
        sharedbar = sharedbar or [ZERO for _ in moving(shared)]
        ownsbar = [from_leaves(own, found[i]) if i in found else ZERO for i, own in enumerate(owns)]
        return NoTangent(), from_leaves(shared, sharedbar), Tangent(tuple, *ownsbar)

    return y, map_on_pullback


def is_zero(bars: tuple) -> bool:
    return all(isinstance(bar, AbstractZero) for bar in bars)


class EvaluatedAgain:
    """The way back of a map that evaluates its items again; differentiated, it is a map, too."""

    def __init__(self, config: Any, f: MapOn, shared: tuple, owns: tuple) -> None:
        self.config, self.f, self.shared, self.owns = config, f, shared, owns

    def pull(self, addbars: tuple, bars: list, chosen: list, digests: list) -> tuple[tuple, dict]:
        """Return the sum of the cotangents of what is shared, and those of items, by number."""
        f, owns = self.f, self.owns
        g = f.of(PullItem, self.config, [(f.datas[i], digests[i]) for i in chosen])
        sums, listed = g((self.shared, addbars), tuple([(owns[i], bars[i]) for i in chosen]))
        return sums, dict(zip(chosen, listed))


def with_pullback(again: EvaluatedAgain) -> tuple[tuple, Callable]:
    """Return the value and a way back that uses what the way there left."""
    f, site, config = again.f, again.f.site, again.config
    call = SharedCall(f.h, again.shared, config, f.back)
    if f.back == "recompute":
        return f.run(call, again.owns, run_aside if site.shares_memory else run_item), again.pull
    if not isinstance(f.h, Item) and not site.keeps:
        return f.run(call, again.owns), again.pull
    if not site.keeps:
        pairs = site.finish(site.start(with_slopes, call, f.datas, again.owns), f.__name__)
        return with_slopes_here(pairs, again.pull)
    helds = site.start(hold, call, f.datas, again.owns)

    def pull_kept(addbars: tuple, bars: list, chosen: list, digests: list) -> tuple[tuple, dict]:
        columns = [[column[i] for i in chosen] for column in (helds, bars, digests)]
        handles = site.start(pull, addbars, *columns)
        pairs = tuple([(again.owns[i], bars[i]) for i in chosen])
        sums, listed = f.of(PullItem, config).sums(handles, pairs, f"{f.__name__}, back")
        return sums, dict(zip(chosen, listed))

    if not isinstance(f.h, Item):
        return f.sums(site.start(value_of, None, helds), again.owns), pull_kept
    # Many and large slopes stay where they are, and are added up there.
    light = BYTES_OF_SLOPES // max(len(helds), 1)
    pairs = site.finish(site.start(with_light_slopes, light, helds), f.__name__)
    return with_slopes_here(pairs, pull_kept)


def with_slopes_here(pairs: list, pull_rest: Callable) -> tuple[tuple, Callable]:
    """Return the value and a way back by the slopes that came with it, for the rest by tasks."""
    slopes = [part for _, part in pairs]

    def pull_slopes(addbars: tuple, bars: list, chosen: list, digests: list) -> tuple[tuple, dict]:
        rest = [i for i in chosen if slopes[i] is None]
        sums, found = pull_rest(addbars, bars, rest, digests) if rest else ((), {})
        for i in chosen:
            if slopes[i] is not None:
                adds, found[i] = scaled(slopes[i], bars[i])
                sums = tuple(map(add, sums, adds)) if sums else adds
        return sums, found

    return ((), tuple([gives for (_, gives), _ in pairs])), pull_slopes


# ---- what users call -------------------------------------------------------------------------


class MapOptions(NamedTuple):
    """Options of a map on an executor: see ``cr.map``."""

    back: str | None
    progress: bool
    chunksize: int | None
    timeout: float | None


def is_under_way(executor: Any) -> bool:
    """Say whether this thread evaluates an item of that executor, which would wait for itself."""
    if is_client(executor):
        return is_in_task()  # of any client
    return is_inside(place_of(executor))


def map_on(executor: Any, f: Callable, xs: tuple, options: MapOptions) -> Any:
    """Do what ``cr.map`` does, on an executor."""
    back = options.back
    site = site_of(executor, options, "map")
    ys = each(site, f, [*zip(*map(items_of, xs))], back, "map")
    return gather(ys, form_of(xs[0]), xs[0])


def reduce_on(executor: Any, f: Callable, items: list, options: MapOptions) -> Any:
    """Do what ``cr.reduce`` does for an associative ``f``: fold runs of items, and the results."""
    back = options.back
    site = site_of(executor, options, "reduce")
    if not items:
        raise ArgumentTypeError("reduce of an empty sequence needs an initial value.")
    folded = functools.partial(fold_run, f)
    while True:
        runs = [tuple(items[i : i + ITEMS_FOLDED]) for i in range(0, len(items), ITEMS_FOLDED)]
        items = each(site, folded, runs, back, "reduce")
        if len(items) == 1:
            return items[0]


def each(site: Site, f: Any, rows: list, back: str | None, name: str) -> list:
    """Return what ``f`` gives for each row of arguments."""
    if not rows:
        return []
    if site.shares_memory:
        refuse_global_values(f, name)
    else:
        refuse_state(f, set(map(id, TakenOut(f).found)), name)
    f, shared = emptied(f)
    datas, owns = zip(*map(emptied, rows))
    _, ys = MapOn(site, Item(f), list(datas), back, name)(shared, owns)
    return list(ys)


def fold_run(f: Callable, *items: Any) -> Any:
    return functools.reduce(asked(f), items)


def items_of(x: Any) -> list:
    if is_future(x):
        raise ArgumentTypeError(
            f"cr.map with an executor was given one future for all items, in {user_line()}.\n"
            "  give a list of futures, one for each item: client.map(load, names)"
        )
    return list(x)


def refuse_global_values(f: Any, name: str) -> None:
    """Refuse a traced value in a global variable, which is another one where ``f`` will run."""
    known = set(map(id, TakenOut(f).found))
    variables, arrays = captured(f)
    if any(id(x) not in known and is_traced(x) for x in (*variables, *arrays)):
        raise LostDerivativeError(
            f"{name_of(f)} reads a traced value from a global variable, in {user_line()}, and "
            f"cr.{name} with an executor evaluates it elsewhere.\n"
            "  let it be a variable of the function around, or an argument"
        )


def site_of(executor: Any, options: MapOptions, name: str) -> Site:
    """Return where items are evaluated, by what the user gave."""
    site: Site
    back, progress, chunksize, timeout = options
    if chunksize is not None and (not isinstance(chunksize, int) or chunksize < 1):
        raise ArgumentValueError(
            f"cr.{name} takes chunksize=1 or more items a task, and got {chunksize}."
        )
    if timeout is not None and not timeout > 0:
        raise ArgumentValueError(f"cr.{name} takes timeout=... in seconds, and got {timeout}.")
    if is_client(executor):
        site = Cluster(executor, progress)
    elif is_threads(executor):
        site = Threads(executor, progress)
    elif callable(getattr(executor, "submit", None)):
        site = Pool(executor, progress)
    else:
        raise ArgumentTypeError(
            f"cr.{name} needs an executor that has submit(f, *args), or a dask.distributed.Client, "
            f"and got {describe(executor)}, in {user_line()}.\n"
            "  give one: concurrent.futures.ProcessPoolExecutor(), or Client(...)"
        )
    if back not in WAYS:
        ways = ", ".join(map(repr, WAYS[1:]))
        raise ArgumentValueError(f"back={back!r} is no way back: cr.{name} knows {ways}, and None.")
    if back == "tape" and not site.keeps:
        raise ArgumentValueError(
            f"back='tape' needs workers that keep tapes: those of a dask.distributed.Client, or "
            f"threads. {type(executor).__name__} may send any task anywhere.\n  leave out back"
        )
    site.chunksize, site.timeout = chunksize, timeout
    return site
