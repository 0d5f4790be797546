"""Mirror of each part of NumPy, math, SciPy and other libraries that an adopted module may hold."""

import importlib
import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType, WrapperDescriptorType
from typing import Any

import numpy as np

from .._numbers import METHODS, SCALARS
from ..rules.refusals.remedies import adopted
from .compiled_functions import compiled_from, is_compiled, of_cached, of_compiled
from .held import CACHED, made_anew

_FACE = __package__.rpartition(".")[0]
# Modules of other packages, and ours that show what is in them to traced values.
_OF_PACKAGES = {
    "pandas._libs.window.aggregations": ".interop.pandas.windows",
    "pandas._libs.algos": ".interop.pandas.conversions",
    "dask.array.core": ".interop.dask",
    "numexpr": ".interop.numexpr",
    "numexpr.necompiler": ".interop.numexpr",
}


def mirror_of(part: Any) -> Any:
    """Return what an adopted module has in place of ``part``; None where that stays."""
    home = part.__name__ if isinstance(part, ModuleType) else _module_of(part)
    if home in _OF_PACKAGES:
        ours = importlib.import_module(_OF_PACKAGES[home], _FACE)
        shown = ours if isinstance(part, ModuleType) else _shown_by(ours, part)
        if shown is not None:
            return shown
    if type(part) is WrapperDescriptorType:
        return METHODS.get(part)
    if type(part) is np.vectorize:
        return _numpy().vectorize_of(part, mirror_of)
    if isinstance(part, FunctionType):
        again = made_anew(part)
        if again is not None:
            return again
    library, _, rest = home.partition(".")
    if library == "scipy":
        return _mirror_in_scipy(part, rest.partition(".")[0])
    if library in ("numpy", "math", "cmath"):
        shown = _mirrors_of(library).get(id(part))
        if shown is not None:
            return shown
    if (made := _factors_in(part)) is not None:
        return made
    if is_compiled(part):
        return of_compiled(part, mirror_of)
    if type(part) is CACHED:
        return of_cached(part, mirror_of)
    if type(part) is np.random.Generator:
        return _numpy().random.default_rng(part)  # of the same stream
    if home.startswith("numpy.testing"):
        return _mirrors_of("numpy.testing").get(id(part))
    return None


def _factors_in(part: Any) -> Any:
    """Return ours for factors that ``splu`` made before, or for their ``solve``; None of others."""
    cls = getattr(sys.modules.get("scipy.sparse.linalg"), "SuperLU", None)
    if cls is None or cls not in (type(part), type(getattr(part, "__self__", None))):
        return None
    from ..scipy._faces import constant_factorization

    if type(part) is cls:
        return constant_factorization(part)
    return constant_factorization(part.__self__).solve if part.__name__ == "solve" else None


def python_of(compiled: Any) -> Any:
    """Return the mirror of what numba compiled, if the module of its Python is adopted."""
    f = compiled_from(compiled)
    is_adopted = isinstance(f, FunctionType) and adopted[id(f.__globals__)] > 0
    return mirror_of(compiled) if is_adopted else None


def _shown_by(ours: ModuleType, part: Any) -> Any:
    """Return what our module shows in place of a function or class of another package."""
    name = getattr(part, "__name__", None)
    return vars(ours).get(name) if isinstance(name, str) else None


def held_mirror_of(part: Any) -> Any:
    """As ``mirror_of``, of what a function holds as a value: a type of numbers stays that."""
    return None if isinstance(part, type) and part in SCALARS else mirror_of(part)


def _numpy() -> Any:
    return importlib.import_module(".numpy", _FACE)


def _module_of(part: Any) -> str:
    for home in (getattr(part, "__module__", None), type(part).__module__):
        if isinstance(home, str):  # and no property of that name
            return home
    return ""


_known: dict[str, dict[int, Any]] = {}  # of each mirrored module, by the originals


def _mirrors_of(name: str) -> dict[int, Any]:
    """Return the mirrors of a module and of what is in it, by the ids of the originals."""
    if name not in _known:
        original = importlib.import_module(name)
        mirror = importlib.import_module(f".{name}", _FACE)
        _known[name] = dict(_pairs(original, mirror))
    return _known[name]


def _pairs(original: ModuleType, mirror: ModuleType) -> Iterator[tuple[int, Any]]:
    yield id(original), mirror
    for name, shown in vars(mirror).items():
        part = vars(original).get(name)
        if part is None or part is shown or name.startswith("_"):
            continue
        if not isinstance(part, ModuleType):
            yield id(part), shown
        elif part.__name__.startswith(original.__name__) and isinstance(shown, ModuleType):
            yield from _pairs(part, shown)


def _mirror_in_scipy(part: Any, family: str) -> Any:
    from .. import scipy as shown

    if not family:
        return shown
    homes = [f"scipy.{name}" for name in shown.FOLLOWED if name.partition(".")[0] == family]
    homes = [home for home in homes if home in sys.modules]

    def ours_of(part: Any) -> Any:
        found = (_mirrors_of(home).get(id(part)) for home in homes)
        return next((mirror for mirror in found if mirror is not None), None)

    mirror = ours_of(part)
    if mirror is not None or not homes:
        return mirror
    from ..scipy._faces import face_of

    return face_of(part, ours_of)
