"""Rules for scipy.signal."""

from typing import Any

from scipy import signal

from .... import non_differentiable
from . import (
    convolution,
    design,
    filters,
    resampling,
    responses,
    simulation,
    spectra,
    systems,
)

INSTEAD: dict[str, Any] = {}

# The names without a rule, by the reason, which serves traced arguments only.
WITHOUT: dict[tuple[str, str], str] = {
    ("no rule yet", "its argument as cr.value(...), where no derivative is wanted"): """
        band_stop_obj cspline1d cspline1d_eval cspline2d
        czt_points closest_STFT_dual_window envelope findfreqs
        gauss_spline invres invresz lombscargle minimum_phase peak_widths
        place_poles qspline1d qspline1d_eval qspline2d residue residuez sepfir2d
        sos2zpk spline_filter symiirorder1 symiirorder2 unique_roots""",
    (
        "it designs a filter from numbers that are taken as fixed",
        "signal.butter, signal.iirfilter or signal.firwin, which follow their cutoffs",
    ): """
        besselap buttap buttord cheb1ap cheb1ord cheb2ap cheb2ord ellipap ellipord firls
        firwin2 firwin_2d gammatone iircomb iirdesign iirnotch iirpeak kaiser_atten kaiser_beta
        kaiserord remez savgol_coeffs""",
    (
        "which root goes into which section is a choice",
        "the filter as polynomials (signal.zpk2tf), or as it is",
    ): "tf2sos zpk2sos",
    ("the windows of scipy.signal are taken as fixed", "the window as a function of NumPy"): """
        get_window""",
}
REFUSED: dict[str, tuple[str, str]] = {
    name: why for why, names in WITHOUT.items() for name in names.split() if hasattr(signal, name)
}

# Places, sizes and yes or no.
non_differentiable(
    signal.argrelextrema, signal.argrelmax, signal.argrelmin, signal.check_COLA,
    signal.check_NOLA, signal.choose_conv_method, signal.correlation_lags, signal.find_peaks_cwt,
    signal.max_len_seq, signal.square, signal.unit_impulse,
)  # fmt: skip

__all__ = [
    "INSTEAD", "REFUSED", "convolution", "design", "filters", "resampling", "responses",
    "simulation", "spectra", "systems",
]  # fmt: skip
