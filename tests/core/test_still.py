"""Structural zeros of tangents: what np.where, np.pad and np.diag leave out moves in no mode."""

import numpy as np
import pytest
from differences import jacobian_of

import chainrules as cr
from chainrules import numpy as mirrored

X = np.array([0.0, 1.0, 4.0, -2.0])
T = np.array([1.0, 0.5, -0.3, 0.2])
M = X > 0


def chosen(x):
    return np.where(M, x, 0.0)


def read_while_written(x):
    y = chosen(x)
    part = y[1:3]
    y[1] = x[2] * 2
    return np.sum(np.sqrt(part))


# Each has an infinite slope at an entry that comes from nothing that moves.
SMOOTH = {
    "root": lambda x: np.sum(np.sqrt(chosen(x))),
    "power": lambda x: np.sum(chosen(x) ** 0.5),
    "log": lambda x: np.sum(np.where(M, np.log(chosen(x)), 0.0)),
    "quotient": lambda x: np.sum(np.where(M, 1 / chosen(x), 0.0)),
    "two branches": lambda x: np.sum(np.sqrt(np.where(M, np.where(x > 1, x, 1.0), 0.0))),
    "the other branch": lambda x: np.sum(np.sqrt(np.where(~M, 0.0, x))),
    "broadcast": lambda x: np.sum(np.sqrt(chosen(x) * np.ones((2, 4))) ** 1.5),
    "moved": lambda x: np.sum(np.sqrt(chosen(x).reshape(2, 2).T) * np.arange(4.0).reshape(2, 2)),
    "read": lambda x: np.sum(np.sqrt(chosen(x)[:3])),
    "an entry": lambda x: np.sqrt(chosen(x)[1]) + chosen(x)[0],
    "padded": lambda x: np.sum(np.sqrt(np.pad(x[1:3], 2)) * np.arange(6.0)),
    "a diagonal": lambda x: np.sum(np.sqrt(np.diag(x[1:3], 1)) @ np.diagflat(x[1:4] ** 2)[:3, :3]),
    "a diagonal of a diagonal": lambda x: np.sum(np.sqrt(np.diag(np.diag(x[1:3]), 0))),
    "norms": lambda x: np.sum(np.linalg.norm(np.pad(x[1:3].reshape(1, 2), 1), axis=0)),
    "sums": lambda x: np.sum(np.sqrt(np.sum(np.pad(x[1:3], 1).reshape(2, 2), 1))),
    "sums of two": lambda x: np.sum(np.sqrt(chosen(x) + np.where(M, x * x, 0.0))),
    "running sums": lambda x: np.sum(np.sqrt(np.cumsum(chosen(x)))),
    "joined": lambda x: np.sum(np.concatenate([np.sqrt(chosen(x)), x])),
    "largest": lambda x: np.max(np.sqrt(chosen(x))),
    "product": lambda x: np.sqrt(chosen(x)) @ np.arange(4.0),
    "spread": lambda x: np.std(np.sqrt(chosen(x))),
    "complex": lambda x: np.sum(np.real(np.sqrt(chosen(x) * (1 + 0j)))),
    "written to": read_while_written,
}
MODES = {
    "jvp": lambda f: cr.jvp(f, (X,), (T,))[1],
    "linearize": lambda f: cr.linearize(f, X)[1](T),
    "jacfwd": lambda f: cr.jacfwd(f)(X) @ T,
    "compiled": lambda f: cr.compile(lambda x: cr.jvp(f, (x,), (T,))[1])(X),
}
SECOND = {
    "forward over forward": lambda f: cr.jacfwd(cr.jacfwd(f))(X),
    "forward over reverse": lambda f: cr.jacfwd(cr.grad(f))(X),
    "reverse over forward": lambda f: cr.jacrev(cr.jacfwd(f))(X),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", SMOOTH.values(), ids=SMOOTH)
def test_forward_mode_is_as_reverse_mode(f, mode):
    with np.errstate(all="ignore"):
        gradient = cr.grad(f)(X)
        assert np.all(np.isfinite(gradient))
        np.testing.assert_allclose(gradient @ T, MODES[mode](f))


@pytest.mark.parametrize("mode", SECOND)
@pytest.mark.parametrize("f", SMOOTH.values(), ids=SMOOTH)
def test_second_order(f, mode):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(cr.jacrev(cr.grad(f))(X), SECOND[mode](f), atol=1e-12)


def test_a_zero_that_happens_to_be_one_is_no_structural_zero():
    with np.errstate(all="ignore"):
        for f in (lambda x: np.sum(np.sqrt(x * x)), lambda x: np.sum(np.sqrt(np.where(M, x, x)))):
            assert not np.isfinite(cr.jvp(f, (X,), (T,))[1])
    along = np.array([1.0, 0.0, 0.0, 0.0])
    slope = cr.jvp(lambda x: np.sum(np.where(M, x, 0.0) + x), (X,), (along,))[1]
    assert slope == 1.0


def test_dtypes_and_shapes_of_what_moves():
    x = X.astype(np.float32)
    for f in (lambda x: np.where(M, x, 0.0) * x, lambda x: np.pad(x, 1)[1:-1] + np.ones((2, 1))):
        y, ydot = cr.jvp(f, (x,), (x,))
        assert (y.dtype, y.shape) == (ydot.dtype, ydot.shape) == (f(x).dtype, f(x).shape)


def test_norms_of_zeros_that_are_constants():
    """A bug's test: forward over forward was NaN where the other nests were right."""
    a = np.array([0.5, -0.4, 1.6])

    def f(a):
        padded = np.pad(np.broadcast_to(a, (2, 3)), 1)
        return np.sum(np.sin(np.linalg.norm(padded, axis=0, keepdims=True)))

    with np.errstate(all="ignore"):
        twice = cr.jvp(lambda x: cr.jvp(f, (x,), (a,))[1], (a,), (a,))[1]
        np.testing.assert_allclose(cr.hvp(f, (a,), (a,)) @ a, twice)


# ---- constants of arrays that are written to --------------------------------------------------


def filled(t):
    g = mirrored.zeros((2, 3))
    g[0, :2] = t
    return g


def one_entry(t):
    g = mirrored.zeros(2)
    g[0] = t[1]
    return g


def boundary(t):
    u = t * 1.0
    u[0] = 0.0
    u[:1] = np.zeros(1)
    return u


def in_views(t):
    g = mirrored.zeros((3, 2))
    rows = g.T
    rows[0, 1:] = t
    part = g[:, 0]
    part[1] = 0.0
    return g


def still_again(t):
    g = filled(t)
    h = g[:, :2] * 1.0
    h[0] = mirrored.zeros(2)  # which does not move
    h[1, 1] = t[0]
    return h


# Each is a program with constants in an array, whose slopes are infinite at 0.
WRITTEN = {
    "quotient": lambda t: np.sum(filled(t) / (1 + np.sqrt(filled(t) ** 2))),
    "entry by entry": lambda t: sum(g / (1 + np.sqrt(g**2)) for g in one_entry(t)),
    "entry of a draft": lambda t: np.sqrt(one_entry(t)[1] ** 2) * t[0],
    "boundary": lambda t: np.sum(np.sqrt(boundary(t))),
    "part that is constant": lambda t: np.sqrt(np.sum(filled(t)[1])) + np.sum(t),
    "norms of rows": lambda t: np.sum(np.linalg.norm(filled(t), axis=1)),
    "views": lambda t: np.sum(np.sqrt(in_views(t)) * np.arange(6.0).reshape(3, 2)),
    "written again": lambda t: np.sum(np.sqrt(still_again(t))),
    "parts": lambda t: np.sum(np.sqrt(np.abs((filled(t) * 1j).imag))) + np.sum(filled(t).imag),
    "no axes": lambda t: np.sqrt(np.reshape(one_entry(t)[1:], ())) + t[0] * t[1],
}
AT, ALONG = np.array([2.0, 0.5]), np.array([1.0, -0.3])


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
@pytest.mark.parametrize("name", WRITTEN)
def test_constants_of_written_arrays_move_in_no_mode(name):
    f = WRITTEN[name]
    gradient, hessian = cr.grad(f)(AT), cr.jacrev(cr.grad(f))(AT)
    assert np.all(np.isfinite(hessian))
    expected = jacobian_of(f, AT)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(cr.jvp(f, (AT,), (ALONG,))[1], gradient @ ALONG, rtol=1e-12)
    for jacobian in (cr.jacfwd(f), cr.compile(cr.jacfwd(f)), cr.jacfwd(cr.checkpoint(f))):
        np.testing.assert_allclose(jacobian(AT), gradient, rtol=1e-12)
    np.testing.assert_allclose(cr.vmap(cr.jacfwd(f))(np.stack([AT, AT]))[1], gradient, rtol=1e-12)
    for second in (
        cr.hessian,
        lambda f: cr.jacfwd(cr.jacfwd(f)),
        lambda f: cr.jacrev(cr.jacfwd(f)),
    ):
        np.testing.assert_allclose(second(f)(AT), hessian, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(cr.hvp(f, (AT,), (ALONG,)), hessian @ ALONG, rtol=1e-10, atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_a_number_that_stands_in_a_written_array_is_no_structural_zero():
    def moves(t):
        g = mirrored.zeros(2)
        g[0] = t - 1.0  # 0 at 1, and moves
        return np.sqrt(g[0] ** 2)

    assert np.isnan(cr.jvp(moves, (1.0,), (1.0,))[1])


def test_imaginary_parts_of_chosen_entries_move():
    def f(x):
        w = np.where(M, x * (1 + 2j), 0.0)
        return np.sum(np.imag(w) ** 2) + np.sum(w.imag)

    np.testing.assert_allclose(cr.jacfwd(f)(X), cr.grad(f)(X))
    assert np.any(cr.grad(f)(X) != 0)


def test_a_part_that_does_not_move_is_shown_to_others_as_it_is():
    """NumPy looks at the entries of the roots, none of which is traced, and then at the array."""

    def f(t):
        roots = mirrored.zeros(3) * 1j
        roots[0] = t
        return np.real(np.sum(np.poly(roots[1:]))) + t

    def g(t):
        roots = mirrored.zeros(3) * 1j
        roots[0] = t
        return np.real(np.sum(np.poly(roots[:2]))) + t

    for transform in (cr.grad, cr.jacfwd, cr.jacrev):
        assert (transform(f)(1.0), transform(g)(1.0)) == (1.0, 0.0)
    with pytest.raises(cr.LostDerivativeError):
        cr.jvp(lambda t: np.asarray(np.stack([t, 1.0]), complex), (1.0,), (1.0,))
