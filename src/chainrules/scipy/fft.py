"""``scipy.fft``, with functions that see traced values."""

from .._mirrors import mirror
from ..rules.rulesets.scipy import fft as _rules

mirror(__name__, "scipy.fft", _rules)
