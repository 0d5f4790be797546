"""Wrappers of SciPy's classes, such as splines, whose methods accept traced values.

Such a class is SciPy's own with a formula beside it. The numbers are SciPy's, the derivatives those
of the formula.
"""

import functools
import inspect
from typing import Any

import numpy as np

from ....config import MissingRuleError, user_line
from ... import (
    StandIn,
    all_settled,
    array_of,
    astype,
    children,
    dtype_of,
    innermost,
    library_value,
    value,
    with_values,
)

NO_RULE = "no rule yet"  # a reason, in the tables of functions without a derivative


def refuse(what, remedy):
    raise MissingRuleError(f"{what} has no derivative: no rule yet, in {user_line()}.\n  {remedy}")


def as_float(x):
    """``x`` as an array of float64 or complex128, which is what SciPy computes in."""
    x = array_of(x)
    dtype = np.result_type(dtype_of(value(x)), np.float64)
    if innermost((x,)) is None:
        return np.ascontiguousarray(x, dtype).reshape(np.shape(x))
    return x if dtype_of(value(x)) == dtype else astype(x, dtype)


def is_derived(cls):
    """Say whether a user derived the class from a stand-in, and may have changed what it does."""
    return cls.__module__.partition(".")[0] != __name__.partition(".")[0]


def refuse_derived(cls):
    """Refuse traced values that an object of a class derived from a stand-in is to be made of."""
    if is_derived(cls):
        base = next(base for base in cls.__mro__ if base.__module__.startswith("scipy."))
        raise MissingRuleError(
            f"{cls.__name__}, which is derived from {base.__module__}.{base.__name__}, is made of "
            f"a traced value: methods of its own would not be seen, in {user_line()}.\n"
            f"  keep the {base.__name__} in an attribute, and call it from these methods"
        )


def by_position(own, f, args, options):
    """Return ``f`` and ``args`` of a call with its ``kwargs`` (since SciPy 1.18) behind them."""
    if not options.get("kwargs") or "kwargs" not in inspect.signature(own).parameters:
        return f, args
    given, count = options.pop("kwargs"), len(args)

    def of_all(x, *args):
        return f(x, *args[:count], **dict(zip(given, args[count:])))

    return of_all, (*args, *given.values())


class MadeInSteps:
    """SciPy's object of recorded values, ``cls(*args, **kwargs)``: each step makes it anew.

    ``by`` names the method of the class that makes it, if that is not the class itself.
    """

    def __init__(self, cls, by, args, kwargs):
        self.cls, self.made = cls, (cls, by, args, kwargs)


def scipys_object(cls, args, kwargs, by=None):
    """Return SciPy's object of the values outside all transforms."""
    args, kwargs = value(args), value(kwargs)
    if innermost((*args, *kwargs.values())) is not None:
        return MadeInSteps(cls, by, args, kwargs)
    return new_object(cls, by, args, kwargs)


def new_object(cls, by, args, kwargs):
    return (cls if by is None else getattr(cls, by))(*args, **kwargs)


def told_by(own, f, *args):
    """Return ``f(own, *args)``, of plain values: to a recording, one step."""
    if isinstance(own, MadeInSteps):
        return library_value(functools.partial(told_by_new, f), (own.made, args), {})
    return library_value(functools.partial(f, own), args, {})


def told_by_new(f, made, args):
    return f(new_object(*made), *args)


def method_of_new(made, name, args, kwargs):
    """Make SciPy's object, and call its method of this name."""
    return getattr(new_object(*made), name)(*args, **kwargs)


def own_value(own, name, args, kwargs):
    """Return what a method of SciPy's object gives for plain values: to a recording, one step."""
    if not isinstance(own, MadeInSteps):
        return library_value(getattr(own, name), args, kwargs)
    return library_value(method_of_new, (own.made, name, args, kwargs), {})


def valued(method):
    """Decorator: the method below has the value of the method of ``self.own`` of the same name.

    It is handed that value if it has a parameter ``own``.
    """
    name, asks = method.__name__, "own" in inspect.signature(method).parameters

    @functools.wraps(method)
    def with_own_value(self, *args, **kwargs):
        own = own_value(self.own, name, args, kwargs)
        options = {"own": own, **kwargs} if asks else kwargs
        return with_values(method(self, *args, **options), own)

    return with_own_value


def following(*names):
    """Decorator: these methods of a class of SciPy's, or a mixin, see traced arguments.

    Those of the object that ``followed()`` gives, which has rules, then answer in their place.
    """

    def define(cls):
        for name in names:
            setattr(cls, name, following_method(cls, name))
        return cls

    return define


def following_method(cls, name):
    def method(self, *args, **kwargs):
        asked = getattr(self, "is_followed", is_any_traced)
        of = self.followed() if asked(*args, *kwargs.values()) else super(cls, self)
        return getattr(of, name)(*args, **kwargs)

    method.__name__ = name
    return method


def is_any_traced(*args):
    return innermost(args) is not None


class TracedFunction:
    """SciPy's object ``own``, whose values have the derivatives of ``formula``."""

    def __init__(self, own, formula):
        self.own, self.formula = own, formula

    @valued
    def __call__(self, *args, **kwargs):
        return self.formula(*args, **kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        cls = self.own.cls if isinstance(self.own, MadeInSteps) else type(self.own)
        raise MissingRuleError(
            f"{cls.__name__}.{name} has no derivative: no rule yet, in {user_line()}.\n"
            "  write calls of the interpolant itself, at points of yours"
        )


def kept(x):
    """A copy of the arrays in ``x``: whoever made an object of them may write to them later."""
    if isinstance(x, tuple | list):
        return type(x)(map(kept, x))
    return x.copy() if isinstance(x, np.ndarray) else x


def as_array_in(x):
    """The array in a labelled one, which SciPy asks for it; anything else as it is."""
    parts = children(x) if hasattr(type(x), "__array__") else None
    return parts.values[0] if parts is not None and len(parts.values) == 1 else x


@following("__call__")
class Interpolates(metaclass=StandIn):
    """A mixin. ``formula(*args, **kwargs)``, of the constructor, returns a function of points.

    ``traced`` is the object to make where something is traced.
    """

    formula: Any = None
    made_like: Any = None  # what gives the arguments that an object of SciPy's was made of
    traced = TracedFunction

    def __new__(cls, *args, **kwargs):
        if innermost((*args, *kwargs.values())) is None:
            return super().__new__(cls)
        refuse_derived(cls)
        args = tuple(map(as_array_in, args))
        kwargs = {name: as_array_in(x) for name, x in kwargs.items()}
        scipys = next(base for base in cls.__mro__ if base.__module__.startswith("scipy."))
        own = scipys_object(scipys, args, kwargs)
        return cls.traced(own, cls.formula(*args, **kwargs))

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._made_of = kept(args), {name: kept(x) for name, x in kwargs.items()}

    def followed(self):
        args, kwargs = self._made_of
        return type(self).traced(super().__call__, type(self).formula(*args, **kwargs))


class Refuses(metaclass=StandIn):
    """A mixin of classes without a derivative."""

    why = NO_RULE
    remedy = ""

    def __new__(cls, *args, **kwargs):
        cls.refuse(args, kwargs)
        return super().__new__(cls)

    def __call__(self, *args, **kwargs):
        self.refuse(args, kwargs)
        return super().__call__(*args, **kwargs)

    @classmethod
    def refuse(cls, args, kwargs):
        if innermost(all_settled((*args, *kwargs.values()))) is not None:
            raise MissingRuleError(
                f"{cls.__name__} has no derivative: {cls.why}, in {user_line()}.\n"
                f"  write {cls.remedy}"
            )


def refused(cls, why, remedy):
    """Return SciPy's class, whose objects take no traced values, and say so."""
    doc = f"``{cls.__module__}.{cls.__name__}``, which has no derivative."
    names = {"why": why, "remedy": remedy, "__doc__": doc, "__module__": __name__}
    made = StandIn(cls.__name__, (Refuses, cls), names)
    globals()[cls.__name__] = made  # where pickle finds it
    return made
