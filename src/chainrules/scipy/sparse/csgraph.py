"""``scipy.sparse.csgraph``, with functions that see traced values."""

from ..._mirrors import mirror
from ...rules.rulesets.scipy.sparse import csgraph as _rules

mirror(__name__, "scipy.sparse.csgraph", _rules)
