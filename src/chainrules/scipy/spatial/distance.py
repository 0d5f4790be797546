"""``scipy.spatial.distance``, with functions that see traced values."""

from ...rules.rulesets.scipy.spatial import distance as _rules
from .._mirrors import mirror

mirror(__name__, "scipy.spatial.distance", _rules)
