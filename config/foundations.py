"""Foundations: Python's own library, told by name and file from a user's file, NumPy, and SciPy.

Of their functions and objects nothing is a user's, and nothing changes from call to call.
"""

import sys
import sysconfig

_FOLDERS = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
_known: dict[str, bool] = {}
FOUNDATIONS = frozenset({"numpy", "scipy", "chainrules"})


def is_foundation(module: str) -> bool:
    """Say whether a module is of Python's library, of NumPy or SciPy, or our own.

    Examples
    --------
    >>> is_foundation("numpy.linalg"), is_foundation("statistics"), is_foundation("pandas")
    (True, True, False)
    """
    return module.partition(".")[0] in FOUNDATIONS or is_of_python(module)


def is_of_python(module: str) -> bool:
    """Say whether a module is of Python's library: not a user's ``wave.py``, nor made by hand.

    Examples
    --------
    >>> import statistics
    >>> is_of_python("statistics"), is_of_python("numpy")
    (True, False)
    """
    known = _known.get(module)
    if known is None:
        known = _look(module)
        if module in sys.modules:
            _known[module] = known
    return known


def _look(module: str) -> bool:
    package = module.partition(".")[0]
    if package not in sys.stdlib_module_names or package == "__main__":
        return False
    if package in sys.builtin_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if not isinstance(file, str) or "site-packages" in file:
        return False
    return file.startswith(_FOLDERS) or ".zip" in file
