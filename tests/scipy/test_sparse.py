"""Sparse arrays with traced entries, and constant ones beside traced values."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as scipys

import chainrules as cr
from chainrules.scipy import sparse
from chainrules.scipy.sparse import csgraph, linalg

RNG = np.random.default_rng(7)
ROW = np.array([0, 0, 1, 2, 3, 3])
COLUMN = np.array([0, 2, 1, 0, 2, 1])
DATA = np.linspace(1.0, 2.0, 6)
D = sparse.csr_array(np.array([[0, 1.5, 0], [1, 0, 2], [0, 0, 0], [-1, 0.5, 0]]))
X = np.array([0.5, -1.0, 2.0])
FORMATS = [
    f"{form}_{kind}" for form in ("csr", "csc", "coo", "bsr") for kind in ("array", "matrix")
]


def dense(y):
    if sparse.issparse(y):
        y = y.toarray()
    return np.asarray(y) if isinstance(y, np.matrix) else y


def check(f, x, rtol=1e-6):
    """Compare both modes, and their derivatives in both modes, with differences."""
    rng = np.random.default_rng(1)
    xdot = rng.normal(size=np.shape(x))
    weights = rng.normal(size=np.shape(dense(f(x))))
    step = 1e-3

    def loss(x):
        return np.sum(np.sin(dense(f(x))) * weights)

    def along(g):
        y = [g(x + k * step * xdot) for k in (1, -1, 2, -2)]
        return (8 * (y[0] - y[1]) - (y[2] - y[3])) / (12 * step)

    gradient = cr.grad(loss)
    xbar = gradient(x)
    assert xbar.shape == np.shape(x)
    np.testing.assert_allclose(np.sum(xbar * xdot), along(loss), rtol=rtol, atol=1e-8)
    y, ydot = cr.jvp(loss, (x,), (xdot,))
    np.testing.assert_allclose(y, loss(x), rtol=1e-12)
    np.testing.assert_allclose(ydot, along(loss), rtol=rtol, atol=1e-8)
    expected = along(gradient)
    again = cr.grad(lambda x: np.sum(gradient(x) * xdot))(x)
    for found in (cr.hvp(loss, (x,), (xdot,)), again):
        np.testing.assert_allclose(found, expected, rtol=10 * rtol, atol=1e-6)


def array(data, name="csr_array"):
    return getattr(sparse, name)((data, (ROW, COLUMN)), shape=(4, 3))


# ---- constant arrays beside traced values ---------------------------------------------------

BESIDE = {
    "D @ x": (lambda d, x: d @ x, X),
    "D @ X": (lambda d, x: d @ x, np.ones((3, 2))),
    "D.dot": (lambda d, x: d.dot(x), X),
    "x @ D": (lambda d, x: x @ d, np.arange(4.0)),
    "X @ D": (lambda d, x: x @ d, np.ones((2, 4))),
    "D.T @ x": (lambda d, x: d.T @ x, np.arange(4.0)),
    "multiply by a row": (lambda d, x: d.multiply(x).sum(axis=0), X),
    "multiply by a column": (lambda d, x: d.multiply(x).toarray(), np.ones((4, 1))),
    "D + x": (lambda d, x: d + x, np.ones((4, 3))),
    "x - D": (lambda d, x: x - d, np.ones((4, 3))),
    "D - x": (lambda d, x: d - x, np.ones((4, 3))),
    "numbers": (lambda d, x: x[0] * d + d * x[1] - d / x[2], X),
}


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_constant_arrays_beside_traced_values(form, name):
    f, x = BESIDE[name]
    d = D.asformat(form)
    check(lambda x: f(d, x), x)


def test_the_star_is_a_product_of_matrices():
    d = sparse.csr_matrix(D)
    check(lambda x: d * x, X)
    check(lambda x: x * d, np.arange(4.0))


def test_what_the_operators_of_scipy_do_else_is_its_own():
    assert type(D @ D.T) is sparse.csr_array
    assert type(D @ X) is np.ndarray
    assert D.__matmul__(object()) is NotImplemented
    with pytest.raises(ValueError, match="dimension mismatch"):
        D @ np.ones(2)


def test_a_jacobian_of_a_constant_array_is_that_array():
    for transform in (cr.jacobian, cr.jacfwd, cr.jacrev):
        np.testing.assert_array_equal(D.toarray(), transform(lambda x: D @ x)(X))
        found = transform(lambda x: D @ x, sparse=True)(X)
        assert found.nnz == D.nnz
        np.testing.assert_array_equal(D.toarray(), found.toarray())
    found = cr.jacobian(lambda x: D @ x, sparse=True)(np.ones((3, 2)))
    np.testing.assert_array_equal(np.kron(D.toarray(), np.eye(2)), found.toarray())


def test_a_jacobian_in_the_entries():
    for x in (X, np.outer(X, [1.0, 2.0])):
        rows = cr.jacrev(lambda data: array(data) @ x)(DATA)  # noqa: B023
        found = cr.jacobian(lambda data: array(data) @ x, sparse=True)(DATA)  # noqa: B023
        np.testing.assert_allclose(rows.reshape(found.shape), found.toarray())


def test_a_constant_array_of_one_axis():
    a = sparse.coo_array(np.array([1.0, 0.0, 2.0]))
    check(lambda x: a @ x, X)
    check(lambda x: x @ a, X)
    check(lambda x: a @ x, np.ones((3, 2)))
    check(lambda x: x @ a, np.ones((2, 3)))


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
def test_one_row(form):
    where = np.array([0, 0]), np.array([0, 2])
    make = getattr(sparse, f"{form}_array")
    a = make((np.ones(2), where), shape=(1, 3))
    check(lambda x: a @ x, X)
    check(lambda x: a.T @ x, X[:1])
    check(lambda e: make((e, where), shape=(1, 3)) @ X, X[:2])


def test_a_constant_array_may_change_afterwards():
    def loss(x):
        d = D.copy()
        y = np.sum((d @ x) ** 2)
        d.data[:] = np.nan
        return y

    check(loss, X)


def test_dtypes_and_complex_numbers():
    single = cr.grad(lambda x: np.sum(D.astype(np.float32) @ x))(X.astype(np.float32))
    assert single.dtype == np.float32
    assert cr.grad(lambda x: np.sum(D.astype(int) @ x))(X).dtype == np.float64
    z = D * (1 + 2j)
    expected = cr.grad(lambda x: np.sum(np.abs(z.toarray() @ x) ** 2))(X + 1j)
    np.testing.assert_allclose(expected, cr.grad(lambda x: np.sum(np.abs(z @ x) ** 2))(X + 1j))
    data = DATA * (1 - 1j)
    ours, right = (
        cr.grad(lambda data: np.sum(np.abs(f(data) @ (X + 2j)) ** 2))(data)  # noqa: B023
        for f in (array, lambda data: array(data).toarray())
    )
    np.testing.assert_allclose(right, ours)
    half = array(DATA.astype(np.float32))
    assert half.dtype == np.float32
    found = cr.grad(lambda data: array(data).sum())(DATA.astype(np.float32))
    assert found.dtype == np.float32


def test_empty():
    none = np.zeros(0, int)
    make = sparse.csr_array
    found = cr.grad(lambda e: np.sum(make((e, (none, none)), shape=(3, 2)) @ np.ones(2)))(
        np.ones(0)
    )
    assert found.shape == (0,)
    np.testing.assert_array_equal(np.zeros(3), cr.grad(lambda x: np.sum((0 * D) @ x))(X))


# ---- traced entries -------------------------------------------------------------------------

METHODS = {
    "toarray": lambda a: a.toarray(),
    "todense": lambda a: a.todense(),
    "vector": lambda a: a @ X,
    "dot": lambda a: a.dot(X),
    "matrix": lambda a: a @ np.ones((3, 2)),
    "from the left": lambda a: np.arange(4.0) @ a,
    "sum": lambda a: a.sum(),
    "sum over rows": lambda a: a.sum(axis=0),
    "sum over columns": lambda a: a.sum(1),
    "mean": lambda a: a.mean(axis=-1),
    "trace": lambda a: a.trace(),
    "transpose": lambda a: a.T,
    "reshape": lambda a: a.reshape(3, 4),
    "same pattern": lambda a: a + a,
    "other pattern": lambda a: a + D,
    "from a constant": lambda a: D - a,
    "plus dense": lambda a: a + np.ones((4, 3)),
    "number": lambda a: 2.0 * a / 3.0,
    "row": lambda a: a.multiply(X),
    "column": lambda a: a.multiply(np.arange(4.0)[:, None]),
    "quotient": lambda a: a / (X + 3),
    "entry by entry": lambda a: a.multiply(a).multiply(D),
    "constant entry by entry": lambda a: D.multiply(a),
    "square": lambda a: a @ a.T,
    "product": lambda a: a @ D.T,
    "constant product": lambda a: D.T @ a,
    "power": lambda a: a.power(3),
    "abs": abs,
    "sqrt": lambda a: a.sqrt(),
    "sin": lambda a: a.sin(),
    "diagonal": lambda a: a.diagonal(),
    "other diagonal": lambda a: a.diagonal(-1),
    "slice": lambda a: a.tocsr()[1:, ::2],
    "list": lambda a: a.tocsc()[[3, 0]],
    "entry": lambda a: a.tocsr()[0, 2] * a.tocsr()[0, 0],
    "csr": lambda a: a.tocsr().data,
    "csc": lambda a: a.tocsc().data,
    "coo": lambda a: a.tocoo().toarray(),
    "dia": lambda a: a.todia(),
    "bsr": lambda a: a.tobsr((2, 3)),
    "stacked": lambda a: sparse.vstack([a, D]).tocsr() @ X,
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("form", ["csr_array", "coo_matrix"])
def test_methods(form, name):
    check(lambda data: METHODS[name](array(data, form)), DATA)


@pytest.mark.parametrize("form", FORMATS)
def test_formats(form):
    check(lambda data: array(data, form) @ X, DATA)
    check(lambda data: array(data, form).toarray(), DATA)
    check(lambda data: (array(data, form) + D).multiply(X), DATA)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("form", FORMATS)
def test_values_shapes_and_formats_are_those_of_scipy(form, name):
    own = METHODS[name](array(DATA, form))

    def look(data):
        ours = METHODS[name](array(data, form))
        if scipys.issparse(own) and name != "number":
            assert isinstance(ours, getattr(sparse, type(own).__name__))
        assert np.shape(dense(ours)) == np.shape(own)
        np.testing.assert_allclose(dense(own), cr.value(dense(ours)), rtol=1e-15, atol=1e-15)
        return data.sum()

    cr.grad(look)(DATA)


def test_compressed_rows_and_columns_blocks_and_diagonals():
    stored = array(DATA)
    check(lambda e: sparse.csr_array((e, stored.indices, stored.indptr), shape=(4, 3)) @ X, DATA)
    transposed = stored.indices, stored.indptr
    check(lambda e: sparse.csc_array((e, *transposed), shape=(3, 4)).toarray(), DATA)
    blocks = RNG.normal(size=(3, 2, 1))
    where = np.array([0, 2, 1]), np.array([0, 2, 3])
    check(lambda e: sparse.bsr_array((e, *where), shape=(4, 3)) @ X, blocks)
    check(lambda e: sparse.bsr_array((e, *where), shape=(4, 3)).T.tocsr()[1:], blocks)
    diagonals = RNG.normal(size=(3, 4))
    check(lambda e: sparse.dia_array((e, [0, 1, -2]), shape=(4, 3)) @ X, diagonals)
    check(lambda e: sparse.dia_array((e, [0, 1, -2]), shape=(4, 3)).T, diagonals)


def test_duplicates_are_summed():
    row, column = np.array([0, 0, 1, 0]), np.array([1, 1, 0, 1])
    for form in ("csr_array", "csc_matrix", "coo_array", "bsr_array"):
        make = getattr(sparse, form)
        check(lambda e: make((e, (row, column)), shape=(2, 2)).toarray(), DATA[:4])  # noqa: B023
        check(lambda e: make((e, (row, column)), shape=(2, 2)).sqrt(), DATA[:4])  # noqa: B023
    y = cr.jvp(
        lambda e: sparse.csr_array((e, (row, column)), shape=(2, 2)), (DATA[:4],), (X[[0] * 4],)
    )
    assert y[0].nnz == 2


def test_scipy_sorts_no_entries_of_ours():
    where = np.array([1, 0, 2, 0, 1, 2]), np.array([0, 2, 3, 6])  # not in order

    def solve(entries):
        return linalg.spsolve(sparse.csc_array((np.copy(entries), *where), shape=(3, 3)), X)

    entries = np.array([1.0, 5.0, 6.0, 1.0, 7.0, 8.0])
    kept = entries.copy()
    check(solve, entries)
    np.testing.assert_array_equal(kept, entries)


def test_constant_entries_give_subclasses_of_scipys():
    assert type(array(DATA)) is sparse.csr_array
    assert issubclass(sparse.csr_array, scipys.csr_array)
    assert type(sparse.diags_array([1.0, 2.0])) is sparse.dia_array
    assert isinstance(scipys.csr_array(D), sparse.csr_array)
    assert not isinstance(D, sparse.csc_array)
    assert issubclass(scipys.coo_matrix, sparse.coo_matrix)


MADE = {
    "T": lambda a: a.T,
    "twice": lambda a: 2 * a,
    "half": lambda a: a / 2,
    "sum": lambda a: a + a,
    "square": lambda a: a @ a.T,
    "abs": abs,
    "slice": lambda a: a.tocsr()[1:, ::2],
    "row": lambda a: a.tocsr()[[0]],
    "compared": lambda a: a > 0,
    "like": lambda a: a.conj(),
    "copy": lambda a: a.copy(),
    "entry by entry": lambda a: a.multiply(a),
    **{form: lambda a, form=form: a.asformat(form) for form in ("lil", "dok", "dia", "bsr", "coo")},
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_what_is_made_of_ours_is_ours(form, kind, name):
    own = getattr(scipys, f"{form}_{kind}")(D.toarray())
    ours = getattr(sparse, f"{form}_{kind}")(own)
    assert repr(own) == repr(ours)
    y, expected = MADE[name](ours), MADE[name](own)
    assert type(y) is getattr(sparse, type(expected).__name__)
    np.testing.assert_array_equal(expected.toarray(), y.toarray())
    for again in (pickle.loads(pickle.dumps(y)), copy.copy(y), copy.deepcopy(y)):
        assert type(again) is type(y)
        np.testing.assert_array_equal(expected.toarray(), again.toarray())


def test_functions_return_ours():
    own = scipys.csr_array(D)
    for y in (
        own @ D.T.tocsr(), own * D,
        sparse.hstack([own, own]), sparse.kron(own, own), sparse.eye(3), sparse.tril(own),
        sparse.random(3, 3), sparse.block_diag([own, own]), sparse.identity(3),
        linalg.inv(scipys.csc_array(np.eye(3))), csgraph.minimum_spanning_tree(own[:3]),
    ):  # fmt: skip
        assert type(y) is getattr(sparse, type(y).__name__)


def test_ours_share_the_data_of_scipys():
    own = scipys.csr_array(D)
    ours = sparse.csr_array(own)
    assert np.shares_memory(own.data, ours.data)
    assert np.shares_memory(own.indices, ours.indices)
    check(lambda x: ours @ x, X)


def test_a_subclass_of_a_users():
    class Own(sparse.csr_array):
        pass

    a = Own(D)
    assert type(a) is Own
    assert not isinstance(D, Own)
    check(lambda x: a @ x, X)


def test_arrays_of_scipys_own_are_refused_or_right():
    own, matrix = scipys.csr_array(D), scipys.csr_matrix(D)
    for f in (
        lambda x: own @ x, lambda x: own.dot(x), lambda x: matrix * x, lambda x: x @ own.T,
        lambda x: own.multiply(x).toarray(), lambda x: (x[0] * own).toarray(),
    ):  # fmt: skip
        with pytest.raises(cr.LostDerivativeError):
            cr.grad(lambda x: np.sum(f(x)))(X)  # noqa: B023
    for f in (
        lambda a: own @ a.T, lambda a: a @ own.T, lambda a: own + a, lambda a: a - own,
        lambda a: own * a, lambda a: a * own, lambda a: matrix.T * a, lambda a: a.multiply(own),
    ):  # fmt: skip
        check(lambda data: f(array(data)), DATA)  # noqa: B023
        here = f(array(DATA))
        y = cr.jvp(lambda data: dense(f(array(data))), (DATA,), (DATA,))[0]  # noqa: B023
        np.testing.assert_allclose(here.toarray(), y)


UNCHANGED = """
import scipy.sparse, scipy.sparse.linalg, scipy.sparse.csgraph
def look():
    names = [f"{form}_{kind}" for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
             for kind in ("array", "matrix")]
    classes = [getattr(scipy.sparse, name) for name in names] + [scipy.sparse.linalg.LinearOperator]
    seen = {cls: dict(vars(cls)) for made in classes for cls in made.__mro__ if cls is not object}
    modules = scipy.sparse, scipy.sparse.linalg, scipy.sparse.csgraph
    return [cls.__bases__ for cls in seen], seen, [dict(vars(module)) for module in modules]
before = look()
import chainrules.scipy.sparse
assert look() == before
assert chainrules.scipy.sparse.csr_array is not scipy.sparse.csr_array
"""


def test_scipys_own_classes_are_left_as_they_are():
    subprocess.run([sys.executable, "-P", "-c", UNCHANGED], check=True)


def test_what_is_traced_says_what_it_stands_for():
    def look(data):
        a = array(data)
        assert sparse.issparse(a)
        assert isinstance(a, sparse.csr_array)
        assert not isinstance(a, sparse.csr_matrix)
        assert (a.shape, a.nnz, a.format, a.ndim, a.dtype) == ((4, 3), 6, "csr", 2, np.float64)
        assert type(a.to_scipy()) is sparse.csr_array
        assert (a > 1.5).nnz == 3
        assert repr(a) == "<csr array of float64, shape (4, 3), 6 entries>"
        np.testing.assert_array_equal(a.indices, array(DATA).indices)
        return a.sum()

    cr.grad(look)(DATA)


def test_entries_through_other_transforms():
    loss = cr.checkpoint(lambda a, x: np.sum((a @ x) ** 2))
    check(lambda data: loss(array(data), X), DATA)
    y, pullback = cr.vjp(lambda data: 2 * array(data), DATA)
    np.testing.assert_array_equal(2 * array(DATA).toarray(), y.toarray())
    (xbar,) = pullback(y)
    assert xbar.shape == DATA.shape
    ydot = cr.jvp(array, (DATA,), (X[[0, 1, 2] * 2],))[1]
    assert ydot.entries.shape == DATA.shape


def test_a_closure_over_traced_entries():
    def loss(data):
        a = array(data)
        return cr.grad(lambda x: np.sum(np.sin(a @ x)))(X) @ X

    check(loss, DATA)


REFUSALS = {
    "max": (lambda e: array(e).max(), "max of a sparse array with traced entries has no rule"),
    "lil": (lambda e: array(e).tolil(), "format lil cannot hold traced entries"),
    "data of a dense one": (lambda e: sparse.csr_array(np.diag(e)).data, "leaves out what is zero"),
    "places of a dense one": (
        lambda e: sparse.coo_matrix(np.diag(e)).row * e[0],
        "row of a sparse",
    ),
    "out": (lambda e: array(e).toarray(out=np.zeros((4, 3))), "toarray.out=...."),
    "sparse right-hand side": (
        lambda e: linalg.spsolve(sparse.diags([e], [0], format="csc"), scipys.csc_array(np.eye(6))),
        "sparse right-hand side",
    ),
    "spilu": (lambda e: linalg.spilu(sparse.diags([e], [0], format="csc")), "what it drops"),
    "other triangle": (
        lambda e: linalg.spsolve_triangular(array(e)[:3, :3], X),
        "has a rule for triangular matrices alone",
    ),
    "order": (lambda e: linalg.norm(array(e), 2), "norm of order 2 has no rule"),
    "expm": (lambda e: linalg.expm(array(e)), "scipy.sparse.linalg.expm has no derivative"),
    "dijkstra": (lambda e: csgraph.dijkstra(array(e)[:3]), "dijkstra has no derivative"),
    "M": (lambda e: linalg.eigsh(array(e)[:3], M=np.eye(3)), "without M"),
    "save": (lambda e: sparse.save_npz("no.npz", array(e)), "a file holds plain numbers"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name):
    f, message = REFUSALS[name]
    with pytest.raises(cr.MissingRuleError, match=message):
        cr.grad(lambda e: dense(f(e)).sum())(DATA)


def test_errors_are_those_of_scipy():
    with pytest.raises(ValueError, match="mismatch"):
        cr.grad(lambda x: np.sum(D @ x))(np.ones(2))
    with pytest.raises(ValueError, match="inconsistent shapes"):
        cr.grad(lambda e: (array(e) + D.T).sum())(DATA)
    with pytest.raises(NotImplementedError, match="nonzero scalar"):
        cr.grad(lambda e: (array(e) + 1.0).sum())(DATA)
    with pytest.raises(IndexError):
        cr.grad(lambda e: array(e)[7, 0])(DATA)
    with pytest.raises(ValueError, match="mismatch"):
        cr.grad(lambda e: np.sum(linalg.spsolve(array(e)[:3], np.ones(4))))(DATA)


def test_graphs_are_constant():
    def look(data):
        count, labels = csgraph.connected_components(array(data)[:3])
        assert (type(count), labels.dtype.kind) == (int, "i")
        return count * data[0]

    np.testing.assert_array_equal(np.eye(6)[0] * look(DATA) / DATA[0], cr.grad(look)(DATA))


def test_laplacians_of_dense_and_sparse_graphs():
    weights = np.abs(RNG.normal(size=(4, 4)))
    weights[3] = weights[:, 3] = 0  # a node of its own
    for options in ({}, {"normed": True}, {"use_out_degree": True}, {"symmetrized": True}):

        def sparsely(w, options=options):
            row, column = np.nonzero(weights)
            a = sparse.csr_array((w[row, column], (row, column)), shape=(4, 4))
            return csgraph.laplacian(a, return_diag=True, **options)

        def densely(w, options=options):
            return csgraph.laplacian(w * (weights > 0), return_diag=True, **options)

        own = densely(weights)
        for f in (sparsely, densely):
            check(lambda w, f=f: f(w)[0], weights)
            y, diagonal = f(weights)
            np.testing.assert_allclose(dense(y), own[0])
            np.testing.assert_allclose(diagonal, own[1])
    with pytest.raises(cr.MissingRuleError, match="form='lo' has no rule"):
        cr.grad(lambda e: csgraph.laplacian(array(e)[:3], form="lo") @ X)(DATA)


# ---- programs -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    rng = np.random.default_rng(seed)
    n = 5
    steps = [
        lambda a, c: a + c,
        lambda a, c: a @ c,
        lambda a, c: c @ a,
        lambda a, c: a.T,
        lambda a, c: a.multiply(c.toarray()[0]),
        lambda a, c: a[:, ::-1],
        lambda a, c: sparse.hstack([a, c], format="csr")[:, n - 2 : 2 * n - 2],
        lambda a, c: sparse.kron(a, c[:1, :1] + sparse.eye_array(1), format="csr"),
        lambda a, c: 0.5 * a - a.multiply(a),
        lambda a, c: sparse.tril(a, 1, format="csr"),
    ]
    chosen = rng.integers(len(steps), size=5)
    c = sparse.csr_array(rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.5))
    where = rng.integers(n, size=(2, 9))

    def program(data):
        a = sparse.coo_array((data, tuple(where)), shape=(n, n)).tocsr()
        for i in chosen:
            a = steps[i](a, c).tocsr()
        return a

    check(program, rng.normal(size=9) / 2, rtol=1e-5)


def test_a_heat_equation_by_implicit_steps():
    n = 12

    def loss(conductivity):
        off = -(conductivity[1:] + conductivity[:-1]) / 2
        main = 1 + np.concatenate([-off, [0.0]]) + np.concatenate([[0.0], -off])
        step = linalg.splu(sparse.diags([main, off, off], [0, 1, -1], format="csc"))
        u = np.linspace(0, 1, n) ** 2
        for _ in range(3):
            u = step.solve(u)
        return u

    check(loss, np.linspace(1.0, 2.0, n))


# ---- size -----------------------------------------------------------------------------------


def test_a_large_tridiagonal_system_stays_on_its_pattern():
    n = 100_000
    b = np.ones(n)

    def loss(main, off):
        a = sparse.diags([main, off, off], [0, 1, -1], format="csc")
        assert a.nnz == 3 * n - 2
        return np.sum(linalg.spsolve(a, b) ** 2)

    main, off = np.full(n, 4.0), np.full(n - 1, -1.0)
    mainbar, offbar = cr.grad(loss, argnums=(0, 1))(main, off)
    assert (type(mainbar), mainbar.shape, offbar.shape) == (np.ndarray, (n,), (n - 1,))
    step = 1e-5
    expected = (loss(main + step, off) - loss(main - step, off)) / (2 * step)
    np.testing.assert_allclose(np.sum(mainbar), expected, rtol=1e-6)


def test_a_cotangent_of_entries_has_their_shape():
    n = 50_000
    where = np.arange(n), (7 * np.arange(n)) % n
    a = sparse.csr_array((np.ones(n), where), shape=(n, n))
    x = np.ones(n)

    def loss(data):
        a = sparse.csr_array((data, where), shape=(n, n))
        return np.sum((a @ x + a.T @ x + a.sum(axis=0)) ** 2) + (a @ a.T).sum()

    assert cr.grad(loss)(a.data).shape == (n,)
    a, pullback = cr.vjp(lambda data: sparse.csr_array((data, where), shape=(n, n)), a.data)
    (databar,) = pullback(a)
    assert databar.shape == (n,)
