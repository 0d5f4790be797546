"""``scipy.sparse``, whose arrays may hold traced entries at constant places."""

from ...rules.rulesets.scipy import sparse as _rules
from .._mirrors import mirror

mirror(__name__, "scipy.sparse", _rules)
from . import csgraph, linalg  # noqa: E402 - in place of SciPy's own
