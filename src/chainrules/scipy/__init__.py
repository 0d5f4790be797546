"""SciPy, with functions that see traced values: SciPy's own names, signatures and numbers.

``from chainrules.scipy import linalg`` is ``scipy.linalg``, but for its functions: where an
argument is traced, their rules answer, as those of NumPy's functions do. SciPy is loaded with the
first of its modules that is asked for.

Examples
--------
>>> import numpy as np
>>> import chainrules as cr
>>> from chainrules.scipy import linalg
>>> a = np.array([[2.0, 0.0], [1.0, 4.0]])
>>> cr.grad(lambda a: np.sum(linalg.solve(a, np.ones(2))))(a).round(4)
array([[-0.1875, -0.0469],
       [-0.125 , -0.0312]])
"""

import importlib as _importlib
from types import ModuleType as _ModuleType
from typing import Any

from ..rules.refusals.remedies import FAMILIES as FOLLOWED  # the modules whose functions have rules

__all__ = [name for name in FOLLOWED if "." not in name]


def rules_of(name: str) -> _ModuleType:
    """Return the module with the rules of ``scipy.<name>``."""
    _importlib.import_module(f".{name}", __package__)
    return _importlib.import_module(f"..rules.rulesets.scipy.{name}", __package__)


__name__ = "scipy"  # to all who ask


def __getattr__(name: str) -> Any:
    if name in FOLLOWED:
        return _importlib.import_module(f".{name}", __package__)
    if name.startswith("__") and name != "__version__":
        raise AttributeError(name)
    try:
        found: Any = _importlib.import_module(f"scipy.{name}")
    except ImportError:
        found = getattr(_importlib.import_module("scipy"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return dir(_importlib.import_module("scipy"))
