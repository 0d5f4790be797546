"""Sizes at which another machine code is the better one, tuned on one machine.

None changes a result beyond rounding. The rooms above have theirs in config/thresholds.py, which
this room does not import. Behind each group are the rows of ``make bench`` that tell.
"""

# ---- the code generator: all rows of compiled code ----

MOST_EFFORT = (
    2  # level at which LLVM writes loops, at most; 3 takes longer and makes no better code
)

# ---- loops over arrays: 'operations on 10^6', 'products and sums on 10^6' ----

PIECE_POINTS = 1 << 16  # of a piece: about 50 us of work, where a thread is told what to do in 2
REST_POINTS = 64  # at least, of what is left over, so that it is computed as the others are
SUM_BLOCK = 64  # steps between two additions to the total of a sum
MANY_POINTS = 2000  # of a nest, from which mathematics is written in line, and interleaved
# Functions of mathematics that are written out at each call, on many points and on few: so they run
# faster by a third, and take five times as long to compile.
INLINED_CALLS, INLINED_CALLS_OF_FEW = 24, 3
SHORT_ROWS = 4  # vectors of the innermost axis, up to which all of these are in registers at once
CAREFUL_LINES = 6000  # of LLVM's text; more are compiled in a hurry, for a tenth of the time

# ---- programs on single numbers: 'RK4 of Lotka-Volterra', 'recurrence of 1000 steps' ----

CAREFUL_OPERATIONS = 500  # of all functions; more are compiled in a hurry
WRITTEN_OPERATIONS = 300_000  # of all functions, once for each body: LLVM takes some seconds
FUNCTION_OPERATIONS = 1000  # of one function: LLVM takes more than twice as long for twice as many
COPIED_RUNS = 500  # of outputs, which one function stores
COPY_LOOP = 8  # results at equal distances that make a loop
SEARCHED_OPERATIONS = 64  # fewer are not searched for repetition
GRAM = 6  # operations that are looked up at once, to find repetition
WORTH_A_LOOP = 64  # operations that a run must save
LONGEST_BODY = 4000  # operations of a loop's body
CANDIDATES = 18  # periods that are tried, those that cover most first

# ---- branching loops: benchmarks/batches.py ----

NESTED_ROUNDS = 1 << 24  # of a loop within a row, after which Python is back

# ---- what is kept: first calls of 'LSTM', tests/compiling/native/test_native_kept.py ----

KNOWN_OPERATIONS = 2000  # of a kernel that is looked up: longer programs do not come twice
CACHE_BYTES = 1 << 28  # of all files together: the ones that were not used longest go first
