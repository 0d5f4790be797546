"""ProjectTo: bring a cotangent into the tangent space of the primal it belongs to.

A projector keeps shape and dtype, never the data, so that a pullback which needs only these
does not keep an array alive. Where a rule takes one as a parameter it is called ``space``.
"""

import math
import numbers
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...config import MissingRuleError, TangentError, user_line
from ...config.thresholds import SPACES_KEPT
from ..annotations import Tangentlike, Value
from ..containers import LEAVES, Within, children, fold, is_flat
from ..known_classes import passing
from ..shapes import FIELDS, FLOAT64, dtype_of, is_foreign_array, shape_of, tangent_dtype
from ..tracing.level import Traced, value
from ..tracing.views import bare
from .fitting import cast, drop_singletons
from .structural import (
    NO_TANGENT,
    AbstractZero,
    NotImplementedTangent,
    Tangent,
    child_tangents,
    structural,
)
from .thunks import Thunk, unthunk
from .zeros import NoTangent

_array = np.ndarray
_NO_NUMBERS = (AbstractZero, NotImplementedTangent)


class Projector:
    """Projection onto a tangent space, made by ``ProjectTo(x)``: call it with a cotangent."""

    __slots__ = ()

    shape: tuple[int, ...]
    dtype: np.dtype
    ndim: int
    size: int
    empty: Any = None  # of an array of another library, zeros to add to

    def __init_subclass__(cls) -> None:
        LEAVES.add(cls)  # it holds no values, only what they look like

    def __call__(self, xbar: Tangentlike) -> Any:
        # Not isinstance: of a traced value that would ask for the class of its number.
        kind = type(xbar)
        if (kind is _array and self.holds(xbar)) or issubclass(kind, _NO_NUMBERS):
            return xbar
        if issubclass(kind, Thunk):
            return Thunk(lambda: self(unthunk(xbar)))
        return self.project(xbar)

    def project(self, xbar: Tangentlike) -> Any:
        raise NotImplementedError

    def holds(self, xbar: Tangentlike) -> bool:
        """Say whether ``xbar`` is in the space as it is, traced or not. (May say no too often.)"""
        return False

    def zeros(self) -> Any:
        """Return the zero of the space."""
        return NO_TANGENT

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ProjectTo:
    """``ProjectTo(x)(xbar)`` is ``xbar`` as a tangent of ``x``: its shape, dtype and structure.

    Complex is projected to real by its real part, float64 to float32 by rounding; integers
    count as float64; what cannot be perturbed (str, None, bool) gives ``NoTangent()``. A
    container gives a ``Tangent``. A ``scipy.sparse`` array keeps its pattern of stored entries.
    Zeros pass through, and a thunk stays one.

    Parameters
    ----------
    x : Any
        The primal. Only its shape, dtype and structure are kept.

    Attributes
    ----------
    shape, dtype, ndim
        Of the tangent space, where ``x`` is a number or an array.

    Raises
    ------
    TangentError
        When called, if the cotangent's shape or structure is not that of ``x``.

    Examples
    --------
    >>> import numpy as np
    >>> ProjectTo(np.float32(1))(2.5 + 1j)
    np.float32(2.5)
    >>> ProjectTo((1.0, "a"))((2, 3))
    Tangent(tuple, np.float64(2.0), NoTangent())

    A user's own type registers a function from the primal to its projector:

    >>> class Unit: ...
    >>> ProjectTo.register(Unit, lambda unit: lambda unitbar: unitbar)
    >>> ProjectTo(Unit())(3.0)
    3.0
    """

    registered: ClassVar[dict[type, Callable[[Any], Callable[[Any], Any]]]] = {}

    def __new__(cls, x: Any) -> "Projector":  # type: ignore[misc]
        if not cls.registered:  # at once, since most are numbers and arrays
            kind = x.__class__
            if kind is _array and (known := _ARRAYS.get(x.dtype)) is not None:
                return known.get(x.shape) or space_of_arrays(x.shape, x.dtype)
            if kind in _SPACES:
                return _SPACES[kind]
            if is_flat(x):
                return ProjectContainer(kind, range(len(x)), kind, [cls(part) for part in x])
        return fold(_project_to, x)

    @classmethod
    def register(cls, primal_type: type, make: Callable[[Any], Callable[[Any], Any]]) -> None:
        """Use ``make(x)`` as the projector of every ``x`` of ``primal_type``.

        Rules and engines both project, so its own results must pass through it unchanged.
        """
        cls.registered[primal_type] = make


def _project_to(x: Value) -> "Projector | Within":
    registered = ProjectTo.registered
    for base in type(x).__mro__ if registered else ():
        if base in registered:
            return ProjectRegistered(registered[base](x))
    # A traced value has the space of the number or array that it carries.
    if x.__class__ in _SPACES:
        return _SPACES[x.__class__]
    if _is_sparse(x):
        return ProjectSparse(x)
    number = isinstance(x, numbers.Number)
    parts = None if number or isinstance(x, str | bytes) else children(x)
    if parts is not None:
        keys, rebuild = parts.keys, parts.rebuild
        return Within(
            zip(parts.values), lambda spaces: ProjectContainer(type(x), keys, rebuild, spaces)
        )
    dtype = dtype_of(x)
    if dtype is None:
        unknown = number or (hasattr(x, "__array__") and not callable(x))
        return ProjectObjects() if unknown else ProjectNothing()
    space = tangent_dtype(dtype)
    if space is None:
        return ProjectObjects() if dtype.kind == "O" else ProjectNothing(shape_of(x))
    if number or isinstance(x, np.generic):
        return ProjectNumber(space)
    if type(x) is not _array and is_foreign_array(plain := value(x)):
        if any(map(math.isnan, plain.shape)):
            raise MissingRuleError(
                "the shape of an array of dask is not known before it is computed, as that of "
                f"x[x > 0] is not, in {user_line()}.\n  write np.where(mask, x, 0), "
                "or compute what it is read by: x[mask.compute()]"
            )
        if _has_zeros_of_its_class(plain):
            return ProjectForeign(plain, space)
    return ProjectArray(shape_of(x), space)


class ProjectNumber(Projector):
    __slots__ = ("dtype",)
    shape = ()
    ndim = 0
    size = 1

    def __init__(self, dtype: np.dtype) -> None:
        self.dtype = dtype

    def project(self, xbar: Any) -> Any:
        if shape_of(xbar) != ():
            xbar = drop_singletons(xbar, ())
        recorded = getattr(xbar, "records", False) and xbar.__class__ is np.ndarray
        if recorded or type(xbar) is np.ndarray:
            xbar = xbar[()]
        return cast(xbar, self.dtype)

    def holds(self, xbar: Tangentlike) -> bool:
        cls = xbar.__class__
        return cls is self.dtype.type or (cls is float and self.dtype is FLOAT64)

    def zeros(self) -> Any:
        return self.dtype.type(0)

    def __repr__(self) -> str:
        return f"ProjectTo({self.dtype})"


class ProjectArray(Projector):
    __slots__ = ("dtype", "ndim", "shape", "size")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.shape = shape
        self.dtype = dtype
        self.ndim = len(shape)
        self.size = math.prod(shape)

    def project(self, xbar: Tangentlike) -> Any:
        if shape_of(xbar) != self.shape:
            xbar = drop_singletons(xbar, self.shape)
        elif self.shape == () and isinstance(xbar, np.generic | numbers.Number):
            xbar = np.reshape(xbar, ())  # type: ignore[arg-type]  # a 0-d array stays an array
        return cast(xbar, self.dtype)

    def holds(self, xbar: Tangentlike) -> bool:
        return xbar.__class__ is _array and xbar.dtype is self.dtype and xbar.shape == self.shape

    def zeros(self) -> Any:
        return np.zeros(self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"ProjectTo({self.dtype}{list(self.shape)})"


class ProjectForeign(ProjectArray):
    """An array of dask, CuPy and their like: tangents are of its class, and in dask's chunks.

    It keeps the array: zeros of dask take longer to make than most of what is done with it.
    """

    __slots__ = ("primal",)

    def __init__(self, primal: Any, dtype: np.dtype) -> None:
        super().__init__(primal.shape, dtype)
        self.primal = primal

    def project(self, xbar: Tangentlike) -> Any:
        xbar = ProjectArray.project(self, xbar)
        if isinstance(xbar, Traced) or type(xbar) is type(self.primal):
            return xbar
        return np.asarray(xbar, like=self.primal)

    def holds(self, xbar: Any) -> bool:
        same = type(xbar) is type(self.primal)
        return same and xbar.dtype is self.dtype and xbar.shape == self.shape

    def zeros(self) -> Any:
        return np.zeros_like(self.primal, dtype=self.dtype)


_answers: dict[type, bool] = {}  # by the class of an array: whether it makes zeros of its class


def _has_zeros_of_its_class(x: Any) -> bool:
    """Say whether NumPy's zeros like an array of another library are of its class."""
    if type(x) not in _answers:
        try:
            _answers[type(x)] = type(np.zeros_like(x, dtype=FLOAT64)) is type(x)
        except TypeError:  # NumPy's, where the class does not answer
            _answers[type(x)] = False
    return _answers[type(x)]


# The spaces of numbers, which are all alike.
_SPACES: dict[type, Projector] = {
    cls: ProjectNumber(dtype) for cls, dtype in (FIELDS | {int: FLOAT64}).items()
}


# The spaces of arrays by dtype and shape, the same few in every run of a program.
_ARRAYS: dict[np.dtype, dict[tuple[int, ...], ProjectArray]] = {
    np.dtype(name): {} for name in ("float64", "float32", "complex128", "complex64")
}


def space_of_arrays(shape: tuple[int, ...], dtype: np.dtype) -> ProjectArray:
    """Return the space of arrays of ``shape`` and ``dtype``: of common dtypes it is made once."""
    known = _ARRAYS.get(dtype)
    if known is None:
        return ProjectArray(shape, dtype)
    space = known.get(shape)
    if space is None:
        if len(known) >= SPACES_KEPT:
            known.clear()
        space = known[shape] = ProjectArray(shape, dtype)
    return space


def space_of(x: Value) -> Projector:
    """Return ``ProjectTo(x)``, for most arrays at once."""
    if not ProjectTo.registered:
        plain = x if type(x) is _array else bare(x)  # a traced one takes long to say its shape
        if type(plain) is _array and (known := _ARRAYS.get(plain.dtype)) is not None:
            return known.get(plain.shape) or space_of_arrays(plain.shape, plain.dtype)
    return ProjectTo(x)


class ProjectNothing(Projector):
    """Projection for a value that cannot be perturbed, and has no tangents.

    An array of truths has a ``shape``, which tells its place among others that are joined.
    """

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self.shape = shape

    def project(self, xbar: Tangentlike) -> NoTangent:
        return NO_TANGENT


class ProjectObjects(Projector):
    """Numbers that NumPy does not know (fractions, decimals) are left as they are."""

    __slots__ = ()

    def project(self, xbar: Tangentlike) -> Any:
        return xbar


class ProjectRegistered(Projector):
    __slots__ = ("function",)

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def project(self, xbar: Tangentlike) -> Any:
        return self.function(xbar)


class ProjectContainer(Projector):
    __slots__ = ("keys", "parts", "primal_type", "shell")

    def __init__(self, primal_type: type, keys: Any, rebuild: Callable, spaces: list) -> None:
        self.primal_type = primal_type
        self.keys = keys
        self.parts = spaces
        # The structure with nothing in it, so that the projector does not keep the primal.
        self.shell = rebuild([None] * len(spaces))

    def project(self, xbar: Tangentlike) -> Any:
        return fold(_projected, self, xbar)


def _projected(space: Projector, xbar: Tangentlike) -> Any:
    xbar = unthunk(xbar)
    if type(space) is not ProjectContainer or issubclass(type(xbar), _NO_NUMBERS):
        return space(xbar)
    nodes = zip(space.parts, child_tangents(space.shell, xbar), strict=True)
    return Within(nodes, gathered(space.primal_type, space.keys))


class ProjectSparse(Projector):
    """Entries that are not stored are structural zeros: only the stored ones have tangents."""

    __slots__ = ("pattern",)

    def __init__(self, x: Any) -> None:
        self.pattern = x.copy()
        if self.pattern.dtype.kind not in "fc":
            self.pattern = self.pattern.astype(FLOAT64)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.pattern.shape

    @property
    def dtype(self) -> np.dtype:  # type: ignore[override]
        return self.pattern.dtype

    def project(self, xbar: Any) -> Any:
        if isinstance(xbar, Tangent):
            return xbar
        x = self.pattern
        if xbar.shape != x.shape:
            raise TangentError(f"a cotangent of shape {xbar.shape} does not fit "
                               f"a sparse array of shape {x.shape}.")  # fmt: skip
        if _is_sparse(xbar):
            xbar = xbar.tocsr()
        if x.format == "dia":
            return self._project_diagonals(xbar)
        stored = x.tocoo()
        row, column = stored.coords
        data = cast(np.asarray(xbar[row, column]).reshape(-1), x.dtype)
        return type(stored)((data, (row, column)), shape=x.shape).asformat(x.format)

    def _project_diagonals(self, xbar: Any) -> Any:
        x = self.pattern
        data = np.zeros_like(x.data)
        rows, columns = x.shape
        for k, offset in enumerate(x.offsets):
            column = np.arange(max(offset, 0), min(rows + offset, columns, x.data.shape[1]))
            entries = np.asarray(xbar[column - offset, column]).reshape(-1)
            data[k, column] = cast(entries, x.dtype)
        return type(x)((data, x.offsets), shape=x.shape)

    def zeros(self) -> Any:
        return self.pattern * 0


def gathered(primal_type: type, keys: tuple) -> Callable[[list], Any]:
    """Return what builds the ``Tangent`` of a container; NoTangent() where all its parts are."""

    def build(parts: list) -> Tangent | NoTangent:
        if parts and all(part is NO_TANGENT for part in parts):
            return NO_TANGENT
        return parts[0] if primal_type in passing else structural(primal_type, keys, parts)

    return build


def _is_sparse(x: Value) -> bool:
    # Asked by name, so that SciPy is imported only by those who use it.
    return type(x).__module__.startswith("scipy.sparse") and hasattr(x, "format")
