"""Functions that an adopted module has in another form: compiled, or with a cache of ``functools``.

What numba compiled keeps its Python, which runs where a value is traced. What Cython compiled takes
NumPy's own arrays: so it is given these for buffers that hold nothing traced. The arguments of a
cached function are keys, which a traced value cannot be: with one the function itself runs.
"""

import functools
import re
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, FunctionType
from typing import Any

from ..config.foundations import is_foundation
from ..rules import innermost, is_traced
from ..rules.engines.buffers import buffer_if_new, handed_out
from ..rules.known_classes import library_of
from ..rules.refusals.remedies import OF_CYTHON
from ..rules.signatures import content_of
from ..rules.tracing.running import apart
from .held import Mirror, again, plain_names, with_mirrors


def is_compiled(part: Any) -> bool:
    """Say whether ``part`` is a function that numba or Cython made, or a C compiler."""
    kind = type(part)
    if library_of(kind) == "numba" or kind.__name__ in OF_CYTHON or is_decorator(part):
        return True
    library = library_of(part)
    return kind is BuiltinFunctionType and library != "" and not is_foundation(library)


def of_compiled(compiled: Any, mirror_of: Mirror) -> Any:
    """Return what an adopted module has in place of a compiled function; None where that stays."""
    if is_decorator(compiled):
        return _decorating(compiled, mirror_of)
    if hasattr(compiled, "native_name"):
        return None  # a callback for C, which runs its Python where Python calls it
    if library_of(type(compiled)) == "numba":
        return _in_python(compiled, compiled_from(compiled), mirror_of)
    return _with_arrays(compiled)


def compiled_from(compiled: Any) -> Any:
    """Return the Python of what numba compiled; None of other things of numba's."""
    f = getattr(getattr(compiled, "gufunc_builder", compiled), "py_func", None)
    return getattr(compiled, "__wrapped__", None) if f is None else f


def _in_python(compiled: Any, f: Any, mirror_of: Mirror) -> Any:
    """Return what runs the Python ``f`` of a compiled function, where a value is traced."""
    if not isinstance(f, FunctionType):
        return None
    f = with_mirrors(f, mirror_of)
    if hasattr(compiled, "gufunc_builder"):
        python = _of_items(compiled, f)
        if python is None:
            return None
    elif hasattr(compiled, "accumulate"):  # by numba.vectorize, as a ufunc
        vectorized = _numpy().vectorize(f)

        def python(*args: Any) -> Any:
            return vectorized(*args)[()]  # as of a ufunc, a number where there are no axes

    else:
        python = f

    @functools.wraps(compiled, updated=())  # its dict is numba's own
    def calls(*args: Any, **kwargs: Any) -> Any:
        return (python if _is_followed(args, kwargs) else compiled)(*args, **kwargs)

    calls.__compiled__ = compiled  # type: ignore[attr-defined]
    if hasattr(compiled, "py_func"):
        calls.py_func = compiled.py_func  # type: ignore[attr-defined]
    return calls


def _is_followed(args: tuple, kwargs: dict) -> bool:
    """Say whether a transform, a batch or a recording follows an argument, or may: a buffer."""
    return innermost((*args, *kwargs.values()) if kwargs else args) is not None


def _of_items(compiled: Any, f: Callable) -> Callable | None:
    """Return what a generalized ufunc does by its Python, for one item after another.

    It is None of one that has no types yet: that is given its results to fill.
    """
    builder = compiled.gufunc_builder
    if not builder._sigs:
        return None
    numpy = _numpy()
    inputs, outputs = (re.findall(r"\(([^()]*)\)", side) for side in compiled.signature.split("->"))
    # A number that is declared to be an array is one of one entry.
    as_arrays = [hasattr(kind, "ndim") for kind in builder._sigs[0].args]

    def of_item(*xs: Any) -> Any:
        sizes = {
            name: size
            for names, x in zip(inputs, xs, strict=True)
            for name, size in zip(_names(names), numpy.shape(x), strict=True)
        }
        one = [not names and array for names, array in zip(inputs, as_arrays)]
        given = [numpy.reshape(x, (1,)) if single else x for x, single in zip(xs, one)]
        shapes = [tuple(sizes[name] for name in _names(names)) for names in outputs]
        results = [numpy.zeros(shape or (1,)) for shape in shapes]
        f(*given, *results)
        ys = tuple(y if shape else y[0] for y, shape in zip(results, shapes, strict=True))
        return ys[0] if len(ys) == 1 else ys

    return numpy.vectorize(of_item, signature=compiled.signature)


def _names(core: str) -> list[str]:
    return [name.strip() for name in core.split(",") if name.strip()]


_DECORATORS = frozenset({"jit", "njit", "vectorize", "guvectorize"})


def is_decorator(part: Any) -> bool:
    """Say whether ``part`` is a function of numba that compiles others."""
    is_its = isinstance(part, FunctionType) and library_of(part) == "numba"
    return is_its and part.__name__ in _DECORATORS


def _decorating(decorator: Callable, mirror_of: Mirror) -> Callable:
    """Return a decorator of numba's whose functions see traced values, too."""

    @functools.wraps(decorator)
    def decorate(*args: Any, **kwargs: Any) -> Any:
        f, *rest = args or (None,)
        if not isinstance(f, FunctionType):
            made = decorator(*args, **kwargs)  # it was given options, and makes the decorator
            return _decorating(made, mirror_of) if isinstance(made, FunctionType) else made
        compiled = decorator(_plainly(f, mirror_of), *rest, **kwargs)
        return _in_python(compiled, f, mirror_of) or compiled

    return decorate


def _plainly(f: FunctionType, mirror_of: Mirror) -> FunctionType:
    """Return ``f`` without mirrors in its globals and its cells, of which numba knows nothing."""
    names = {name: _compiled_of(part) for name, part in f.__globals__.items()}
    for name, part in plain_names(f.__globals__).items():
        if name in names and f.__globals__[name] is mirror_of(part):
            names[name] = part
    cells = f.__closure__ and tuple(
        CellType(_compiled_of(content_of(cell))) for cell in f.__closure__
    )
    return again(f, cells, names)


def _compiled_of(part: Any) -> Any:
    return getattr(part, "__compiled__", part) if isinstance(part, FunctionType) else part


def _numpy() -> Any:
    from .. import numpy

    return numpy


@functools.cache
def _with_arrays(compiled: Callable) -> Callable:
    """Return a compiled function that is given NumPy's own arrays for plain buffers.

    It makes arrays of NumPy's own, too: to memory that it has typed no buffer can be given.
    """

    @functools.wraps(compiled)
    def calls(*args: Any, **kwargs: Any) -> Any:
        given = handed_out((args, kwargs))
        if is_traced(given):
            return compiled(*args, **kwargs)
        return buffer_if_new(apart(compiled, *given), given)

    return calls


def of_cached(cached: Any, mirror_of: Mirror) -> Any:
    """Return what an adopted module has in place of a cached function."""
    f = cached.__wrapped__
    run = mirror_of(f) or f

    @functools.wraps(cached)
    def calls(*args: Any, **kwargs: Any) -> Any:
        return (run if _is_followed(args, kwargs) else cached)(*args, **kwargs)

    for name in ("cache_info", "cache_clear", "cache_parameters"):
        setattr(calls, name, getattr(cached, name))
    return calls
