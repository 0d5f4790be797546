"""Validation of the inputs and tangents that users pass to the transforms.

``jvp(f, ([x, 1],), ([xdot, 0.0],))`` takes the list as it is now, refuses arrays that nobody can
follow, and an ``xdot`` whose shape is not that of ``x``, by the name of its place.
"""

import numbers
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import numpy as np

from ...config import TangentError
from ..annotations import Tangentlike, Value
from ..containers import (
    LEAVES,
    Within,
    children,
    constants,
    copied_containers,
    fold,
    iterate_leaves,
    replaced,
)
from ..known_classes import library_of
from ..loading import load, needed
from ..refusals.table import refusal
from ..shapes import FLOATS_AND_ARRAYS, dtype_of, is_array_class, shape_of, tangent_dtype
from ..tangents.fitting import as_numpys_beside
from ..tangents.missing import NotImplementedTangent
from ..tangents.project import ProjectRegistered, ProjectTo
from ..tangents.structural import Tangent, child_tangents, derivative_like
from ..tangents.thunks import unthunk
from ..tangents.zeros import ZERO, AbstractZero
from ..tracing.classes.own_arrays import given
from ..tracing.classes.own_classes import has_own_numbers, is_of_its_own, without_masks
from ..tracing.conversions import describe
from ..tracing.level import Traced
from ..tracing.object_arrays import OBJECT, healed
from ..tracing.operands import is_array

_MOST_KEYS = 12  # how many of the keys on the way to a place an error names
_DIFFERENTIABLE = (float, int, complex, np.number, Traced)


def is_perturbable_input(x: Any) -> bool:
    """Say whether a leaf is a number or an array that can be perturbed; integers can."""
    cls = type(x)
    if cls is float or cls is np.float64:
        return True
    if cls is np.ndarray:
        return x.dtype.kind in "fciu"
    dtype = dtype_of(x)
    if dtype is None or tangent_dtype(dtype) is None:
        return False
    # By the class itself: a proxy says by __class__ that it is what it stands for.
    return issubclass(cls, _DIFFERENTIABLE) or (
        x.__class__ is cls and is_array(x) and is_array_class(x)
    )


def is_foreign_array(x: Value) -> bool:
    """Say whether ``x`` is an array that speaks neither of NumPy's protocols.

    What is computed with it is computed by its own library, unseen.
    """
    cls = type(x)
    if cls in LEAVES or isinstance(x, np.ndarray | np.void | type):
        return False
    if not (hasattr(cls, "__array__") or hasattr(cls, "__dlpack__")):
        return False
    protocols = "__array_ufunc__", "__array_function__"
    return (
        all(getattr(cls, name, None) is None for name in protocols)
        and hasattr(x, "shape")
        and hasattr(x, "dtype")
    )


def is_stand_in(x: Any) -> bool:
    """Say whether ``x`` passes for a number or an array by what it passes on, and is a proxy."""
    if type(x) in LEAVES or is_perturbable_input(x):
        return False
    dtype = dtype_of(x)
    return dtype is not None and tangent_dtype(dtype) is not None


def taken(x: Any) -> Any:
    """Return ``x`` as it is now: the same numbers and arrays, in containers of our own.

    The function, or the caller, may add to a list or a dict; a derivative belongs to what
    these held when it was asked for. An object without numbers stays the same one.
    """
    cls = type(x)
    if cls in LEAVES and (cls is not np.ndarray or x.dtype is not OBJECT):
        return x  # before anything else, since most are
    return fold(_taken, x)


def _taken(x: Value) -> Any:
    parts = children(x)
    if parts is None:
        own = is_of_its_own(x) and x.dtype is OBJECT
        # An object array of traced numbers is a traced array.
        return as_given(x) if own else healed(x)
    holds = any(map(is_perturbable_input, parts.values))
    return Within(zip(parts.values), parts.rebuild if holds else copied_containers(x, parts))


def taken_input(x: Value) -> Any:
    """Return ``x`` as it is now, for a transform to differentiate.

    Raises
    ------
    LostDerivativeError
        If an array in it cannot be followed.
    """
    if type(x) in LEAVES:
        return taken(x)
    if needed:
        load()  # other packages may say what their containers are
    for part in iterate_leaves(x):
        if is_foreign_array(part):
            cls = type(part)
            named = f"{cls.__module__}.{cls.__name__}"
            raise refusal("foreign array", cls=named, importing=_importing(cls))
        if is_stand_in(part):
            raise refusal("stand-in for a number", cls=type(part).__name__)
        if has_own_numbers(part) and part.dtype.kind not in "fciu":
            raise refusal("array of an own class", cls=type(part).__name__, dtype=part.dtype)
    return taken(replaced(as_given, x))


def as_given(x: Value) -> Any:
    """Return an array of an own class as its numbers and the class; anything else as it is."""
    x = without_masks(x)
    if not is_of_its_own(x) or children(x) is not None:
        return x
    return given(x, healed(np.array(x, subok=False)))


def _importing(cls: type) -> str:
    """Return how a function of the library of ``cls`` is differentiated, where we know."""
    library = library_of(cls).removesuffix("lib")
    if library not in ("jax", "torch"):
        return "; functions of JAX and PyTorch come in by import_(f) of chainrules.interop"
    return f"; and for a function of {library}, chainrules.interop.{library}.import_(f)"


def check_tangent(x: Value, t: Tangentlike, what: str) -> Any:
    """Fit the tangent or cotangent ``t`` that a user gives for ``x``, or refuse it by name.

    Raises
    ------
    TangentError
        If the structure, the shape, or the real or complex kind is not that of ``x``; or if it
        is not zero, and ``x`` cannot be perturbed.
    """
    if type(t) in FLOATS_AND_ARRAYS and type(x) in LEAVES and ProjectTo(x).holds(t):
        # As nearly always: a leaf, and a tangent that is in its space.
        return as_numpys_beside(x, t)
    return fold(_checked, x, t, what)


def _checked(x: Value, t: Any, place: Any) -> Any:
    t = unthunk(t)
    if isinstance(t, AbstractZero):
        return t
    if is_foreign_array(t):
        t = np.asarray(t)
    parts = children(x)
    if parts is None:
        return _check_leaf(x, t, place)
    named = t.backing if isinstance(t, Tangent) else t
    for name in constants(x) if isinstance(named, dict) else ():
        if _is_direction(named.get(name, ZERO)):
            raise TangentError(
                f"{_name((place, name))} is not zero, and the field is constant: it is static, or "
                "holds integers.\n  let it hold a float, or give NoTangent() for it"
            )
    try:
        given = child_tangents(x, t)
    except TangentError as error:
        raise TangentError(f"{_name(place)} does not fit: {error}") from None
    nodes = [
        (part, partdot, (place, key))
        for key, part, partdot in zip(parts.keys, parts.values, given, strict=True)
    ]
    return Within(nodes, partial(derivative_like, x))


def _check_leaf(x: Value, t: Tangentlike, place: object) -> Any:
    space = ProjectTo(x)
    if space.holds(t):
        return as_numpys_beside(x, t)
    t = healed(t)
    if isinstance(t, NotImplementedTangent):
        raise t.error()
    if not is_perturbable_input(x):
        if type(space) is not ProjectRegistered and _is_direction(t):
            raise TangentError(
                f"{_name(place)} is not zero, and the value it belongs to, {describe(x)}, cannot "
                "be perturbed.\n"
                f"  {_remedy(x)}, or give ZeroTangent() for it"
            )
        return t
    if isinstance(t, Tangent | dict | str | bytes) or t is None:
        raise TangentError(f"{_name(place)} must be a {_kind(x)}, not a {type(t).__name__}.")
    if not isinstance(t, Traced) and dtype_of(t) is None:
        t = np.asarray(t)
    given_dtype, dtype = dtype_of(t), dtype_of(x)
    if shape_of(t) != shape_of(x):
        raise TangentError(
            f"{_name(place)} has shape {shape_of(t)}, and the value it belongs to is "
            f"{describe(x)}.\n"
            f"  give one of shape {shape_of(x)}"
        )
    if given_dtype is not None and dtype is not None and given_dtype.kind not in "fciu":
        raise TangentError(f"{_name(place)} must be of numbers, not of dtype {given_dtype}.")
    if dtype is not None and dtype.kind != "c" and given_dtype and given_dtype.kind == "c":
        raise TangentError(
            f"{_name(place)} is complex, and the value it belongs to is real ({describe(x)})."
        )
    return space(t)


def _is_direction(t: Any) -> bool:
    """Say whether ``t`` says that something moves: True, None, a text or a zero does not."""
    if isinstance(t, Traced):
        return True
    if isinstance(t, Tangent | dict):
        return len(t) > 0
    if isinstance(t, Collection) and not isinstance(t, str | bytes):
        return any(map(_is_direction, t.values() if isinstance(t, Mapping) else t))
    dtype = dtype_of(t)
    if dtype is None:
        return isinstance(t, numbers.Number) and bool(t)
    if dtype.kind == "O":
        return any(map(_is_direction, np.asarray(t).reshape(-1).tolist()))
    return dtype.kind in "fciu" and bool(np.any(np.not_equal(t, 0)))


def _remedy(x: Value) -> str:
    dtype = dtype_of(x)
    if dtype is not None and dtype.kind in "Ob":
        number = isinstance(x, bool | np.generic)
        return "differentiate at float(x)" if number else "differentiate at x.astype(float)"
    return "differentiate at a number or an array of floats"


def _name(place: Any) -> str:
    """Return ``the tangent of argument 0, at 'a', at 1`` for a place deep in containers."""
    keys: list[str] = []
    while type(place) is tuple:
        place, key = place
        keys.append(f", at {key!r}")
    if len(keys) > _MOST_KEYS:
        keys[_MOST_KEYS:] = [", ..."]
    return place + "".join(reversed(keys))


def _kind(x: Value) -> str:
    return f"{describe(x)} array" if is_array(x) else "number"
