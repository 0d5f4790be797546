"""Rules for scipy.special, loaded when the first function of it is asked for."""

import importlib
import sys
from contextlib import suppress
from typing import Any

import numpy as np

from ... import late_rulesets


def load_scipy_special(f: Any) -> bool:
    """Load the rules of scipy.special's ufuncs, once somebody has imported it."""
    if not isinstance(f, np.ufunc) or "scipy.special" not in sys.modules:
        return False
    # Threads that ask meanwhile wait. The one that loads them asks as well, and does not.
    ufuncs = importlib.import_module(".ufuncs", __name__)
    if getattr(ufuncs.__spec__, "_initializing", False):
        return False
    with suppress(ValueError):  # another thread has done so
        late_rulesets.remove(load_scipy_special)
    return True


late_rulesets.append(load_scipy_special)
