"""``scipy.ndimage``, with functions that see traced values."""

from ..rules.rulesets.scipy import ndimage as _rules
from ._mirrors import mirror

mirror(__name__, "scipy.ndimage", _rules)
