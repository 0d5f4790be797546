"""Walk over captured data: it visits objects, containers, arrays and classes, and what they hold.

Every place that can change is compared. Functions that are met are remembered, and their own state
is walked when they run; what is of no known type makes the function uncompilable.
"""

import abc
import array
import contextvars
import copyreg
import decimal
import functools
import gc
import io
import logging
import threading
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ....rules import Traced
from ....rules.engines.arguments import Transformed
from ....rules.engines.buffers import BufferArray
from ....rules.known_classes import table_of
from ....rules.rulesets.functions.foreign import Foreign
from ....rules.signatures import RuleSignature
from ....rules.table.methods import Methods
from ....rules.tracing.captured import digest
from ....rules.tracing.classes.own_classes import OF_NUMPY
from ...ir.looks import NotRecordable
from ..constants import Constants
from ..generators import RANDOM, bits_of_generator
from .comparison import context_of_decimals, is_empty, level_of, slot_of, token_of_classes
from .known_types import is_leaf, is_of_python, is_simple_ctype, slots_of, solid
from .state_guard import BASES, CONTENTS, ITEMS, LISTED, NAMED, NOTHING, OF_LENGTH, TYPE, StateGuard
from .stateful import is_library, state_of, state_of_instance

# Objects of our own that change while they are used: what of them a function captures.
parts_of: dict[type, Callable[[Any], tuple]] = {
    Foreign: lambda x: (x.run,),
    Methods: lambda x: (x.alternatives, x.kind),  # what was registered, not what was found since
    RuleSignature: lambda x: (x.function,),  # from which all else of it is read, once
    Transformed: lambda x: (x.func,),  # which holds the function that it was made of
}
# Attributes of classes that say how these were written.
_OF_CLASSES = frozenset(f"__{name}__" for name in (
    "dict", "weakref", "doc", "module", "qualname", "annotations", "dataclass_fields",
    "dataclass_params", "slots", "match_args", "parameters", "orig_bases", "static_attributes",
    "firstlineno", "annotate", "annotations_cache", "abstractmethods",
))  # fmt: skip
_VIEWS: tuple[type, ...] = type({}.keys()), type({}.values()), type({}.items())
_CONTAINERS = (list, tuple, deque, dict, OrderedDict, defaultdict, set, frozenset)


class Walk(StateGuard):
    """The captured data that has been walked; its arrays are held by ``constants``.

    ``lenient`` takes what is not known for constant. ``traced`` says where a traced value was met.
    """

    def __init__(self, frozen: bool, lenient: bool) -> None:
        super().__init__(frozen)
        self.lenient = lenient
        self.constants = Constants(frozen)
        self.traced = ""
        self.caches: list[tuple[str, Any]] = []  # functions that keep results by arguments
        self.generators: list[tuple[str, Any, Any]] = []
        self.modules: dict[int, tuple[types.ModuleType, str]] = {}
        self.functions: dict[int, list[types.FunctionType]] = {}  # by their code
        self.seen: dict[Any, Any] = {}
        self.fields: list[tuple[Any, Any, str]] = []  # that no code that ran names
        self.waiting: list[tuple[Any, str]] = []
        self.notes: set[str] = set()  # effects that are assumed away
        self.names: frozenset[str] = frozenset()  # of attributes, in code that ran

    def runs(self, f: types.FunctionType) -> bool:
        """Say whether the state of ``f`` is to be walked at once."""
        raise NotImplementedError

    def refuse(self, where: str, what: str) -> None:
        """Refuse what nobody can compare at every call.

        Raises
        ------
        NotRecordable
        """
        if not self.lenient:
            raise NotRecordable(
                f"it captures {what} ({where}), of which cannot be told whether it changes; give "
                "what is read of it as an argument, or read it before and capture the number, or "
                'write captured="freeze"'
            )

    def refuse_state(self, where: str, state: str | None) -> None:
        """Refuse a state of the process that code reads or changes."""
        if state and not self.lenient:
            raise NotRecordable(
                f"it uses {state} ({where}), which a replay would not; do that outside and give "
                'what it reads as an argument, or write captured="freeze"'
            )

    def hold(self, x: Any, where: str) -> None:
        self.waiting.append((x, where))

    def walk_all(self) -> None:
        while self.waiting:
            self._walk(*self.waiting.pop())

    def _walk(self, x: Any, where: str) -> None:
        if type(x) is BufferArray and type(x.primal) is np.ndarray:
            self.same(where, "{0}.primal is {1}", x, x.primal)  # until what is traced is written
            x = x.primal
        if isinstance(x, Traced):
            self.traced = self.traced or ("" if x.records else where)
            if x.records:
                raise NotRecordable("a recorded value that another function captures")
            return
        if is_leaf(x) or id(x) in self.seen:
            return
        self.seen[id(x)] = x
        if type(x) in parts_of:
            self.waiting += [(part, where) for part in parts_of[type(x)](x)]
            return
        for types_of, walked in WALKED:
            if isinstance(x, types_of):
                walked(self, x, where)
                return
        self._instance(x, where)

    # ---- functions ------------------------------------------------------------------------------

    def _function(self, f: types.FunctionType, where: str) -> None:
        self.functions.setdefault(id(f.__code__), []).append(f)
        if is_library(f.__globals__.get("__name__")):  # __module__ may be of what it wraps
            self.refuse_state(where, state_of(f))
            given = (f.__defaults__, f.__kwdefaults__, vars(f))
            self.waiting += [(part, where) for part in given if part]
            for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
                self._cell(cell, f"{where}: {name}")
        elif self.runs(f):
            self.function_ran(f, where)
        elif vars(f):
            self.hold(vars(f), where)

    def function_ran(self, f: types.FunctionType, where: str) -> None:
        """Walk the state of a function of the user's."""
        raise NotImplementedError

    def _cell(self, cell: types.CellType, where: str) -> None:
        try:
            x = cell.cell_contents
        except ValueError:
            self.same(where, "{1}({0})", cell, is_empty)
            return
        self.same(where, CONTENTS, cell, x)
        self.hold(x, where)

    def _builtin(self, x: Any, where: str) -> None:
        if isinstance(x, types.MethodWrapperType) or not isinstance(
            x.__self__, types.ModuleType | type(None)
        ):
            self.hold(x.__self__, where)
        if isinstance(x, types.BuiltinFunctionType):
            self.refuse_state(where, state_of(x, self.names))
            if x is print:
                self.notes.add("may print")

    def _method(self, x: types.MethodType, where: str) -> None:
        self.waiting += [(x.__func__, where), (x.__self__, where)]

    def _wrapper(self, x: Any, where: str) -> None:
        """Walk a partial, a property, a method of a class, and what else holds functions."""
        names = ("func", "args", "keywords", "fget", "fset", "fdel", "__func__", "__self__")
        parts = [getattr(x, name, None) for name in names]
        self.waiting += [(part, where) for part in parts if part is not None]
        self._instance_fields(x, where)

    def _cached(self, x: Any, where: str) -> None:
        self.caches.append((where, x))
        self._instance_fields(x, where)

    # ---- arrays and memory ----------------------------------------------------------------------

    def _array(self, x: np.ndarray, where: str) -> None:
        if type(x) in OF_NUMPY:
            self.constants.hold(x)
            if not x.flags.writeable:  # it may become so
                self.same(where, "not {0}.flags.writeable", x)
        else:
            self.same(where, "{2}({0}) == {1}", x, digest(x), digest)
            self._instance(x, where)
        if x.dtype.hasobject:
            self.hold(x.reshape(-1).tolist(), where)

    def _memory(self, x: Any, where: str) -> None:
        self.same(where, "bytes({0}) == {1}", x, bytes(x))
        self._instance_fields(x, where)

    def _ctype(self, x: Any, where: str) -> None:
        if is_simple_ctype(type(x)):
            self._memory(x, where)
        else:
            self.refuse(where, f"a {type(x).__name__} of ctypes")

    # ---- variables ------------------------------------------------------------------------------

    def _context_variable(self, x: contextvars.ContextVar, where: str) -> None:
        self.same(where, "{0}.get({2}) is {1}", x, x.get(NOTHING), NOTHING)
        self.hold(x.get(None), where)

    def _reference(self, x: weakref.ref, where: str) -> None:
        self.same(where, "{0}() is {1}", x, x())
        self.hold(x(), where)
        self._instance_fields(x, where)

    def _of_thread(self, x: threading.local, where: str) -> None:
        self.same(where, "len({0}.__dict__) == {1}", x, len(vars(x)))
        for name, v in vars(x).items():
            given = x, v, name, NOTHING
            self.same(f"{where}.{name}", "getattr({0}, {2}, {3}) is {1}", *given)
            self.hold(v, f"{where}.{name}")

    def _generator(self, x: Any, where: str) -> None:
        self.generators.append((where, x, bits_of_generator(x)))

    def _logger(self, x: Any, where: str) -> None:  # of which only counts whether it would log
        self.same(where, "{2}({0}) == {1}", x, level_of(x), level_of)

    def _iterator(self, x: Any, where: str) -> None:
        if isinstance(x, io.IOBase):
            self.refuse(where, f"a {type(x).__name__} that is read or written")
        elif is_of_python(type(x)):
            self._instance(x, where)
        elif not self.lenient:
            raise NotRecordable(
                f"an iterator that it captures ({where}), which is used up; give what it gives as "
                "an argument"
            )

    # ---- containers and objects -----------------------------------------------------------------

    def _view(self, x: Any, where: str) -> None:
        self.hold(x.mapping, where)

    def _mapping(self, x: Any, where: str) -> None:
        self._entries(x, where)
        self.waiting += [(k, where) for k in x if not is_leaf(k)]
        self.waiting += [(v, f"{where}[{k!r}]" if type(k) is str else where) for k, v in x.items()]

    def _entries(self, x: Any, where: str) -> None:
        if type(x) is dict and len(x) == 1 and type(key := next(iter(x))) is str:
            # What functools.wraps leaves in a function, by a quarter of the time.
            self.same(where, f"{OF_LENGTH} and {NAMED}", x, x[key], key, 1)
        else:
            self.same(where, ITEMS, x, tuple(x.values()), tuple(x))

    def _instance(self, x: Any, where: str) -> None:
        cls = type(x)
        base = solid(cls)
        if cls is decimal.Decimal:
            self.class_of(cls, where)
            return
        if state := state_of_instance(cls):
            self.refuse(where, f"a {state}")
        if table_of(cls) is not None:  # its columns are where code in C alone sees them
            self.refuse(where, f"a {cls.__module__}.{cls.__qualname__}")
        if issubclass(base, dict):
            self._mapping(x, where)
            if issubclass(base, defaultdict):
                self.same(where, "{0}.default_factory is {1}", x, x.default_factory)
                self.hold(x.default_factory, where)
        elif issubclass(base, list | tuple | deque):
            if not isinstance(x, tuple):
                self.same(where, LISTED, x, tuple(x))
            self.waiting += [(v, f"{where}[{k}]") for k, v in enumerate(x)]
        elif issubclass(base, set | frozenset):
            self.same(where, LISTED, x, tuple(x))  # 0.0 == -0.0
            self.waiting += [(v, where) for v in x]
        elif issubclass(base, BaseException):
            self.same(where, "{0}.args is {1}", x, x.args)
            self.hold(x.args, where)
        elif base not in _PLAIN:
            self.refuse(where, f"a {cls.__module__}.{cls.__qualname__}")
        if cls not in _CONTAINERS:
            self._instance_fields(x, where)

    def _instance_fields(self, x: Any, where: str) -> None:
        """Walk fields, slots and the class of an object."""
        cls = type(x)
        if is_of_python(cls):
            self.same(where, TYPE, x, cls)
            self.class_of(cls, where)
        fields = getattr(x, "__dict__", None)
        own = all(base is object or not is_library(base.__module__) for base in cls.__mro__)
        if type(fields) is dict:
            if is_of_python(cls):
                self.same(where, "{0}.__dict__ is {1}", x, fields)
            if id(fields) not in self.seen and not own:
                self.seen[id(fields)] = fields
                self._mapping(fields, where)
            elif id(fields) not in self.seen:
                self.seen[id(fields)] = fields
                self._entries(fields, where)
                for name, v in fields.items():
                    self.hold_if_named(name, v, where)
        for name, slot in slots_of(cls):
            v = slot_of(slot, x)
            self.same(f"{where}.{name}", "{2}({3}, {0}) is {1}", x, v, slot_of, slot)
            self.hold_if_named(name, v, where) if own else self.hold(v, where)

    def hold_if_named(self, name: Any, v: Any, where: str) -> None:
        """Walk a field as soon as code that ran names it; until then it is compared by identity."""
        if not is_leaf(v):
            self.fields.append((name, v, f"{where}.{name}"))

    # ---- classes --------------------------------------------------------------------------------

    def _class_met(self, cls: type, where: str) -> None:
        if is_library(cls.__module__):
            self.refuse_state(where, state_of(cls, self.names))
        self.seen.pop(id(cls), None)
        self.class_of(cls, where)

    def class_of(self, cls: type, where: str) -> None:
        """Walk a class of the user's; those of libraries are constant."""
        if id(cls) in self.seen:
            return
        self.seen[id(cls)] = cls
        if cls.__module__ == "decimal" and cls.__name__ == "Decimal":
            self.same(
                f"{where}: the context", "{0}() == {1}", context_of_decimals, context_of_decimals()
            )
        if isinstance(cls, abc.ABCMeta) and "abstract" not in self.seen:
            self.seen["abstract"] = cls
            token = abc.get_cache_token()
            self.same(
                f"{where}: classes that are registered", "{0}() == {1}", token_of_classes, token
            )
        if is_library(cls.__module__):
            return
        self.same(f"{where}: bases", BASES, cls, cls.__mro__)
        if type(cls) is not type:
            self.same(where, TYPE, cls, type(cls))
            self.class_of(type(cls), where)
        copyreg._slotnames(cls)  # type: ignore[attr-defined]  # copies note it in the class
        (held,) = gc.get_referents(vars(cls))  # it can be compared natively, what shows it cannot
        self.same(where, OF_LENGTH, held, None, None, len(held))
        for name, v in list(held.items()):
            self.same(f"{where}: {name}", NAMED, held, v, name)
            if name not in _OF_CLASSES:
                self.hold_if_named(name, v, where)
        for base in cls.__bases__:
            self.class_of(base, where)

    def _module(self, module: types.ModuleType, where: str) -> None:
        if not is_library(module.__name__):
            self.modules[id(module)] = module, where
            if type(module) is not types.ModuleType:
                self.same(where, TYPE, module, type(module))
                self.class_of(type(module), where)


# Built-in types whose objects hold nothing besides fields.
_PLAIN = frozenset({
    object, float, int, complex, str, bytes, np.ndarray, types.SimpleNamespace, weakref.ref,
    property, staticmethod, classmethod, functools.partial, type, types.ModuleType,
    *{kind for kind in np.sctypeDict.values() if kind not in (np.void, np.object_)},
})  # fmt: skip

Walker = Callable[[Walk, Any, str], None]

#: How objects are walked, by their types: the first row that fits.
WALKED: list[tuple[Any, Walker]] = [
    ((list, tuple, dict, set, frozenset, deque), Walk._instance),
    (types.FunctionType, Walk._function),
    ((types.BuiltinFunctionType, types.MethodWrapperType), Walk._builtin),
    (types.MethodType, Walk._method),
    (types.ModuleType, Walk._module),
    (type, Walk._class_met),
    (types.CellType, Walk._cell),
    (np.ndarray, Walk._array),
    (functools._lru_cache_wrapper, Walk._cached),
    ((functools.partial, property, classmethod, staticmethod), Walk._wrapper),
    (types.MappingProxyType, Walk._mapping),
    (_VIEWS, Walk._view),
    ((array.array, bytearray, memoryview, np.void), Walk._memory),
    (contextvars.ContextVar, Walk._context_variable),
    (weakref.ref, Walk._reference),
    (threading.local, Walk._of_thread),
    (RANDOM, Walk._generator),
    ((logging.Logger, logging.LoggerAdapter), Walk._logger),
    (slice, lambda self, x, where: self.hold((x.start, x.stop, x.step), where)),
]


def _register_ctypes() -> None:
    import ctypes

    data = ctypes._SimpleCData, ctypes.Array, ctypes.Structure, ctypes.Union
    WALKED.append((data, Walk._ctype))
    WALKED.append((Iterator, Walk._iterator))


_register_ctypes()


def walk_as(types_of: Any, walked: Walker) -> None:
    """Walk objects of these types by ``walked(walk, x, where)``, before all other rows.

    It compares by ``walk.same`` what may change in ``x``, and gives what ``x`` holds to
    ``walk.hold``; ``walk.refuse`` says that ``x`` cannot be compared.
    """
    WALKED.insert(0, (types_of, walked))
