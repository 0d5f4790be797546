"""Rules for scipy.special, loaded when the first function of it is asked for."""

import importlib
import sys
from typing import Any

import numpy as np

from ... import late_rulesets


def load_scipy_special(f: Any) -> bool:
    """Load the rules of scipy.special's ufuncs, once somebody has imported it."""
    if not isinstance(f, np.ufunc) or "scipy.special" not in sys.modules:
        return False
    late_rulesets.remove(load_scipy_special)
    importlib.import_module(".ufuncs", __name__)
    return True


late_rulesets.append(load_scipy_special)
