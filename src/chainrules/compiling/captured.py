"""What a function can reach besides its arguments, and whether it is still the same.

Globals that its code names, cells, defaults, fields of objects, entries of lists and dicts, modules
of the user's, and so on through functions that it calls: each is compared at every call, by
identity, in one generated expression such as ``g0.get("rate") is e0 and len(l1) == len(e1) and
all(map(is_, l1, e1))``. Code is read to find names, and never to decide that something named need
not be compared. Python's own library, NumPy, SciPy and chainrules count as constant.
"""

import array
import contextvars
import dis
import functools
import io
import operator
import os
import random
import re
import sys
import sysconfig
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..rules import Traced
from ..rules.rulesets.functions.foreign import Foreign
from .constants import Constants
from .looks import NotRecordable, bits

MOST = 20_000  # places that are compared; what has more is no setting but data

_LIBRARY = frozenset({"numpy", "scipy", "chainrules", "llvmlite"})
_PYTHON = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
_LEAVES = (
    float, int, complex, bool, str, bytes, type(None), np.generic, np.dtype, np.ufunc, type(np.sum),
    type(...), range, slice, types.CodeType,
)  # fmt: skip
_NOTHING = object()

# What is compared most, of {0}; see :mod:`.quick`.
CONTENTS = "{0}.cell_contents is {1}"
FIELDS = {f"{{0}}.{name} is {{1}}": name for name in ("__code__", "__defaults__", "__kwdefaults__")}
NAMED, OF_LENGTH = "{0}.get({2}) is {1}", "len({0}) == {3}"
ABSENT = "{0}.keys().isdisjoint({1})"  # names
LISTED = "len({0}) == len({1}) and all(map(is_, {0}, {1}))"
ITEMS = LISTED.replace("is_, {0}", "is_, {0}.values()") + " and all(map(is_, {0}, {2}))"

# Objects of our own that change while they are used: what of them a function captures.
parts_of: dict[type, Callable[[Any], tuple]] = {Foreign: lambda x: (x.run,)}


class Captured:
    """What a function captures, as it is now; its arrays are held by ``constants``.

    ``traced`` says whether a transform is under way in it: then the function cannot be recorded.
    """

    def __init__(self, f: Any, frozen: bool) -> None:
        self.frozen = frozen
        self.constants = Constants(frozen)
        self.traced = False
        self.caches = False  # functions whose results are kept by arguments: functools.lru_cache
        # where, expression, its names, and what it was made of
        self.places: list[tuple[str, str, dict[str, Any], tuple[str, tuple]]] = []
        self.generators: list[tuple[str, Any, Any]] = []
        self.names: set[str] = set()
        self.modules: dict[int, tuple[types.ModuleType, str]] = {}
        self.seen: dict[Any, Any] = {}
        # With the function comes the kind of its arguments, among which there may be functions.
        function, arguments = f if type(f) is tuple else (f, ())
        self.waiting: list[tuple[Any, str]] = [(arguments, "its arguments")]
        self.waiting.append((function, getattr(function, "__name__", type(function).__name__)))
        self._walk_all()
        self.constants.settle()
        self.arrays = bool(self.constants.copies or self.constants.digests) and not frozen
        self.is_same = (lambda: True) if frozen else comparing(self.places)

    # ---- walking --------------------------------------------------------------------------------

    def _walk_all(self) -> None:
        known = -1
        while self.waiting or known != len(self.names):
            known = len(self.names)
            while self.waiting:
                self._walk(*self.waiting.pop())
                if len(self.places) > MOST and not self.frozen:
                    raise NotRecordable(
                        f"what the function captures has more than {MOST} parts; give it as an "
                        'argument, capture only what it reads of it, or write captured="freeze"'
                    )
            for module, where in list(self.modules.values()):
                self._names(vars(module), where)

    def _walk(self, x: Any, where: str) -> None:
        if isinstance(x, Traced):
            self.traced = self.traced or not x.records
            if x.records:
                raise NotRecordable("a recorded value that another function captures")
            return
        if isinstance(x, _LEAVES) or id(x) in self.seen:
            return
        self.seen[id(x)] = x
        if type(x) in parts_of:
            self.waiting += [(part, where) for part in parts_of[type(x)](x)]
        elif isinstance(x, types.BuiltinFunctionType | types.MethodWrapperType):
            if not isinstance(x.__self__, types.ModuleType):
                self.waiting.append((x.__self__, where))
        elif type(x) is np.ndarray:
            self.constants.hold(x)
            if not x.flags.writeable:  # it may become so
                self._same(where, "not {0}.flags.writeable", x)
            if x.dtype.kind == "O":
                self.waiting += [(part, where) for part in x.reshape(-1).tolist()]
        elif isinstance(x, np.ndarray):  # of a subclass
            self._same(where, "{2}({0}) == {1}", x, np.ndarray.tobytes(x), np.ndarray.tobytes)
            self._entries(x, where)
        elif isinstance(x, array.array | bytearray | memoryview):
            self._same(where, "bytes({0}) == {1}", x, bytes(x))
        elif isinstance(x, contextvars.ContextVar):
            self._same(where, "{0}.get({2}) is {1}", x, x.get(_NOTHING), _NOTHING)
            self.waiting.append((x.get(None), where))
        elif isinstance(x, weakref.ref):
            self._same(where, "{0}() is {1}", x, x())
            self.waiting.append((x(), where))
        elif isinstance(x, Iterator) and not isinstance(x, io.IOBase):
            raise NotRecordable(f"an iterator that it captures ({where}), which is used up")
        elif isinstance(x, types.ModuleType):
            if not _is_library(x.__name__):
                self.modules[id(x)] = x, where
        elif isinstance(x, types.FunctionType):
            self._function(x, where)
        elif isinstance(x, types.MethodType):
            self.waiting += [(x.__func__, where), (x.__self__, where)]
        elif isinstance(x, functools.partial):
            parts = (x.func, x.args, x.keywords)
            self.waiting += [(part, where) for part in parts]
        elif isinstance(x, property):
            self.waiting += [(part, where) for part in (x.fget, x.fset) if part is not None]
        elif isinstance(x, classmethod | staticmethod | functools.cached_property):
            self.waiting.append((getattr(x, "__func__", None) or x.func, where))  # type: ignore[union-attr]
        elif isinstance(x, np.random.Generator | np.random.RandomState | random.Random):
            self.generators.append((where, x, bits_of_generator(x)))
        elif isinstance(x, types.CellType):
            self._cell(x, where)
        elif isinstance(x, type):
            if not _is_library(x.__module__):
                self._same(where, OF_LENGTH, vars(x), None, None, len(vars(x)))
                self._names(vars(x), where, list(vars(x)))
                self.waiting += [(base, where) for base in x.__bases__]
        elif (type(x).__module__, type(x).__name__) == ("logging", "Manager"):
            # It knows all loggers of the process; the one that is used is captured by itself.
            self._same(where, "{0}.disable is {1}", x, x.disable)
        else:
            self._entries(x, where)

    def _function(self, f: types.FunctionType, where: str) -> None:
        given = (f.__defaults__, f.__kwdefaults__, vars(f))
        self.waiting += [(part, where) for part in given if part]
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            self._cell(cell, f"{where}: {name}")
        if _is_library(f.__globals__.get("__name__")):  # __module__ may be of what it wraps
            return
        for same, name in FIELDS.items():
            self._same(where, same, f, getattr(f, name))
        self._same(where, OF_LENGTH, vars(f), None, None, len(vars(f)))
        names = list(_names_in(f.__code__))
        self.names.update(names)
        self._names(f.__globals__, where, names)
        self._absent(f.__globals__, where, names)
        if "environ" in names or "getenv" in names:
            self._same(where, "dict({0}) == {1}", os.environ, dict(os.environ))
        if any(map(_imports, _codes_in(f.__code__))):
            self._names(sys.modules, where, names)
            self._absent(sys.modules, where, names)

    def _absent(self, holder: dict, where: str, names: list[str]) -> None:
        """Compare that what is no name yet, or one of Python's own, is none."""
        absent = frozenset(name for name in names if name not in holder)
        if absent:
            # A set would walk all of the dict, which may be that of a module.
            self._same(where, ABSENT, holder, absent)

    def _cell(self, cell: types.CellType, where: str) -> None:
        try:
            x = cell.cell_contents
        except ValueError:
            self._same(where, "{1}({0})", cell, _is_empty)
            return
        self._same(where, CONTENTS, cell, x)
        self.waiting.append((x, where))

    def _names(self, holder: Any, where: str, names: list[str] | None = None) -> None:
        for name in self.names if names is None else names:
            if (id(holder), name) in self.seen:
                continue
            x = holder.get(name, _NOTHING)
            if x is _NOTHING or (
                name.startswith("__") and not isinstance(x, types.FunctionType | classmethod)
            ):
                continue
            self.seen[id(holder), name] = holder
            self._same(f"{where}: {name}", NAMED, holder, x, name)
            self.waiting.append((x, f"{where}: {name}"))

    def _entries(self, x: Any, where: str) -> None:
        if isinstance(x, list | tuple | deque):
            if not isinstance(x, tuple):
                self._same(where, LISTED, x, tuple(x))
            self.waiting += [(v, f"{where}[{k}]") for k, v in enumerate(x)]
        elif isinstance(x, dict | types.MappingProxyType):
            if type(x) is dict and len(x) == 1 and type(key := next(iter(x))) is str:
                # What functools.wraps leaves in a function, by a quarter of the time.
                self._same(where, f"{OF_LENGTH} and {NAMED}", x, x[key], key, 1)
            else:
                self._same(where, ITEMS, x, tuple(x.values()), tuple(x))
            self.waiting += [(v, f"{where}[{k!r}]") for k, v in x.items()]
        elif isinstance(x, set | frozenset):
            self._same(where, LISTED, x, tuple(x))  # 0.0 == -0.0
            self.waiting += [(v, where) for v in x]
        if isinstance(x, functools._lru_cache_wrapper):
            self.caches = True
        fields = getattr(x, "__dict__", None)
        if isinstance(x, threading.local):  # each thread has fields of its own
            self._same(where, "len({0}.__dict__) == {1}", x, len(vars(x)))
            for name, v in vars(x).items():
                given = x, v, name, _NOTHING
                self._same(f"{where}.{name}", "getattr({0}, {2}, {3}) is {1}", *given)
                self.waiting.append((v, f"{where}.{name}"))
        elif isinstance(fields, dict):
            self._entries(fields, where)
        for base in type(x).__mro__:
            slots = vars(base).get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if name.startswith("__"):
                    continue
                if not hasattr(x, name):
                    self._same(f"{where}.{name}", f"not hasattr({{0}}, {name!r})", x)
                else:
                    v = getattr(x, name)
                    self._same(f"{where}.{name}", f"{{0}}.{name} is {{1}}", x, v)
                    self.waiting.append((v, f"{where}.{name}"))
        self.waiting.append((type(x), where))

    # ---- comparing ------------------------------------------------------------------------------

    def _same(self, where: str, expression: str, *names: Any) -> None:
        n = len(self.places)
        given = {f"x{n}_{k}": x for k, x in enumerate(names)}
        made_of = expression, names
        self.places.append((where, expression.format(*given), given, made_of))

    def changed(self) -> str | None:
        """Say what is not what it was, if anything is."""
        try:
            same = self.is_same()
        except (ValueError, AttributeError, RuntimeError):
            same = False
        if same and not self.arrays:
            return None
        if not same:
            for where, expression, given, _ in self.places:
                if not self._is_equal(expression, given):
                    return where
        return self.constants.changed()

    def _is_equal(self, expression: str, given: dict[str, Any]) -> bool:
        try:
            if eval(expression, {"is_": _equal, **given}):
                return True
            left, is_, right = expression.partition(" is ")
            return bool(is_) and _equal(*(eval(part, given) for part in (left, right)))
        except (ValueError, AttributeError, RuntimeError):
            return False

    def drawn(self) -> str | None:
        """Say which generator of random numbers has been used since."""
        for where, generator, before in self.generators:
            if bits_of_generator(generator) != before:
                return where
        return None


def comparing(places: list) -> Callable[[], bool]:
    """Return one function that says whether all ``places`` are what they were."""
    names: dict[str, Any] = {"is_": operator.is_}
    for _, _, given, _ in places:
        names |= given
    text = " and ".join(f"({expression})" for _, expression, _, _ in places) or "True"
    return eval(f"lambda: {text}", names)


def _equal(a: Any, b: Any) -> bool:
    """Say whether two are the same object, or two plain numbers or texts that are equal."""
    if a is b:
        return True
    plain = (float, int, complex, bool, str, bytes, np.generic)
    return type(a) is type(b) and isinstance(a, plain) and bits(a) == bits(b)


@functools.lru_cache(4096)
def _is_library(module: str | None) -> bool:
    """Say whether a module counts as constant; a user's may be called ``code``, too."""
    top = (module or "").partition(".")[0]
    if top not in sys.stdlib_module_names or top in sys.builtin_module_names:
        return top in _LIBRARY or top in sys.builtin_module_names
    file = getattr(sys.modules.get(module or ""), "__file__", None)
    return isinstance(file, str) and file.startswith(_PYTHON) and "site-packages" not in file


def _codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield ``code``, and that of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes_in(constant)


def _names_in(code: types.CodeType) -> Iterator[str]:
    """Yield every name that ``code`` reads, and what may be one: ``getattr(module, "rate")``."""
    for inner in _codes_in(code):
        yield from inner.co_names
        texts = [text for text in inner.co_consts if type(text) is str]
        if "eval" in inner.co_names or "exec" in inner.co_names:
            yield from re.findall(r"[^\W\d]\w*", " ".join(texts))
        yield from filter(str.isidentifier, texts)


def _imports(code: types.CodeType) -> bool:
    return dis.opmap["IMPORT_NAME"] in code.co_code[::2]


def _is_empty(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is _NOTHING
    except ValueError:
        return True


def bits_of_generator(x: Any) -> Any:
    if isinstance(x, np.random.Generator):
        return repr(x.bit_generator.state)
    return repr(x.get_state() if isinstance(x, np.random.RandomState) else x.getstate())


def process_generators() -> tuple:
    """Return the states of the generators that all of the process shares."""
    state: Any = np.random.get_state()
    return state[1].tobytes(), state[2:], random.getstate()
