"""Captured state of a function: all that the functions which it runs can read, as it was before.

Each function of the user's is looked at when it begins to run (see :mod:`.watch`): the globals,
cells and imports that its code names, its defaults, and all data that is reached from there. What
was never run is compared by identity, and not looked into.
"""

import builtins
import gc
import importlib.util
import os
import sys
import types
from typing import Any

from ....config.thresholds import COMPARED_PLACES
from ...ir.looks import NotRecordable
from ..generators import bits_of_generator
from .bytecode import Read, codes_in, reads_of
from .comparison import is_empty
from .known_types import is_leaf
from .state_guard import ABSENT, CONTENTS, FIELDS, ITEMS, NAMED, NOTHING, OF_LENGTH
from .stateful import (
    INTROSPECTION,
    WAYS_ROUND,
    is_constant_code,
    is_library,
    state_of,
    state_of_module,
)
from .walk import Walk

_OF_MODULES = frozenset(
    f"__{name}__"
    for name in ["builtins", "spec", "loader", "cached", "doc", "file", "name", "package", "path"]
)


# Modules that read all fields of an object.
COPYING = frozenset(
    ["copy", "copyreg", "dataclasses", "pickle", "_pickle", "json", "pprint", "inspect"]
)
_CODE = types.FunctionType, property, classmethod, staticmethod, types.MethodType, type


class Captured(Walk):
    """Captured state of a function, as it is when its parts are first reached.

    ``everything`` takes all functions that are met for ones that run, and is lenient: it serves to
    find out whether a transform is under way in any of them.
    """

    def __init__(self, f: Any, frozen: bool, everything: bool = False) -> None:
        super().__init__(frozen, frozen or everything)
        self.made_of = f
        self.everything = everything
        # Code that ran, with its globals and the modules among its free variables.
        self.entered: dict[int, tuple[types.CodeType, dict, dict]] = {}
        self.computes = False  # names of attributes
        self.inspects = False  # functions that do not run
        # With the function comes the kind of its arguments, among which there may be functions.
        function, arguments = f if type(f) is tuple else (f, ())
        self.hold(arguments, "its arguments")
        self.hold(function, getattr(function, "__name__", type(function).__name__))
        if isinstance(function, types.FunctionType) and not (
            everything or is_constant_code(function.__globals__)
        ):
            self.enter(function.__code__, function.__globals__, None)
        self.walk_all()
        self.generate()
        self.arrays = False

    def settle(self) -> None:
        """End a recording: what was met is compared from now on."""
        for where, cached in self.caches:
            self._results(cached, where)
        self.walk_all()
        self.constants.settle()
        held = self.constants.copies or self.constants.digests
        self.arrays = bool(held) and not self.frozen
        self.generate()

    def again(self) -> "Captured":
        """Return what the same functions capture now."""
        new = Captured(self.made_of, self.frozen)
        for code, names, modules in list(self.entered.values()):
            new.enter(code, names, modules)
        new.settle()
        return new

    # ---- functions that run ---------------------------------------------------------------------

    def enter(self, code: types.CodeType, names: dict, free: dict | None) -> None:
        """Walk what ``code`` can read, before it runs with these globals and free variables."""
        if id(code) in self.entered:
            return
        free = {k: v for k, v in (free or {}).items() if isinstance(v, types.ModuleType)}
        self.entered[id(code)] = code, names, free
        reads = reads_of(code)
        where = code.co_name
        if round_about := sorted(WAYS_ROUND.intersection(code.co_names)):
            self.refuse_state(where, f"the attribute {round_about[0]}")
        self.names |= reads.names
        self.computes = self.computes or reads.computed or not COPYING.isdisjoint(reads.names)
        if not INTROSPECTION.isdisjoint(code.co_names) and not self.inspects:
            self.inspects = True
            for f in [f for fs in self.functions.values() for f in fs]:
                self.function_ran(f, f.__name__)
        for read in reads.reads:
            self._read(read, names, free, where)
        if reads.all_globals:
            self._whole(names, where)
        if not reads.names.isdisjoint(("environ", "getenv")):
            self.same(where, "dict({0}) == {1}", os.environ, dict(os.environ))
        for f in self.functions.get(id(code), ()):
            self.function_ran(f, where)
        self.walk_all()

    def names_of_users(self) -> set[str]:
        """Return the names in code of the user's that ran, without those of libraries."""
        return {name for code, *_ in self.entered.values() for name in reads_of(code).names}

    def walk_all(self) -> None:
        known: Any = None
        while self.waiting or known != (len(self.names), self.computes, len(self.modules)):
            known = len(self.names), self.computes, len(self.modules)
            super().walk_all()
            fields, self.fields = self.fields, []
            for name, x, at in fields:
                if self.computes or self.everything or self._is_named(name, x):
                    self.hold(x, at)
                else:
                    self.fields.append((name, x, at))
            for module, where in list(self.modules.values()):
                if self.computes:
                    self._whole(vars(module), where)
                else:
                    self._names_of(module, where)

    def _is_named(self, name: Any, x: Any) -> bool:
        """Say whether code that ran names an attribute, or what it holds may run unnamed."""
        if type(name) is not str or name.startswith("__") or isinstance(x, _CODE):
            return True
        return name in self.names

    def library_ran(self, code: types.CodeType, top: str) -> None:
        """Note which attributes code of a library names, as that of the user's may be theirs."""
        texts = [x for x in code.co_consts if type(x) is str]
        self.names |= {*code.co_names, *texts}
        if top in COPYING and not self.computes:
            self.computes = True
            self.walk_all()

    def runs(self, f: types.FunctionType) -> bool:
        if self.everything:
            for code in codes_in(f.__code__):
                self.enter_later(code, f)
            return True
        return self.inspects or id(f.__code__) in self.entered

    def enter_later(self, code: types.CodeType, f: types.FunctionType) -> None:
        if id(code) in self.entered:
            return
        self.entered[id(code)] = code, f.__globals__, {}
        reads = reads_of(code)
        self.names |= reads.names
        for read in reads.reads:
            self._read(read, f.__globals__, {}, code.co_name)

    def function_ran(self, f: types.FunctionType, where: str) -> None:
        if ("ran", id(f)) in self.seen:
            return
        self.seen["ran", id(f)] = f
        for part in (f.__defaults__, f.__kwdefaults__, vars(f)):
            if part:
                self.hold(part, where)
        for same, name in FIELDS.items():
            self.same(where, same, f, getattr(f, name))
        self.same(where, OF_LENGTH, vars(f), None, None, len(vars(f)))
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            module = None if is_empty(cell) else cell.cell_contents
            if isinstance(module, types.ModuleType):
                self.same(f"{where}: {name}", CONTENTS, cell, module)
                self._free_module(f.__code__, name, module, where)
            else:
                self._cell(cell, f"{where}: {name}")

    def _free_module(self, code: types.CodeType, name: str, module: Any, where: str) -> None:
        for read in reads_of(code).reads:
            if read.kind == "free" and read.name == name:
                self._follow(module, read.attributes, f"{where}: {name}")

    # ---- names ----------------------------------------------------------------------------------

    def _read(self, read: Read, names: dict, free: dict, where: str) -> None:
        name = f"{where}: {read.name}"
        if read.kind == "free":
            if read.name in free:
                self._follow(free[read.name], read.attributes, name)
        elif read.kind == "import":
            self._imported(read, names, name)
        elif read.name in names:
            self._follow(self._entry(names, read.name, where), read.attributes, name)
        else:
            self._entry(names, read.name, where)
            own = names.get("__builtins__", builtins)
            own = vars(own) if isinstance(own, types.ModuleType) else own
            self._follow(self._entry(own, read.name, where), read.attributes, name)

    def _entry(self, holder: dict, name: str, where: str) -> Any:
        """Return an entry of a namespace, or NOTHING, and compare it from now on."""
        x = holder.get(name, NOTHING)
        if (id(holder), name) not in self.seen:
            self.seen[id(holder), name] = holder
            if x is NOTHING:
                # A set would walk all of the dict, which may be that of a module.
                self.same(f"{where}: {name}", ABSENT, holder, frozenset((name,)))
            else:
                self.same(f"{where}: {name}", NAMED, holder, x, name)
        return x

    def _follow(self, x: Any, attributes: tuple[str, ...], where: str) -> None:
        """Walk what attributes lead to from ``x``: through modules by name, else as data."""
        while isinstance(x, types.ModuleType):
            if is_library(x.__name__):
                self.refuse_state(where, state_of_module(x, attributes))
                for name in attributes:
                    x = vars(x).get(name) if isinstance(x, types.ModuleType) else None
                    if isinstance(x, type):
                        self.class_of(x, where)
                return
            if not attributes or attributes[0] == "__dict__":
                self.hold(x, where)
                self._whole(vars(x), where)
                return
            name, attributes = attributes[0], attributes[1:]
            if type(x) is not types.ModuleType:
                self.hold(x, where)
            module, x = x, self._entry(vars(x), name, where)
            where = f"{where}.{name}"
            if x is NOTHING:  # its __getattr__ may answer
                self.hold(self._entry(vars(module), "__getattr__", where), where)
                return
        if x is not NOTHING:
            if isinstance(x, types.FunctionType) and attributes:
                self.function_ran(x, where)
            self.refuse_state(where, state_of(x, frozenset(attributes)))
            self.hold(x, where)

    def _imported(self, read: Read, names: dict, where: str) -> None:
        name, of = read.name, names.get("__package__") or names.get("__name__")
        if name.startswith("."):
            try:
                name = importlib.util.resolve_name(name, of)
            except (ImportError, ValueError, TypeError):
                return
        if is_library(name.partition(".")[0]):
            self._follow(sys.modules.get(name, NOTHING), read.attributes, where)
            return
        self._follow(self._entry(sys.modules, name, where), read.attributes, where)
        part = f"{name}.{read.attributes[0]}" if read.attributes else ""
        if part in sys.modules:
            self._entry(sys.modules, part, where)

    def _names_of(self, module: types.ModuleType, where: str) -> None:
        """Compare what code that ran may read of a module that is no name in it."""
        held = vars(module)
        for name in self.names:
            if name in held and (id(held), name) not in self.seen and name not in _OF_MODULES:
                self.hold(self._entry(held, name, where), f"{where}: {name}")
        absent = frozenset(name for name in self.names if (id(held), name) not in self.seen)
        if absent and ("absent", id(held), absent) not in self.seen:
            self.seen["absent", id(held), absent] = held
            self.same(where, ABSENT, held, absent - held.keys())

    def _whole(self, held: dict, where: str) -> None:
        """Compare all of a namespace, where code may read any name of it."""
        if ("whole", id(held)) in self.seen:
            return
        self.seen["whole", id(held)] = held
        self.same(where, ITEMS, held, tuple(held.values()), tuple(held))
        for name, x in held.items():
            if name not in _OF_MODULES and not is_leaf(x):
                self.hold(x, f"{where}: {name}")

    # ---- caches, random numbers, and comparing --------------------------------------------------

    def _results(self, cached: Any, where: str) -> None:
        """Compare that the results which ``functools.lru_cache`` keeps are still there."""
        if self.lenient:
            return
        held = [x for x in gc.get_referents(cached) if x is not vars(cached)]
        unbounded = cached.cache_parameters()["maxsize"] is None
        dicts = [
            x for x in held if type(x) is dict and (unbounded or all(map(_is_link, x.values())))
        ]
        if cached.cache_info().currsize:
            entries = max(dicts, key=len)
            kept = tuple(entries.values())
            if len(kept) > COMPARED_PLACES:
                self.refuse(where, f"a cache of {len(kept)} results")
            given = entries, frozenset(map(id, kept)), kept
            self.same(where, "{1}.issubset(map(id, {0}.values()))", *given)
            links = [x for x in held if _is_link(x)]  # which hold keys and results from 3.12 on
            parts = [x for of in (held, *map(gc.get_referents, links)) for x in of]
            results = [x for x in parts if not (_is_code(x) or _is_link(x) or x is entries)]
            self.hold(kept if unbounded else results, where)

    def changed(self) -> str | None:
        """Say what is not what it was, if anything is."""
        return self.changed_place() or (self.constants.changed() if self.arrays else None)

    def drawn(self) -> str | None:
        """Say which generator of random numbers has been used since."""
        for where, generator, before in self.generators:
            if bits_of_generator(generator) != before:
                return where
        return None


def _is_link(x: Any) -> bool:
    return type(x).__name__ == "_lru_list_elem"


def _is_code(x: Any) -> bool:
    return isinstance(x, type | types.FunctionType)


def closed_over(code: types.CodeType) -> list[types.FunctionType]:
    """Return the functions of this code that there are, wherever they are held."""
    return [f for f in gc.get_referrers(code) if type(f) is types.FunctionType]


def refused(error: Exception) -> NotRecordable:
    if isinstance(error, NotRecordable):
        return error
    return NotRecordable(f"what it captures cannot be walked: {error!r}")
