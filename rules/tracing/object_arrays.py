"""Object arrays of traced numbers: what ``np.array([x, y])`` makes, and how they heal.

NumPy asks a value in a list only for ``__array__``. Without a dtype it is given an object array
of traced numbers, on which NumPy computes entry by entry with Python's operators: slowly, and
rightly. Where such an array meets a traced one, or leaves the function, it becomes traced.
"""

import re
from types import TracebackType
from typing import Any

import numpy as np

from ...config import ChainRulesError, LostDerivativeError, MutationError, raised_at, user_line
from ..annotations import Function, Value
from ..containers import (
    DEEP,
    LEAVES,
    Within,
    are_settings,
    children,
    fold,
    iterate_leaves,
    map_leaves,
    refuse_cycle,
    unless_same,
)
from ..signatures import name_of
from .asked import of_scipy
from .funnel import array_of
from .level import Traced, innermost, value
from .views import axes_of, laid_out

OBJECT = np.dtype(object)


def healed_call(args: tuple, kwargs: dict, settings: bool = False) -> tuple[tuple, dict]:
    """Heal the arguments of a call, of which the ``kwargs`` are mere ``settings`` or not."""
    for x in args:
        cls = type(x)
        if (x.dtype is OBJECT) if cls is np.ndarray else cls not in LEAVES and _may_need_healing(x):
            return healed((args, kwargs))
    if not settings and _may_need_healing(kwargs):
        return healed((args, kwargs))
    return args, kwargs


_NUMBERS = frozenset({float, int, complex, bool, str, type(None), np.float64})


def is_plain(x: Value) -> bool:
    """Say at once, of a number, a list of numbers or an array of them, that nothing is traced."""
    cls = type(x)
    if cls is list or cls is tuple:
        return _NUMBERS.issuperset(map(type, x))
    return x.dtype is not OBJECT if cls is np.ndarray else cls in _NUMBERS


def is_object_array(x: Value) -> bool:
    return type(x) is np.ndarray and x.dtype is OBJECT


def entries_of(x: Value) -> Any:
    """Return an object array of a class of its own as NumPy reads it: its entries, healed."""
    return healed(x.view(np.ndarray)) if is_of_its_own(x) else x


def unmasked(x: Value) -> Any:
    """Return a masked object array, in which nothing is masked, as its entries."""
    masked = is_of_its_own(x) and type(x) is np.ma.MaskedArray
    return entries_of(x) if masked and not np.ma.is_masked(x) else x


def holds_traced(x: Value) -> bool:
    """Say whether ``x`` is an object array that holds traced numbers."""
    return is_object_array(x) and innermost(x.reshape(-1).tolist()) is not None


class OwnClassError(LostDerivativeError):
    """An object array of traced numbers that is of a class of its own, such as a masked array."""

    def __init__(self, array: np.ndarray) -> None:
        name = type(array).__name__
        super().__init__(
            f"an array of class {name} that holds traced numbers cannot be followed here, in "
            f"{user_line()}.\n  write np.asarray(x) of it: an array of NumPy's own class"
        )


def is_of_its_own(x: Value) -> bool:
    cls = type(x)
    return issubclass(cls, np.ndarray) and cls is not np.ndarray and x.dtype is OBJECT


def entrywise(f: Function, args: tuple, kwargs: dict) -> Any:
    """Evaluate a function of NumPy's on object arrays, for each traced value one.

    An array of a class of its own may mean another thing by what is done to it, so that NumPy does
    what it does: with the entries, by Python's operators, and with what the class says of them.
    """
    if not isinstance(f, np.ufunc) and not (getattr(f, "__module__", None) or "").startswith(
        ("numpy", "_operator")
    ):
        raise OwnClassError(next(filter(is_of_its_own, iterate_leaves((args, kwargs)))))
    return f(*map_leaves(_as_objects, args), **map_leaves(_as_objects, kwargs))


def _as_objects(x: Value) -> Any:
    if not isinstance(x, Traced):
        return x
    array = as_object_array(x)
    array.flags.writeable = False  # it stands for the traced one, and what is written would be lost
    return array


def refuse_nested(y: Value) -> None:
    """Refuse an array of objects that are arrays of traced numbers, or that is in itself.

    Raises
    ------
    LostDerivativeError
    """
    seen: dict[int, Any] = {}
    waiting = [y]
    while waiting:
        array = waiting.pop()
        parts = array.reshape(-1).tolist()
        nested = [part for part in parts if _is_nested(part)]
        seen[id(array)] = array
        for part in nested:
            if id(part) in seen or innermost((part,)) is not None or holds_traced(part):
                raise LostDerivativeError(
                    "an array of objects that are arrays of traced numbers cannot be followed, in "
                    f"{user_line()}.\n  make it a list; or one array: np.stack, np.concatenate"
                )
        waiting += [part for part in nested if is_object_array(part)]


def _is_nested(part: Value) -> bool:
    array: Any = part if isinstance(part, np.ndarray | Traced) else 0.0
    return is_object_array(part) or np.ndim(array) > 0


def refuse_objects(f: Function, y: Value) -> None:
    """Refuse what ``f`` made of a traced value and an array of objects."""
    if type(y) is np.ndarray and y.dtype.kind == "O":
        raise LostDerivativeError(
            f"{name_of(f)} of a traced value and an array of dtype object gave objects, which have "
            f"no derivative, in {user_line()}.\n  make it an array of numbers: a.astype(float)"
        )


def result(y: Value) -> Any:
    """Return what a differentiated function returned, healed.

    An object array of plain numbers only, or of none, counts as an array of these: it was one of
    traced numbers before the others were selected or overwritten.

    Raises
    ------
    LostDerivativeError
        If such an array is of a class of its own, as one with masked entries is.
    """
    if isinstance(y, Traced):
        return y
    if is_of_its_own(y) and (y.ndim == 0 or type(y) is np.ma.MaskedArray):
        y = y if np.ma.is_masked(y) else entries_of(y)
    if isinstance(y, np.ndarray) and y.dtype is OBJECT:
        refuse_nested(y)
        plain = np.array(np.asarray(y).reshape(-1).tolist() or np.zeros(0))
        numbers = plain.dtype.kind in "fciu"
        if numbers and type(y) is np.ndarray:
            # Of traced numbers Python makes whole ones: math.ceil, where NumPy's is a float.
            return plain.reshape(y.shape) + (0.0 if plain.dtype.kind in "iu" else 0)
        if type(y) is not np.ndarray and (numbers or holds_traced(np.asarray(y))):
            masked = isinstance(y, np.ma.MaskedArray)
            raise LostDerivativeError(
                f"traced numbers in a {type(y).__name__}{' with masked entries' * masked}, as the "
                "result of a function, have no derivative.\n"
                f"  return {'np.ma.filled(y, 0.0)' if masked else 'np.asarray(y)'}"
            )
    return healed(y)


def healed(x: Value) -> Any:
    """Turn object arrays of traced numbers into traced arrays, in containers too."""
    return fold(_healed, x) if _may_need_healing(x) else x


def _healed(x: Value) -> Any:
    if type(x) is np.ndarray:
        if x.dtype is not OBJECT:
            return x
        if x.size == 0:
            return np.zeros(x.shape)  # as NumPy makes it of a list of empty arrays
        if not holds_traced(x):
            return x
        refuse_nested(x)
        if x.ndim == 0:
            return np.copy(x.item())
        y, axes = array_of(x.tolist()), axes_of(x)
        return y if axes is None else laid_out(y, axes)  # in the order of memory that x has
    parts = None if type(x) in LEAVES else children(x)
    if parts is None and is_of_its_own(x) and holds_traced(x.view(np.ndarray)):
        raise OwnClassError(x)
    return x if parts is None else Within(zip(parts.values), unless_same(x, parts))


def _may_need_healing(x: Value) -> bool:
    # Every call asks, and nearly always it is no: so it is found without building anything.
    if type(x) is np.ndarray:
        return x.dtype is OBJECT
    if type(x) in LEAVES:
        return False
    outer: list = []
    values = iter((x,))
    while True:
        for part in values:
            cls = type(part)
            if cls is np.ndarray:
                if part.dtype is OBJECT:
                    return True
                continue
            if cls in LEAVES:
                continue
            if cls is dict:
                part = part.values()
            elif cls is tuple:
                if are_settings(part):
                    continue
            elif cls is not list:
                return True
            outer.append(values)
            if len(outer) == DEEP:
                return True  # the walk that heals sees whether this one would end
            values = iter(part)
            break
        else:
            if not outer:
                return False
            values = outer.pop()


def as_numbers(x: Value) -> Any:
    """Return an operand that is an object array as numbers, traced where one of them is."""
    if not is_object_array(x):
        return x
    y = healed(x)
    if y is x:
        y = np.array(x.reshape(-1).tolist() or np.zeros(0)).reshape(x.shape)
        if y.dtype is OBJECT:
            raise TypeError("an object array of other things than numbers met a traced value.")
    return y


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
    if isinstance(error, ChainRulesError):
        return
    if isinstance(error.__cause__, LostDerivativeError):
        raise error.__cause__.with_traceback(error.__traceback__) from None
    message = str(error).strip()
    if "traced(" in message and ("convert string" in message or "invalid literal" in message):
        raise LostDerivativeError(
            f"text was read as a number, and the text was that of a traced value: {message}.\n"
            "  keep the traced value itself; or write cr.value(x) into the text, where no "
            "derivative is wanted"
        ) from error
    if "read-only" in message and isinstance(error, ValueError) and not _raised_by_a_write(error):
        raise MutationError(
            f"{message}: what NumPy made of a traced array by np.asarray, or by a call that does "
            "the same, cannot be written to.\n"
            "  write into the traced array itself, or into a copy (np.array(x)); np.asarray of "
            "chainrules.numpy gives the traced array"
        ) from error
    if type(error).__module__.partition(".")[0] not in _RAISERS:
        return
    if re.search(_EXITS, message) or _names_traced(message):
        met, instead = "a traced value, and takes plain numbers only", _KEEP
    elif re.search(_SIGNS, message):
        met, instead = "an object array of traced numbers, and cannot compute with it", _BUILD
    else:
        _note_traced_argument(error)
        return
    where, called, names = raised_at(error)
    if called.startswith("scipy."):
        instead = of_scipy(called, names)
    elif own := next((text for sign, text in _WRITE.items() if sign in f"{called}: {message}"), ""):
        instead = f"write {own}; or cr.value(x), where no derivative is wanted"
    raise LostDerivativeError(
        f"{called or 'a function'} met {met}, in {where}: {message}.\n  {instead}"
    ) from error


def _note_traced_argument(error: Exception) -> None:
    """Add to an error of SciPy's, in a function that the user called with a traced value."""
    _, called, names = raised_at(error)
    trace = error.__traceback__
    while trace is not None and _module(trace).partition(".")[0] != "scipy":
        trace = trace.tb_next
    if trace is None or not called.startswith("scipy."):
        return
    if innermost(tuple(trace.tb_frame.f_locals.values())) is not None:
        error.add_note(f"{called} cannot follow a traced value.\n  {of_scipy(called, names)}")


def _module(trace: TracebackType) -> str:
    return trace.tb_frame.f_globals.get("__name__", "")


def _raised_by_a_write(error: ValueError) -> bool:
    """Say whether a write into a traced array was refused, as NumPy refuses it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and _module(trace).startswith("chainrules.")


def _explain_cycle(error: RecursionError) -> None:
    trace = error.__traceback__
    for _ in range(20):  # frames, in which the container is a local variable
        if trace is None:
            return
        for x in trace.tb_frame.f_locals.values():
            try:
                refuse_cycle(x)
            except TypeError as refusal:
                raise refusal from None
        trace = trace.tb_next


def _names_traced(message: str) -> bool:
    """Say whether a message shows the name of a class of traced values."""
    words, classes = set(re.findall(r"\w+", message)), [Traced]
    for cls in classes:
        classes.extend(cls.__subclasses__())
    return any(cls.__name__ in words for cls in classes)


# Whose errors they are: one of a class of the user's says what the user wants to say.
_RAISERS = ("builtins", "ctypes", "numpy")
# What NumPy says where it hides our message, and other code of a number it does not know.
# (Compiled when one is looked for: that takes a tenth of the time of importing all this.)
_EXITS = (
    "Error setting single item of array|is not JSON serializable|REFS_OK|"
    "incompatible function arguments|No matching signature found"  # pybind11, Cython
)
_ENTRYWISE = [name for name, part in vars(np).items() if isinstance(part, np.ufunc)]
# What NumPy and SciPy say of object arrays. (Of a class, Python says "type object 'Foo'".)
_SIGNS = (
    r"object array|dtype\('O'\)|dtype object|type object(?! ')|type 'object'|ObjectDType|"
    "Python object|not supported for the input types|has no callable|does not have an identity|"
    "not inexact|unsupported data types in input|isn't a view|"
    rf"'(float|int|complex)' object has no attribute '({'|'.join(_ENTRYWISE)})'"
)
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


# What a message, or the name before it, tells of what was called.
_WRITE = {
    "requires a 'float' object": "the operator: x * y in place of float.__mul__(x, y)",
    "statistics.": "np.mean(x), np.std(x, ddof=1), np.median(x) and the like",
    "numpy.ma.": "np.asarray(x) where nothing is masked, else np.where in place of a mask",
    "Iterator operand": "for index, v in np.ndenumerate(x), or for v in x.flat",
    "a bytes-like object is required": (
        "np.asarray(x).view(cls), for an array of a class of its own that holds a traced one"
    ),
    "incompatible function arguments": (
        "a rule for it: a function of Python that calls it, with @cr.primitive and @cr.rrule"
    ),
}


def as_object_array(x: Value) -> np.ndarray:
    """Return an object array that lies as the traced ``x`` does, with one number per entry."""
    array = np.empty_like(value(x), object) if type(x).writable else np.empty((), object)
    if array.ndim == 0:
        array[()] = x[()] if type(x).writable else x
    else:
        for index in np.ndindex(array.shape):
            array[index] = x[index]
    return array
