"""Peaks of a signal: their indices are constant; their heights, prominences and widths are not."""

import numpy as np
from scipy import signal

from .... import composed, getitem, library_value, value, with_values
from .filters import array


def over_bases(x, peaks, left, right):
    return getitem(x, peaks) - np.maximum(getitem(x, left), getitem(x, right))


@composed(signal.peak_prominences, value="own")
def peak_prominences(x, peaks, wlen=None, *, own):
    return over_bases(array(x), np.asarray(peaks), *own[1:]), *own[1:]


def first_below(x, peak, end, height, step):
    """The first place from the peak on that is not above ``height``, or the end."""
    at = peak
    while at != end and height < x[at]:
        at += step
    return at


def crossings(x, peaks, ends, heights, step):
    """Return the fractional index at which ``x`` crosses the height beside each peak."""
    plain, levels = value(x), value(heights)
    at = np.array([first_below(plain, *given, step) for given in zip(peaks, ends, levels)], int)
    met = plain[at] < levels
    inner = np.where(met, at - step, at)
    below, above = getitem(x, at), getitem(x, inner)
    share = (heights - below) / np.where(met, above - below, 1.0)
    return at - step * np.where(met, share, 0.0)


def widths(x, peaks, rel_height, prominences, left, right):
    heights = getitem(x, peaks) - prominences * rel_height
    starts, stops = crossings(x, peaks, left, heights, -1), crossings(x, peaks, right, heights, 1)
    return stops - starts, heights, starts, stops


@composed(signal.peak_widths, value="own")
def peak_widths(x, peaks, rel_height=0.5, prominence_data=None, wlen=None):
    given = peak_prominences(x, peaks, wlen) if prominence_data is None else prominence_data
    return widths(array(x), np.asarray(peaks), rel_height, *given)


@composed(signal.find_peaks)
def find_peaks(x, height=None, threshold=None, distance=None, prominence=None, width=None,
               wlen=None, rel_height=0.5, plateau_size=None):  # fmt: skip
    """Find peaks: their indices are constant, and their properties have derivatives."""
    options = height, threshold, distance, prominence, width, wlen, rel_height, plateau_size
    peaks, told = library_value(signal.find_peaks, (x, *options), {})
    x, found = array(x), {}
    if "peak_heights" in told:
        found["peak_heights"] = getitem(x, peaks)
    for name, beside in (("left_thresholds", peaks - 1), ("right_thresholds", peaks + 1)):
        if name in told:
            found[name] = getitem(x, peaks) - getitem(x, beside)
    if "prominences" in told:
        bases = told["left_bases"], told["right_bases"]
        found["prominences"] = over_bases(x, peaks, *bases)
        if "widths" in told:
            names = "widths", "width_heights", "left_ips", "right_ips"
            found |= zip(names, widths(x, peaks, rel_height, found["prominences"], *bases))
    return peaks, told | {name: with_values(y, told[name]) for name, y in found.items()}
