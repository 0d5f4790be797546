"""Errors and warnings of chainrules; each error is also the builtin that one would catch.

Examples
--------
>>> import chainrules as cr
>>> cr.errors.MissingRuleError is cr.MissingRuleError
True
"""

from .config.errors import *
from .config.errors import __all__


def __dir__() -> list[str]:
    return __all__
