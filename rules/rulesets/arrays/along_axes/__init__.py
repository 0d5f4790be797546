"""Rules for what NumPy does along axes: sums, extremes, order, quantiles, counts, covariances."""

from . import (
    accumulations,
    counts,
    covariance,
    differences,
    histograms,
    ordering,
    quantiles,
    reductions,
)
