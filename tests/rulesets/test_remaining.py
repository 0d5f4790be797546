"""Functions of NumPy that belong to no family."""

import numpy as np
import pytest
from both_modes import both

import chainrules as cr

RNG = np.random.default_rng(9)
X = RNG.normal(size=(2, 3, 2))
PADDED = np.pad([[1.5, 0.0, 2.5]], ((1, 2), (2, 1)))


@pytest.mark.parametrize("axes", [0, -1, [0, 2], (1, -1), []], ids=str)
def test_apply_over_axes(axes):
    both(lambda x: np.apply_over_axes(np.sum, x, axes), X)
    both(lambda x: np.apply_over_axes(np.cumsum, x, axes), X)


def test_apply_over_axes_checks():
    with pytest.raises(ValueError, match="correct shape"):
        cr.vjp(lambda x: np.apply_over_axes(lambda x, axis: np.sum(x), x, 0), X)


@pytest.mark.parametrize("trim", ["fb", "f", "B"])
def test_trim_zeros(trim):
    for x in (PADDED[1], PADDED[1] * 1j, PADDED[1].astype(np.float32), np.zeros(3), np.zeros(0)):
        expected = np.trim_zeros(x, trim)
        y, pullback = cr.vjp(lambda x: np.trim_zeros(x, trim), x)
        np.testing.assert_array_equal(expected, y)
        (xbar,) = pullback(np.ones_like(expected))
        assert x.dtype == xbar.dtype
        assert np.size(expected) == np.sum(np.real(xbar))
    both(lambda x: np.trim_zeros(np.concatenate([np.zeros(2), x, np.zeros(1)]), trim), X[0, 0])


def test_trim_zeros_of_grids():
    for axis in (None, 0, -1, (0, 1), ()):
        y = cr.vjp(lambda x, axis=axis: np.trim_zeros(x, axis=axis), PADDED)[0]
        np.testing.assert_array_equal(np.trim_zeros(PADDED, axis=axis), y)
    xbar = cr.grad(lambda x: np.sum(np.trim_zeros(x)))(PADDED)
    np.testing.assert_array_equal(np.pad(np.ones((1, 3)), ((1, 2), (2, 1))), xbar)


def test_trim_zeros_checks():
    with pytest.raises(ValueError, match="unexpected"):
        cr.vjp(lambda x: np.trim_zeros(x, "x"), X[0, 0])


def test_files_get_the_numbers(tmp_path):
    def loss(x):
        np.save(tmp_path / "x.npy", x)
        np.savetxt(tmp_path / "x.txt", x)
        return np.sum(x**2)

    x = X[0]
    np.testing.assert_array_equal(2 * x, cr.grad(loss)(x))
    np.testing.assert_array_equal(x, np.load(tmp_path / "x.npy"))
    np.testing.assert_allclose(x, np.loadtxt(tmp_path / "x.txt"))
