"""The ufuncs of scipy.special; imported when the first one of them is differentiated.

Functions of scipy.special that are no ufuncs need no rule where they are made of ufuncs.
"""

from . import (  # noqa: F401
    scipy_special_bessel,
    scipy_special_distributions,
    scipy_special_elementary,
    scipy_special_elliptic,
    scipy_special_gamma,
    scipy_special_inverses,
    scipy_special_polynomials,
    scipy_special_waves,
)
