"""Short ways of blocks of directions: they give what the transforms of one direction give."""

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules.accelerated import numbers

X = np.array([0.3, -1.2, 0.8])
GRID = np.linspace(-1.0, 1.0, 4)
PROGRAMS = {
    "a number beside an array": lambda x: (GRID + x[0]) * (x[1] - GRID[:, None]),
    "complex": lambda x: np.abs(np.exp(1j * GRID * x[0]) * x[1]) + np.real(x[2] * (1 + 2j * GRID)),
    "difference": lambda x: (x * x[0] - x[::-1]) - (x[1] - x),
    "options": lambda x: np.convolve(GRID, x, mode="same") + np.convolve(x, GRID, "same"),
    "outer products": lambda x: (
        np.outer(x, GRID) * np.outer(x[:, None], np.stack([x[0], x[1]]))[0, 0]
    ),
    "a constant function": lambda x: x * np.searchsorted(GRID, x) + np.floor(x[0]),
    "sums along negative axes": lambda x: np.sum(np.outer(x, x), -1) + np.mean(np.outer(x, x), -2),
    "eigenvalues": lambda x: np.linalg.eigvalsh(np.outer(x, x) + np.diag(x)),
    "upper triangle": lambda x: np.linalg.eigh(np.outer(x, GRID[:3]) + np.diag(x), "U")[0],
    "a factor": lambda x: np.linalg.cholesky(np.outer(x, GRID[:3]) + 4 * np.eye(3)),
    "spectrum": lambda x: np.fft.irfft(np.fft.rfft(x) * (1 + 1j * x[:2])),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_jacobians_by_blocks_are_those_of_single_directions(name):
    f = PROGRAMS[name]
    columns = [cr.jvp(f, (X,), (unit,))[1] for unit in np.eye(3)]
    expected = np.stack(columns, axis=-1)
    found = cr.jacfwd(f)(X)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(cr.jacrev(f)(X), expected, rtol=1e-12, atol=1e-13)
    nested = cr.jacfwd(cr.jacfwd(f))(X)
    np.testing.assert_allclose(nested, cr.jacrev(cr.jacfwd(f))(X), rtol=1e-11, atol=1e-12)


def test_sums_in_place_leave_operands_as_they_are():
    def f(x):
        product, other = x * x[0], x * 2.0
        total = product * other + other * product
        return np.stack([product, other, total, product - other, product + x])

    expected = np.stack([cr.jvp(f, (X,), (unit,))[1] for unit in np.eye(3)], axis=-1)
    np.testing.assert_array_equal(cr.jacfwd(f)(X), expected)


def test_unit_directions_are_copies():
    kept = []
    for _ in range(2):
        jacobian = cr.jacfwd(lambda x: x)(X)
        np.testing.assert_array_equal(jacobian, np.eye(3))
        jacobian[:] = 7.0
        kept.append(jacobian)
    assert not np.shares_memory(*kept)


def test_lengths_of_arrays_that_are_written_to():
    def f(x):
        y = np.zeros(4, like=x)
        lengths = [len(x), len(y)]
        y[1] = x[0]
        lengths += [len(y), len(y[1:]), len(np.stack([y, y, y]))]
        with pytest.raises(TypeError):
            len(np.reshape(x[0] * np.ones(1), ()))
        assert lengths == [3, 4, 4, 3, 3]
        return y

    for transform in (cr.jacfwd, cr.jacrev):
        assert transform(f)(X)[1, 0] == 1.0


def test_a_constant_function_of_an_ended_run_is_refused():
    kept = []
    cr.jacfwd(lambda x: kept.append(x[0]) or x * 2)(X)
    with pytest.raises(cr.EscapedTraceError):
        np.searchsorted(GRID, kept[0])


@pytest.mark.skipif(numbers is None, reason="it was not compiled here")
@pytest.mark.parametrize("both", [False, True])
def test_selections_are_held_as_they_were(both):
    condition = X > 0

    def f(x):
        y = np.where(condition, x * x, x * 3 if both else 0.0)
        condition[:] = ~condition
        return np.sum(y * x)

    slopes = 3 * X * X, 6 * X if both else 0 * X
    expected = np.where(X > 0, *slopes)
    np.testing.assert_allclose(cr.grad(f)(X), expected, rtol=1e-14)


def test_slopes_of_abs_at_the_tie_and_beside_it():
    for x in (-2.0, 3.0, 0.0, -0.0):
        assert cr.grad(abs)(x) == np.sign(x)
        # At the tie the choice of the first is differentiated again.
        assert cr.hessian(lambda x: abs(x) * x)(x) == (2 * np.sign(x) or 2.0)
    assert cr.hessian(lambda x: abs(x) ** 3)(0.0) == 0.0
    assert np.isnan(cr.grad(np.abs)(np.nan))
