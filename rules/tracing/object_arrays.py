"""Object arrays of traced numbers: what ``np.array([x, y])`` makes, and how they heal.

NumPy asks a value in a list only for ``__array__``. Without a dtype it is given an object array
of traced numbers, on which NumPy computes entry by entry with Python's operators: slowly, and
rightly. Where such an array meets a traced one, or leaves the function, it becomes traced.
"""

import operator
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from ...config import ArgumentTypeError
from ...config.thresholds import DEEP
from ..annotations import Function, Value
from ..containers import (
    LEAVES,
    are_settings,
    children,
    iterate_leaves,
    map_leaves,
    replaced,
)
from ..known_classes import table_of
from ..refusals.table import OwnClassError, refusal
from ..shapes import OBJECT, shape_of
from ..signatures import name_of
from .classes.other_classes import (
    is_computed_with,
    is_sequence,
    read_array,
    refuse_answering,
    shows_array,
)
from .classes.own_arrays import returned
from .classes.own_classes import is_masked_array, is_of_its_own, without_masks
from .classes.own_numbers import as_of_python, number_in
from .funnel import array_of, is_numpys
from .level import Traced, innermost, type_under, value
from .shown import shown
from .views import axes_of, laid_out


def healed_call(
    f: Function, args: tuple, kwargs: dict, settings: bool = False
) -> tuple[tuple, dict]:
    """Heal the arguments of a call, of which the ``kwargs`` are mere ``settings`` or not."""
    for x in args:
        cls = type(x)
        if cls is np.ndarray:
            plain = x.dtype is not OBJECT
        else:
            plain = cls in LEAVES or (cls is tuple and are_settings(x)) or not may_need_healing(x)
        if not plain:
            return _healed_call(f, args, kwargs)
    if not settings and may_need_healing(kwargs):
        return _healed_call(f, args, kwargs)
    return args, kwargs


def _healed_call(f: Function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    given = args, kwargs = read_call(f, args, kwargs)
    if any(map(is_of_its_own, iterate_leaves(given))):
        given = map_leaves(without_masks, given)
        for x in filter(is_of_its_own, iterate_leaves(given)):
            raise own_class_error(x)
    for x in filter(holds_arrays, iterate_leaves(given)):
        raise own_class_error(x)
    return healed(given)


def read_call(f: Function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Return the arguments of a call as a function of NumPy's or of ``math`` reads them.

    Raises
    ------
    LostDerivativeError
        If ``f`` did not ask what answers for itself among them.
    """
    if is_numpys(f):
        refuse_wrapped(f, args, kwargs)
        read = number_in if isinstance(f, np.ufunc) else array_shown_by
        args, kwargs = _read_in((args, kwargs), read)
        refuse_answering(f, (*args, *kwargs.values()))
    elif getattr(f, "__module__", None) in _OF_NUMBERS:
        args, kwargs = _read_in((args, kwargs), number_in)
    return args, kwargs


def _wraps(x: Value) -> bool:
    cls = type(x)
    return cls not in LEAVES and not issubclass(cls, _NOT_READ) and hasattr(x, "__array_wrap__")


def refuse_wrapped(f: Function, args: tuple, kwargs: dict) -> None:
    """Refuse a call whose result NumPy puts into the class of an argument, by ``__array_wrap__``.

    Raises
    ------
    LostDerivativeError
    """
    x = next(filter(_wraps, (*args, *kwargs.values())), None)
    if x is None or not is_numpys(f) or table_of(type(x)) is not None:
        return
    given, options = value((args, kwargs))
    if innermost((given, options)) is None:
        y = f(*given, **options)
        ys = y if isinstance(y, tuple | list) else (y,)
        if any(type(part) not in LEAVES and not is_computed_with(type(part)) for part in ys):
            raise refusal("answers itself", f=name_of(f), cls=type(x).__name__)


_OF_NUMBERS = frozenset({"math", "cmath"})  # modules whose functions take numbers alone


def _read_in(x: Value, read: Callable[[Value], Any]) -> Any:
    """Return arguments as a function reads them, in lists too; the same where nothing changes."""
    if type(x) is dict:
        given = tuple(x.values())
        parts: Any = _read_in(given, read)
        return x if parts is given else dict(zip(x, parts, strict=True))
    if type(x) is not list and type(x) is not tuple:
        return read(x)
    parts = [_read_in(part, read) for part in x]
    return x if all(map(operator.is_, parts, x)) else type(x)(parts)


_NUMBERS = frozenset({float, int, complex, bool, str, type(None), np.float64})


def is_plain(x: Any) -> bool:
    """Say at once, of a number, a list of numbers or an array of them, that nothing is traced."""
    cls = type(x)
    if cls is list or cls is tuple:
        return _NUMBERS.issuperset(map(type, x))
    return x.dtype is not OBJECT if cls is np.ndarray else cls in _NUMBERS


def is_object_array(x: Value) -> TypeGuard[np.ndarray]:
    return type(x) is np.ndarray and x.dtype is OBJECT


def entries_of(x: Value) -> Any:
    """Return an array of a class of its own as NumPy reads it into a plain one: its entries."""
    return healed(x.view(np.ndarray)) if is_of_its_own(x) else array_shown_by(x)


def array_shown_by(x: Value) -> Any:
    """Return the array, traced or plain, that ``x`` shows by ``__array__``; any other ``x`` itself.

    It is what NumPy's functions compute with, whatever the class of ``x`` says of operators; of
    classes that have protocols of their own NumPy asks these. Of a subclass of a number or a
    sequence it is that.
    """
    if type(x) in LEAVES or isinstance(x, Traced):
        return x  # as nearly always
    x = as_of_python(x)
    cls = type(x)
    if cls in LEAVES or issubclass(cls, _NOT_READ):
        return x
    table = table_of(cls)
    if table is not None:
        return table.array(x)
    if any(getattr(cls, name, None) is not None for name in _PROTOCOLS):
        return x
    if shows_array(x):
        return read_array(x)
    if not is_sequence(x):
        return x
    sequence: Any = x
    parts = list(sequence)
    of_numbers = all(is_computed_with(type(part)) for part in parts)
    return parts if of_numbers else np.asarray(x)  # of objects, which may be sequences again


_NOT_READ = (type, np.ndarray, np.generic, list, tuple, np.poly1d)
_PROTOCOLS = ("__array_ufunc__", "__array_function__")


def in_place_operand(x: Value) -> Any:
    """Return ``x`` as NumPy computes with it into a plain array, whatever its operators mean.

    Raises
    ------
    OwnClassError
        If its class decides what ufuncs mean, too.
    """
    if is_of_its_own(x) and type(x).__array_ufunc__ is not np.ndarray.__array_ufunc__:
        raise own_class_error(x)
    return entries_of(x)


def unmasked(x: Value) -> Any:
    """Return a masked object array, in which nothing is masked, as its entries."""
    return entries_of(x) if type(x) is np.ma.MaskedArray and not np.ma.is_masked(x) else x


def holds_traced(x: Value) -> bool:
    """Say whether ``x`` is an object array that holds traced numbers."""
    return is_object_array(x) and any(issubclass(type(p), Traced) for p in x.reshape(-1).tolist())


def is_of_numbers(x: np.ndarray) -> bool:
    """Say whether an object array holds numbers and arrays alone, and no objects of others."""
    return all(is_computed_with(type(entry)) for entry in np.asarray(x).reshape(-1).tolist())


def own_class_error(array: np.ndarray) -> OwnClassError:
    """Return the error of an array of a class of its own, or of arrays, beside traced numbers."""
    if type(array) is np.ndarray:
        return refusal("nested objects")
    what = "that holds traced numbers" if array.dtype is OBJECT else "beside traced values"
    masked = is_masked_array(array)
    instead = "np.ma.filled(m, ...), or np.where of its mask" if masked else "np.asarray(x) of it"
    return refusal("own class", cls=type(array).__name__, what=what, instead=instead)


def entrywise(f: Function, args: tuple, kwargs: dict) -> Any:
    """Evaluate a function of NumPy's on object arrays, for each traced value one.

    An array of a class of its own may mean another thing by what is done to it, so that NumPy does
    what it does: with the entries, by Python's operators, and with what the class says of them.
    """
    leaves = iterate_leaves((args, kwargs))
    own = next(x for x in leaves if is_of_its_own(x) or holds_arrays(x))
    if not isinstance(f, np.ufunc) and not (getattr(f, "__module__", None) or "").startswith(
        ("numpy", "_operator")
    ):
        raise own_class_error(own)
    try:
        if own.__array_priority__ < 0 and any(map(_is_number, iterate_leaves((args, kwargs)))):
            raise TypeError  # a number leaves the class of the result to it, an array does not
        y = f(*map_leaves(_as_objects, args), **map_leaves(_as_objects, kwargs))
        given, options = value((args, kwargs))
        if (
            isinstance(f, np.ufunc)
            or innermost((given, options)) is not None  # of a recording, which is compared itself
            or _is_of_objects(y, f(*given, **options))
        ):
            return y
        # A function may take another way where it meets objects: np.dot of a number.
        raise TypeError
    except TypeError as error:  # it takes no objects, as classes with units may not
        raise own_class_error(own) from error


def _is_number(x: Value) -> bool:
    return isinstance(x, Traced) and not issubclass(type_under(x), np.ndarray)


def _is_of_objects(y: Any, plain: Any) -> bool:
    """Say whether the objects in ``y`` stand for the numbers that NumPy gives of plain arrays."""
    if not isinstance(y, np.ndarray | Traced) or not isinstance(plain, np.ndarray | np.generic):
        return True
    if np.ma.isMaskedArray(plain) or np.asarray(plain).dtype.kind not in "fc":
        return True
    number = issubclass(type(y), Traced)
    found = [value(x) for x in ((y,) if number else np.asarray(y).reshape(-1))]
    if shape_of(y) != np.shape(plain) or any(np.ndim(x) for x in found):
        return True  # it is told by its shape
    expected = np.asarray(plain).reshape(-1)
    return np.allclose(np.array(found, expected.dtype), expected, equal_nan=True)


def _as_objects(x: Value) -> Any:
    return shown(x) if isinstance(x, Traced) else x


def refuse_nested(y: Any) -> None:
    """Refuse an array of objects that are arrays of traced numbers, or that is in itself.

    Raises
    ------
    LostDerivativeError
    """
    seen: dict[int, Any] = {}
    waiting = [y]
    while waiting:
        array = waiting.pop()
        seen[id(array)] = array
        for part in filter(_is_nested, array.reshape(-1).tolist()):
            if id(part) in seen or innermost((part,)) is not None or holds_traced(part):
                raise refusal("nested objects")
            if is_object_array(part):
                waiting.append(part)


def holds_arrays(x: Value) -> bool:
    """Say whether ``x`` is an array of objects that are arrays of numbers, of whatever shapes.

    NumPy computes with it entry by entry, by Python's operators, as it does without traced values.
    """
    entries = x.reshape(-1).tolist() if is_object_array(x) else ()
    return any(_is_nested(part) and not is_object_array(part) for part in entries)


def _is_nested(part: object) -> bool:
    if not isinstance(part, np.ndarray | Traced):
        return False
    return is_object_array(part) or np.ndim(part) > 0  # type: ignore[arg-type]


def refuse_objects(f: Function, y: Value) -> None:
    """Refuse what ``f`` made of a traced value and an array of objects."""
    if type(y) is np.ndarray and y.dtype.kind == "O":
        raise refusal("objects from a call", name=name_of(f))


def result(y: Any) -> Any:
    """Return what a differentiated function returned, healed.

    An object array of plain numbers only, or of none, counts as an array of these: it was one of
    traced numbers before the others were selected or overwritten.

    Raises
    ------
    LostDerivativeError
        If such an array is of a class of its own, as one with masked entries is.
    """
    own = is_of_its_own(y) and y.dtype is OBJECT
    if own and children(y) is not None:
        return healed(y)
    if isinstance(y, np.ndarray) and y.dtype is OBJECT and is_of_numbers(y):
        refuse_nested(np.asarray(y))
        plain = np.array(np.asarray(y).reshape(-1).tolist() or np.zeros(0))
        numbers = plain.dtype.kind in "fciu"
        if numbers and type(y) is np.ndarray:
            # Of traced numbers Python makes whole ones: math.ceil, where NumPy's is a float.
            return plain.reshape(y.shape) + (0.0 if plain.dtype.kind in "iu" else 0)
        if type(y) is not np.ndarray and (numbers or holds_traced(np.asarray(y))):
            return returned(y, plain.reshape(y.shape) if numbers else healed(entries_of(y)))
    return healed(y if isinstance(y, np.ndarray) else with_own_arrays(y))


def with_own_arrays(y: Any) -> Any:
    """Return what a function returned, in which arrays of own classes are results by themselves."""
    return replaced(_own_array, y) if may_need_healing(y) else y


def _own_array(y: Any) -> Any:
    return result(y) if is_of_its_own(y) and y.dtype is OBJECT else y


def healed(x: Value) -> Any:
    """Turn object arrays of traced numbers into traced arrays, in containers too."""
    return replaced(_healed, x) if may_need_healing(x) else x


def _healed(x: Value) -> Any:
    if type(x) is np.ndarray:
        if x.dtype is not OBJECT:
            return x
        if x.size == 0:
            return np.zeros(x.shape)  # as NumPy makes it of a list of empty arrays
        if not holds_traced(x):
            return x
        refuse_nested(x)
        if not is_of_numbers(x):
            return x  # it holds objects of others, which NumPy leaves as they are
        if x.ndim == 0:
            return np.copy(x.item())
        y, axes = array_of(x.tolist()), axes_of(x)
        return y if axes is None else laid_out(y, axes)  # in the order of memory that x has
    if is_of_its_own(x) and holds_traced(x.view(np.ndarray)):
        raise own_class_error(x)
    return x


def may_need_healing(x: Any) -> bool:
    """Say whether there are objects in ``x``, or arrays of them, so that ``healed`` has work."""
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
            elif cls is not list and not (issubclass(cls, tuple) and hasattr(cls, "_fields")):
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
        if any(map(_is_nested, x.reshape(-1).tolist())):
            raise refusal("nested objects")
        y = np.array(x.reshape(-1).tolist() or np.zeros(0)).reshape(x.shape)
        if y.dtype is OBJECT:
            raise ArgumentTypeError(
                "an object array of other things than numbers met a traced value."
            )
    return y
