"""Products: of matrices, tensors, every entry with every entry, chains, convolutions."""

import numpy as np
import pytest
from both_modes import both_engines, both_rules

import chainrules as cr
from chainrules.config import rrule_via_ad
from chainrules.testing import test_frule, test_rrule

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape)


def check_dtypes(f, a, b, **kwargs):
    """Real, complex and mixed operands, and single precision."""
    both_engines(f, a, b, **kwargs)
    turned = a * (1 + 0.5j), b * (0.3 - 1j)
    both_engines(f, *turned, **kwargs)
    test_rrule(f, a, turned[1], rrule_f=rrule_via_ad, **kwargs)
    test_rrule(f, turned[0], b, rrule_f=rrule_via_ad, **kwargs)
    test_rrule(f, np.float32(a), np.float32(b), rrule_f=rrule_via_ad, **kwargs)


V, W = normal(3), normal(3)
A, B, S = normal(2, 3), normal(3, 4), normal(3, 3)
C, D = normal(5, 2, 3), normal(5, 3, 4)
ONE = normal(1, 3, 4)
DEEP = normal(4, 1, 2, 3)

# fmt: off
PAIRS = [
    (np.matmul, A, B), (np.matmul, V, W), (np.matmul, A, V), (np.matmul, V, B), (np.matmul, C, D),
    (np.matmul, C, B), (np.matmul, A, D), (np.matmul, C, ONE), (np.matmul, DEEP, D),
    (np.matmul, C, V), (np.matmul, V, D), (np.matmul, A[:0], B), (np.matmul, A[:, :0], B[:0]),
    (np.linalg.matmul, A, B), (np.linalg.matmul, V, D),
    (np.dot, 1.5, V), (np.dot, A, 1.5), (np.dot, 1.5, 2.5), (np.dot, V, W), (np.dot, A, V),
    (np.dot, V, B), (np.dot, A, B), (np.dot, C, V), (np.dot, V, D), (np.dot, C, B),
    (np.dot, A, D), (np.dot, C, D), (np.dot, V, S), (np.dot, A[:0], B),
    (np.inner, 1.5, V), (np.inner, A, 1.5), (np.inner, V, W), (np.inner, A, V), (np.inner, C, A),
    (np.inner, V, C),
    (np.outer, V, W), (np.outer, A, V), (np.outer, 1.5, V),
    (np.linalg.outer, V, W),
    (np.outer, V[:0], W),
    (np.vdot, V, W), (np.vdot, A, A[::-1]), (np.vdot, A, normal(3, 2)), (np.vdot, 1.5, 2.5),
    (np.vecdot, V, W), (np.vecdot, A, V), (np.vecdot, C, A), (np.vecdot, A, C[:, :1]),
    (np.linalg.vecdot, C, V),
    (np.matvec, A, V), (np.matvec, C, V), (np.matvec, A, normal(5, 3)),
    (np.matvec, DEEP, normal(5, 3)),
    (np.vecmat, V, B), (np.vecmat, V, D), (np.vecmat, normal(5, 3), B),
    (np.vecmat, normal(4, 1, 3), D),
    (np.tensordot, A, B[:3, :2].T @ np.eye(3)), (np.tensordot, C, normal(2, 3, 4)),
    (np.kron, V, W), (np.kron, A, S), (np.kron, A, V), (np.kron, 1.5, A), (np.kron, V, C),
    (np.kron, 1.5, 2.5),
    (np.cross, V, W), (np.cross, A, V), (np.cross, C, A),
    (np.linalg.cross, A, V),
    (np.convolve, V, normal(4)), (np.convolve, normal(5), V), (np.convolve, V, 1.5),
    (np.convolve, V, W),
    (np.correlate, V, normal(4)), (np.correlate, normal(5), V), (np.correlate, V, W),
    (np.multiply.outer, A, V),
    (np.add.outer, A, V),
    (np.subtract.outer, V, W),
    (np.multiply.outer, 1.5, V),
    (np.divide.outer, V, W),
]
# fmt: on


@pytest.mark.parametrize(("f", "a", "b"), PAIRS)
def test_pair(f, a, b):
    check_dtypes(f, a, b)


@pytest.mark.parametrize(
    ("f", "a", "b", "kwargs"),
    [
        (np.vecdot, S[:, :2], C.swapaxes(1, 2), {"axis": -2}),
        (np.vecdot, A, A, {"axis": 0}),
        (np.vecdot, A[None], C, {"axis": 1}),
        (np.linalg.vecdot, S, S, {"axis": 0}),
        (np.tensordot, A, B, {"axes": 1}),
        (np.tensordot, A, B, {"axes": 0}),
        (np.tensordot, 1.5, B, {"axes": 0}),
        (np.tensordot, C, D, {"axes": ([0, 2], [0, 1])}),
        (np.tensordot, C, D, {"axes": ((-1, 0), (1, 0))}),
        (np.tensordot, C, D, {"axes": (2, 1)}),
        (np.tensordot, A, A, {"axes": 2}),
        (np.linalg.tensordot, C, A, {"axes": ((1, 2), (0, 1))}),
        (np.cross, C.swapaxes(1, 2), A, {"axisa": 1}),
        (np.cross, A, C, {"axisc": 0}),
        (np.cross, S, S.T, {"axisa": 0, "axisb": 1, "axisc": 0}),
        (np.cross, S, S.T, {"axis": 0}),
        (np.linalg.cross, S, S.T, {"axis": 0}),
        *(
            (np.convolve, V, normal(n), {"mode": m})
            for n in (2, 3, 4, 7)
            for m in ("same", "valid")
        ),
        *(
            (np.convolve, normal(4), normal(n), {"mode": m})
            for n in (2, 6)
            for m in ("same", "valid")
        ),
        *((np.correlate, V, normal(n), {"mode": m}) for n in (2, 3, 6) for m in ("same", "full")),
        *(
            (np.correlate, normal(4), normal(n), {"mode": m})
            for n in (2, 6)
            for m in ("same", "valid")
        ),
    ],
)
def test_pair_with_options(f, a, b, kwargs):
    check_dtypes(f, a, b, **kwargs)


def test_rules_by_themselves():
    for f in (np.matmul, np.dot, np.vdot, np.tensordot, np.kron, np.outer, np.inner, np.vecdot):
        test_frule(f, S, S.T @ S)
        test_rrule(f, S * 1j, S.T @ S)


def test_the_same_operand_twice():
    np.testing.assert_allclose(2 * V, cr.grad(lambda x: x @ x)(V))
    np.testing.assert_allclose(2 * np.eye(3), cr.hessian(lambda x: np.dot(x, x))(V))


def test_integers():
    np.testing.assert_array_equal([[2.0, 1.0]], cr.grad(lambda n: np.sum(n @ np.array([2, 1])))(
        np.array([[5, 7]])))  # fmt: skip


def test_matmul_on_chosen_axes_is_refused():
    with pytest.raises(cr.MissingRuleError, match="does not support the keyword 'axes'"):
        cr.grad(lambda a: np.sum(np.matmul(a, B, axes=[(1, 0), (0, 1), (0, 1)])))(A)


# ---- einsum ---------------------------------------------------------------------------------

# fmt: off
EINSUMS = [
    ("ij,jk->ik", A, B), ("ij,jk", A, B), ("ba", A), ("ij->", A), ("i->i", V), ("ii", S),
    ("ii->i", S), ("ij->j", A), ("i,i", V, W), ("i,j", V, W), ("i,j->ij", V, W), ("i,i->i", V, W),
    ("ij,ij->", A, A[::-1]), ("ij,j", A, V), (" i j , j -> i ", A, V),
    ("...ij,...jk->...ik", C, D), ("...ij,...jk", C, ONE), ("i...->...i", C),
    ("...ii->...i", normal(2, 3, 3)), ("...i,...i->...", A, V), ("...,...", A, V),
    ("i...,i...->...", A, normal(2, 5, 3)), ("...ij,j...->...i", DEEP, normal(3, 4)),
    ("...->...", A), ("...", 1.5), ("bij,bjk,bkl->bil", C, D, normal(5, 4, 2)),
    ("ij,jk,kl,lm->im", A, B, normal(4, 2), normal(2, 3)), ("i,i,i->", V, W, V),
    ("iij->j", normal(2, 2, 3)), ("iij,jkk->k", normal(2, 2, 3), normal(3, 4, 4)),
    ("ijij->ij", normal(2, 3, 2, 3)), ("iii->", normal(3, 3, 3)), ("ij,k->", A, V),
    ("ij,k->k", A, V), ("ik,jk->", A, S), (",i->i", 1.5, V), (",", 1.5, 2.5), (",ij", 1.5, A),
    ("i,i", normal(1), V), ("ij,ij->ij", normal(1, 3), A), ("ij,jk->ik", normal(2, 1), B),
    ("ij,i->j", A[:0], V[:0]), ("Ba", A), ("aB,Ba->", A, A.T),
    ("ab...,bc...->ac...", normal(2, 3, 2), normal(3, 4, 2)), ("ij,ij", A, normal(1, 1)),
    ("i->", normal(1)),
]
# fmt: on


@pytest.mark.parametrize("case", EINSUMS, ids=lambda case: case[0])
def test_einsum(case):
    subscripts, *operands = case
    turned = [x * (0.5 + 1j) for x in operands]
    both_rules(np.einsum, subscripts, *operands)
    both_rules(np.einsum, subscripts, *turned)
    test_rrule(np.einsum, subscripts, operands[0], *turned[1:])
    test_rrule(np.einsum, subscripts, *map(np.float32, operands))


@pytest.mark.parametrize("optimize", [True, "greedy", ["einsum_path", (0, 1), (0, 1)]])
def test_einsum_along_a_path(optimize):
    operands = A, B, normal(4, 2)
    both_rules(np.einsum, "ij,jk,kl->il", *operands, optimize=optimize)


@pytest.mark.parametrize(
    "args",
    [
        (A, [0, 1], B, [1, 2], [0, 2]),
        (A, [0, 1], B, [1, 2]),
        (S, [0, 0]),
        (S, [3, 3], [3]),
        (A, [1, 0]),
        (A, [30, 2], V, [2], [30]),
        (C, [..., 0, 1], D, [..., 1, 2], [..., 0, 2]),
    ],
)
def test_einsum_of_operands_with_lists(args):
    both_rules(np.einsum, *args)


def test_einsum_in_an_expression():
    def energy(x, q):
        return np.einsum("i,ij,j", x, q, x)

    both_engines(energy, V, S)
    np.testing.assert_allclose(S + S.T, cr.hessian(lambda x: energy(x, S))(V))


# ---- chains and covariances -----------------------------------------------------------------


@pytest.mark.parametrize(
    "factors",
    [
        [A, B],
        [A, B, normal(4, 2)],
        [normal(9, 2), A, B, normal(4, 2)],
        [V, B, normal(4, 2)],
        [A, B, normal(4)],
        [V, B, normal(4)],
        [A * 1j, B, normal(4, 1) * (1 + 1j)],
        [np.float32(A), np.float32(B), np.float32(normal(4, 2))],
    ],
)
def test_multi_dot(factors):
    both_engines(np.linalg.multi_dot, factors)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.cov(x),
        lambda x: np.cov(x[0]),
        lambda x: np.cov(x, bias=True),
        lambda x: np.cov(x, rowvar=False),
        lambda x: np.cov(x, ddof=0),
        lambda x: np.cov(x[0], x[1]),
        lambda x: np.cov(x, x[:1] ** 2),
        lambda x: np.cov(x, fweights=[1, 2, 1, 3]),
        lambda x: np.cov(x, aweights=[0.5, 2.0, 1.0, 0.3]),
        lambda x: np.cov(x, fweights=[1, 2, 1, 3], aweights=[0.5, 2.0, 1.0, 0.3]),
        lambda x: np.cov(x, aweights=[0.5, 2.0, 1.0, 0.3], ddof=0),
        lambda x: np.corrcoef(x) * np.tri(3, k=-1),
        lambda x: np.corrcoef(x[0], x[1], rowvar=False)[0, 1],
        lambda x: np.corrcoef(x[0]),
    ],
)
def test_covariance(f):
    both_engines(f, B)
    both_engines(f, B * (1 + 0.5j) + 1j * B[::-1])


def test_covariance_of_single_precision():
    x = np.float32(B)
    assert np.cov(x).dtype == cr.jvp(np.cov, (x,), (x,))[1].dtype


def test_covariance_of_one_sample_warns():
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"), np.errstate(all="ignore"):
        cr.grad(lambda x: np.sum(np.cov(x)))(V[:, None])
