"""Rules for functions of functions, which call back, and for Python's math."""

from . import checkpoint, folds, map, math, scan, sequences, vectorized
