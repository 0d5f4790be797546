"""Rules for scipy.signal."""

from typing import Any

from . import convolution, filters, resampling, spectra

INSTEAD: dict[str, Any] = {}
REFUSED: dict[str, tuple[str, str]] = {}
__all__ = ["INSTEAD", "REFUSED", "convolution", "filters", "resampling", "spectra"]
