"""``scipy.optimize.elementwise``, with functions that see traced values."""

from ..._mirrors import mirror
from ...rules.rulesets.scipy.optimize import elementwise as _rules

mirror(__name__, "scipy.optimize.elementwise", _rules)
