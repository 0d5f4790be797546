"""Window functions, differentiated in their parameters by SciPy's own source."""

from typing import Any

from scipy.signal import windows

from .... import by_source, non_differentiable

INSTEAD: dict[str, Any] = {}
REFUSED = {"dpss": ("it writes into eigenvectors", "np.linalg.eigh of the matrix in its Notes")}

by_source(
    windows,
    """
    chebwin exponential gaussian general_cosine general_gaussian general_hamming get_window
    kaiser kaiser_bessel_derived taylor tukey
""",
)
non_differentiable(
    windows.barthann, windows.bartlett, windows.blackman, windows.blackmanharris, windows.bohman,
    windows.boxcar, windows.cosine, windows.flattop, windows.hamming, windows.hann,
    windows.lanczos, windows.nuttall, windows.parzen, windows.triang,
)  # fmt: skip
