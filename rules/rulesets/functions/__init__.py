"""Rules for functions of functions, which call back, and for Python's math."""

from . import black_boxes, checkpoint, folds, map, math, scan, sequences, vectorized
