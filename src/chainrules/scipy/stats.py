"""``scipy.stats``, with functions and distributions that see traced values."""

from .._mirrors import mirror
from ..rules.rulesets.scipy import stats as _rules

mirror(__name__, "scipy.stats", _rules)
