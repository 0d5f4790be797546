"""``scipy.spatial.transform``, whose rotations see traced values."""

from ..._mirrors import mirror
from ...rules.rulesets.scipy.spatial import transform as _rules

mirror(__name__, "scipy.spatial.transform", _rules)
