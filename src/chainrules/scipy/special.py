"""``scipy.special``, with functions that see traced values; its ufuncs always do."""

from .._mirrors import mirror
from ..rules.rulesets.scipy import special as _rules

mirror(__name__, "scipy.special", _rules)
