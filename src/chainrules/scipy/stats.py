"""``scipy.stats``, with functions and distributions that see traced values."""

from ..rules.rulesets.scipy import stats as _rules
from ._mirrors import mirror

mirror(__name__, "scipy.stats", _rules)
