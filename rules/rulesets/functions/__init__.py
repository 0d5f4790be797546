"""Rules for functions of functions, which call back, for Python's math, and for samples."""

from . import checkpoint, folds, map, math, random, scan, sequences, vectorized
