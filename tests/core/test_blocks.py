"""Blocks of directions: one run for all, and the same numbers as one run for each."""

import numpy as np
import pytest
from differences import slope_of

import chainrules as cr
from chainrules.rules import astype, getitem
from chainrules.rules.linear import blocks as block_rules
from chainrules.rules.linear import jacobians
from chainrules.rules.linear.blocks import Block, run_on_block
from chainrules.rules.rulesets.arrays.indexing import scatter
from chainrules.rules.rulesets.arrays.interpolation import on_plain_grid
from chainrules.rules.rulesets.arrays.shapes import pad_zeros
from chainrules.rules.rulesets.arrays.ties import steady
from chainrules.rules.rulesets.scipy.interpolate.systems import solution
from chainrules.rules.rulesets.scipy.linalg.banded import banded_solve, hermitian_solve
from chainrules.rules.rulesets.scipy.linalg.exponential import exponential_along
from chainrules.rules.rulesets.scipy.linalg.systems import dense_solve, triangular_solve
from chainrules.rules.rulesets.scipy.linalg.toeplitz import toeplitz_solve
from chainrules.rules.rulesets.scipy.signal.filters import filtered
from chainrules.rules.tracing.writing import written

RNG = np.random.default_rng(3)
DIRECTIONS = 5


def normal(*shape):
    return RNG.normal(size=shape)


def block(*shape):
    return Block(normal(DIRECTIONS, *shape))


# ---- every rule against the loop over directions ----------------------------------------------

V, M, S, T = (3,), (3, 4), (4, 4), (2, 3, 4)
MASK = np.array([True, False, True])
PAIR = (np.array([0, 2, 0]), np.array([1, 1, 3]))

SOLVED = {"assume_a": None, "lower": False, "transposed": False, "check_finite": True}
TRIANGULAR = {"trans": 0, "lower": True, "unit_diagonal": False, "check_finite": True}
BANDED = {"below": 1, "above": 1, "check_finite": True}
HERMITIAN = {"lower": False, "height": 2, "check_finite": True}

# fmt: off
CASES: list = [
    (np.multiply, (block(*V), 2.0)), (np.multiply, (block(), normal(*M))),
    (np.add, (block(*V), block(*M[::-1]))), (np.subtract, (normal(*M), block(4))),
    (np.true_divide, (block(*V), normal(2, 3))), (np.negative, (block(*M),)),
    (np.where, (MASK, block(*V), 0)), (np.where, (normal(*M) > 0, 0, block(4))),
    (np.real, (block(*V),)), (np.imag, (block(*V),)), (np.conj, (block(*V),)),
    (astype, (block(*V), np.float32)), (np.copy, (block(*M),)), (steady, (block(*M), 0)),
    (np.sum, (block(*M),)), (np.sum, (block(*T), (0, -1))),
    (np.sum, (block(*M), 0, None, None, True)),
    (np.mean, (block(*M), -1)), (np.cumsum, (block(*M),)), (np.cumsum, (block(*M), 0)),
    (np.trace, (block(*T), 1, 1, 2)),
    (np.reshape, (block(*M), (2, 6))), (np.reshape, (block(*M), -1)),
    (np.reshape, (block(*M), (4, 3), "F")),
    (np.ravel, (block(*M),)), (np.ravel, (block(*M), "F")), (np.ravel, (block(0, 2),)),
    (np.expand_dims, (block(*M), -1)), (np.expand_dims, (block(*M), (0, 2))),
    (np.squeeze, (block(1, 3, 1),)), (np.squeeze, (block(1, 3, 1), 0)), (np.squeeze, (block(3),)),
    (np.broadcast_to, (block(4), (3, 4))), (np.broadcast_to, (block(), (2,))),
    (np.transpose, (block(*T),)), (np.transpose, (block(*T), (1, 0, -1))),
    (np.swapaxes, (block(*T), 0, -1)), (np.moveaxis, (block(*T), 0, -1)),
    (np.moveaxis, (block(*T), (0, 1), (1, 2))), (np.matrix_transpose, (block(*T),)),
    (np.flip, (block(*M),)), (np.flip, (block(*M), 1)), (np.roll, (block(*M), 2)),
    (np.roll, (block(*M), (1, 2), (0, 1))), (np.repeat, (block(*V), 2)),
    (np.repeat, (block(*M), np.array([1, 0, 2]), 0)), (np.tile, (block(*V), 2)),
    (np.tile, (block(*V), (2, 2))), (np.tile, (block(*M), 3)),
    (pad_zeros, (block(*M), 1)), (pad_zeros, (block(*M), [(0, 1), (2, 0)])),
    (np.tril, (block(*T), -1)), (np.triu, (block(*M),)), (np.tril, (block(*V),)),
    (np.diagonal, (block(*T), 1, 0, 2)), (np.diag, (block(*M), 1)), (np.diag, (block(*V), 1)),
    (getitem, (block(*V), 1)), (getitem, (block(*M), (slice(1, None), -1))),
    (getitem, (block(*M), (..., None, 0))),
    (getitem, (block(*T), (0, slice(None), np.array([1, 1])))),
    (getitem, (block(*M), MASK)), (getitem, (block(*M), PAIR)),
    (getitem, (block(*M), np.array([2, 2]))),
    (getitem, ([block(*V), block(*M)], 1)),
    (scatter, (block(3), M, np.dtype(float), PAIR)),
    (scatter, (block(2, 4), M, np.dtype(float), MASK)),
    (scatter, (block(), V, np.dtype(float), 1)),
    (scatter, (block(2), V, np.dtype(float), slice(0, 2))),
    (scatter, (block(2, 4), M, np.dtype(float), np.array([1, 1]))),
    (scatter, (block(2, 3), T, np.dtype(float), (0, slice(None), np.array([1, 1])))),
    (np.take, (block(*M), [1, 1], 0)), (np.take, (block(*M), [5, 0])),
    (np.take_along_axis, (block(*M), np.array([[0, 1], [1, 1], [3, 2]]), 1)),
    (np.take_along_axis, (block(*M), np.array([7, 0]), None)),
    (np.lib.stride_tricks.sliding_window_view, (block(*M), 2, 1)),
    (np.lib.stride_tricks.sliding_window_view, (block(*M), (2, 2))),
    (written, (block(*M), (), (0, slice(None)), 2.0)), (written, (block(*M), (), 1, block(4))),
    (written, (normal(*M), (), (slice(None), 1), block(3))),
    (written, (block(*M), ((getitem, {"index": 1}, None),), slice(0, 2), block(2))),
    (written, (block(*M), ((np.transpose, {}, None),), 0, block())),
    (np.concatenate, ([block(*V), normal(2)],)), (np.concatenate, ([block(*M), block(*M)], -1)),
    (np.concatenate, ([normal(*M), block(*V)], None)),
    (np.stack, ([block(*V), normal(3)],)), (np.stack, ([normal(*M), block(*M)], -1)),
    (np.hstack, ([block(), 1.0],)), (np.hstack, ([block(*V), block(2)],)),
    (np.hstack, ([block(*M), block(*M)],)),
    (np.vstack, ([block(*V), block(*V)],)), (np.vstack, ([block(*M), normal(2, 4)],)),
    (np.vstack, ([block(), 1.0],)), (np.column_stack, ([block(*V), normal(3)],)),
    (np.matmul, (normal(60, 50), block(50, 3))),
    (np.matmul, (block(3), normal(3))), (np.matmul, (block(3), normal(3, 4))),
    (np.matmul, (block(2, 3), normal(3, 4))), (np.matmul, (block(2, 3), normal(3))),
    (np.matmul, (block(3), normal(2, 3, 4))), (np.matmul, (block(2, 5, 3), normal(3, 4))),
    (np.matmul, (block(5, 3), normal(2, 3, 4))), (np.matmul, (normal(3), block(3))),
    (np.matmul, (normal(2, 3), block(3))), (np.matmul, (normal(2, 3), block(3, 4))),
    (np.matmul, (normal(3), block(3, 4))), (np.matmul, (normal(2, 4, 3), block(3))),
    (np.matmul, (normal(2, 4, 3), block(3, 5))), (np.matmul, (normal(4, 3), block(2, 3, 5))),
    (np.matmul, (block(0, 3), normal(3, 4))),
    (np.dot, (block(), normal(3))), (np.dot, (block(2, 3), normal(3, 4))),
    (np.dot, (normal(3), block(3))),
    (np.dot, (normal(2, 4, 3), block(3, 5))), (np.dot, (block(2, 4, 3), normal(3, 5))),
    (np.tensordot, (block(*T), normal(3, 4, 5))), (np.tensordot, (normal(*T), block(4, 5), 1)),
    (np.tensordot, (normal(*T), block(4, 2), ((0, -1), (1, 0)))),
    (np.tensordot, (normal(3), block(2), 0)),
    (np.inner, (block(2, 3), normal(4, 3))), (np.inner, (normal(3), block(3))),
    (np.inner, (2.0, block(3))),
    (np.vdot, (block(2, 3), normal(6))), (np.vdot, (normal(2, 3), block(6))),
    (np.vecdot, (block(2, 3), normal(3))), (np.vecdot, (normal(4, 2, 3), block(3))),
    (np.outer, (block(2), normal(3))), (np.outer, (normal(2), block(3))),
    (np.einsum, ("ij,jk->ik", block(2, 3), normal(3, 4))), (np.einsum, ("ii", block(3, 3))),
    (np.einsum, ("...i,i", normal(2, 3), block(3))),
    (np.einsum, (block(2, 3), [0, 1], normal(3), [1], [0])),
    (np.linalg.solve, (normal(3, 3), block(3))), (np.linalg.solve, (normal(3, 3), block(3, 2))),
    (np.linalg.solve, (normal(2, 3, 3), block(3, 2))),
    (np.linalg.solve, (normal(3, 3), block(2, 3, 2))),
    (dense_solve, (normal(3, 3), block(3)), SOLVED),
    (dense_solve, (normal(3, 3), block(3, 2)), SOLVED),
    (dense_solve, (block(3, 3), normal(3)), SOLVED),
    (triangular_solve, (normal(3, 3), block(3)), TRIANGULAR),
    (banded_solve, (1 + normal(3, 4) ** 2, block(4)), BANDED),
    (hermitian_solve, (normal(2, 4) * [[0.1], [0]] + [[0], [9]], block(4, 2)), HERMITIAN),
    (toeplitz_solve, (np.array([0.1, 0.3, 2.0, 0.2, 0.4]), block(3)), {"check_finite": True}),
    (exponential_along, (normal(3, 3), block(3, 3))),
    (exponential_along, (9 * normal(3, 3), block(3, 3))),
    (solution, (1 + normal(4) ** 2, block(4, 2), np.arange(4), np.arange(4))),
    (np.fft.fft, (block(*M), 5, 0)), (np.fft.rfft, (block(*M),)), (np.fft.irfft, (block(*M),)),
    (np.fft.fftn, (block(*M),)), (np.fft.rfftn, (block(*M),)), (np.fft.fftshift, (block(*M), 1)),
    (filtered, (block(3), 1 + normal(2) ** 2, normal(6), -1)),
    (filtered, (normal(2), 1 + normal(2) ** 2, block(4, 6), 0)),
    (np.convolve, (block(2), normal(6), "same")), (np.convolve, (normal(3), block(7), "valid")),
    (np.convolve, (block(3), normal(3))), (np.convolve, (block(2), np.array([1.0, np.inf, 0.0]))),
    (np.convolve, (block(4), np.array([1.0, np.inf, 0.0]), "same")),
    (np.convolve, (block(3), 1j * normal(5), "same")),
    (on_plain_grid, (block(4), np.linspace(-1.0, 4.0, 7), np.arange(4.0))),
    (np.kron, (block(2), normal(3))), (np.cross, (block(3), normal(3))), (np.split, (block(4), 2)),
]
# fmt: on


def as_arrays(y):
    return [part.values for part in y] if isinstance(y, list | tuple) else [y.values]


@pytest.mark.parametrize("case", CASES)
def test_a_block_rule_gives_what_the_loop_gives(case):
    f, args, *rest = case
    options = rest[0] if rest else {}
    given = as_arrays(run_on_block(f, args, options))
    looped = as_arrays(block_rules._one_by_one(f, args, options, DIRECTIONS))
    for y, expected in zip(given, looped, strict=True):
        assert y.dtype == expected.dtype
        np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-12)


def test_every_block_rule_has_a_case():
    tested = {f for f, *_ in CASES}
    spared = {np.linalg.matmul, np.linalg.tensordot, np.linalg.vecdot, np.linalg.outer}
    spared |= {np.linalg.matrix_transpose, np.fft.ifft, np.fft.ifftn, np.fft.hfft, np.fft.ihfft}
    spared |= {np.fft.irfftn}
    assert set(block_rules._rules) - tested - spared == set()


def test_what_has_no_block_is_called_as_it_is():
    assert run_on_block(np.add, (1.0, 2.0), {}) == 3.0


# ---- Jacobians and Hessians -------------------------------------------------------------------


def model(p):
    h = np.tanh(p["w"] @ p["x"] + p["b"])
    return {"h": h, "s": np.sum(h**2) * p["b"]}


POINT = {"w": normal(4, 3), "x": normal(3), "b": 0.3}


def columns(f, x):
    """The Jacobian of a function of one array, one jvp for each column."""
    units = np.eye(x.size).reshape(x.size, *x.shape)
    return np.stack([cr.jvp(f, (x,), (unit,))[1] for unit in units], axis=-1)


@pytest.mark.parametrize("cached", [1, 7, 10**6])
@pytest.mark.parametrize("jacobian", [cr.jacfwd, cr.jacrev])
def test_a_jacobian_of_containers_in_chunks_of_any_size(jacobian, cached, monkeypatch):
    monkeypatch.setattr(jacobians, "BLOCK_IN_CACHE", cached)
    found = jacobian(model)(POINT)
    for out in ("h", "s"):
        for name, x in POINT.items():
            x = np.asarray(x)

            def f(v, out=out, name=name, x=x):
                return model({**POINT, name: np.reshape(v, x.shape) if x.ndim else v[0]})[out]

            expected = columns(f, x.reshape(-1))
            shape = np.shape(model(POINT)[out]) + x.shape
            np.testing.assert_allclose(found[out][name], expected.reshape(shape), atol=1e-13)
            assert np.shape(found[out][name]) == shape


@pytest.mark.parametrize("jacobian", [cr.jacfwd, cr.jacrev, cr.jacobian])
def test_a_complex_jacobian_in_blocks(jacobian):
    a = normal(3, 3) + 1j * normal(3, 3)
    z = normal(3) + 1j * normal(3)
    np.testing.assert_allclose(jacobian(lambda z: a @ z**2)(z), a * (2 * z), rtol=1e-12)
    with pytest.raises(TypeError, match="not holomorphic"):
        jacobian(np.conj)(z)


@pytest.mark.parametrize("jacobian", [cr.jacfwd, cr.jacrev])
def test_a_float32_argument_has_a_float32_jacobian(jacobian):
    found = jacobian(lambda x: np.sin(x) * x[0])(np.float32([0.5, 1.0, 2.0]))
    assert found.dtype == np.float32
    assert np.shape(found) == (3, 3)


@pytest.mark.parametrize("jacobian", [cr.jacfwd, cr.jacrev, cr.jacobian])
def test_jacobians_of_nothing(jacobian):
    assert jacobian(np.sin)(np.zeros(0)).shape == (0, 0)
    assert jacobian(lambda x: x[:0])(np.zeros(7)).shape == (0, 7)


def test_a_jacobian_of_a_loop_that_writes():
    def f(x):
        y = np.zeros_like(x)
        for i in range(x.size):
            y[i] = x[i] * (y[i - 1] if i else 1.0)
        return y

    x = normal(8)
    np.testing.assert_allclose(cr.jacfwd(f)(x), columns(f, x), atol=1e-13)
    np.testing.assert_allclose(cr.jacrev(f)(x), columns(f, x), atol=1e-13)


def energy(x):
    return np.sum(np.sin(x[1:]) * x[:-1] ** 2) / np.sqrt(1 + x @ x) + x[0] ** 3


def test_a_hessian_is_symmetric_to_the_last_bit_and_that_of_the_products():
    x = normal(9)
    found = cr.hessian(energy)(x)
    assert np.array_equal(found, found.T)
    products = np.stack([cr.hvp(energy, (x,), (unit,)) for unit in np.eye(9)])
    np.testing.assert_allclose(found, products, atol=1e-12)


def test_a_hessian_of_several_arguments_is_symmetric_across_its_blocks():
    def f(w, x, b):
        return np.sum(np.tanh(w @ x + b) ** 2)

    args = normal(2, 3), normal(3), 0.3
    found = cr.hessian(f, argnums=(0, 1, 2))(*args)
    assert np.array_equal(found[0][1], np.moveaxis(found[1][0], 0, -1))
    assert np.array_equal(found[0][2], found[2][0])
    assert found[0][0].shape == (2, 3, 2, 3)
    assert np.shape(found[2][2]) == ()


def test_blocks_nest_in_other_derivatives():
    x = normal(4)

    def total(x):
        return np.sum(cr.jacfwd(lambda y: np.sin(y) * y[0])(x) ** 2)

    def expected(x):
        jacobian = np.diag(np.cos(x) * x[0])
        jacobian[:, 0] += np.sin(x)
        return np.sum(jacobian**2)

    slope = slope_of(expected, (x,), (np.ones(4),))
    assert np.sum(cr.grad(total)(x)) == pytest.approx(slope, rel=1e-6)
    third = cr.jacfwd(cr.hessian(energy))(x)
    assert third.shape == (4, 4, 4)
    np.testing.assert_allclose(third, np.moveaxis(third, 0, 2), atol=1e-10)
    np.testing.assert_allclose(cr.jacrev(cr.hessian(energy))(x), third, atol=1e-10)


def test_as_many_directions_as_the_last_axis_is_long_are_not_read_by_an_index_with_dots():
    w = np.array([1.0, 2.0, 3.0])
    found = cr.hessian(lambda x: np.sum(x[..., [2, 0, 1]] ** 3 * w))(w)
    np.testing.assert_allclose(found, np.diag([12.0, 36.0, 18.0]))
    turned = [5, 3, 4, 2, 0, 1]
    x = np.arange(1.0, 7.0)
    expected = columns(lambda a: a[..., turned] ** 3, x)
    np.testing.assert_allclose(cr.jacrev(lambda a: a[..., turned] ** 3)(x), expected)


def test_as_many_directions_as_a_matrix_has_rows_go_through_its_trace_and_diagonal():
    a, directions = np.arange(9.0).reshape(3, 3), np.arange(27.0).reshape(3, 3, 3)
    for f in (
        lambda a: np.trace(a) ** 2,
        lambda a: np.sum(np.diagonal(a) ** 3),
        lambda a: np.sum(np.diag(a, 1) ** 3),
    ):
        found = cr.hvp(f, (a,), (directions,), block=True)
        each = [cr.hvp(f, (a,), (xdot,)) for xdot in directions]
        np.testing.assert_allclose(found, np.stack(each))
        dense = cr.hessian(f)(a).reshape(9, 9)
        np.testing.assert_allclose(cr.hessian(f, sparse=True)(a).toarray(), dense)
        products = [cr.hvp(f, (a,), (unit.reshape(3, 3),)).ravel() for unit in np.eye(9)]
        np.testing.assert_allclose(dense, products)


def test_a_number_beside_an_array_of_float32_has_a_jacobian_in_float32():
    x = np.float32([1, 2, 3])
    for jacobian in (cr.jacfwd, cr.jacrev):
        found = jacobian(lambda p: p[0] * p[1])((2.0, x))
        np.testing.assert_allclose(found[0], x)
        assert found[1].dtype == np.float32
    assert cr.jacfwd(lambda p: p[0] * p[1])((2.0, x))[0].dtype == np.float32


def test_a_jacobian_goes_through_a_step_with_a_zero_tangent():
    a = normal(3, 3)
    found = cr.jacfwd(lambda x: np.linalg.solve(a, x**2))(np.ones(3))
    np.testing.assert_allclose(found, 2 * np.linalg.inv(a))


# ---- directions of a user ---------------------------------------------------------------------


def test_linearize_pushes_a_block():
    x, w = normal(3), {"a": 2.0}
    _, pushforward = cr.linearize(lambda x, w: (np.sin(x) * w["a"], 1.0), x, w)
    xdots, adots = normal(5, 3), normal(5)
    found, constant = pushforward(xdots, {"a": adots}, block=True)
    each = [pushforward(xdot, {"a": adot})[0] for xdot, adot in zip(xdots, adots, strict=True)]
    np.testing.assert_allclose(found, np.stack(each), rtol=1e-14)
    np.testing.assert_array_equal(constant, np.zeros(5))
    alone, _ = pushforward(cr.ZeroTangent(), {"a": adots}, block=True)
    np.testing.assert_allclose(alone, np.outer(adots, np.sin(x)), rtol=1e-14)


def test_hvp_of_a_block():
    x, directions = normal(6), normal(4, 6)
    found = cr.hvp(energy, (x,), (directions,), block=True)
    each = [cr.hvp(energy, (x,), (xdot,)) for xdot in directions]
    np.testing.assert_allclose(found, np.stack(each), atol=1e-12)


@pytest.mark.parametrize("wrong", [normal(3), normal(5, 2), 1.0])
def test_a_block_of_another_shape_is_refused(wrong):
    _, pushforward = cr.linearize(np.sin, normal(3))
    with pytest.raises(
        cr.TangentError, match=r"a block of directions has shape \('directions', 3\)"
    ):
        pushforward(wrong, block=True)


def test_blocks_of_different_numbers_of_directions_are_refused():
    _, pushforward = cr.linearize(np.multiply, 1.0, 2.0)
    with pytest.raises(cr.TangentError, match=r"argument 1 has shape \(3,\)"):
        pushforward(np.ones(2), np.ones(3), block=True)


# ---- the trait --------------------------------------------------------------------------------


def make_cube():
    asked = []

    @cr.primitive
    def cube(x):
        return x**3

    @cr.frule.register(cube)
    def cube_frule(tangents, cube, x):
        _, xdot = tangents
        asked.append("direction")
        return cube(x), 3 * x**2 * xdot

    @cr.frule.register(cube)
    def cube_block_frule(config: cr.AsksForBlocks, tangents, cube, x):
        _, xdot = tangents
        asked.append("block")
        return cube(x), np.diag(3 * x**2) @ xdot

    @cr.rrule.register(cube)
    def cube_rrule(config: cr.AsksForBlocks, cube, x):
        asked.append("pull block")
        jacobian = np.diag(3 * x**2)

        def cube_pullback(ybar):
            return cr.NoTangent(), jacobian.T @ ybar

        return cube(x), cube_pullback

    return cube, asked


def test_a_rule_may_answer_with_a_jacobian_where_the_engine_asks_for_blocks():
    cube, asked = make_cube()
    x = normal(3)
    expected = np.diag(3 * x**2)
    np.testing.assert_allclose(cr.jacfwd(cube)(x), expected)
    assert asked == ["block"]
    cr.jvp(cube, (x,), (x,))
    assert asked == ["block", "direction"]
    np.testing.assert_allclose(cr.jacrev(lambda x: 1.0 * cube(x))(x), expected)
    assert asked[2:] == ["pull block"]


def test_a_write_by_a_mask_into_an_array_without_axes():
    def f(x):
        y = np.copy(x)
        y[y > 0.5] = np.sin(x) * 2
        return np.sum(y**2)

    x, block = np.array(0.563), np.ones((2, 1))[:, 0]
    right = cr.hvp(f, (x,), (np.array(1.0),))
    np.testing.assert_allclose(cr.hvp(f, (x,), (block,), block=True), [right, right])
    _, push = cr.linearize(f, x)
    np.testing.assert_allclose(push(block, block=True), [push(np.array(1.0))] * 2)


def test_a_write_through_a_view_of_an_array_without_axes():
    def f(x):
        y = np.copy(x)
        squared = (y * y).reshape(-1)
        y.ravel()[0] = np.sin(x) + 1.46
        return np.mean(y * squared) ** 2

    x = np.array(0.373)
    right = cr.hvp(f, (x,), (np.array(1.0),))
    np.testing.assert_allclose(cr.hvp(f, (x,), (np.array([1.0, 2.0]),), block=True)[0], right)
