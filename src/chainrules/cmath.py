"""Python's module cmath, with functions that see traced numbers.

Examples
--------
>>> import chainrules as cr
>>> from chainrules import cmath
>>> cr.grad(lambda t: cmath.exp(1j * t).imag)(0.0)
1.0
"""

import cmath as _cmath

from .rules import seen as _seen

for _name in dir(_cmath):
    if not _name.startswith("_"):
        _part = getattr(_cmath, _name)
        globals()[_name] = _seen(_part) if callable(_part) else _part
__all__ = [_name for _name in dir(_cmath) if not _name.startswith("_")]
