"""Container classes (pytrees): those that users register, and those found at their first instance.

After ``cr.register_container(Mesh, unpack, pack)`` every walk goes into a ``Mesh``; an
xarray.DataArray is known from the first one that is met.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


def library_of(x: Any) -> str:
    """Name of the top-level package that a class or a function is of; "" where it hides that."""
    # A class may define a property of that name for its instances.
    home = getattr(x, "__module__", None)
    return home.partition(".")[0] if isinstance(home, str) else ""


@functools.lru_cache
def is_installed(package: str) -> bool:
    """Say whether a top-level package was imported from where packages are installed."""
    module = sys.modules.get(package)
    paths = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(place in str(path) for path in paths for place in ("site-packages", "dist-packages"))


class Children(NamedTuple):
    """The parts of a container: their names, the parts, and how to build it anew."""

    keys: tuple
    values: tuple
    rebuild: Callable[[list], Any]


class Form(NamedTuple):
    """Form of the derivatives of a container class, where they are no ``Tangent``.

    ``build(x, keys, values)`` makes the derivative of ``x``, ``parts(x, t)`` says its parts by key
    and refuses one that does not fit.
    """

    build: Callable[[Any, tuple, list], Any]
    parts: Callable[[Any, Any], dict]


# Containers of our own tell their children themselves.
registered: dict[type, Callable[[Any], Children]] = {}


class Shell:
    """The structure of a registered container, with nothing in it."""

    __slots__ = ("cls", "keys")

    def __init__(self, cls: type, keys: tuple) -> None:
        self.cls, self.keys = cls, keys


registered[Shell] = lambda shell: Children(
    shell.keys, (None,) * len(shell.keys), lambda _: Shell(shell.cls, shell.keys)
)
# Of these, what a library itself has in place of one that holds plain numbers.
of_libraries: dict[type, Callable[[Any], Any]] = {}
# Classes that copies of a library's modules define: their objects may hold traced values.
of_copies: set[type] = set()
# Of these, containers with a form of derivatives of their own: a labelled array and its like.
built_in: dict[type, "Form"] = {}
# By the name of a package: what registers its classes, called when the first of these is met.
late: dict[str, Callable[[], None]] = {}
# What a container of a class holds besides its parts, in tuples, texts and arrays: by these a
# recording for one is told from those for others.
rests: dict[type, Callable[[Any], Any]] = {}
# By the name of a package: what says the form of derivatives of a class that the package knows,
# of objects with fields as others have; None of any other class.
forms: dict[str, Callable[[type], "Form | None"]] = {}


def are_unlike(a: Any, b: Any) -> bool:
    """Say whether two containers hold other things besides their parts, such as other units."""
    tell = rests.get(type(a))
    return tell is not None and (type(b) not in rests or not _equal(tell(a), rests[type(b)](b)))


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(v, b[key]) for key, v in a.items())
    nan = all(np.asarray(x).dtype.kind in "fc" for x in (a, b))
    return bool(np.array_equal(a, b, equal_nan=nan))


def form_of(cls: type) -> "Form | None":
    """Form of the derivatives of a container class, where they are no ``Tangent``."""
    if cls in built_in:
        return built_in[cls]
    for package, ask in forms.items():
        made = ask(cls) if package in sys.modules else None
        if made is not None:
            built_in[cls] = made
            return made
    return None


class Table(NamedTuple):
    """Columns or quantities of another library, which traced values compute with by its functions.

    ``operate(operation, a, b)`` is that of a table and a traced value; ``array(x)`` is what NumPy's
    functions see of a table, a plain array or a traced one; or ``call(f, args, kwargs)`` answers
    these functions.
    """

    operate: Callable[[Callable, Any, Any], Any]
    array: Callable[[Any], Any]
    call: Callable[[Callable, tuple, dict], Any] | None = None


tables: dict[type, Table] = {}


# By the name of a module that copies an array to keep it: what it is given in its place, or None.
keepers: dict[str, Callable[[Any], Any]] = {}
# Attributes that an array has to one module: its name and theirs, and what they are of the array.
asked_by: dict[tuple[str, str], Callable[[Any], Any]] = {}
# By library: from a function that it compiled to what its adopted module has in its place, or None.
compilers: dict[str, Callable[[Any], Any]] = {}


def table_of(cls: type) -> Table | None:
    """Functions that a traced value computes with a ``cls`` by, where that is a class of tables."""
    if cls not in tables:
        if hasattr(cls, "__array__") or library_of(cls) in late:
            becomes_known(cls)
        for base in cls.__mro__:
            if base in tables:
                tables[cls] = tables[base]
                break
    return tables.get(cls)


# Containers of one number or array, whose derivatives are plain: see ``is_quantity``.
quantities: set[type] = set()
# Of these, what a result is as long as a transform runs; its caller is given what it stands for.
passing: set[type] = set()


def is_quantity(cls: type) -> bool:
    """Say whether ``cls`` says itself what operators and ufuncs mean, around a number or array.

    Its derivatives are those of the number or array in it, and plain: the rest, such as a unit, is
    constant. That holds for what has one part; what has several is an object as any other.
    """
    return cls in quantities or (hasattr(cls, "__array_ufunc__") and cls not in registered)


def becomes_known(cls: type) -> bool:
    """Say whether ``cls``, an array class that is no container yet, is one from now on.

    Its package registers its containers the first time one is met; and it is a container as an
    array class is that it is derived from.
    """
    for base in cls.__mro__:
        package = library_of(base)
        register = late.get(package)
        if register is not None:
            register()  # twice, where two threads meet one at once; and then neither sees less
            late.pop(package, None)
            return True
        if base in built_in:
            _registered_as(cls, base)
            built_in[cls] = built_in[base]
            return True
        if base in quantities:
            _registered_as(cls, base)
            quantities.add(cls)
            return True
    return False


def _registered_as(cls: type, base: type) -> None:
    registered[cls] = registered[base]
    if base in rests:
        rests[cls] = rests[base]
