"""What a function holds of traced values, taken out of it: then a rule can differentiate there.

A function captures by its closure, its defaults, ``functools.partial``, the object that it is a
method of, and by functions and containers in these. ``taken_out`` collects the traced values in
such places, and builds the function anew with others in place of them.
"""

import copy
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ....config import MutationError
from ... import Traced, all_settled, children, frule, healed, holds_traced, rrule

NOTES = "notes"  # of a memo: what was put where, in place of traced values


def refuse_written(notes: list, name: str, line: str) -> None:
    """Refuse that a function assigned to what it captures, where a traced value was.

    Attributes of objects that held none, such as counters, are handed on to the user's object.

    Raises
    ------
    MutationError
    """
    for holder, former, attribute, put in notes:
        if attribute is None:
            if holder.cell_contents is put:
                continue
        else:
            for other, now in vars(holder).items():
                if other not in attribute and vars(former).get(other, NOTES) is not now:
                    object.__setattr__(former, other, now)
            if all(vars(holder).get(other) is x for other, x in put.items()):
                continue
        raise MutationError(
            f"a function that scipy.integrate.{name} called in {line} assigned to a variable or an "
            "attribute that holds a traced value, and nobody would see that.\n"
            "  let it return what it computes, and assign outside of it"
        )


def taken_out(x: Any) -> tuple[Callable[..., Any], list]:
    """Return what builds ``x`` anew from values for its traced leaves, and these leaves.

    ``x`` is a function, or a container of functions and of anything else. What holds no traced
    value stays the same object, and is shared: a list that a function adds to, a counter.
    """
    holders, leaves = _find(x)
    if not leaves:
        return lambda notes=None: x, []

    def build(*values: Any, notes: list | None = None) -> Any:
        memo: dict = dict(zip(leaves, values, strict=True))
        memo[NOTES] = [] if notes is None else notes
        return _rebuilt(x, holders, memo)

    return build, list(leaves.values())


def _find(x: Any) -> tuple[dict, dict]:
    """Return, by their ids, what holds traced values, and the traced values themselves."""
    parents: dict[int, list[int]] = {id(x): []}
    objects, leaves = {id(x): x}, {}
    waiting = [x]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, Traced):
            held = all_settled(holder)
            if isinstance(held, Traced):  # and not an array that is plain as yet
                leaves[id(holder)] = held
            continue
        if isinstance(holder, np.ndarray):
            if holds_traced(holder):
                leaves[id(holder)] = healed(holder)
            continue
        for part in _parts(holder):
            if type(part) in _PLAIN:
                continue
            if id(part) not in parents:
                objects[id(part)] = part
                parents[id(part)] = []
                waiting.append(part)
            parents[id(part)].append(id(holder))
    holding: dict[int, Any] = {}
    above = list(leaves)
    while above:
        i = above.pop()
        if i not in holding:
            holding[i] = objects[i]
            above += parents[i]
    return holding, leaves


_PLAIN = {float, int, complex, bool, str, bytes, type(None), np.float64, type}


def _parts(x: Any) -> list:
    """Return what is in ``x``, one step deep."""
    if isinstance(x, types.FunctionType):
        if not _is_closed(x):
            return []
        cells = [_content(cell) for cell in x.__closure__ or ()]
        return [*cells, *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    if isinstance(x, types.MethodType):
        return [x.__func__, x.__self__]
    if isinstance(x, functools.partial):
        return [x.func, *x.args, *x.keywords.values()]
    parts = children(x)
    if parts is not None:
        return list(parts.values)
    return list(vars(x).values()) if _has_fields(x) else []


def _is_closed(f: types.FunctionType) -> bool:
    """Say whether ``f`` is a plain function: not one with rules, which are found by what it is."""
    return bool(
        (f.__closure__ or f.__defaults__ or f.__kwdefaults__)
        and not hasattr(f, "__primitive__")
        and not hasattr(f, "__shows__")
        and frule.methods_of(f) is None
        and rrule.methods_of(f) is None
    )


def _has_fields(x: Any) -> bool:
    """Say whether ``x`` is an object of a library that keeps functions: a spline, a wrapper."""
    library = type(x).__module__.partition(".")[0]
    return (
        library in ("chainrules", "scipy", "numpy")
        and hasattr(x, "__dict__")
        and not (isinstance(x, type | types.ModuleType))
    )


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a variable that has no value yet
        return None


def _rebuilt(x: Any, holders: dict, memo: dict) -> Any:
    if id(x) in memo:
        return memo[id(x)]
    if id(x) not in holders:
        return x

    def again(part: Any) -> Any:
        return _rebuilt(part, holders, memo)

    if isinstance(x, types.FunctionType):
        return _rebuilt_function(x, holders, memo)
    if isinstance(x, types.MethodType):
        return types.MethodType(again(x.__func__), again(x.__self__))
    if isinstance(x, functools.partial):
        keywords = {name: again(part) for name, part in x.keywords.items()}
        return type(x)(again(x.func), *map(again, x.args), **keywords)
    parts = children(x)
    if parts is None or not isinstance(x, tuple | list | dict):
        y = memo[id(x)] = copy.copy(x)  # before its fields, which may lead back to it
        put = {}
        for name in list(vars(x) if parts is None else parts.keys):
            if id(getattr(x, name)) in holders:
                put[name] = again(getattr(x, name))
                object.__setattr__(y, name, put[name])
        if hasattr(y, "__dict__"):
            memo[NOTES].append((y, x, put.keys(), put))
        return y
    return parts.rebuild(list(map(again, parts.values)))


def _rebuilt_function(f: types.FunctionType, holders: dict, memo: dict) -> Any:
    cells = tuple(
        types.CellType() if id(_content(cell)) in holders else cell for cell in f.__closure__ or ()
    )
    made = types.FunctionType(f.__code__, f.__globals__, f.__name__, None, cells)
    memo[id(f)] = made  # before its cells: a function may capture itself
    made.__defaults__ = _rebuilt_all(f.__defaults__, holders, memo)
    made.__kwdefaults__ = {
        name: _rebuilt(part, holders, memo) for name, part in (f.__kwdefaults__ or {}).items()
    }
    made.__dict__.update(f.__dict__)
    made.__qualname__ = f.__qualname__
    for cell, former in zip(cells, f.__closure__ or (), strict=True):
        if cell is not former:
            cell.cell_contents = _rebuilt(former.cell_contents, holders, memo)
            memo[NOTES].append((cell, former, None, cell.cell_contents))
    return made


def _rebuilt_all(parts: tuple | None, holders: dict, memo: dict) -> tuple | None:
    return None if parts is None else tuple([_rebuilt(part, holders, memo) for part in parts])
