"""``scipy.sparse.linalg``, with functions that see traced values."""

from ...rules.rulesets.scipy.sparse import linalg as _rules
from .._mirrors import mirror

mirror(__name__, "scipy.sparse.linalg", _rules)
