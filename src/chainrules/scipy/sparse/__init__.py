"""``scipy.sparse``, whose arrays may hold traced entries at constant places."""

import importlib

from ...rules.rulesets.scipy import sparse as _rules
from .._mirrors import mirror

mirror(__name__, "scipy.sparse", _rules)
csgraph, linalg = (  # in place of SciPy's own
    importlib.import_module(f".{name}", __name__) for name in ("csgraph", "linalg")
)
