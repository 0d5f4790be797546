"""``numpy.testing``, whose checks look at the numbers under traced values."""

import functools
from collections.abc import Callable
from typing import Any

import numpy.testing as _numpys
from numpy.testing import *  # noqa: F403 - all of them

from ..rules import value

__all__ = list(_numpys.__all__)


def _checking(check: Callable) -> Callable:
    """Return a check of NumPy's on plain numbers: it returns nothing, and has no derivative."""

    @functools.wraps(check)
    def checks(*args: Any, **kwargs: Any) -> Any:
        return check(*value(args), **value(kwargs))

    return checks


globals().update(
    {
        name: _checking(getattr(_numpys, name))
        for name in __all__
        # Of those that call a function, its arguments are left as they are.
        if name.startswith("assert_") and "raises" not in name and "warn" not in name
    }
)
__name__ = "numpy.testing"  # to all who ask
