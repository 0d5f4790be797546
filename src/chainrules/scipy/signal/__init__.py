"""``scipy.signal``, with functions that see traced values."""

import importlib as _importlib

from ..._mirrors import mirror
from ...rules.rulesets.scipy import signal as _rules

mirror(__name__, "scipy.signal", _rules)
windows = _importlib.import_module(".windows", __package__)  # in place of SciPy's own
