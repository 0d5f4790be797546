"""Thresholds: sizes from which another algorithm is faster, each with the benchmark that tunes it.

None changes a result beyond rounding. Behind a group stands what tells, where something does: rows
of ``make bench`` (change the number, run it with ``ARGS='--only ...'``, and keep the better one),
a file of benchmarks/, or a test. Those of machine code are in ``compiling/native/limits.py``, since
that room imports nothing of the others; those of the accelerator are in its headers.
"""

# ---- progress ----

LONG_WORK = 2.0  # seconds, after which work shows itself
RECORDING_SHOWN = 0.5  # seconds, after which a recording does
STEPS_BETWEEN_LOOKS = 500  # of a recording, at the clock

# ---- times of lines: tests/compiling/test_times_of_lines.py ----

TIMED_AT_LEAST = 32  # parts of a sweep that belong to one line; where there are fewer, all
TIMED_STRIDE = 128  # parts of a line that comes often, of which one is timed

# ---- what a tape keeps of the user's arrays: 'logistic regression', 'mixture' ----

COPIED_AT_ONCE = 1 << 14  # bytes, up to which nobody looks whether there is a copy already
DIGESTED = 1 << 20  # bytes, from which a digest is cheaper than a copy

# ---- walks, views and spaces: 'calls: ', tests/wrong/test_wrong_growth.py ----

DEEP = 1000  # containers within each other, at which a walk looks whether it will end
VIEWS_SWEPT = 64  # of an array, from which on the dead among them are forgotten now and then
SPACES_KEPT = 1024  # of arrays of one dtype, by shape

# ---- object arrays of traced numbers ----

ENTRYWISE = 1000  # numbers, from which on it takes milliseconds to compute with them one by one

# ---- cotangents of a sweep: 'operations on 10^6', 'sum(x[i]**2' ----

WRITTEN_INTO = 1 << 13  # entries; of fewer, a new array costs less than the question whose it is
LARGE_PIECE = 8  # one of at least this fraction of its array is put into its place by itself

# ---- sums, and spreading them: 'network', 'calls: np.sum' ----

SHORT_LANES = 64  # entries that lie together, up to which a product with ones is the faster sum
FEW_ADDED = 1 << 10  # tangents of what a maximum is taken of, up to which zeros are added to one
FEW_TO_SUM = 512  # entries, up to which it is not worth the question
FEW_NUMBERS = 16  # of math.fsum and math.prod, up to which they are added one by one
SPREAD_BY_COPY = 1 << 10  # entries, up to which a copy is made sooner than a view of one number

# ---- blocks of directions: 'Jacobian', 'hand', 'Hessian, Rosenbrock' ----

BLOCK_IN_CACHE = 2**17  # numbers of a step's result on average, so that a block stays in the cache
LARGEST_BLOCK = 2**21  # numbers in the largest result of a step, for the memory
NARROW_MATRIX, LARGE_MATRIX = 4, 2000  # so few columns go into one product, by so large a matrix
DUAL_BLOCK = 512  # directions, up to which dual numbers carry a block, and arrays as many tangents
MASKS_KEPT = 64  # rows of a matrix, up to which masks of its triangles are kept: 'eigenvalues'
FORWARD_AT_ONCE = 6  # directions, up to which jacobian does not ask how many rows there are
FORWARD_IF_SMALL = 32  # the same where a block of the largest array known stays in the cache
ROWS_OF_NUMBERS, ROWS_OF_ARRAYS = 20, 2  # rows, up to which one goes back after another: modes.py
ARRAY_IN_NUMBERS = 25  # entries of numbers that are swept in the time of one of a small array
REACHED_AT_MOST = 500  # objects among which a function's largest array is looked for
LARGEST_RUN = 512  # directions that go along a tape at once, forward or back
LARGEST_PULLED = 2**18  # numbers in a block that goes back, so that it stays in the cache

# ---- sparsity patterns: 'bundle', tests/core/test_sparsity.py ----

LARGEST_PATTERN = 10**8  # entries; more are refused
PROBED = 256  # numbers, up to which a linear function is asked what each of them does
PRODUCTS_LOOKED_INTO = 10**7  # of an einsum that adds them up

# ---- rows that are added at places, triangular systems: 'k-means', 'Gaussian process' ----

MANY_ROWS, NARROW_ROWS = 500, 8  # so many rows of so few entries are added column by column
ONE_SOLVE = 64  # rows of a triangle, up to which one call of LAPACK inverts it as fast
SOLVED_WHOLE = 100  # rows of a system, up to which LAPACK solves it as fast if it is a triangle
SMALL_EXPONENTIAL = 16  # rows, up to which its derivative is a block of a larger one: 'expm'
ROWS_OF_A_BLOCK = 40

# ---- splines, kernels of images: benchmarks/scipy_functions.py ----

BANDED_COLUMNS = 48  # at once: fewer make more steps, more make larger products
NARROW_BAND = 12  # diagonals beside the main one, up to which a banded solver is faster
FEW_PLACES = 100  # of a kernel, up to which a sum for each is faster than a correlation

# ---- long loops, initial values, integrals: benchmarks/long_loops.py, benchmarks/solvers.py ----

SHORTEST_SEGMENT = 64  # steps of a loop: fewer are not worth a second evaluation
SLOPES_KEPT = 20_000  # evaluations of an initial value problem, whose Jacobians are kept
SLOPES_COLUMNS = 32  # of a Jacobian, for which a block of numbers costs about as much as one
SLOPES_AT_ONCE = 64  # evaluations in one callback
SLOPES_NUMBERS = 10**7  # in all these matrices
STIFF_CALLS = 10  # times the calls of LSODA or BDF, after which DOP853 gives up
SHARE_OF_MOVING = 1e-3  # of the tolerances of an integral, where its slopes are differentiated
NODES_AT_ONCE = 1 << 16  # that a function is given by cubature
TERMS_AT_ONCE = 1 << 14  # of a series
CUBATURES_KEPT = 32  # rules of cubature, by their number of dimensions

# ---- compiling: loops as one step, 'Newton', 'Lotka-Volterra', benchmarks/loops.py ----

LOOP_ROUNDS = 32  # of scan and loop, from which on they are one step of a recording
LOOP_NUMBERS = 2000  # in all that a step reads: of more, a round is long enough by itself
LOOP_WAYS = 16  # through one step
LOOKS_OF_A_WAY = 256  # that a callback has room for at first
LOOP_SETTLES = 3  # rounds, after which the types of what is carried no longer change
LOOP_REFUSALS = 3  # ways without a native form, after which rounds are recorded one by one
LOOP_CHUNK = 2**24  # rounds without rows, after which Python is back
LOOP_CAPACITY = 64  # rounds that a while loop makes room for at first
ITEM_PIECE = 1 << 16  # items of a batch, after which signals come in, and that a thread takes
ITEM_OPERATIONS = 10_000  # of one way: of more, an item is long enough by itself
ITEM_ROWS = 4000  # numbers in the rows of a loop within an item, which lie on the stack
ITEM_SINGLES = 1000  # items that were tried one by one, after which all ways are one function
ITEM_WAYS = 64  # through an item, at least, that are native

# ---- compiling: what is recorded and kept, for the memory ----

CACHE_ENTRIES = 64  # kinds of arguments, of which the recordings of a function are kept
WASTED_KINDS = 24  # recorded for so many kinds of arguments, and not replayed as often: no more are
COUNTED = 3  # values of an integer, each recorded and hardly replayed, after which it is an input
FEW_RECORDINGS = 4  # that any compiled function may make, whatever they cost
LOSS_ALLOWED = 0.5  # seconds of CPU time that recordings may cost more than replays have saved
SLOWER = 1.2  # times that a replay takes as long as the function, from which it is not replayed
FIRST_REVIEW = 16  # replays of a recording, after which they are compared with the function by time
RECONSIDERED = 16  # calls that are not recorded, after which it is asked again whether they may be
RESTARTS = 16  # times that what is captured may change, before the function runs as it is
STREAK = 8  # calls in a row that one recording answers, after which it is tried before the others
RECORDED_STEPS = 1_000_000  # a longer program is not worth what its recording takes
REMEMBERED_RESULT = 1 << 12  # bytes of a result, up to which an equal step is looked for
CONSTANT_COPIED = 1 << 16  # bytes, up to which a captured array is copied, and not digested
COMPARED_PLACES = 20_000  # places of captured state; what has more is no setting but data
QUICK_ARRAYS = 8  # arguments, of which each is told from each: the guard is quadratic in them
CODES_KEPT = 2048  # pieces of code, of which it is known what they read
EXAMPLE_KEPT = 1 << 16  # bytes of the arguments' arrays, kept for `cr.explain(c, stage=...)`

# ---- compiling: single numbers or loops, 'RK4', 'Rosenbrock', 'MLP 4-8-3' ----

SCALAR_ENTRIES = 3000  # of all results together, up to which each is an operation of its own
SCALAR_AVERAGE = 12  # entries of a result, up to which longer programs are taken apart as well
SCALAR_OPERATIONS = 1_000_000  # that are taken apart, for the memory; those that repeat are a loop
SEARCHED_TABLE = 64  # entries of a table, up to which np.searchsorted compares with each
SMALL_MATRIX = 8  # rows of a matrix, up to which its factors are operations on single numbers
STRETCH_STEPS = 8  # on numbers, from which on native code between calls is worth theirs
STRETCH_SHORT = 4  # steps, of which fewer are left to NumPy
STRETCHES = 32  # in a program: LLVM takes some milliseconds for each
SCALAR_ARRAY = 20_000  # entries of an array whose numbers have names

# ---- compiling: fused loops, 'operations on 10^6', 'LSTM', 'heat in a rod' ----

LOOP_ENTRIES = 16  # of fewer a loop is not worth a call
LOOP_ARRAYS = 24  # of one loop: more do not stay in registers and in the nearest cache
MANY_STEPS = 500  # from which loops follow each other without calls: then all are worth it
FUSED_STEPS = 200_000  # a longer program is replayed by NumPy
EXPANDED_PRODUCT = 5000  # multiplications of a product of matrices, up to which it is a loop
EINSUM_MULTIPLICATIONS = 2000  # of an einsum, from which it is done as a product of matrices
SMALL_PART = 4  # times as large is a sum as the part that is added to its own entries alone
COPIED_STACK = 16  # times as large is a product's first operand, where the second one is copied
FACTORED_ROWS = 16  # of a matrix, from which sharing its factors is worth SciPy's call

# ---- compiling: Python source, whose compiler takes longer per line of longer functions ----

PIECE_LINES = 2000  # steps of one function of a replay
SCHEDULED_LINES = 20_000  # lines of the one function that calls fused loops: some .3 s to compile
LET_GO = 256  # entries, from which a result is let go as soon as it has been read

# ---- maps on executors: benchmarks/maps.py ----

CHUNK_SECONDS = 0.05  # of a task, to which items that take less are joined
BUFFER_SENT_ONCE = 1 << 20  # bytes of a captured array, from which a worker keeps it
BUFFERS_KEPT = 1 << 30  # bytes of these that a worker keeps for the next map
BLOB_OF_A_TASK = 1 << 16  # bytes that all tasks share, from which they are the result of a task
BYTES_OF_SLOPES = 1 << 20  # of all items, up to which they come from a cluster with the values
CHUNKS_ADDED = 8  # chunks, of which one task adds up the results
ITEMS_FOLDED = 8  # items that a task folds

# ---- checks of derivatives by differences ----

SINGLY = 100  # coordinates, up to which the wrong ones are looked for one by one

# ---- memory of directions and settings, and what cr.cost takes: benchmarks/price.py ----

UNITS_KEPT = 32  # numbers of an input, up to which its unit directions are remembered
SETTINGS_KEPT = 64  # of np.errstate, whose replacement is remembered
PRICED_MEMORY = 1 << 26  # bytes that the moved arguments of one turn may take
PRICED_ENTRIES = 5 * 10**7  # of the largest matrix that cr.cost asks for
PRICED_ROUNDS = 21  # of all programs of one function
PRICED_TURN = 0.005  # seconds of one program in one round
OF_FIRST_CALLS = 0.6  # of the time that is given: the rest is for rounds
OF_ANY_FIRST_CALL = 0.05  # seconds of any first call of compiled code
FIRST_CALL = 20.0  # calls that a first call of compiled code takes, as far as nothing is known
OF_PRODUCTS = 20  # directions that go in a block for the price of one, at most

# ---- rules of packages ----

RULES_SLOW = 2.0  # seconds, from which on it is said who made the first derivative wait
