"""``scipy.spatial``, with functions that see traced values."""

import importlib as _importlib

from ..._mirrors import mirror
from ...rules.rulesets.scipy import spatial as _rules

mirror(__name__, "scipy.spatial", _rules)
for _name in ("distance", "transform"):  # in place of SciPy's own
    globals()[_name] = _importlib.import_module(f".{_name}", __package__)
