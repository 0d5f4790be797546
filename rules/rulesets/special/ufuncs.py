"""The ufuncs of scipy.special; imported when the first one of them is differentiated.

Functions of scipy.special that are no ufuncs need no rule where they are made of ufuncs.

Orders, degrees and counts that are whole numbers have no derivative: between these SciPy takes
the number below (``expn``, ``kn``, ``yn``, the binomial and the Smirnov functions), has NaN
(``lpmv``, Mathieu and spheroidal functions) or refuses (Hermite polynomials). At infinity a
function that has a limit is flat, but NaN where it swings (``fresnel``).
"""

from . import (  # noqa: F401
    bessel,
    distributions,
    elementary,
    elliptic,
    gamma,
    inverses,
    polynomials,
    waves,
)
