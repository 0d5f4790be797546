"""Functions of the standard library that read the state of the process: clocks, files, threads.

Nobody can compare that state at every call, so code that names them is not compiled. All else of
the library is constant, and so are NumPy, SciPy and chainrules as a whole.
"""

import types
from typing import Any

from ....config.foundations import FOUNDATIONS, is_foundation

CONSTANT_PACKAGES = FOUNDATIONS | {"llvmlite", "multipledispatch"}
_PATHS = (
    "join basename dirname split splitext isabs normpath normcase commonprefix commonpath sep "
    "curdir pardir extsep altsep pathsep devnull fspath"
)
_WHOLLY = """
io socket subprocess select selectors ssl signal multiprocessing queue asyncio sched concurrent
tempfile shutil glob fileinput mmap sqlite3 dbm shelve urllib http ftplib smtplib secrets
getpass locale resource tracemalloc fcntl pty tty readline curses zipfile tarfile gzip bz2 lzma
linecache pkgutil runpy
"""
# Modules with state, and what of them has none.
_STATEFUL = {
    **dict.fromkeys(_WHOLLY.split(), ""),
    "os": f"path name linesep PathLike environ getenv fsencode fsdecode error {_PATHS}",
    "os.path": _PATHS,
    "sys": "version version_info platform maxsize float_info hexversion byteorder implementation "
    "float_repr_style int_info hash_info maxunicode intern exc_info getsizeof flags thread_info "
    "api_version copyright abiflags",
    "time": "struct_time",
    "threading": "Lock RLock local get_ident",
    "thread": "allocate_lock RLock get_ident",
    "ctypes": "Structure Union Array sizeof alignment BigEndianStructure LittleEndianStructure",
    "importlib": "metadata util abc machinery resources",
    "inspect": "",  # below
    "gc": "collect",
    "builtins": "",  # below
    "uuid": "UUID",
    "decimal": "Decimal",
}
# Modules of which only these have state.
_FEW = {
    "inspect": {"currentframe", "stack", "trace", "getmembers_static"},
    "builtins": {"open", "input", "__import__", "breakpoint"},
    "datetime": {"now", "today", "utcnow", "fromtimestamp"},
    "pathlib": {"cwd", "home"},
}
# Attributes by which code reaches the names of other code, or classes that nobody has named.
WAYS_ROUND = frozenset({
    "__globals__", "f_globals", "f_locals", "f_back", "gi_frame", "_getframe", "__subclasses__",
})  # fmt: skip
INTROSPECTION = frozenset({
    "__closure__", "__defaults__", "__kwdefaults__", "__code__", "signature",
})  # fmt: skip


def is_library(module: str | None) -> bool:
    """Say whether a module counts as constant; a user's may be called ``code``, too."""
    name = module or ""
    return name.partition(".")[0] in CONSTANT_PACKAGES or is_foundation(name)


def is_constant_code(names: dict) -> bool:
    """Say whether code with these globals is of a library, or of a namedtuple that one made."""
    return is_library(names.get("__name__")) or "_tuple_new" in names


def _top(module: str) -> str:
    """Return the public name of a module of the library."""
    top = module.partition(".")[0]
    if module == "os.path" or top in ("posixpath", "ntpath", "genericpath"):
        return "os.path"
    return "os" if top in ("posix", "nt") else top.lstrip("_")


def state_of_module(module: types.ModuleType, attributes: tuple[str, ...]) -> str | None:
    """Say which state code reads that names these attributes of a module; none of any, all."""
    top = _top(module.__name__)
    if not attributes:
        return f"the module {top}" if top in _STATEFUL and top not in _FEW else None
    name = attributes[0]
    inner = vars(module).get(name)
    if isinstance(inner, types.ModuleType) and is_library(inner.__name__):
        return None if name == "modules" else state_of_module(inner, attributes[1:])
    if _has_state(top, name) or (top in _FEW and not _FEW[top].isdisjoint(attributes)):
        return f"{top}.{name}"
    return None


def _has_state(top: str, name: str) -> bool:
    if top in _FEW:
        return name in _FEW[top]
    if top == "ctypes" and name.startswith("c_"):
        return False
    return top in _STATEFUL and name not in _STATEFUL[top].split()


def state_of(x: Any, names: frozenset[str] = frozenset()) -> str | None:
    """Say which state a function or class of the library reads, in code with these ``names``."""
    if not isinstance(x, type | types.FunctionType | types.BuiltinFunctionType):
        return None
    own = getattr(x, "__self__", None)
    if isinstance(own, type) and isinstance(x, types.BuiltinFunctionType):
        name, module = x.__name__, own.__module__
    else:
        name, module = getattr(x, "__name__", ""), getattr(x, "__module__", "")
    if x is open:
        return "open"
    if type(name) is not str or type(module) is not str or not is_library(module):
        return None
    top = _top(module)
    if top in CONSTANT_PACKAGES:
        return None
    if top in ("datetime", "pathlib") and isinstance(x, type):
        used = sorted(_FEW[top] & names)
        return f"{name}.{used[0]}" if used else None
    return f"{top}.{name}" if _has_state(top, name) else None


def state_of_instance(cls: type) -> str | None:
    """Say of which class with state an object of the library's is."""
    if not is_library(cls.__module__):
        return None
    top = _top(cls.__module__)
    if top in _STATEFUL and top not in _FEW and cls.__name__ not in ("lock", "RLock", "_local"):
        return f"{cls.__module__}.{cls.__qualname__}"
    return None


def is_pure_path(code: types.CodeType) -> bool:
    return code.co_qualname.partition(".")[0].startswith(("Pure", "_", "ParserBase"))
