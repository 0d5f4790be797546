"""``scipy.special``, with functions that see traced values; its ufuncs always do."""

from ..rules.rulesets.scipy import special as _rules
from ._mirrors import mirror

mirror(__name__, "scipy.special", _rules)
