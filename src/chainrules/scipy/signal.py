"""``scipy.signal``, with functions that see traced values."""

from ..rules.rulesets.scipy import signal as _rules
from ._mirrors import mirror

mirror(__name__, "scipy.signal", _rules)
