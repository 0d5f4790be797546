"""As ``autograd.scipy.misc`` of older autograd, whose only function has moved to ``special``."""

from ....scipy import special as _special

logsumexp = _special.logsumexp

__all__ = ["logsumexp"]
