"""Containers (pytrees): tuples, lists, dicts, namedtuples, dataclasses, objects with fields.

Everything that walks a nested value (tracing, projecting, zeros, flattening) asks
``children``; nobody else decides what a container is. And it walks by ``fold`` or by
``iterate_leaves``, which do not recurse, so that containers may nest to any depth.
"""

import dataclasses
import enum
import operator
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ..config import ContainerError
from ..config.foundations import is_foundation
from ..config.thresholds import DEEP
from .annotations import Value
from .copies import copy_deque, copy_dict, copy_list, copy_object, is_cached, plain_dict
from .known_classes import Children, becomes_known, library_of, of_copies, registered
from .shapes import has_own_dtype
from .tuples import parts_of_tuple

# Types that never hold anything; asked first, because nearly every value is one of these.
LEAVES: set[type] = {
    float, int, complex, bool, str, bytes, type(None), type, slice, type(...), range,
    np.ndarray, np.float64, np.float32, np.int64, np.complex128, np.complex64, np.int32, np.bool_,
    np.dtype, *map(type, map(np.dtype, np.typecodes["All"])),
    np.ufunc, type(np.sum), types.FunctionType, types.BuiltinFunctionType, types.MethodType,
    types.ModuleType, types.GeneratorType,
}  # fmt: skip


# What nothing can be traced in, and nobody can change: most options of a call are made of these.
_SETTINGS = frozenset(LEAVES - {np.ndarray})


def are_settings(xs: Iterable) -> bool:
    """Say whether all are numbers, names, slices, or tuples of these: nothing to be looked into."""
    for x in xs:
        cls = type(x)
        if cls not in _SETTINGS and not (cls is tuple and _SETTINGS.issuperset(map(type, x))):
            return False
    return True


def is_flat(x: Any) -> TypeGuard[list | tuple]:
    """Say whether ``x`` is a list or a tuple of leaves, as most containers in calls are."""
    cls = type(x)
    return (cls is list or cls is tuple) and LEAVES.issuperset(map(type, x))


# Of these only the classes that hold what the user gave them are looked into.
_HOLDERS = {
    ("collections", "ChainMap"),
    ("collections", "UserDict"),
    ("collections", "UserList"),
    ("types", "SimpleNamespace"),
    ("argparse", "Namespace"),
}
# Of packages: bases of classes whose objects are constants, and refer to each other in circles.
_CONSTANT = {"astropy": ("UnitBase",), "unyt": ("Unit", "UnitRegistry")}


def children(x: Any) -> Children | None:
    """Return the parts of ``x``, or None where ``x`` is not a container.

    Examples
    --------
    >>> children({"a": 1.0, "b": 2.0}).keys
    ('a', 'b')
    >>> children((1.0, 2.0)).rebuild([3.0, 4.0])
    (3.0, 4.0)
    >>> children(1.0) is None
    True
    """
    cls = type(x)
    if cls in LEAVES:
        return None
    if cls in registered:
        return registered[cls](x)
    if cls is tuple or cls is list:
        return Children(tuple(range(len(x))), tuple(x), cls)
    if issubclass(cls, dict):
        plain = plain_dict(x)
        keys, values = tuple(plain.keys(x)), tuple(plain.values(x))
        return Children(keys, values, lambda values: copy_dict(x, keys, values))
    if issubclass(cls, tuple):
        return parts_of_tuple(x)
    if issubclass(cls, list):
        return Children(tuple(range(len(x))), tuple(x), lambda values: copy_list(x, values))
    if hasattr(cls, "__array__") and becomes_known(cls):
        return children(x)
    fields = _fields(x)
    if fields is None:
        return None
    held = _present(x, fields)
    moving = {k: part for k, part in held.items() if not _is_constant(fields[k], part)}
    present = tuple(moving)
    return Children(present, tuple(moving.values()), lambda values: copy_object(x, present, values))


LISTS = list, deque  # whose entries are changed in place


def contents(x: Any) -> dict[Any, Any] | None:
    """Return what a list, deque, dict or object holds, by index, key or field, constants included.

    It is None of what cannot come to hold something else, and of the classes of other packages.

    Examples
    --------
    >>> contents([1.0, 2])
    {0: 1.0, 1: 2}
    >>> contents((1.0, 2)) is None
    True
    """
    cls = type(x)
    if cls in LEAVES or cls in registered or issubclass(cls, tuple):
        return None
    if issubclass(cls, LISTS):
        return dict(enumerate(x))
    if issubclass(cls, dict):
        return dict(plain_dict(x).items(x))
    fields = _fields(x)
    return None if fields is None else _present(x, fields)


def copy_holding(x: Value, held: dict[Any, Any]) -> Any:
    """Return a copy of what holds something, with what ``contents`` said of it once."""
    if isinstance(x, list):
        return copy_list(x, list(held.values()))
    if isinstance(x, deque):
        return copy_deque(x, list(held.values()))
    if isinstance(x, dict):
        return copy_dict(x, tuple(held), list(held.values()))
    y = copy_object(x, tuple(held), list(held.values()))
    for name in (contents(y) or {}).keys() - held.keys():
        object.__delattr__(y, name)
    return y


def put_into(x: Value, held: dict[Any, Any]) -> None:
    """Put other values into a list, a deque, a dict or an object, by index, key or field."""
    put: Callable = object.__setattr__
    if isinstance(x, dict):
        put = plain_dict(x).__setitem__
    elif isinstance(x, LISTS):
        put = list.__setitem__ if isinstance(x, list) else deque.__setitem__
    for name, part in held.items():
        put(x, name, part)


def constants(x: Value) -> tuple[str, ...]:
    """Return the fields of an object that stay as they are, and are no parts of it.

    That is what a dataclass (or attrs) calls static, by ``field(metadata={"static": True})``;
    and integers and tuples of integers, which are sizes and counts, unless the annotation of the
    field says ``float`` or ``complex``.
    """
    if type(x) in LEAVES or type(x) in registered or isinstance(x, tuple | list | dict):
        return ()
    fields = _fields(x) or {}
    return tuple(k for k in fields if hasattr(x, k) and _is_constant(fields[k], getattr(x, k)))


def _is_constant(field: Any, part: Value) -> bool:
    if field is not None and field.metadata.get("static"):
        return True
    if not _is_whole(part):
        return False
    annotation = "" if field is None else str(field.type)
    return "float" not in annotation and "complex" not in annotation


def _is_whole(part: Any) -> bool:
    kind = type(part)
    if kind is tuple:
        return len(part) > 0 and all(map(_is_whole, part))
    return issubclass(kind, int | np.integer) and kind is not bool


def _fields(x: Value) -> dict[str, Any] | None:
    """Return the fields of a dataclass, an attrs object or an object of a user's class.

    By name; what a dataclass or attrs says of it, or None.
    """
    cls = type(x)
    if dataclasses.is_dataclass(cls):
        return {field.name: field for field in dataclasses.fields(cls)}
    attributes = getattr(cls, "__attrs_attrs__", None)
    if attributes is not None:
        return {attribute.name: attribute for attribute in attributes}
    library = library_of(cls)
    if library in _CONSTANT and any(b.__name__ in _CONSTANT[library] for b in cls.__mro__):
        LEAVES.add(cls)
        return None
    if (
        (
            (is_foundation(library) and of_copies.isdisjoint(cls.__mro__))
            and (cls.__module__, cls.__name__) not in _HOLDERS
        )
        or isinstance(x, type | enum.Enum | BaseException)
        or x.__class__ is not cls  # a proxy, which says that it is what it stands for
        or hasattr(cls, "__array__")
        # An array has a dtype; a quantity, which says what ufuncs mean to it, has none of its own.
        or (hasattr(cls, "__array_ufunc__") and has_own_dtype(x))
        or hasattr(cls, "__dlpack__")
        # An iterator is used up by reading it, so a rebuilt copy would share its state.
        or hasattr(cls, "__next__")
    ):
        return None
    slots = [name for base in cls.__mro__ for name in _slots(base)]
    held = getattr(x, "__dict__", None)  # where __getattr__ answers to any name, it is no dict
    stored = [name for name in held if not is_cached(cls, name)] if isinstance(held, dict) else ()
    return dict.fromkeys((*slots, *stored)) or None


def _present(x: Value, fields: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(x, name) for name in fields if hasattr(x, name)}


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    slots = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in slots if not name.startswith("__"))


def refuse_cycle(x: Value) -> None:
    """Refuse an ``x`` that holds itself; walks ask once, when they are ``DEEP`` inside it.

    Raises
    ------
    TypeError

    Examples
    --------
    >>> entries = [1.0]
    >>> entries.append({"all": entries})
    >>> try:
    ...     refuse_cycle(entries)
    ... except TypeError as error:
    ...     print(error)
    a container that holds itself ...: list[1]['all'] is the same list again...
    """
    path: list[tuple[Any, str]] = []
    places: dict[int, int] = {}
    todo: list[tuple[int, Any, str]] = [(0, x, "")]
    done: set[int] = set()
    while todo:
        depth, part, step = todo.pop()
        while len(path) > depth:
            del places[id(path.pop()[0])]
        if id(part) in places:
            steps = "".join(text for _, text in path[places[id(part)] + 1 :])
            name = type(part).__name__
            raise ContainerError(
                f"a container that holds itself cannot be walked through: {name}{steps}{step} is "
                f"the same {name} again.\n"
                "  make the way back a weakref.ref, or a property; or leave it out of what is "
                "differentiated, and of what goes to functions with rules"
            )
        parts = None if id(part) in done else children(part)
        if parts is None:
            continue
        done.add(id(part))
        places[id(part)] = len(path)
        path.append((part, step))
        for key, value in zip(parts.keys, parts.values, strict=True):
            field = isinstance(key, str) and not isinstance(part, dict)
            todo.append((depth + 1, value, f".{key}" if field else f"[{key!r}]"))


class Within(NamedTuple):
    """Inner node of a walk: its child nodes, and a function that builds its result from theirs."""

    nodes: Iterable[tuple]
    build: Callable[[list], Any]


def fold(look: Callable, x: Value, *beside: object) -> Any:
    """Walk through the container ``x``, and through what lies beside it.

    The recursion does without Python's stack: containers may nest to any depth.

    Parameters
    ----------
    look : callable
        ``look(x, *beside)`` is the answer for a leaf. For a container it is ``Within(nodes,
        build)``: its parts, each as a tuple of arguments for ``look``, and a function that
        makes the container's answer from the list of theirs.
    x, *beside : Any
        Where to begin.

    Raises
    ------
    TypeError
        If ``x`` holds itself.

    Examples
    --------
    >>> def look(x):
    ...     parts = children(x)
    ...     return x if parts is None else Within(zip(parts.values), sum)
    >>> fold(look, [1, {"a": 2}, (3, [4])])
    10
    """
    answer = look(x, *beside)
    if type(answer) is not Within:
        return answer
    outer: list[tuple] = []
    deep = DEEP
    answers: list[Any] = []
    nodes, build = iter(answer.nodes), answer.build
    while True:
        for node in nodes:
            answer = look(*node)
            if type(answer) is Within:
                outer.append((nodes, build, answers))
                if len(outer) == deep:
                    refuse_cycle(x)
                    deep = 0
                nodes, build, answers = iter(answer.nodes), answer.build, []
                break
            answers.append(answer)
        else:
            answer = build(answers)
            if not outer:
                return answer
            nodes, build, answers = outer.pop()
            answers.append(answer)


def unless_same(x: Value, parts: Children) -> Callable[[list], Any]:
    """Return what rebuilds ``x`` from new parts, and gives ``x`` itself if they are the old."""

    def build(values: list) -> Any:
        return x if all(map(operator.is_, values, parts.values)) else parts.rebuild(values)

    return build


def copied_containers(x: Value, parts: Children) -> Callable[[list], Any]:
    """Return what rebuilds ``x`` as a container that can be written to without touching ``x``.

    An object in which nothing is replaced stays the same one: others may ask which it is.
    """
    return parts.rebuild if isinstance(x, list | dict) else unless_same(x, parts)


def map_leaves(f: Callable[[Any], Any], x: Value) -> Any:
    """Rebuild ``x`` with ``f`` applied to every leaf."""
    if type(x) in LEAVES:
        return f(x)
    if is_flat(x):
        return type(x)(map(f, x))

    def look(x: Value) -> Any:
        parts = children(x)
        return f(x) if parts is None else Within(zip(parts.values), parts.rebuild)

    return fold(look, x)


def replaced(f: Callable[[Any], Any], x: Value) -> Any:
    """Rebuild ``x`` with ``f`` applied to every leaf; where nothing is replaced it stays itself."""
    if type(x) in LEAVES:
        return f(x)
    if is_flat(x):
        values = [*map(f, x)]
        return x if all(map(operator.is_, values, x)) else type(x)(values)
    if type(x) is dict and not x:
        return x  # as the options of most calls

    def look(x: Value) -> Any:
        parts = children(x)
        return f(x) if parts is None else Within(zip(parts.values), unless_same(x, parts))

    return fold(look, x)


def iterate_leaves(x: Value) -> Iterator[Any]:
    """Yield the leaves of ``x``, depth first."""
    outer: list[Iterator] = []
    deep = DEEP
    values = iter((x,))
    while True:
        for value in values:
            parts = children(value)
            if parts is not None:
                outer.append(values)
                if len(outer) == deep:
                    refuse_cycle(x)
                    deep = 0
                values = iter(parts.values)
                break
            yield value
        else:
            if not outer:
                return
            values = outer.pop()
