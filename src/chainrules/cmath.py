"""Python's module cmath, with functions that see traced numbers.

Examples
--------
>>> import chainrules as cr
>>> from chainrules import cmath
>>> float(cr.grad(lambda t: cmath.exp(1j * t).imag)(0.0))
1.0
"""

from . import _rulesets
from ._mirrors import mirror

mirror(__name__, "cmath", _rulesets.functions.math)
