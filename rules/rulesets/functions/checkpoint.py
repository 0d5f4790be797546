"""Trading time for memory: reverse mode evaluates a function twice and keeps nothing inside.

The derivative is that of the second evaluation, so this one must be a repetition of the first.
It is given the same arguments, and what it reads besides is compared, as is its value.
"""

import functools
import hashlib
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ....config import (
    HasForwardsMode,
    HasReverseMode,
    MutationError,
    frule_via_ad,
    rrule_via_ad,
    user_line,
    value_via_ad,
)
from ....config.tracebacks import door
from ... import (
    NoTangent,
    Traced,
    children,
    frule,
    iterate_leaves,
    name_of,
    primitive,
    rrule,
    value,
)
from ...signatures import content_of
from .closures import Lifted, lifted
from .sequences import copied, held, released, released_call


def checkpoint(f: Callable) -> Callable:
    """Return ``f`` as a function of which reverse mode keeps nothing but the arguments.

    The pullback evaluates ``f`` again. A derivative then takes one more evaluation of ``f``, and
    the memory for what happens inside is needed for one checkpoint at a time. Traced values that
    ``f`` captures count as arguments: those in variables of functions around it, in defaults,
    partials, bound methods, and in containers there. (What it does with those in global variables
    is recorded as without checkpoint.) Reverse mode over reverse mode records, outside, what the
    pullback does.

    Parameters
    ----------
    f : callable
        Gives the same each time that it is called with the same arguments. Arrays are given to
        it as copies, which it may write into.

    Returns
    -------
    callable
        With the signature of ``f``.

    Raises
    ------
    MutationError
        By the pullback: if the second evaluation gives another value, as with random numbers, or
        if a plain array or a number that ``f`` captures has been changed since the first. By the
        first one: if ``f`` writes to a traced value that it captures, or to what holds one.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> layer = cr.checkpoint(lambda w, x: np.tanh(w * x))
    >>> float(cr.grad(lambda w: layer(w, layer(w, 1.0)))(0.0))
    0.0
    >>> loss = lambda w: cr.checkpoint(lambda x: np.sin(w * x))(2.0)  # w is captured
    >>> float(cr.grad(loss)(0.0))
    2.0
    """

    @functools.wraps(f)
    @door
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        return evaluate(lifted(f), *held((args, kwargs)))

    return checkpointed


@primitive
def evaluate(f: Callable, args: tuple, kwargs: dict) -> Any:
    args, kwargs = copied(released((args, kwargs)))
    return f(*args, **kwargs)


@primitive
def repeat(f: Callable, args: tuple, kwargs: dict) -> Any:
    """Do what ``evaluate`` does for a function of the user's function, the first of ``args``.

    That this one captures the same as before is for the caller to see.
    """
    args, kwargs = copied(released((args, kwargs)))
    return f(*args, **kwargs)


@frule.register(evaluate)
@frule.register(repeat)
def evaluate_frule(config: HasForwardsMode, tangents, evaluate, f, args, kwargs):
    return frule_via_ad(config, (NoTangent(), *tangents[1:]), released_call, f, args, kwargs)


@rrule.register(evaluate)
def evaluate_rrule(config: HasReverseMode, evaluate, f, args, kwargs):
    unchanged = Unchanged(f)
    y, pullback = record_again(config, f, args, kwargs, f)

    def evaluate_pullback(ybar):
        unchanged.check()
        return pullback(ybar)

    return y, evaluate_pullback


@rrule.register(repeat)
def repeat_rrule(config: HasReverseMode, repeat, f, args, kwargs):
    return record_again(config, f, args, kwargs, args[0])


def record_again(
    config: Any, f: Callable, args: tuple, kwargs: dict, users: Any
) -> tuple[Any, Callable]:
    """Keep the arguments only, and evaluate again in the pullback, which must repeat the value."""
    line = user_line()
    y = value_via_ad(config, released_call, f, *copied((args, kwargs)))
    expected = digest_of_value(y)

    def pull_again(ybar: Any) -> tuple:
        again, pullback = rrule_via_ad(config, released_call, f, *copied((args, kwargs)))
        if digest_of_value(again) != expected:
            raise MutationError(
                f"{name_of(function_of(users))}, evaluated in {line} by cr.checkpoint or in "
                "segments of a loop, gave another value when it was evaluated again for its "
                f"derivative.\n  {REMEDY}"
            )
        return pullback(ybar)

    return y, pull_again


class Unchanged:
    """The plain arrays and numbers that ``f`` captures, as they are now."""

    __slots__ = ("arrays", "before", "f", "line")

    def __init__(self, f: Any) -> None:
        variables, self.arrays = captured(f)
        self.f, self.line = f, user_line()
        self.before = digest(variables), digest(self.arrays)

    def check(self) -> None:
        """Raise ``MutationError`` where one of them is not what it was."""
        if (digest(captured(self.f)[0]), digest(self.arrays)) != self.before:
            raise MutationError(
                f"an array or a number that {name_of(function_of(self.f))} captures has been "
                f"changed since it was evaluated in {self.line}, by cr.checkpoint or in segments "
                f"of a loop.\n  {REMEDY}"
            )


def function_of(f: Any) -> Any:
    return f.f if isinstance(f, Lifted) else f


REMEDY = (
    "did it draw a random number, count its calls, or read what was written to meanwhile?\n"
    "  draw before, and pass to it as an argument whatever may change; or record all steps of a "
    "loop: segment=len(xs)"
)


def captured(f: Any) -> tuple[list, list]:
    """Return the numbers and arrays in variables that ``f`` reads, and the arrays in objects there.

    A number in an object or in a list may well count or log what is done, which is nothing to
    ``f``, and what is added to a list is no change of what was in it. A variable of a closure that
    is lifted is for a second evaluation what it was for the first: of these only arrays count.
    """
    variables: list = []
    arrays: list = []
    # What is lifted is an argument, whatever becomes of the variable.
    kept = isinstance(f, Lifted)
    lifted_out = {id(x) for x in f.originals} if kept else set()
    seen = set(lifted_out)
    waiting = [function_of(f)]
    while waiting:
        x = waiting.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, functools.partial):
            waiting += [x.func, x.args, x.keywords]
        elif isinstance(x, types.MethodType):
            waiting += [x.__func__, x.__self__]
        elif isinstance(x, types.FunctionType):
            cells = [content_of(cell) for cell in x.__closure__ or ()]
            waiting += cells if kept else ()
            for variable in (*(() if kept else cells), *variables_of(x)):
                is_number = isinstance(variable, NUMBERS) and id(variable) not in lifted_out
                (variables if is_number else waiting).append(variable)
        elif isinstance(x, ARRAYS):
            arrays.append(x)
        else:
            parts = children(x)
            waiting += () if parts is None else parts.values
    return variables, arrays


ARRAYS = (np.ndarray, Traced)
NUMBERS = (*ARRAYS, np.generic, float, int, complex)


def variables_of(f: types.FunctionType) -> Iterator[Any]:
    """Yield the values of defaults and of global variables that ``f`` reads.

    Functions of other modules are left out: those of libraries read nothing that changes.
    """
    yield from f.__defaults__ or ()
    yield from (f.__kwdefaults__ or {}).values()
    codes = [f.__code__]
    for code in codes:
        for name in code.co_names:
            variable = f.__globals__.get(name)
            if getattr(variable, "__globals__", f.__globals__) is f.__globals__:
                yield variable
        codes += [part for part in code.co_consts if isinstance(part, types.CodeType)]


def digest(x: Any) -> list:
    """Return what differs where the bits of the numbers in ``x`` differ, at any level."""
    return [_digest(part) for part in iterate_leaves(x)]


def digest_of_value(y: Any) -> list:
    """Return what differs where the bits of the numbers in ``y`` do, wherever they come from."""
    return [
        _digest(x.peek() if isinstance(x, Traced) and x.records else x)
        for x in iterate_leaves(value(y))
    ]


def _digest(x: Any) -> Any:
    if isinstance(x, Traced):
        # Where it stands in the record of its level, and its tangent, belong to its version.
        names = [name for cls in type(x).__mro__ for name in getattr(cls, "__slots__", ())]
        # To read the primal of what is recorded is to look at its number.
        unread = ("primal",) if x.records else ()
        parts = [getattr(x, name, None) for name in dict.fromkeys(names) if name not in unread]
        return [_digest(part) for part in parts if isinstance(part, Traced | np.ndarray | int)]
    if not isinstance(x, np.ndarray | np.generic | float | int | complex):
        return None
    array = np.asarray(x)
    if array.dtype.hasobject:
        return None
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return array.dtype.str, array.shape, hashlib.blake2b(flat.data).digest()
