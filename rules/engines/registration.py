"""Registration of containers: ``register_container`` makes pytrees of classes of others."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ...config import ContainerError
from ..annotations import Value
from ..containers import LEAVES, Children, registered
from ..known_classes import Shell
from ..refusals.table import refusal
from ..tracing.level import innermost


def register_container(
    cls: type, parts: Callable[[Any], Mapping[str, Any]], rebuild: Callable[[Any, dict], Any]
) -> None:
    """Register ``cls`` as a container: derivatives are taken in the parts of its instances.

    Objects with fields are containers as they are. Register classes whose numbers are found
    by other ways, or which copying does not build anew: of libraries, or written in C.

    Parameters
    ----------
    cls : type
        The class itself, not those derived from it.
    parts : callable
        ``parts(x)`` is a dict from names to the numbers, arrays and containers in ``x``. The names
        are the same for what ``rebuild`` returns.
    rebuild : callable
        ``rebuild(x, values)`` is a new one like ``x`` with these parts, by name, put in as they
        are: they may be traced, or tangents. It must not compute with them.

    Raises
    ------
    TypeError
        If ``cls`` is no class, or is one of numbers, arrays or functions.
    LostDerivativeError
        Where ``rebuild`` is called: if the result has other parts than it was given, or if
        it computed with traced ones.

    Notes
    -----
    A derivative of ``x`` is a ``Tangent`` with the names of the parts, and ``x - 0.1 * gradient``
    is built by ``rebuild``. A class without parts is a constant, whatever lies in its fields:
    ``cr.register_container(Settings, lambda x: {}, lambda x, values: x)``.

    Examples
    --------
    >>> import types
    >>> import chainrules as cr
    >>> class Locked:  # does not say what it holds
    ...     __slots__ = ("__held",)
    ...     def __init__(self, x): self.__held = x
    ...     def open(self): return self.__held
    >>> cr.register_container(Locked, lambda x: {"held": x.open()}, lambda x, v: Locked(v["held"]))
    >>> cr.grad(lambda x: x.open() ** 2)(Locked(3.0))
    Tangent(Locked, held=6.0)
    """
    if not isinstance(cls, type):
        raise ContainerError(f"register_container takes a class, not {type(cls).__name__}.")
    if cls in LEAVES:
        raise ContainerError(
            f"{cls.__name__} is a number, an array or a function to chainrules, and no container.\n"
            "  register a class of your own that holds one"
        )

    registered[cls] = children_by(parts, partial(_checked, parts, rebuild))


def children_by(parts: Callable, rebuild: Callable) -> Callable[[Any], Children]:
    """Return what tells the children of a container, from what names them and what puts them in."""

    def children_of(x: Value) -> Children:
        found = parts(x)
        keys, values = tuple(found), tuple(found.values())

        def rebuilt(made: list) -> Any:
            if all(v is None for v in made) and any(v is not None for v in values):
                return Shell(type(x), keys)  # for a projector, which is not to keep x
            # The inputs of a tape are its first entries: what rebuild recorded would be taken for
            # some.
            entries = getattr(innermost(made), "entries", ())
            before = len(entries)
            y = rebuild(x, dict(zip(keys, made, strict=True)))
            if len(entries) != before:
                raise refusal("rebuild computes", cls=type(x).__name__)
            return y

        return Children(keys, values, rebuilt)

    return children_of


def _checked(parts: Callable, rebuild: Callable, x: Value, values: dict) -> Any:
    """Return what ``rebuild`` gives, if it put the parts in as they are."""
    y = rebuild(x, dict(values))
    found = parts(y)
    for name, value in values.items():
        if name not in found or found[name] is not value:
            raise refusal("rebuild replaces", cls=type(x).__name__, name=name)
    return y
