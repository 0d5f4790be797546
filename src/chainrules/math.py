"""Python's module math, with functions that see traced numbers.

Examples
--------
>>> import chainrules as cr
>>> from chainrules import math
>>> cr.grad(lambda x: math.exp(x) * math.hypot(x, 4.0))(0.0)
4.0
"""

import math as _math

from .rules import seen as _seen

for _name in dir(_math):
    if not _name.startswith("_"):
        _part = getattr(_math, _name)
        globals()[_name] = _seen(_part) if callable(_part) else _part


def fsum(seq):
    """As ``math.fsum``; a generator is looked through, too."""
    return _seen(_math.fsum)(list(seq))


__all__ = [_name for _name in dir(_math) if not _name.startswith("_")]
