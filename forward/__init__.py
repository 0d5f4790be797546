"""Forward mode: dual numbers."""

from .jacfwd import jacfwd, sparsity
from .jvp import ForwardConfig, jvp
from .linearize import linearize

__all__ = ["ForwardConfig", "jacfwd", "jvp", "linearize", "sparsity"]
