"""``scipy.fftpack``, with functions that see traced values."""

from .._mirrors import mirror
from ..rules.rulesets.scipy import fftpack as _rules

mirror(__name__, "scipy.fftpack", _rules)
