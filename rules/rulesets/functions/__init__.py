"""Rules for functions of functions, which call back, for Python's math, and for samples."""

from . import (
    black_boxes,
    checkpoint,
    folds,
    foreign,
    map,
    math,
    math_batches,
    random,
    scan,
    sequences,
    vectorized,
    while_loop,
)
