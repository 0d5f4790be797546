"""Errors that other code raised when it met traced values, and what to write instead.

``np.frombuffer`` and ``scipy.linalg.lapack`` say "object array" of what ``np.array([x, y])`` made;
the user is told which function it was, in which of her lines, and to use ``cr.array``.
"""

import itertools
import re
from types import FrameType

import numpy as np

from ...config import ChainRulesError, LostDerivativeError, raised_at
from ...config.lines import passed_by
from ..containers import LEAVES, refuse_cycle
from ..known_classes import library_of
from ..refusals.remedies import INSTEAD_OF_ADOPTION, OF_STATISTICS, adoption, of_scipy
from ..refusals.table import refusal
from .level import Traced, innermost
from .shown import refused_write


def explain(error: Exception) -> None:
    """Say more about an error that came out of a traced run; the caller raises it again.

    Raises
    ------
    TypeError
        If it is a recursion without end through a container that holds itself.
    MutationError
        If it is NumPy's refusal to write into what ``np.asarray`` made of a traced array.
    LostDerivativeError
        If C code hides this error of a function it called behind one of its own; or if other
        code met a traced number, or an array of these, that it cannot compute with.
    """
    if isinstance(error, RecursionError):
        _explain_cycle(error)
        return
    if isinstance(error, ChainRulesError):
        return
    if isinstance(error.__cause__, LostDerivativeError):
        raise error.__cause__.with_traceback(error.__traceback__) from None
    message = str(error).strip()
    of_text = "traced(" in message and ("convert string" in message or "invalid literal" in message)
    if of_text or (isinstance(error, NameError) and error.name == "traced"):
        raise refusal("text of a traced value", message=message) from error
    if "read-only" in message and isinstance(error, ValueError) and not _raised_by_a_write(error):
        raise refused_write(message) from error
    if library_of(type(error)) not in _RAISERS:
        return
    if re.search(_EXITS, message) or _names_traced(message):
        met, instead = "a traced value, and takes plain numbers only", _KEEP
    elif "isfinite" in message and any(_module(f) == "numpy.ma.core" for f, _ in passed_by(error)):
        # It masks what is no number of a quotient, a power or a logarithm.
        met, instead = (
            "masked traced numbers, and cannot tell which are finite",
            f"write {_NO_MASK}",
        )
    elif re.search(_SIGNS, message) or (
        re.search(_OF_ARRAYS, message) and _module(_raising(error)).startswith("numpy.")
    ):
        met, instead = "an object array of traced numbers, and cannot compute with it", _BUILD
    elif "StrDType" in message and any(_module(f) == "numpy.ma.core" for f, _ in passed_by(error)):
        # It compared traced numbers with the text that it puts under a mask of objects.
        met, instead = "masked traced numbers, and cannot compare them", f"write {_NO_MASK}"
    else:
        _note_traced_argument(error)
        return
    where, called, names = raised_at(error)
    tables = called.partition(".")[0]
    if called.startswith("scipy."):
        instead = of_scipy(called, names)
    elif tables in ("pandas", "polars") and "reindex_like" not in message:
        instead = INSTEAD_OF_ADOPTION[tables]
    elif own := next((text for sign, text in _WRITE.items() if sign in f"{called}: {message}"), ""):
        instead = f"write {own}; or cr.value(x), where no derivative is wanted"
    if instead is _BUILD and called.startswith("numpy."):
        instead = f"{adoption(names)}{instead}"
    fields = {"called": called or "a function", "met": met, "line": where, "message": message}
    raise refusal("met by other code", **fields, instead=instead) from error


def _note_traced_argument(error: Exception) -> None:
    """Add to an error of SciPy's, in a function that the user called with a traced value."""
    _, called, names = raised_at(error)
    if not called.startswith("scipy."):
        return
    frames = (f for f, _ in passed_by(error) if _module(f).partition(".")[0] == "scipy")
    if innermost(tuple(next(frames).f_locals.values())) is not None:
        error.add_note(f"{called} cannot follow a traced value.\n  {of_scipy(called, names)}")


def _module(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "")


def _raised_by_a_write(error: ValueError) -> bool:
    """Say whether a write into a traced array was refused, as NumPy refuses it."""
    return _module(_raising(error)).startswith("chainrules.")


def _raising(error: Exception) -> FrameType:
    *_, (frame, _) = passed_by(error)
    return frame


def _explain_cycle(error: RecursionError) -> None:
    for frame, _ in itertools.islice(passed_by(error), 20):  # the container is a local variable
        for x in frame.f_locals.values():
            try:
                refuse_cycle(x)
            except TypeError as refusal:
                raise refusal from None


def _names_traced(message: str) -> bool:
    """Say whether a message shows the name of a class of traced values."""
    words = set(re.findall(r"\w+", message))
    return any(issubclass(cls, Traced) and cls.__name__ in words for cls in tuple(LEAVES))


# Whose errors they are: one of a class of the user's says what the user wants to say.
_RAISERS = ("builtins", "ctypes", "numpy")
# What NumPy says where it hides our message, and other code of a number it does not know.
# (Compiled when one is looked for: that takes a tenth of the time of importing all this.)
_EXITS = (
    "Error setting single item of array|is not JSON serializable|REFS_OK|"
    "'NotImplementedType' object has no attribute 'reindex_like'|"  # s += x, of pandas
    "'(DataArray|Variable)' object has no attribute 'chunks'|"  # of xarray, since Python 3.12
    "incompatible function arguments|No matching signature found|"  # pybind11, Cython
    r"Multiple namespaces for array inputs|<Quantity traced\("  # astropy's, without axes
)
_ENTRYWISE = [name for name, part in vars(np).items() if isinstance(part, np.ufunc)]
# What NumPy and SciPy say of object arrays. (Of a class, Python says "type object 'Foo'".)
_SIGNS = (
    r"object array|dtype\('O'\)|dtype object|type object(?! ')|type 'object'|ObjectDType|"
    "Python object|not supported for the input types|has no callable|does not have an identity|"
    "not inexact|unsupported data types in input|data type not supported|isn't a view|"
    rf"'(float|int|complex)' object has no attribute '({'|'.join(_ENTRYWISE)})'"
)
# What Python's numbers, of which NumPy's objects are made, have not: NumPy's frames ask for it.
_OF_ARRAYS = r"'(float|int|complex)' object has no attribute '(shape|dtype|ndim|size|astype|real)'"
_KEEP = (
    "keep to NumPy's functions and arrays made with cr.array or np.zeros(n, like=x); or "
    "cr.value(x), where no derivative is wanted"
)
_BUILD = (
    "np.array([x, y]) and np.asarray(x) of traced numbers make object arrays: build the array with "
    "cr.array or np.stack, or use chainrules.numpy\n"
    "  a function that is not NumPy's needs @cr.primitive and a rule; a check, as of np.testing, "
    "cr.value(x)"
)


_NO_MASK = "np.asarray(x) where nothing is masked, else np.where in place of a mask"
# What a message, or the name before it, tells of what was called.
_WRITE = {
    "requires a 'float' object": "the operator: x * y in place of float.__mul__(x, y)",
    "unsupported data types in input": (
        "a sparse matrix as one of chainrules.scipy.sparse: csr_array(A) @ x; what an adopted "
        "module keeps is one"
    ),
    "unknown type object": (
        "cr.adopt of the module that calls numexpr.evaluate, which runs in C; or NumPy's functions"
    ),
    "returned non-float": (
        "q.__float__() in place of float(q); or adopt the module of that line, which keeps it"
    ),
    "object expected; got": (
        "a rule for it, as mypyc compiled it: a function of Python that calls it, with "
        "@cr.primitive and @cr.rrule; or install the package from its source, uncompiled"
    ),
    "statistics.": OF_STATISTICS,
    "numpy.ma.": _NO_MASK,
    "reindex_like": "s = s + x in place of s += x",
    "has no attribute 'chunks'": (
        "groups.map(lambda g: g - g.mean()) in place of groups - groups.mean(), and leave out "
        "questions after the chunks of what is traced"
    ),
    "Iterator operand": "for index, v in np.ndenumerate(x), or for v in x.flat",
    "a bytes-like object is required": (
        "np.asarray(x).view(cls), for an array of a class of its own that holds a traced one; "
        "cr.primitive(f, derivative='finite-difference') for a function f that is compiled"
    ),
    "<Quantity traced(": (
        "np.stack([x]) * unit, with an axis: a number with a unit of astropy's goes into operators "
        "as a number"
    ),
    "Multiple namespaces for array inputs": (
        'cr.adopt("array_api_compat"), beside your own module: traced arrays and plain ones have '
        "one namespace then"
    ),
    "got BufferArray": (
        'cr.adopt("its module"), whose compiled functions then take such arrays, where plain; or '
        "x.tolist()"
    ),
    "incompatible function arguments": (
        "a rule for it: a function of Python that calls it, with @cr.primitive and @cr.rrule"
    ),
}
