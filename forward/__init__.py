"""Forward mode: dual numbers."""

from .jacfwd import jacfwd
from .jvp import ForwardConfig, jvp
from .linearize import linearize
from .sparsity import sparsity

__all__ = ["ForwardConfig", "jacfwd", "jvp", "linearize", "sparsity"]
