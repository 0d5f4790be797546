"""Functions of functions, whose rules call back: map, reduce, scan, checkpoint, vectorize."""

from . import checkpoint, folds, map, scan, sequences, vectorized
