"""Rules for scipy.signal."""

from typing import Any

from scipy import signal

from .... import non_differentiable
from . import (
    convolution,
    design,
    filters,
    fractions,
    objects,
    resampling,
    responses,
    sections,
    simulation,
    spectra,
    systems,
)

INSTEAD: dict[str, Any] = objects.INSTEAD

# The names without a rule, by the reason, which serves traced arguments only.
WITHOUT: dict[tuple[str, str], str] = {
    ("no rule yet", "its argument as cr.value(...), where no derivative is wanted"): """
        band_stop_obj cspline1d cspline1d_eval cspline2d
        czt_points closest_STFT_dual_window envelope
        gauss_spline lombscargle minimum_phase peak_widths
        place_poles qspline1d qspline1d_eval qspline2d sepfir2d
        spline_filter symiirorder1 symiirorder2 unique_roots""",
    (
        "it designs a filter from numbers that are taken as fixed",
        "signal.butter, signal.iirfilter or signal.firwin, which follow their cutoffs",
    ): """
        besselap buttap buttord cheb1ap cheb1ord cheb2ap cheb2ord ellipap ellipord firls
        firwin2 firwin_2d gammatone iircomb iirdesign iirnotch iirpeak kaiser_atten kaiser_beta
        kaiserord remez savgol_coeffs""",
    ("the windows of scipy.signal are taken as fixed", "the window as a function of NumPy"): """
        get_window""",
}
REFUSED: dict[str, tuple[str, str]] = {
    name: why for why, names in WITHOUT.items() for name in names.split() if hasattr(signal, name)
}

# Places, sizes and yes or no.
non_differentiable(
    signal.argrelextrema, signal.argrelmax, signal.argrelmin, signal.check_COLA,
    signal.check_NOLA, signal.choose_conv_method, signal.correlation_lags, signal.findfreqs,
    signal.find_peaks_cwt,
    signal.max_len_seq, signal.square, signal.unit_impulse,
)  # fmt: skip

__all__ = [
    "INSTEAD", "REFUSED", "convolution", "design", "filters", "fractions", "objects",
    "resampling", "responses", "sections", "simulation", "spectra", "systems",
]  # fmt: skip
