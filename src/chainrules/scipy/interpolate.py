"""``scipy.interpolate``, with functions and classes that see traced values."""

from ..rules.rulesets.scipy import interpolate as _rules
from ._mirrors import mirror

mirror(__name__, "scipy.interpolate", _rules)
