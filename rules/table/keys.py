"""Keys of the rules, and their storage: in the tables, or on the function itself.

``np.sin`` stays and is a key of the tables; a lambda of the user's has an attribute with its rules.

A function of NumPy or of this library stays, and the tables keep its rules. A Python function of
the user's carries them, since they refer to it: both go when nobody else refers to it.
"""

import types
import warnings

from ...config import RuleNeverAskedWarning
from ..annotations import Function
from ..signatures import name_of
from ..tracing.funnel import is_primitive, is_seen
from .methods import Methods, registrar

_RULESETS = f"{__package__.rpartition('.')[0]}.rulesets"


# Classes of what transforms make: its calls have no rule but one that is registered for it.
transformed: set[type] = set()


class instances:  # noqa: N801 - reads as a word in @rrule.register(instances(Model))
    """The key of rules for calling an instance of ``cls``: a functor.

    They are asked where an instance is itself what is differentiated, and where rules call back,
    as that of ``cr.map`` does. For calls inside a program put the call into a primitive.

    Examples
    --------
    >>> import chainrules as cr
    >>> class Scale:
    ...     def __init__(self, a): self.a = a
    ...     def __call__(self, x): return self.a * x
    >>> @cr.rrule.register(cr.instances(Scale))
    ... def scale_rrule(scale, x):
    ...     def scale_pullback(ybar):
    ...         return cr.Tangent(Scale, a=ybar * x), scale.a * ybar
    ...     return scale(x), scale_pullback
    >>> y, pullback = cr.rrule(Scale(2.0), 3.0)
    >>> pullback(1.0)
    (Tangent(Scale, a=3.0), 2.0)
    """

    __slots__ = ("__name__", "cls")

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.__name__ = f"instances({cls.__name__})"

    def __repr__(self) -> str:
        return self.__name__


def carries_rules(f: Function | instances) -> bool:
    """Say whether the rules of ``f`` belong on ``f``: it is a function that may be gone one day.

    Those of NumPy, of SciPy and of this library stay, and are found faster in the tables.
    """
    if type(f) is not types.FunctionType:
        return False
    package = (f.__module__ or "").partition(".")[0]
    if package in ("numpy", "scipy"):
        return is_primitive(f)  # a wrapper has the module of what it wraps
    return package != __package__.partition(".")[0]


def is_of_others(f: Function | instances) -> bool:
    """Say whether ``f`` belongs to another package than the one that registers a rule for it."""
    home = registrar()[0].partition(".")[0]
    owner = getattr(f.cls if isinstance(f, instances) else f, "__module__", None) or ""
    return home not in (owner.partition(".")[0], __package__.partition(".")[0])


def carried(f: Function | instances) -> dict[str, Methods]:
    """Return the rules that ``f`` carries, by the name of their table."""
    if type(f) is not types.FunctionType:
        return {}
    owner, rules = vars(f).get("__chainrules__", (None, {}))
    return rules if owner is f else {}  # a wrapper has a copy of what is on another function


def why_never_asked(f: Function | instances) -> str:
    """Return what to say of a rule of ``f`` that calls inside a program do not ask, or nothing."""
    if isinstance(f, instances):
        if vars(f.cls).get("__primitive__") is f.cls:
            return ""  # its calls ask the level
        direct = f"an instance of {f.cls.__name__} is itself what is differentiated"
    elif is_seen(f):
        return ""
    else:
        direct = f"{name_of(f)} itself is what is differentiated"
    plain = isinstance(f, types.FunctionType | type)
    remedy = f"decorate {name_of(f)} with" if plain else "put the call into a function with"
    return (
        f"asked only where {direct}, or called back by a rule; its calls inside a program are "
        f"not seen.\n  {remedy} @cr.primitive, and register the rule for that"
    )


def warn_if_never_asked(f: Function | instances) -> None:
    """Warn the line that registers a rule for ``f``, unless it is one of ours."""
    reason = why_never_asked(f)
    home, stacklevel = registrar() if reason else ("", 0)
    if reason and not home.startswith(_RULESETS):
        warnings.warn(f"a rule that is {reason}", RuleNeverAskedWarning, stacklevel=stacklevel)
