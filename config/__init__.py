"""Configurations, their traits, and the classes of errors: the base that every other room imports.

``from chainrules.config import RuleConfig, HasReverseMode`` is all that an engine of another
library needs.
"""

from .config import *
from .config import value_via_ad
from .errors import *
from .lines import caller_line, defined_at, raised_at, user_frame, user_line, warn_user
