"""``scipy.signal``, with functions that see traced values."""

from .._mirrors import mirror
from ..rules.rulesets.scipy import signal as _rules

mirror(__name__, "scipy.signal", _rules)
