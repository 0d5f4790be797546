"""Protocols of traced values: NumPy's, Python's operators, and the methods of ndarray.

``TracedNumber`` and ``TracedArray`` are the only classes that know these protocols. Each
protocol ends in one of three calls of the value's level: ``unary``, ``binary``, or the funnel
``call``. Engines subclass the two and add what they store.
"""

import functools
import math
import operator
from collections.abc import Callable, Collection
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from ..accelerated import numbers
from ..annotations import Function, Index, Value
from ..containers import LEAVES, are_settings
from ..refusals.table import refusal
from ..shapes import is_foreign_array, shape_of
from ..signatures import positional_names
from .classes.duck_typing import INSTEAD, PYTHONS, instead_of
from .classes.other_classes import answer_of_table, answers_itself
from .classes.own_numbers import compared
from .conversions import (
    KEEP,
    SIZES,
    describe,
    index_of_entry,
    lost,
    lost_to,
    refuse_array,
    refuse_compiled,
    refuse_two_precisions,
    whole,
)
from .funnel import call, convert, entry
from .level import Traced, innermost, type_under, value
from .object_arrays import healed, in_place_operand
from .options import (
    LOOP_OPTIONS,
    call_in_loop,
    call_into,
    call_where,
    given_options,
    without_no_value,
)
from .shown import as_object_array
from .writing import is_fresh


def binary_operator(ufunc: np.ufunc, operation: Callable) -> Callable:
    def operate(self: Traced, other: Value) -> Value:
        return self.at_level.binary(ufunc, operation, self, other)

    return operate


def _reflected(ufunc: np.ufunc, operation: Callable) -> Callable:
    def operate(self: Traced, other: Value) -> Value:
        return self.at_level.binary(ufunc, operation, other, self)

    return operate


def _unary(ufunc: np.ufunc, operation: Callable) -> Callable:
    def operate(self: Traced) -> Value:
        return self.at_level.unary(ufunc, operation, self)

    return operate


def _compare(operation: Callable) -> Callable:
    # A comparison is piecewise constant: its answer is plain, and control flow is Python's own.
    def compare(self: Traced, other: Value) -> Any:
        a, b = value(self), value(other)
        if type(a) is not type(b) and isinstance(other, Traced):
            refuse_two_precisions(a, b)
        return compared(operation, a, b)

    return compare


def _plainly(f: Function) -> Callable:
    return lambda self, *args: f(value(self), *args)


def _method(f: Function) -> Callable:
    def method(self: Traced, *args: object, **kwargs: object) -> Value:
        if not (args or kwargs):
            return self.at_level.call(f, (self,), kwargs)
        if kwargs.get("out") is not None:
            return f(self, *args, **kwargs)  # NumPy's protocols know what to do with it
        return _call(f, self, args, kwargs)

    return method


def _call(f: Function, x: Traced, args: tuple, options: dict) -> Value:
    """Evaluate ``f(x, *args, **options)``: at the level of ``x``, where the rest are settings."""
    if numbers is not None:
        y = numbers.answer_call(f, (x, *args), options)
        if y is not NotImplemented:
            return y
    if are_settings(args) and are_settings(options.values()):
        return x.at_level.call(f, (x, *args), options)
    return call(f, (x, *args), options)


def _constant_method(name: str) -> Callable:
    return lambda self, *args, **kwargs: getattr(value(self), name)(*map(value, args), **kwargs)


def _truth_method(name: str) -> Callable:
    def method(self: Traced, *args: object, **kwargs: object) -> Value:
        y = getattr(value(self), name)(*map(value, args), **kwargs)
        if getattr(y, "dtype", None) != BOOL:  # with dtype=object it is one of the entries
            raise refusal("objects for dtype", name=name)
        return y

    return method


def _property(f: Function) -> property:
    return property(lambda self: self.at_level.call(f, (self,), {}))


def _constant_property(name: str) -> property:
    return property(operator.attrgetter("primal." + name))  # each level has this property


@functools.lru_cache(maxsize=1024)
def _place_of_out(f: Function) -> int:
    """Return where among the arguments of a NumPy function ``out`` stands; 0 where it does not."""
    names = positional_names(f)
    return names.index("out") if "out" in names else 0


BOOL = np.dtype(bool)

# Attributes that the class of numbers has not: by these pint tells classes of arrays.
OF_INSTANCES = frozenset({"ndim"})
# Slots until they are needed, and what NumPy asks each entry of a list for.
_UNSET = frozenset({
    "base_and_path", "memory", "primal", "at_level", "__array_interface__", "__array_struct__",
})  # fmt: skip


class TracedNumber(Traced):
    """A traced number: operators and NumPy's protocols, and nothing of a sequence.

    (NumPy hides the message of an error raised while it converts anything with a length.)
    """

    __slots__ = ()

    __pandas_priority__ = 5000  # above its own: an operator of pandas leaves the answer to ours

    # isinstance(x, float) and isinstance(x, np.ndarray) say what the user expects.
    __class__ = property(operator.attrgetter("primal.__class__"))

    # ---- NumPy's two protocols ----

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs:
            if len(inputs) == 2:
                return self.at_level.binary(ufunc, ufunc, *inputs)
            if len(inputs) == 1:
                return self.at_level.unary(ufunc, ufunc, self)
        if not isinstance(ufunc, np.ufunc):  # what numba.vectorize compiled passes for one
            refuse_compiled(self, ufunc)
        f = ufunc if method == "__call__" else getattr(ufunc, method)
        if answers_itself(map(type, inputs), self):
            return answer_of_table(f, map(type, inputs), inputs, kwargs)
        kwargs = given_options(method, inputs, kwargs)
        if method == "__call__" and kwargs.get("where", True) is not True:
            return call_where(ufunc, inputs, kwargs)
        if kwargs.get("out") is not None:
            out = kwargs.pop("out")
            return call_into(f, tuple(map(in_place_operand, inputs)), kwargs, out)
        if method == "__call__" and not kwargs.keys().isdisjoint(LOOP_OPTIONS):
            return call_in_loop(ufunc, inputs, kwargs)
        return call(f, inputs, kwargs)

    def __array_function__(
        self, f: Function, types: Collection[type], args: tuple, kwargs: dict
    ) -> Any:
        if len(args) == 1 and args[0] is self and (not kwargs or are_settings(kwargs.values())):
            return self.at_level.call(f, args, kwargs)  # as most are, without a search
        if len(types) > 1 and not LEAVES.issuperset(types) and answers_itself(types, self):
            return answer_of_table(f, types, args, kwargs)
        kwargs = without_no_value(kwargs)
        if len(args) > 1 and (at := _place_of_out(f)) and len(args) > at and args[at] is not None:
            kwargs = {**kwargs, "out": args[at]}
            rest = args[at + 1 :]
            args = (*args[:at], None, *rest) if rest else args[:at]
        if kwargs.get("out") is not None:
            kwargs = dict(kwargs)
            out = kwargs.pop("out")
            return call_into(f, args, kwargs, out)
        level = innermost((*args, *kwargs.values()) if kwargs else args)
        if level is not None:
            return level.call(f, args, kwargs)
        given, options = healed((args, kwargs))
        if given is not args or options is not kwargs:
            # It was found inside an object array, where the dispatch of f looked for it.
            return f(*given, **options)
        # With like=x the array that decides is no argument of the function.
        if is_foreign_array(value(self)):
            return f(*args, like=value(self), **kwargs)
        y = f(*args, **kwargs)
        return self.at_level.constant(y) if is_fresh(y) else y

    # ---- operators: those on two operands are OPERATORS, at the end ----

    __neg__, __pos__ = _unary(np.negative, operator.neg), _unary(np.positive, operator.pos)
    __abs__, __invert__ = _unary(np.absolute, operator.abs), _unary(np.invert, operator.invert)

    def __divmod__(self, other: Value) -> tuple:
        return operator.floordiv(self, other), operator.mod(self, other)

    def __rdivmod__(self, other: Value) -> tuple:
        return operator.floordiv(other, self), operator.mod(other, self)

    __eq__, __ne__ = _compare(operator.eq), _compare(operator.ne)
    __lt__, __le__ = _compare(operator.lt), _compare(operator.le)
    __gt__, __ge__ = _compare(operator.gt), _compare(operator.ge)

    # It is equal to numbers seen before, of which a memo would give back plain results.
    __hash__ = lost(
        "a key of a dict or a set, or an argument of a function with a cache,",
        "call the function under its cache (f.__wrapped__); in place of a dict, whose keys with "
        "one value are one, keep a list of pairs",
    )

    __bool__, __round__ = _plainly(bool), _plainly(round)
    __floor__, __ceil__ = _plainly(math.floor), _plainly(math.ceil)
    __trunc__ = _plainly(lambda x: math.trunc(x.item() if isinstance(x, np.generic) else x))

    # ---- ways out of tracing ----

    __float__ = lost_to("float(x), buffer[i] = x, or a function of the math module", KEEP)
    __int__ = whole
    __complex__ = lost_to("complex(x)", "keep the traced value, or x + 0j")
    __index__ = lost("an index or a size", SIZES)

    # NumPy's numbers answer x[()]; not to be iterated over, as Python tries with __getitem__.
    __iter__: Any = None

    def __getitem__(self, index: Index) -> Any:
        if type_under(self) in PYTHONS:
            raise TypeError(f"'{type_under(self).__name__}' object is not subscriptable")
        if type(index) is tuple and not index:
            return self
        array = call(np.copy, (self,), {})  # without axes
        try:
            return array[index]
        except IndexError:
            raise IndexError("invalid index to scalar variable.") from None

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        refuse_array(self, dtype)
        return as_object_array(self)

    def item(self, *index: Any) -> Any:
        """Return one entry, as a traced number of Python's."""
        kind = type_under(self)
        if kind in PYTHONS:
            return self
        if kind is np.float64 and not index and numbers is not None:
            y = numbers.to_float(self)
            if y is not NotImplemented:
                return y
        shape = shape_of(self)
        if len(index) == 1 and not isinstance(index[0], tuple):
            index = index_of_entry(operator.index(index[0]), shape)
        elif len(index) == 1:
            (index,) = index
        elif not index:
            if math.prod(shape) != 1:
                raise ValueError("can only convert an array of size 1 to a Python scalar")
            index = (0,) * len(shape)
        if kind is np.ndarray and numbers is not None and self.dtype.type is np.float64:
            return self[index].item()
        return call(entry, (self, index) if index else (self,), {})

    tobytes = lost("x.tobytes()", "keep the traced value")
    tofile = lost("x.tofile(...)", "keep the traced value")
    dump, dumps = lost("x.dump(...)", "keep the traced value"), lost("x.dumps()", "keep it")
    view = lost("x.view(...)", "x.astype(dtype); x.real and x.imag for the parts of a complex x")

    # Dask takes what says it is an ndarray for one, whose name it asks for first.
    __dask_tokenize__ = lost(
        "a Dask array beside a traced array, such as D @ x or D * x,",
        "put the traced array first, x * D or x @ D.T, or write np.dot(D, x)",
    )

    __reduce_ex__ = lost("pickling", "pickle what the differentiated function returns")

    # ---- attributes ----

    def __getattr__(self, name: str) -> Any:
        # Reached only for names that are not defined here or by an engine.
        if name in _UNSET:
            raise AttributeError(name)  # asked by every write, and caught: so it is made quickly
        if name in OF_INSTANCES and hasattr(value(self), name):
            return getattr(value(self), name)
        if name.startswith("_") or not hasattr(value(self), name):
            instead = instead_of(name, type_under(self))
            said = f"a traced {describe(self)} has no attribute {name!r}"
            raise AttributeError(f"{said}.\n  {instead}" if instead else said)
        instead = INSTEAD.get(name, f"write cr.value(x).{name}, where no derivative is wanted")
        raise refusal("attribute", name=name, x=describe(self), instead=instead)

    dtype, flags = _constant_property("dtype"), _constant_property("flags")
    shape, strides = _constant_property("shape"), _constant_property("strides")
    size = _constant_property("size")
    itemsize, nbytes = _constant_property("itemsize"), _constant_property("nbytes")

    T, mT = _property(np.transpose), _property(np.matrix_transpose)  # noqa: N815
    real, imag = _property(np.real), _property(np.imag)

    # ---- methods ----

    all, any = _truth_method("all"), _truth_method("any")
    argmax, argmin = _constant_method("argmax"), _constant_method("argmin")
    argsort, argpartition = _constant_method("argsort"), _constant_method("argpartition")
    nonzero = _constant_method("nonzero")
    searchsorted = _constant_method("searchsorted")
    is_integer = _constant_method("is_integer")
    choose, clip = _method(np.choose), _method(np.clip)
    cumprod, cumsum = _method(np.cumprod), _method(np.cumsum)
    diagonal, trace = _method(np.diagonal), _method(np.trace)
    dot = _method(np.dot)
    max, min = _method(np.max), _method(np.min)
    mean, std, var = _method(np.mean), _method(np.std), _method(np.var)
    prod, sum = _method(np.prod), _method(np.sum)
    ravel, round = _method(np.ravel), _method(np.round)
    repeat, take = _method(np.repeat), _method(np.take)
    squeeze, swapaxes = _method(np.squeeze), _method(np.swapaxes)

    def copy(self, order: str = "C") -> Self:
        return self  # a number does not change

    def conj(self) -> Any:
        return call(np.conjugate, (self,), {}) if np.iscomplexobj(value(self)) else self

    conjugate = conj

    def setflags(self, *args: object, **flags: object) -> None:
        """Do nothing: nobody else sees the memory of a traced value."""

    def tolist(self) -> Any:
        return self.item()

    def compress(self, condition: object, axis: int | None = None) -> Any:
        return call(np.compress, (condition, self), {"axis": axis})

    def astype(self, dtype: DTypeLike, *args: object, **options: object) -> Any:
        options.update(zip(("order", "casting", "subok", "copy"), args, strict=False))
        return convert(self, dtype, options)

    def flatten(self, order: str = "C") -> Any:
        return call(np.copy, (call(np.ravel, (self, order), {}),), {})

    def reshape(self, *shape: int | tuple[int, ...], **options: object) -> Any:
        given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return _call(np.reshape, self, (given,), options)

    def transpose(self, *axes: object) -> Any:
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return _call(np.transpose, self, (), {} if order is None else {"axes": order})

    # ---- text ----

    # The word keeps float(...) from reading the text as a number that has no derivative.

    def __str__(self) -> str:
        return f"traced({value(self)})"

    __repr__ = __str__

    def __format__(self, specification: str) -> str:
        return f"traced({format(value(self), specification)})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict) -> Self:
        return self


# Python's operators on two operands, by their names in ``operator``, and the ufuncs with the rules.
OPERATORS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "matmul": np.matmul,
    "and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor,
    "lshift": np.left_shift, "rshift": np.right_shift,
}  # fmt: skip
for _name, _ufunc in OPERATORS.items():
    _word, _operation = _name.strip("_"), getattr(operator, _name)
    setattr(TracedNumber, f"__{_word}__", binary_operator(_ufunc, _operation))
    setattr(TracedNumber, f"__r{_word}__", _reflected(_ufunc, _operation))
# NumPy computes on an object array by calling, on each entry, the method of the ufunc's name.
for _ufunc in (
    np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh,
    np.arccosh, np.arctanh, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt,
    np.cbrt, np.square, np.reciprocal, np.fabs, np.deg2rad, np.rad2deg, np.degrees, np.radians,
    np.sign,
):  # fmt: skip
    setattr(TracedNumber, _ufunc.__name__, _unary(_ufunc, _ufunc))
for _pair in (np.hypot, np.arctan2, np.logaddexp, np.logaddexp2, np.copysign, np.fmod):
    setattr(TracedNumber, _pair.__name__, binary_operator(_pair, _pair))
if numbers is not None:
    _ufuncs = {f"__{_name.strip('_')}__": _ufunc for _name, _ufunc in OPERATORS.items()}
    _unaries = {"__neg__": np.negative, "__pos__": np.positive, "__abs__": np.absolute}
    numbers.accelerate_numbers(TracedNumber, _ufuncs | _unaries)
