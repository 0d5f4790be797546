"""``scipy.signal.windows``, with functions that see traced values."""

from ..._mirrors import mirror
from ...rules.rulesets.scipy.signal import windows as _rules

mirror(__name__, "scipy.signal.windows", _rules)
