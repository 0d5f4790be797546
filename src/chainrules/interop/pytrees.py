"""Classes that JAX knows as pytrees, whose derivatives are of the class: what optax takes.

``cr.grad(loss)(model)`` of an equinox module, a flax dataclass, or a class that is registered with
``jax.tree_util`` is an object of the same class: None stands where there is no number to
differentiate, and what JAX takes for constant stays.
"""

from typing import Any

from jax.tree_util import GetAttrKey, default_registry

from ..rules.annotations import Tangentlike, Value
from ..rules.containers import children, constants
from ..rules.known_classes import Form
from ..rules.shapes import dtype_of
from ..rules.tangents.filled import zero_tangent
from ..rules.tangents.zeros import NO_TANGENT, ZERO, AbstractZero


def form_of_pytree(cls: type) -> Form | None:
    """Return the form of derivatives of a class that JAX knows; None of any other."""
    known = default_registry.is_node(cls) and not issubclass(cls, tuple | list | dict)
    return PYTREES if known else None


def _moving(x: Any) -> set[str]:
    """Return the names of the fields of ``x`` that JAX takes for its children."""
    flattened = default_registry.flatten_one_level_with_keys(x)
    assert flattened is not None
    names, others = set(), set()
    for key, child in flattened[0]:
        if isinstance(key, GetAttrKey):
            names.add(key.name)
        else:
            others.add(id(child))
    return names | {name for name, part in vars(x).items() if id(part) in others}


def _derivative(x: Any, keys: tuple, values: list) -> Any:
    """Return the derivative of a pytree, of those of its parts."""
    parts = children(x)
    assert parts is not None
    fixed = constants(x)
    moving = _moving(x) if fixed or any(v is NO_TANGENT for v in values) else set()
    found = []
    for key, part, v in zip(keys, parts.values, values, strict=True):
        if v is NO_TANGENT:
            found.append(None if key in moving else part)
        else:
            found.append(zero_tangent(part) if isinstance(v, AbstractZero) else v)
    y = parts.rebuild(found)
    for name in moving.intersection(fixed):
        object.__setattr__(y, name, None)  # a count, which optax is not to add to
    return y


def _fitting(x: Value, t: Tangentlike) -> dict:
    """Return the parts of ``t``, a tangent of the pytree ``x`` that is one, too."""
    parts = children(x)
    assert parts is not None
    held = {key: getattr(t, key) for key in parts.keys}
    return {key: part if _is_tangent(part) else ZERO for key, part in held.items()}


def _is_tangent(part: Any) -> bool:
    return (
        dtype_of(part) is not None or children(part) is not None or isinstance(part, AbstractZero)
    )


PYTREES = Form(_derivative, _fitting)
