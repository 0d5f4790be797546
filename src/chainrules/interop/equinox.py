"""Equinox's modules, whose derivatives are modules: what JAX and optax know as a pytree.

``cr.grad(loss)(model)`` is a model of the same class, as ``equinox.filter_grad`` gives it: None
stands where there is no number to differentiate, and static fields stay. Equinox is not imported
here: who has one of its modules has imported it.
"""

from typing import Any

from ..rules.annotations import Tangentlike, Value
from ..rules.containers import children, constants
from ..rules.known_classes import Form
from ..rules.tangents.filled import zero_tangent
from ..rules.tangents.zeros import NO_TANGENT, ZERO, AbstractZero


def _derivative(x: Any, keys: tuple, values: list) -> Any:
    """Return the derivative of a module, of those of its parts."""
    parts = children(x)
    assert parts is not None
    found = [
        None if v is NO_TANGENT else zero_tangent(part) if isinstance(v, AbstractZero) else v
        for part, v in zip(parts.values, values, strict=True)
    ]
    y = parts.rebuild(found)
    for name in constants(x):
        if not type(x).__dataclass_fields__[name].metadata.get("static"):
            object.__setattr__(y, name, None)  # a count, which optax is not to add to
    return y


def _fitting(x: Value, t: Tangentlike) -> dict:
    """Return the parts of ``t``, a tangent of the module ``x`` that is one, too."""
    parts = children(x)
    assert parts is not None
    held = {key: getattr(t, key) for key in parts.keys}
    return {key: ZERO if part is None else part for key, part in held.items()}


MODULES = Form(_derivative, _fitting)
