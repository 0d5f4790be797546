"""``scipy.interpolate``, with functions and classes that see traced values."""

from .._mirrors import mirror
from ..rules.rulesets.scipy import interpolate as _rules

mirror(__name__, "scipy.interpolate", _rules)
