"""Python's module math, with functions that see traced numbers.

Examples
--------
>>> import chainrules as cr
>>> from chainrules import math
>>> float(cr.grad(lambda x: math.exp(x) * math.hypot(x, 4.0))(0.0))
4.0
"""

from . import _rulesets
from ._mirrors import mirror

mirror(__name__, "math", _rulesets.functions.math)
