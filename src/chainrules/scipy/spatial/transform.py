"""``scipy.spatial.transform``, whose rotations see traced values."""

from ...rules.rulesets.scipy.spatial import transform as _rules
from .._mirrors import mirror

mirror(__name__, "scipy.spatial.transform", _rules)
