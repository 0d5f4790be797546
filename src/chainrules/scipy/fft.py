"""``scipy.fft``, with functions that see traced values."""

from ..rules.rulesets.scipy import fft as _rules
from ._mirrors import mirror

mirror(__name__, "scipy.fft", _rules)
