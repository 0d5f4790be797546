"""Rules for scipy.signal."""

from typing import Any

from scipy import signal

from .... import by_source, non_differentiable, rrule
from .. import source_classes
from ..traced_objects import NO_RULE
from . import (
    convolution,
    design,
    filters,
    fractions,
    lomb_scargle,
    objects,
    peaks,
    resampling,
    responses,
    sections,
    simulation,
    spectra,
    systems,
    whittaker,
    windows,
)

INSTEAD: dict[str, Any] = objects.INSTEAD | {
    cls.__name__: source_classes.by_source(cls)
    for cls in (signal.CZT, signal.ShortTimeFFT, signal.ZoomFFT)
}

by_source(
    signal,
    """
    closest_STFT_dual_window cspline1d cspline1d_eval envelope get_window qspline1d qspline1d_eval
    """,
)

# The names without a rule, by the reason, which serves traced arguments only.
WITHOUT: dict[tuple[str, str], str] = {
    (NO_RULE, "its argument as cr.value(...), where no derivative is wanted"): """
        cspline2d qspline2d sepfir2d spline_filter symiirorder1 symiirorder2 unique_roots""",
    (
        "it chooses one of many gains by iteration",
        "signal.place_poles(cr.value(a), cr.value(b), cr.value(poles))",
    ): "place_poles",
    (
        "it designs a filter from numbers that are taken as fixed",
        "signal.butter, signal.iirfilter or signal.firwin, which follow their cutoffs",
    ): "remez",
}
REFUSED: dict[str, tuple[str, str]] = {
    name: why
    for why, names in WITHOUT.items()
    for name in names.split()
    if hasattr(signal, name) and rrule.kind_of(getattr(signal, name)) is None  # by its version
}

# Places, sizes and yes or no.
non_differentiable(
    signal.argrelextrema, signal.argrelmax, signal.argrelmin, signal.besselap, signal.buttap,
    signal.check_COLA,
    signal.check_NOLA, signal.choose_conv_method, signal.correlation_lags, signal.findfreqs,
    signal.find_peaks_cwt,
    signal.max_len_seq, signal.square, signal.unit_impulse,
)  # fmt: skip

__all__ = [
    "INSTEAD", "REFUSED", "convolution", "design", "filters", "fractions", "lomb_scargle",
    "objects", "peaks", "resampling", "responses", "sections", "simulation", "spectra", "systems",
    "whittaker", "windows",
]  # fmt: skip
