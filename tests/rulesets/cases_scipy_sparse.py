"""Cases of scipy.sparse and scipy.sparse.linalg, as functions of the stored entries."""

import functools

import numpy as np
import scipy.sparse as scipys
import scipy.sparse.csgraph
import scipy.sparse.linalg  # noqa: F401
from generic_points import case, normal

from chainrules.rules.rulesets.scipy.sparse import iterative, operators, products, spectral, systems
from chainrules.rules.rulesets.scipy.sparse.places import EntryPlaces, numbered
from chainrules.scipy import sparse
from chainrules.scipy.sparse import csgraph, linalg

real = functools.partial(normal, (31,))
ROW = np.array([0, 0, 1, 1, 2, 2, 3, 3, 0])
COLUMN = np.array([0, 1, 1, 2, 2, 0, 3, 2, 3])
N = len(ROW)
E = np.where(ROW == COLUMN, 4.0, 0.7) + 0.3 * real(N)
B, BB, X, XX = real(4), real(4, 2), real(4, seed=1), real(4, 2, seed=1)
CONSTANT = sparse.csr_array(np.array([[0, 1.5, 0, 2], [1, 0, 0, 0], [0, 0, 3, 0], [0.5, 0, 0, 1]]))
EXACT = {"rtol": 1e-13}


def array(entries, format="csc"):
    return sparse.coo_array((entries, (ROW, COLUMN)), shape=(4, 4)).asformat(format)


def small(entries):
    """Return ``array(entries)`` with indices that spsolve_triangular takes before SciPy 1.17."""
    places = ROW.astype(np.intc), COLUMN.astype(np.intc)
    return sparse.coo_array((entries, places), shape=(4, 4)).tocsc()


def symmetric(entries):
    a = array(entries, "csr")
    return a + a.T


CASES: dict = {}
FIXED: dict = {}
TOLERANCES: dict = {}
FIRST_ORDER_ONLY: dict = {}
OF_ONE_DTYPE: set = set()
BY_ANOTHER_WAY: set = set()


def cases(f, *given, **options):
    """Decorator: the function below calls ``f``, with what it makes of its arguments."""

    def enter(body):
        @functools.wraps(f)
        def of_numbers(*args, **kwargs):
            y = body(*args, **kwargs)
            return y.toarray() if sparse.issparse(y) else y

        CASES[of_numbers] = list(given)
        if options.get("one_dtype"):
            OF_ONE_DTYPE.add(of_numbers)
        if options.get("another_way"):
            BY_ANOTHER_WAY.add(of_numbers)
        if "rtol" in options:
            TOLERANCES[of_numbers] = options["rtol"]
        return of_numbers

    return enter


# ---- what makes arrays ----------------------------------------------------------------------


def entered(name, build, **options):
    cases(getattr(scipys, name), case(E), **options)(build)


entered("hstack", lambda e: sparse.hstack([array(e), CONSTANT, array(e)]))
entered("vstack", lambda e: sparse.vstack([array(e, "csr"), CONSTANT], format="csr"))
entered("bmat", lambda e: sparse.bmat([[array(e), None], [CONSTANT, 2 * array(e)]]))
entered("block_array", lambda e: sparse.block_array([[array(e), e[:4, None]], [CONSTANT, None]]))
entered("block_diag", lambda e: sparse.block_diag([array(e), CONSTANT, e[:2, None]]))
entered("tril", lambda e: sparse.tril(array(e)))
entered("triu", lambda e: sparse.triu(array(e), 1, "coo"))
entered("kron", lambda e: sparse.kron(array(e), symmetric(e)))
entered("kronsum", lambda e: sparse.kronsum(array(e), CONSTANT))
entered("diags", lambda e: sparse.diags([e[:4], e[4:7], 2.0 * e[0]], [0, -1, 1], shape=(4, 4)))
entered("diags_array", lambda e: sparse.diags_array([e, -e[:4]], offsets=[0, 5]))
entered("spdiags", lambda e: sparse.spdiags(np.reshape(e[:8], (2, 4)), [0, 1], 4, 4))
cases(scipys.find, case(E))(lambda e: sparse.find(array(e))[2])
if hasattr(scipys, "swapaxes"):
    entered("swapaxes", lambda e: sparse.swapaxes(array(e), 0, 1))
    entered("permute_dims", lambda e: sparse.permute_dims(array(e), (1, 0)))
if hasattr(scipys, "matrix_transpose"):
    entered("matrix_transpose", lambda e: sparse.matrix_transpose(array(e)))

cases(operators.multiplied, case(X), case(XX))(lambda x: CONSTANT @ x)

# ---- products and systems -------------------------------------------------------------------

PLACES = EntryPlaces(numbered(scipys.csr_array(scipys.coo_array((E, (ROW, COLUMN)), shape=(4, 4)))))
OPERATOR = linalg.aslinearoperator(CONSTANT.T)
CASES |= {
    products.matmul: [case(E, X, PLACES), case(E, XX, PLACES)],
    products.toarray: [case(E, PLACES)],
    products.total: [case(E, PLACES), case(E, PLACES, axis=0), case(E, PLACES, axis=-1)],
    operators.operated: [
        case(X, operators.held_operator(linalg.aslinearoperator(CONSTANT))),
        case(XX, operators.held_operator(OPERATOR)),
    ],
}

cases(linalg.spsolve.__wrapped__, case(E, B), case(E, BB), case(E, BB[:, :1]))(
    lambda e, b: linalg.spsolve(array(e), b)
)
for _f in (systems.backsolved, scipys.linalg.splu):
    cases(_f, case(E, B, "N"), case(E, BB, "T"), case(E, B, "H"))(
        lambda e, b, trans: linalg.splu(array(e)).solve(b, trans)
    )
cases(scipys.linalg.factorized, case(E, B))(lambda e, b: linalg.factorized(array(e))(b))
cases(scipys.linalg.spilu, case(B), one_dtype=True)(
    lambda b: linalg.spilu(array(E), fill_factor=1).solve(b)
)
cases(systems.solved, case(E, B))(lambda e, b: linalg.spsolve(array(e, "csr"), b))
cases(systems.triangular_solved, case(E, B))(
    lambda e, b: linalg.spsolve_triangular(sparse.triu(small(e), format="csr"), b, lower=False)
)
cases(linalg.spsolve_triangular.__wrapped__, case(E, B), case(E, BB))(
    lambda e, b: linalg.spsolve_triangular(sparse.tril(small(e), format="csc"), b)
)

for _name in iterative.SOLVERS:
    _solver = getattr(linalg, _name)
    _spd = getattr(scipys.linalg, _name) in iterative.SYMMETRIC
    cases(_solver.__wrapped__, case(E, B), one_dtype=True, rtol=1e-5)(
        lambda e, b, solver=_solver, make=symmetric if _spd else array: solver(make(e), b, **EXACT)[
            0
        ]
    )
cases(iterative.iterated, case(E, B), one_dtype=True)(
    lambda e, b: linalg.gmres(array(e).toarray(), b, **EXACT)[0]
)

# ---- functions of matrices ------------------------------------------------------------------

cases(
    linalg.norm.__wrapped__,
    case(E),
    case(E, 1),
    case(E, -np.inf),
    case(E, None, 0),
    another_way=True,
)(lambda e, ord=None, axis=None: linalg.norm(sparse.csc_matrix(array(e)), ord, axis))
cases(linalg.expm_multiply.__wrapped__, case(0.3 * E, B), case(0.3 * E, BB), one_dtype=True)(
    lambda e, b: linalg.expm_multiply(array(e), b)
)
if hasattr(linalg, "matrix_power"):
    cases(linalg.matrix_power.__wrapped__, case(E), another_way=True)(
        lambda e: linalg.matrix_power(array(e), 3)
    )
START = np.linspace(1.0, 2.0, 4)
cases(linalg.eigsh.__wrapped__, case(E), one_dtype=True, rtol=1e-5)(
    lambda e: linalg.eigsh(symmetric(e), k=2, v0=START)
)
cases(spectral.eigenpairs, case(E), one_dtype=True, rtol=1e-5)(
    lambda e: linalg.eigsh(symmetric(e), k=2, v0=START)[1]
)
cases(spectral.eigenvalues, case(E), one_dtype=True, rtol=1e-5)(
    lambda e: linalg.eigsh(symmetric(e), k=2, which="SA", v0=START, return_eigenvectors=False)
)

cases(linalg.svds.__wrapped__, case(E), one_dtype=True, rtol=1e-5)(
    lambda e: linalg.svds(array(e)[:3], k=2, v0=START[:3], return_singular_vectors=False)
)

cases(
    csgraph.laplacian.__wrapped__,
    case(E),
    case(E, normed=True),
    case(E, use_out_degree=True),
    case(E, symmetrized=True),
)(lambda e, **options: csgraph.laplacian(abs(array(e)), **options))

# ---- constant -------------------------------------------------------------------------------

WITHOUT_CASES = {
    getattr(module, name)
    for module in (scipys, scipys.linalg, scipys.csgraph)
    for name in dir(module)
    if name.startswith("isspmatrix")
    or name
    in {
        "eye", "eye_array", "identity", "issparse", "load_npz", "rand", "random", "random_array",
        "get_index_dtype", "safely_cast_index_arrays", "is_sptriangular", "spbandwidth",
        "use_solver", "breadth_first_order", "connected_components", "depth_first_order",
        "maximum_bipartite_matching", "min_weight_full_bipartite_matching", "reconstruct_path",
        "reverse_cuthill_mckee", "structural_rank",
    }
}  # fmt: skip
