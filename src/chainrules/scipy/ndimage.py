"""``scipy.ndimage``, with functions that see traced values."""

from .._mirrors import mirror
from ..rules.rulesets.scipy import ndimage as _rules

mirror(__name__, "scipy.ndimage", _rules)
