"""Accelerator: the extension module with the operators of traced numbers in C, where it was built.

``numbers`` is None where it was not, or where the environment says ``CHAINRULES_ACCELERATED=0``:
then the engines' own methods answer, to the same bits. See docs/accelerator.md.
"""

import os
from pathlib import Path
from typing import Any

from ...config import memory
from .digest import digest_of


def _built() -> Any:
    """Return the extension module, if it is there, and was made from the sources that are there."""
    if os.environ.get("CHAINRULES_ACCELERATED", "1") == "0":
        return None
    try:
        from . import _numbers  # type: ignore[attr-defined]
    except ImportError:  # it is made when the package is built, if there is a compiler
        return None
    room = Path(__file__).parent
    # In a checkout the sources may be newer; a wheel has those that it was made from.
    return _numbers if digest_of(room) in ("", _numbers.digest) else None


numbers = _built()
if numbers is not None:
    memory.pool = numbers
