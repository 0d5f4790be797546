"""RuleConfig and its traits: what an engine tells the rules about itself.

``def map_rrule(config: HasReverseMode, map, f, xs)`` answers an engine with that trait alone, and
calls back into it by ``rrule_via_ad(config, f, x)``, which asks ``config.rrule_via_ad(f, x)``.

A trait is a class that a config inherits. A rule asks for one by annotating its first
parameter, and is found only by a config that has it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVarTuple

from .errors import RuleError

__all__ = [
    "AllOf", "AsksForBlocks", "FollowsPython", "HasBatchMode", "HasForwardsMode",
    "HasReverseMode", "NoForwardsMode", "NoReverseMode", "RuleConfig", "StrongZeros",
    "batch_via_ad", "frule_via_ad", "rrule_via_ad",
]  # fmt: skip


class RuleConfig:
    """Base class of an engine's configuration; subclass it together with traits.

    Examples
    --------
    >>> import chainrules as cr
    >>> class OnlyForwards(cr.RuleConfig, cr.HasForwardsMode, cr.NoReverseMode):
    ...     def frule_via_ad(self, tangents, f, *args, **kwargs):
    ...         return cr.frule(self, tangents, f, *args, **kwargs)
    >>> y, ydot = cr.frule_via_ad(OnlyForwards(), (cr.NoTangent(), 1.0), np.sin, 0.0)
    >>> float(y), float(ydot)
    (0.0, 1.0)
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Refuse what contradicts itself, and what promises a mode that it does not have.

        Raises
        ------
        RuleError
        """
        super().__init_subclass__()
        for has, has_not, method in (
            (HasForwardsMode, NoForwardsMode, "frule_via_ad"),
            (HasReverseMode, NoReverseMode, "rrule_via_ad"),
            (HasBatchMode, None, "batch_via_ad"),
        ):
            if has_not is not None and issubclass(cls, has) and issubclass(cls, has_not):
                raise RuleError(
                    f"{cls.__name__} has {has.__name__} and {has_not.__name__}, which contradict "
                    "each other.\n  inherit one of them"
                )
            if issubclass(cls, has) and not hasattr(cls, method):
                other = "" if has_not is None else f", or inherit {has_not.__name__}"
                raise RuleError(
                    f"{cls.__name__} has {has.__name__} and does not implement {method}.\n"
                    f"  define it in the class{other}"
                )

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class HasForwardsMode:
    """The engine implements ``frule_via_ad``.

    Examples
    --------
    >>> import chainrules as cr
    >>> twice = cr.primitive(lambda f, x: f(f(x)))
    >>> @cr.frule.register(twice)
    ... def twice_frule(config: cr.HasForwardsMode, tangents, twice, f, x):
    ...     y, ydot = cr.frule_via_ad(config, tangents[1:], f, x)
    ...     return cr.frule_via_ad(config, (tangents[1], ydot), f, y)
    >>> cr.jvp(lambda x: twice(lambda y: y**2, x), (2.0,), (1.0,))
    (16.0, 32.0)
    """

    __slots__ = ()


class NoForwardsMode:
    """The engine has no forward mode.

    Examples
    --------
    >>> import chainrules as cr
    >>> class OnlyBack(cr.RuleConfig, cr.NoForwardsMode, cr.HasReverseMode):
    ...     def rrule_via_ad(self, f, *args, **kwargs):
    ...         return cr.rrule(self, f, *args, **kwargs)
    >>> isinstance(OnlyBack(), cr.HasForwardsMode)
    False
    """

    __slots__ = ()


class HasReverseMode:
    """The engine implements ``rrule_via_ad``.

    Examples
    --------
    >>> import chainrules as cr
    >>> half = cr.primitive(lambda f, x: f(x) / 2)
    >>> @cr.rrule.register(half)
    ... def half_rrule(config: cr.HasReverseMode, half, f, x):
    ...     y, pullback = cr.rrule_via_ad(config, f, x)
    ...     return y / 2, lambda ybar: (cr.NoTangent(), *pullback(ybar / 2))
    >>> cr.grad(lambda x: half(lambda y: y**2, x))(3.0)
    3.0
    """

    __slots__ = ()


class NoReverseMode:
    """The engine has no reverse mode.

    Examples
    --------
    >>> import chainrules as cr
    >>> isinstance(cr.ForwardConfig(), cr.NoReverseMode)
    True
    """

    __slots__ = ()


class HasBatchMode:
    """The engine implements ``batch_via_ad``.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> twice = cr.primitive(lambda f, x: f(f(x)))
    >>> @cr.batch_rule.register(twice)
    ... def twice_batch(config: cr.HasBatchMode, axis_size, batched, twice, f, x):
    ...     y, moves = cr.batch_via_ad(config, axis_size, batched[1:], f, x)
    ...     return cr.batch_via_ad(config, axis_size, (moves,), f, y)
    >>> cr.vmap(lambda x: twice(lambda y: y**2, x))(np.array([1.0, 2.0]))
    array([ 1., 16.])
    """

    __slots__ = ()


class AsksForBlocks:
    """The engine pushes or pulls many directions at once: a Jacobian, formed once, pays.

    A rule that asks for this trait is found only where that is so.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> def cube(x):
    ...     return x**3
    >>> cube = cr.primitive(cube)
    >>> @cr.frule.register(cube)
    ... def cube_frule(config: cr.AsksForBlocks, tangents, cube, x):
    ...     _, xdot = tangents
    ...     return cube(x), np.diag(3 * x**2) @ xdot
    >>> cr.jacfwd(cube)(np.array([1.0, 2.0]))
    array([[ 3.,  0.],
           [ 0., 12.]])
    """

    __slots__ = ()


class StrongZeros:
    """The engine takes 0 times an infinite or undefined slope for 0.

    Transforms with ``zero="strong"`` have it. A rule by hand that is to obey it asks for it.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> class Strong(cr.ReverseConfig, cr.StrongZeros):
    ...     pass
    >>> f = lambda x: x / (1 + np.sqrt(x**2))
    >>> with np.errstate(divide="ignore"):
    ...     float(cr.grad(f, config=Strong())(0.0)), float(cr.grad(f, zero="strong")(0.0))
    (1.0, 1.0)
    """

    __slots__ = ()


class FollowsPython:
    """The engine calls back by running a Python function on traced values.

    A rule that asks for this trait may hand it a loop whole, rather than every step of it.

    Examples
    --------
    >>> import chainrules as cr
    >>> isinstance(cr.ReverseConfig(), cr.FollowsPython)
    True
    """

    __slots__ = ()


class _AllOf(type):
    """Metaclass of ``AllOf[A, B]``: a config belongs to it when it has every trait."""

    traits: tuple[type, ...] = ()

    def __getitem__(cls, traits: object) -> type:
        traits = traits if isinstance(traits, tuple) else (traits,)
        name = f"AllOf[{', '.join(trait.__name__ for trait in traits)}]"
        # A real subclass of its traits, so that dispatch knows it as more specific than each.
        return _AllOf(name, traits, {"traits": traits})

    def __subclasscheck__(cls, subclass: type) -> bool:
        return all(issubclass(subclass, trait) for trait in cls.traits)

    def __instancecheck__(cls, instance: object) -> bool:
        return issubclass(type(instance), cls)


if TYPE_CHECKING:
    _Traits = TypeVarTuple("_Traits")

    class AllOf(Generic[*_Traits]):
        """Stub of the class below, for type checkers."""

else:

    class AllOf(metaclass=_AllOf):
        """``config: AllOf[HasForwardsMode, HasReverseMode]`` asks for several traits at once.

        Examples
        --------
        >>> import chainrules as cr
        >>> both = cr.AllOf[cr.HasForwardsMode, cr.HasReverseMode]
        >>> isinstance(cr.ReverseConfig(), both), isinstance(cr.ForwardConfig(), both)
        (True, False)
        """


def frule_via_ad(
    config: object, tangents: tuple, f: Callable[..., Any], *args: object, **kwargs: object
) -> tuple:
    """Push ``tangents`` through ``f`` with the engine behind ``config``.

    Parameters
    ----------
    config : RuleConfig
        The config that the calling rule was handed; it must have ``HasForwardsMode``.
    tangents : tuple
        One for ``f`` itself (``NoTangent()`` for a plain function), then one per argument.
    f : callable
    *args, **kwargs
        The point.

    Returns
    -------
    y, ydot
        The value and its tangent.

    Raises
    ------
    RuleError
        If the engine has no forward mode.

    Examples
    --------
    >>> import chainrules as cr
    >>> y, ydot = cr.frule_via_ad(cr.ForwardConfig(), (cr.NoTangent(), 1.0), lambda x: x * x, 3.0)
    >>> float(y), float(ydot)
    (9.0, 6.0)
    """
    return _engine_of(config, "frule_via_ad", HasForwardsMode)(tangents, f, *args, **kwargs)


def rrule_via_ad(config: object, f: Callable[..., Any], *args: object, **kwargs: object) -> tuple:
    """Evaluate ``f`` and return its pullback, with the engine behind ``config``.

    Parameters
    ----------
    config : RuleConfig
        The config that the calling rule was handed; it must have ``HasReverseMode``.
    f : callable
    *args, **kwargs
        The point.

    Returns
    -------
    y, pullback
        The value, and a function from a cotangent of ``y`` to ``(fbar, *argbars)``.

    Raises
    ------
    RuleError
        If the engine has no reverse mode.

    Examples
    --------
    >>> import chainrules as cr
    >>> y, pullback = cr.rrule_via_ad(cr.ReverseConfig(), lambda x: x * x, 3.0)
    >>> pullback(1.0)
    (NoTangent(), 6.0)
    """
    return _engine_of(config, "rrule_via_ad", HasReverseMode)(f, *args, **kwargs)


def batch_via_ad(
    config: object, axis_size: int, batched: tuple, f: Callable[..., Any], *args: object
) -> tuple:
    """Run ``f`` on a batch of arguments with the engine behind ``config``.

    Parameters
    ----------
    config : RuleConfig
        The config that the calling rule was handed; it must have ``HasBatchMode``.
    axis_size : int
        Number of items.
    batched : tuple
        A bool for each argument, or a container of these: whether it has the items along its first
        axis. What is not batched is the same for all.
    f : callable
        A function of one item.
    *args
        The arguments.

    Returns
    -------
    y, batched
        The result, with the items along the first axis, and whether it has such an axis: a bool, or
        a container of these.

    Raises
    ------
    RuleError
        If the engine has no batches.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> from chainrules.batching.batch import BatchConfig
    >>> cr.batch_via_ad(BatchConfig(), 2, (True, False), np.multiply, np.array([1.0, 2.0]), 3.0)
    (array([3., 6.]), True)
    """
    return _engine_of(config, "batch_via_ad", HasBatchMode)(axis_size, batched, f, *args)


def value_via_ad(config: object, f: Callable[..., Any], *args: object, **kwargs: object) -> Any:
    """Evaluate ``f`` as the engine behind ``config`` evaluates it, and record nothing.

    For rules that evaluate a function of the user's aside, and once more for its derivative. What
    the function leaves behind meanwhile, in a list or a variable, is of a run that has ended: who
    reads it gets an error, and not a number that has lost its derivative in silence. (An engine
    that does not implement it evaluates ``f`` as it is.)

    Parameters
    ----------
    config : RuleConfig
        The config that the calling rule was handed.
    f : callable
    *args, **kwargs
        The point.

    Returns
    -------
    Any
        The value.

    Examples
    --------
    >>> import chainrules as cr
    >>> from chainrules.config import value_via_ad
    >>> left = []
    >>> value_via_ad(cr.ReverseConfig(), lambda x: left.append(x) or x * x, 3.0)
    9.0
    >>> left[0] + 1
    Traceback (most recent call last):
    ...
    chainrules.config.errors.EscapedTraceError: a traced value was used in ...
    """
    via_ad = getattr(config, "value_via_ad", None)
    return f(*args, **kwargs) if via_ad is None else via_ad(f, *args, **kwargs)


def _engine_of(config: object, method: str, trait: type) -> Callable[..., Any]:
    """Return the method of ``config`` by which its engine is called, or refuse another config."""
    via_ad = getattr(config, method, None)
    if via_ad is not None:
        return via_ad
    if not isinstance(config, RuleConfig):
        raise RuleError(f"{method} needs a RuleConfig, and got {type(config).__name__}.")
    raise RuleError(
        f"{config!r} has no {method}.\n"
        f"  ask for the trait in the rule (config: {trait.__name__}), so that it is not chosen here"
    )
