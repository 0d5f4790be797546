"""``cr.adopt``: code as it stands, whose numpy, math, scipy and float see traced values.

NumPy gives a tracer no say in ``np.zeros(3)[0] = x``, and Python none in ``math.sin(x)`` or
``float(x)``. ``chainrules.numpy``, ``chainrules.math``, ``chainrules.cmath`` and
``chainrules.scipy`` show these libraries with functions that do see traced values. An adopted
module has them in its globals, in place of the originals, and its functions hold them (``_held``):
much as if its import lines were changed by hand.
"""

import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType, TracebackType
from typing import Any

from ._adopted.called_names import CalledNames, ReadNames
from ._adopted.held import Undo, adopt_functions, answers, home_of
from ._adopted.kept import KeptFunctions
from ._adopted.mirrors import held_mirror_of, mirror_of
from ._numbers import BUILTINS
from .config import ArgumentValueError, MissingPackageError
from .rules.refusals.remedies import adopted

# Packages whose compiled parts, or whose own walks, take no buffers.
_NEEDLESS = {
    "pandas": "its tables hold traced columns as they are; for rolling windows adopt "
    "pandas.core.window",
    "unyt": "its quantities hold traced numbers as they are; write x * unit, in place of "
    "unyt_array(x, unit)",
}

_lock = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child has none of the threads that might hold it
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


class _Changes:
    """Globals of an adopted module, what was changed in them, and what its code reads."""

    def __init__(self, names: dict) -> None:
        self.names = names  # so that no others get their id
        self.globals: list[tuple[str, Any, Any]] = []
        self.undo: list[Undo] = []
        self.reads = ReadNames(names)
        self.kept: list[KeptFunctions] = []


_changes: dict[int, _Changes] = {}  # by the id of a module's globals
_MISSING = object()
_SHOWN = ("numpy", "scipy", "math", "cmath")  # by modules of this package


def _adopt_functions(names: dict) -> None:
    with _lock:
        adopted[id(names)] += 1
        undo = _changes.setdefault(id(names), _Changes(names)).undo
        undo[:0] = adopt_functions(names, held_mirror_of, _SHOWN)


def _adopt_globals(names: dict, called: CalledNames) -> list[dict]:
    """Adopt the globals of a module; return those that it ran code in and that are no module's."""
    with _lock:
        changes = _changes[id(names)]
        kept = KeptFunctions(home_of(names), held_mirror_of, called)
        changes.kept.append(kept)
        changes.undo[:0] = [kept.take_back]
        for name, part in list(names.items()):
            if name.startswith("__"):
                continue
            mirror = mirror_of(part) if answers(part) else None
            if mirror is None:
                mirror = kept.swapped(part)
            if mirror is not part:
                names[name] = mirror
                changes.globals.append((name, part, mirror))
        for name, number in BUILTINS.items():
            if name not in names:
                names[name] = number
                changes.globals.append((name, _MISSING, number))
        return kept.namespaces


def _release(names: dict) -> None:
    with _lock:
        adopted[id(names)] -= 1
        if adopted[id(names)] > 0:
            return
        del adopted[id(names)]
        changes = _changes.pop(id(names))
        for name, part, mirror in changes.globals:
            if names.get(name) is not mirror:
                continue  # it was bound anew since
            if part is _MISSING:
                del names[name]
            else:
                names[name] = part
        for take_back in changes.undo:
            take_back()


class Adoption:
    """Handle on adopted modules: ``undo()`` gives them back what they had.

    It is a context manager, too: at the end of a ``with`` statement it is undone.

    Examples
    --------
    >>> import types
    >>> import chainrules as cr
    >>> sim = types.ModuleType("sim")
    >>> exec("import math\\ndef f(x): return math.sin(x)", vars(sim))
    >>> adoption = cr.adopt(sim)
    >>> float(cr.grad(sim.f)(0.0))
    1.0
    >>> adoption.undo()
    """

    def __init__(self) -> None:
        self._modules: list[dict] = []
        self._packages: set[str] = set()

    def __repr__(self) -> str:
        names = sorted(self._packages) or [str(x.get("__name__")) for x in self._modules]
        of = ", ".join(names[:3]) + f" and {len(names) - 3} more" * (len(names) > 3)
        return f"<adoption of {of or 'nothing'}: undo() takes it back>"

    def undo(self) -> None:
        """Give the adopted modules their own names back. A second call does nothing."""
        with _lock:
            modules, self._modules = self._modules, []
            for names in modules:
                _release(names)
            self._packages.clear()
            if self in _finder.adoptions:
                _finder.adoptions.remove(self)
            if not _finder.adoptions and _finder in sys.meta_path:
                sys.meta_path.remove(_finder)

    def __enter__(self) -> "Adoption":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.undo()

    def _add(self, *modules: dict) -> None:
        known = set(map(id, self._modules))
        new = list({id(names): names for names in modules if id(names) not in known}.values())
        for names in new:
            self._modules.append(names)
            _adopt_functions(names)  # of all, before others are given what was made of them
        called = CalledNames([changes.reads for changes in _changes.values()])
        for changes in _changes.values():
            for kept in changes.kept:
                kept.give_back(called)
        for names in new:
            self._add(*_adopt_globals(names, called))

    def _modules_of(self, module: str | ModuleType | FunctionType) -> list[dict]:
        if isinstance(module, FunctionType):
            return [module.__globals__]
        name = module.__name__ if isinstance(module, ModuleType) else module
        if name.partition(".")[0] == __package__:
            raise ArgumentValueError(
                f"{name} is what adopted code is shown, and cannot be adopted itself: adopt the "
                "module that is to be differentiated"
            )
        if name.partition(".")[0] in _SHOWN:
            raise ArgumentValueError(
                f"{name} needs no adoption: adopt the module that calls it, where "
                f"chainrules.{name} then takes its place"
            )
        if name in _NEEDLESS:
            raise ArgumentValueError(f"{name} needs no adoption: {_NEEDLESS[name]}")
        if isinstance(module, ModuleType) and not hasattr(module, "__path__"):
            return [vars(module)]
        if name not in sys.modules and importlib.util.find_spec(name) is None:
            raise MissingPackageError(f"there is no module {name!r} to adopt", name=name)
        with _lock:
            self._packages.add(name)
            if self not in _finder.adoptions:
                _finder.adoptions.append(self)
            if _finder not in sys.meta_path:
                sys.meta_path.insert(0, _finder)
        return [
            vars(loaded)
            for name, loaded in list(sys.modules.items())
            if self._covers(name) and isinstance(loaded, ModuleType)
        ]

    def _covers(self, name: str) -> bool:
        return any(name == package or name.startswith(f"{package}.") for package in self._packages)


class _Finder(MetaPathFinder):
    """Finds modules of adopted packages that are loaded later, and has them adopted then."""

    def __init__(self) -> None:
        self.adoptions: list[Adoption] = []
        self.searching = threading.local()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if getattr(self.searching, "now", False):
            return None
        if not any(adoption._covers(fullname) for adoption in list(self.adoptions)):
            return None
        self.searching.now = True
        try:
            for finder in sys.meta_path:
                spec = None if finder is self else finder.find_spec(fullname, path, target)
                if spec is not None:
                    break
        finally:
            self.searching.now = False
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return spec
        spec.loader = _AdoptingLoader(spec.loader)
        return spec


class _AdoptingLoader(Loader):
    """Loads a module as its own loader does, and has it adopted."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        for adoption in list(_finder.adoptions):
            if adoption._covers(module.__name__):
                adoption._add(vars(module))


_finder = _Finder()


def adopt(*modules: str | ModuleType | FunctionType) -> Adoption:
    """Make modules of NumPy, math and SciPy code differentiable without changing their source.

    In their globals numpy, math, cmath, scipy, ``float``, ``complex``, ``type``, ``map`` and
    ``hasattr``, and what was imported from these, become mirrors that see traced values:
    ``np.zeros(3)`` and what else makes an array may be filled with traced numbers, and there are
    derivatives of ``math.sin(x)``, ``float(x)`` and ``scipy.linalg.solve(a, b)``. Given nothing
    traced a mirror calls the original. No library is changed, and no module that was not named.

    Parameters
    ----------
    *modules : str, module or function
        A module; or a package, with all its modules, loaded now or later; or a function, for the
        module that it was defined in. Without an argument it is the module that calls, with what
        it has imported so far.

    Returns
    -------
    Adoption
        ``undo()`` takes it back; so does the end of ``with cr.adopt(...):``.

    Raises
    ------
    ModuleNotFoundError
        If there is no module of that name.
    ValueError
        If it is NumPy, SciPy or pandas, which need no adoption, or chainrules.

    Notes
    -----
    Defaults of parameters, and what functions captured, become mirrors, too. So does what a
    function imports when it runs, if the function was there before: it is made once more, of the
    same code, and that is the one which the module has from then on. So does what the module keeps
    in dicts, lists, tuples, partials, in its classes and in their objects. ``int(x)`` of a traced
    number is plain, as ``np.trunc(x)`` is.

    In functions that are there before, a type's name that is not called is the class itself:
    ``t is float``, ``a.dtype.type is np.float64``, ``class E(float, Enum)``. What calls the class
    later by another name (``cast = float``) then refuses a traced number. In code that comes after
    the adoption such a name is a stand-in: equal to the class, with its instances, pickled as it.

    Examples
    --------
    >>> import math, types
    >>> import numpy as np
    >>> import chainrules as cr
    >>> sim = types.ModuleType("sim")
    >>> exec('''
    ... import math
    ... import numpy as np
    ... def position(angle):
    ...     p = np.zeros(2)
    ...     p[0] = math.cos(angle)
    ...     p[1] = float(angle)
    ...     return p
    ... ''', vars(sim))
    >>> with cr.adopt(sim):
    ...     print(cr.jacobian(sim.position)(np.pi / 2))
    [-1.  1.]
    """
    adoption = Adoption()
    if not modules:
        adoption._add(sys._getframe(1).f_globals)
        return adoption
    try:
        adoption._add(*[names for module in modules for names in adoption._modules_of(module)])
    except BaseException:
        adoption.undo()
        raise
    return adoption
