"""``scipy.optimize``, with functions that see traced values."""

from .._mirrors import mirror
from ..rules.rulesets.scipy import optimize as _rules

mirror(__name__, "scipy.optimize", _rules)
