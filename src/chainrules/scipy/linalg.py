"""``scipy.linalg``, with functions that see traced values."""

from ..rules.rulesets.scipy import linalg as _rules
from ._mirrors import mirror

mirror(__name__, "scipy.linalg", _rules)
