"""Sizes at which another way is the faster one, tuned on one machine, and what tunes each anew.

None changes a result beyond rounding. Behind each is the row of ``make bench`` that tells: change
the number, run it with ``ARGS='--only ...'``, and keep the better one.
"""

# ---- what a tape keeps of the user's arrays: 'logistic regression', 'mixture' ----

COPIED_AT_ONCE = 1 << 14  # bytes, up to which nobody looks whether there is a copy already
DIGESTED = 1 << 20  # bytes, from which a digest is cheaper than a copy

# ---- cotangents of a sweep: 'operations on 10^6', 'sum(x[i]**2' ----

WRITTEN_INTO = 1 << 13  # entries; of fewer, a new array costs less than the question whose it is
LARGE_PIECE = 8  # one of at least this fraction of its array is put into its place by itself

# ---- sums, and spreading them: 'network', 'calls: np.sum' ----

SHORT_LANES = 64  # entries that lie together, up to which a product with ones is the faster sum
FEW_TO_SUM = 512  # entries, up to which it is not worth the question
SPREAD_BY_COPY = 1 << 10  # entries, up to which a copy is made sooner than a view of one number

# ---- blocks of directions: 'Jacobian', 'hand', 'Hessian, Rosenbrock' ----

BLOCK_IN_CACHE = 2**17  # numbers of a step's result on average, so that a block stays in the cache
LARGEST_BLOCK = 2**21  # numbers in the largest result of a step, for the memory
NARROW_MATRIX, LARGE_MATRIX = 4, 2000  # so few columns go into one product, by so large a matrix
DUAL_BLOCK = 64  # directions, up to which dual numbers carry a block, and arrays as many tangents
TAPED_BLOCK = 32  # the same where a tape keeps them all
FORWARD_AT_ONCE = 4  # directions, up to which jacobian does not ask how many rows there are
LARGEST_RUN = 512  # directions that go along a tape at once, forward or back
LARGEST_PULLED = 2**18  # numbers in a block that goes back, so that it stays in the cache

# ---- sparsity patterns: 'bundle', tests/core/test_sparsity.py ----

LARGEST_PATTERN = 10**8  # entries; more are refused
PROBED = 256  # numbers, up to which a linear function is asked what each of them does
PRODUCTS_LOOKED_INTO = 10**7  # of an einsum that adds them up

# ---- rows that are added at places, triangular systems: 'k-means', 'Gaussian process' ----

MANY_ROWS, NARROW_ROWS = 500, 8  # so many rows of so few entries are added column by column
ONE_SOLVE = 64  # rows of a triangle; up to so many, one call of LAPACK is as fast
ROWS_OF_A_BLOCK = 40

# ---- splines, kernels of images: benchmarks/scipy_functions.py ----

NARROW_BAND = 12  # diagonals beside the main one, up to which a banded solver is faster
FEW_PLACES = 100  # of a kernel, up to which a sum for each is faster than a correlation

# ---- what is kept of a compiled call: `cr.explain(c, stage=...)` records it once more ----

EXAMPLE_KEPT = 1 << 16  # bytes of the arguments' arrays, up to which they are copied
