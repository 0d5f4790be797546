"""Objects of SciPy's that a module made before its adoption, as ones of ours with the same state.

Such a face may meet traced values: a spline, a table, a distribution with its parameters, a sparse
matrix. What is done to SciPy's object is done to its face, and the other way.
"""

import sys
from collections.abc import Callable
from types import MethodType
from typing import Any
from weakref import WeakValueDictionary

from ..rules.rulesets.scipy.sparse.seeing import seeing
from ..rules.rulesets.scipy.sparse.systems import constant_factorization as constant_factorization
from ..rules.rulesets.scipy.traced_objects import Interpolates

_faces: WeakValueDictionary[int, Any] = WeakValueDictionary()  # by the id of SciPy's


def face_of(x: Any, ours_of: Callable[[Any], Any]) -> Any:
    """Return the face of an object of SciPy's, or of a bound method; None where there is none.

    ``ours_of`` gives what shows a class or a distribution of SciPy's to traced values.
    """
    if type(x) is MethodType:
        owner = ours_of(x.__self__) or face_of(x.__self__, ours_of)
        return None if owner is None else getattr(owner, x.__name__, None)
    stats = sys.modules.get("scipy.stats")  # which is long in loading
    if stats is not None and isinstance(x, stats.distributions.rv_frozen):
        return _frozen(x, getattr(stats, x.dist.name, None), ours_of)
    known = _faces.get(id(x))
    if known is not None and vars(known) is getattr(x, "__dict__", None):
        return known
    y = seeing(x)
    if y is x:
        y = _of_class(x, ours_of(type(x)))
    elif isinstance(y, dict):
        return None
    else:
        y.__dict__ = vars(x)
    if y is not None:
        _faces[id(x)] = y
    return y


def _frozen(x: Any, dist: Any, ours_of: Callable[[Any], Any]) -> Any:
    ours = ours_of(dist) if type(dist) is type(x.dist) else None
    if ours is None:
        return None
    y = ours(*x.args, **x.kwds)
    y.own = x  # with its random state
    return y


def _of_class(x: Any, ours: Any) -> Any:
    """Return an object of the class ``ours`` that has the attributes of ``x``."""
    if not isinstance(ours, type) or not hasattr(x, "__dict__"):
        return None
    try:
        y: Any = object.__new__(ours)
    except TypeError:  # a part of the object is where only C sees it
        return None
    y.__dict__ = vars(x)
    if issubclass(ours, Interpolates):
        if ours.made_like is None:
            return None
        y.__dict__ = {**vars(x), "_made_of": ours.made_like(x)}
    for name in (name for cls in type(x).__mro__ for name in vars(cls).get("__slots__", ())):
        if hasattr(x, name):
            setattr(y, name, getattr(x, name))
    return y
