"""Forward mode: dual numbers."""

from .jacobians import jacfwd
from .jvp import ForwardConfig, jvp
from .linearize import linearize

__all__ = ["ForwardConfig", "jacfwd", "jvp", "linearize"]
