"""``scipy.sparse.csgraph``, with functions that see traced values."""

from ...rules.rulesets.scipy.sparse import csgraph as _rules
from .._mirrors import mirror

mirror(__name__, "scipy.sparse.csgraph", _rules)
