"""``scipy.integrate``, with functions that see traced values."""

from .._mirrors import mirror
from ..rules.rulesets.scipy import integrate as _rules

mirror(__name__, "scipy.integrate", _rules)
