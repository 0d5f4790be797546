"""``scipy.spatial.distance``, with functions that see traced values."""

from ..._mirrors import mirror
from ...rules.rulesets.scipy.spatial import distance as _rules

mirror(__name__, "scipy.spatial.distance", _rules)
