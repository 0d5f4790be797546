"""Bytecode analysis: it lists the globals, free variables and imports that a code object reads.

``np.sum(x) * config.rate`` reads the global ``np`` for its ``sum`` alone, and ``config`` for its
``rate``. What is read of a module otherwise, as in ``getattr(config, name)``, may be any of its
names.
"""

import dis
import functools
import re
import types
from collections.abc import Iterator
from typing import NamedTuple

from ....config.thresholds import CODES_KEPT

_SILENT = ("CACHE", "EXTENDED_ARG", "PRECALL", "RESUME", "NOP", "PUSH_NULL")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR")
_GLOBALS = (
    "LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "STORE_NAME", "DELETE_GLOBAL", "DELETE_NAME",
    "LOAD_FROM_DICT_OR_GLOBALS",
)  # fmt: skip
_FREE = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
# Functions that take the name of an attribute second, and what else has names that are computed.
_BY_NAME = ("getattr", "hasattr", "setattr", "delattr")
_COMPUTED = frozenset({
    "vars", "dir", "attrgetter", "methodcaller", "__dict__", "__getattribute__", "getmembers",
    "getattr_static",
})  # fmt: skip

_IN_TEXT = re.compile(r"\{\w*[.\[]").search  # as in "{0.rate}".format(model)


class Read(NamedTuple):
    """A name that is read, and the attributes that are read of it at once; "" ends a bare use.

    ``kind`` is "global", "free" or "import".
    """

    kind: str
    name: str
    attributes: tuple[str, ...]


class Reads(NamedTuple):
    """All reads of a code object.

    ``names`` are those of attributes and the texts that may be some, ``computed`` says whether it
    reads attributes by other names, and ``all_globals`` whether it may read any global.
    """

    reads: tuple[Read, ...]
    names: frozenset[str]
    computed: bool
    all_globals: bool


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield ``code``, and that of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


@functools.lru_cache(CODES_KEPT)
def _reads_by_id(key: int, code: types.CodeType) -> Reads:
    return _Reader(code).reads()


def reads_of(code: types.CodeType) -> Reads:
    """Return what ``code`` itself reads, without the functions inside it."""
    return _reads_by_id(id(code), code)  # two that are equal may be in two files


class _Reader:
    def __init__(self, code: types.CodeType) -> None:
        self.code = code
        self.steps = [i for i in dis.get_instructions(code) if i.opname not in _SILENT]
        self.found: set[Read] = set()
        texts = [x for x in code.co_consts if type(x) is str]
        self.computed = not _COMPUTED.isdisjoint(code.co_names) or any(map(_IN_TEXT, texts))
        self.all_globals = False

    def reads(self) -> Reads:
        modules: dict[str, list[str]] = {}  # imported ones by the variables that hold them
        for k, step in enumerate(self.steps):
            if step.opname in _GLOBALS:
                self._global(k, str(step.argval))
            elif step.opname in _FREE:
                self.found.add(Read("free", str(step.argval), self._attributes(k)))
            elif step.opname == "IMPORT_NAME":
                self._import(k, modules)
        for k, step in enumerate(self.steps):
            if step.opname.startswith("LOAD_FAST"):
                loaded = step.argval if type(step.argval) is tuple else (step.argval,)
                for name in loaded:
                    for module in modules.get(name, ()):
                        attributes = self._attributes(k) if name == loaded[-1] else ()
                        self.found.add(Read("import", module, attributes))
        texts = [x for x in self.code.co_consts if type(x) is str and x.isidentifier()]
        names = frozenset((*self.code.co_names, *texts))
        return Reads(tuple(sorted(self.found)), names, self.computed, self.all_globals)

    def _attributes(self, k: int) -> tuple[str, ...]:
        """Return the attributes that follow what step ``k`` gives, however many."""
        found = []
        for step in self.steps[k + 1 :]:
            if step.opname not in _ATTRIBUTES:
                break
            found.append(str(step.argval))
            if not step.opname.startswith("LOAD"):
                break
        return tuple(found)

    def _global(self, k: int, name: str) -> None:
        self.found.add(Read("global", name, self._attributes(k)))
        if name in _BY_NAME and not self._names_attribute(k):
            self.computed = True
        if name == "globals":
            found = self._entry_of_globals(k)
            if found is None:
                self.all_globals = True
            else:
                self.found.add(Read("global", found, ()))

    def _import(self, k: int, modules: dict[str, list[str]]) -> None:
        level, of = self.steps[k - 2].argval, self.steps[k - 1].argval
        name = "." * (level if type(level) is int else 0) + str(self.steps[k].argval)
        if of is not None:
            self.found |= {Read("import", name, (part,)) for part in of}
            return
        following = [step.opname for step in self.steps[k + 1 : k + 2]]
        if following != ["IMPORT_FROM"]:  # of "import a.b as c"
            name = name.partition(".")[0]
        stored = next(step for step in self.steps[k + 1 :] if step.opname.startswith("STORE"))
        if stored.opname == "STORE_FAST":
            modules.setdefault(str(stored.argval), []).append(name)
            self.found.add(Read("import", name, ("__name__",)))
        else:
            self.found.add(Read("import", name, ()))

    def _names_attribute(self, k: int) -> bool:
        """Say whether the call of the function that step ``k`` loads has a text second."""
        depth, second = 0, None
        for j in range(k + 1, len(self.steps)):
            step = self.steps[j]
            if step.opname.startswith("CALL") and depth in (2, 3) and step.arg == depth:
                of = None if second is None else self.steps[second]
                return of is not None and of.opname == "LOAD_CONST" and type(of.argval) is str
            if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
                return False
            before, depth = depth, depth + dis.stack_effect(step.opcode, step.arg)
            if depth < 1:
                return False
            if depth == 2:
                second = j if before == 1 else None
            elif depth == 1:
                second = None
        return False

    def _entry_of_globals(self, k: int) -> str | None:
        """Return the one name that is read of ``globals()``, if that is what is read."""
        rest = self.steps[k + 2 : k + 4]
        call = self.steps[k + 1]  # there is always one that returns
        if not call.opname.startswith("CALL") or call.arg != 0:
            return None
        before = self.steps[k - 1]
        if rest and rest[0].opname == "CONTAINS_OP" and type(before.argval) is str:
            return str(before.argval)
        if rest and rest[0].opname in ("LOAD_ATTR", "LOAD_METHOD") and rest[0].argval == "get":
            rest = self.steps[k + 3 : k + 5]
            ends = ("CALL", "LOAD_CONST")
        else:
            ends = ("BINARY_SUBSCR", "BINARY_OP")
        if len(rest) < 2 or rest[0].opname != "LOAD_CONST" or type(rest[0].argval) is not str:
            return None
        return str(rest[0].argval) if rest[1].opname.startswith(ends) else None
