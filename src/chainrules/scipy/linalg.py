"""``scipy.linalg``, with functions that see traced values."""

from .._mirrors import mirror
from ..rules.rulesets.scipy import linalg as _rules

mirror(__name__, "scipy.linalg", _rules)
