"""Modules of Python's own library, told by name and file from a user's file of that name."""

import sys
import sysconfig

_FOLDERS = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
_known: dict[str, bool] = {}


def is_of_python(package: str) -> bool:
    """Say whether a top-level module is of Python's library: not a user's ``wave.py``.

    Examples
    --------
    >>> is_of_python("statistics"), is_of_python("numpy")
    (True, False)
    """
    known = _known.get(package)
    return _look(package) if known is None else known


def _look(package: str) -> bool:
    if package not in sys.stdlib_module_names or package == "__main__":
        found = False
    elif package not in sys.modules:
        return True  # as nobody has imported another one so far
    else:
        file = getattr(sys.modules[package], "__file__", None)
        found = not isinstance(file, str) or _is_among_pythons(file)
    _known[package] = found
    return found


def _is_among_pythons(file: str) -> bool:
    is_there = file.startswith(_FOLDERS) or ".zip" in file
    return is_there and "site-packages" not in file
