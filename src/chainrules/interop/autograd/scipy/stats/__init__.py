"""As ``autograd.scipy.stats``: ``scipy.stats``, by ``chainrules.scipy.stats``."""

import sys
from types import ModuleType
from typing import Any

from .....scipy import stats as _stats

__all__ = list(_stats.__all__)
globals().update({name: getattr(_stats, name) for name in __all__})
_MODULES = ("beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t")


def __getattr__(name: str) -> Any:
    return getattr(_stats, name)


def _module_of(name: str) -> ModuleType:
    """Return a distribution as a module, for ``import autograd.scipy.stats.norm as norm``."""
    module = ModuleType(f"{__name__}.{name}", f"The distribution {name} of scipy.stats.")
    distribution = getattr(_stats, name)
    vars(module).update(
        {word: getattr(distribution, word) for word in dir(distribution) if word[0] != "_"}
    )
    return module


for _name in _MODULES:
    sys.modules[f"{__name__}.{_name}"] = _module_of(_name)
