"""Proxy subclasses of SciPy's classes in Python: methods are differentiated by their source."""

import functools
from types import FunctionType

from ... import AbstractStandIn, StandIn, in_a_copy, innermost, refused_by_source


def by_source(cls):
    """Return a stand-in for ``cls``: where something is traced, methods are those of its source."""
    members = {
        name: member
        for base in reversed(cls.__mro__)
        if base.__module__.startswith("scipy.")
        for name, member in ((name, following(base, name)) for name in vars(base))
        if member is not None
    }
    return stand_in(cls, StandIn, members)


class OfItsSource(AbstractStandIn):
    """The metaclass of stand-ins whose objects, and classes that derive from them, are a copy's.

    Bases of the class see traced values as well, and what its methods make.
    """

    def __new__(mcls, name, bases, members):
        copied = [in_a_copy(b.original) if isinstance(b, OfItsSource) else b for b in bases]
        if copied == list(bases):
            return super().__new__(mcls, name, bases, members)
        return type(copied[0])(name, tuple(copied), members)

    def __call__(self, *args, **kwargs):
        return in_a_copy(self.original)(*args, **kwargs)

    def __subclasscheck__(self, other):
        wanted = named(self.original)  # which the class in the copy has as well
        return any(named(base) == wanted for base in other.__mro__)


def named(cls):
    return cls.__module__, cls.__name__


def of_its_source(cls):
    """Return a stand-in for an abstract class, whose objects are of the class in a copy."""
    return stand_in(cls, OfItsSource, {"original": cls})


def stand_in(cls, metaclass, members):
    doc = f"``{cls.__module__}.{cls.__name__}``, which sees traced values."
    about = {"__doc__": doc, "__module__": __name__}
    made = metaclass(cls.__name__, (cls,), {**members, **about})
    globals()[cls.__name__] = made  # where pickle finds it
    return made


def following(base, name):
    """Return the method, property or class method of this name; None of all else."""
    member = vars(base)[name]
    if isinstance(member, FunctionType):
        return method(member, base, lambda: vars(in_a_copy(base))[name])
    if isinstance(member, classmethod):
        made = method(member.__func__, base, lambda: vars(in_a_copy(base))[name].__func__)
        return classmethod(made)
    if isinstance(member, property):
        parts = (part_of_property(member, base, name, which) for which in ("fget", "fset", "fdel"))
        return property(*parts, member.__doc__)
    return None


def part_of_property(member, base, name, which):
    own = getattr(member, which)
    return own and method(own, base, lambda: getattr(vars(in_a_copy(base))[name], which))


def method(own, base, source):
    @functools.wraps(own)
    def follows(self, *args, **kwargs):
        held = () if isinstance(self, type) else tuple(vars(self).values())
        if innermost((held, args, kwargs)) is None:
            return own(self, *args, **kwargs)
        with refused_by_source(f"{base.__name__}.{own.__name__}"):
            return source()(self, *args, **kwargs)

    return follows
