"""``scipy.sparse.linalg``, with functions that see traced values."""

from ..._mirrors import mirror
from ...rules.rulesets.scipy.sparse import linalg as _rules

mirror(__name__, "scipy.sparse.linalg", _rules)
