"""Histograms over several variables."""

import numpy as np
import pytest
from both_modes import both

import chainrules as cr

RNG = np.random.default_rng(8)
X, Y = RNG.uniform(-1, 1, size=(2, 8))
SAMPLE = np.stack([X, Y], axis=1)
W = RNG.uniform(0.5, 1.5, size=8)
EDGES = np.array([-1.0, -0.2, 0.4, 1.0])


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("bins", [3, [2, 3], [EDGES, 2]], ids=str)
def test_weights(bins, density):
    both(lambda w: np.histogramdd(SAMPLE, bins, weights=w, density=density), W)
    both(lambda w: np.histogram2d(X, Y, bins, weights=w, density=density), W)
    both(lambda w: np.histogram2d(X, Y, bins, [[-0.5, 0.5], [-1, 1]], density, w)[0], W)


@pytest.mark.parametrize("density", [False, True])
def test_samples_move_the_outer_edges(density):
    both(lambda x, y: np.histogram2d(x, y, 3, density=density), X, Y)
    both(lambda sample: np.histogramdd(sample, (2, 3), density=density, weights=W), SAMPLE)


def test_given_edges():
    both(lambda edges: np.histogram2d(X, Y, edges, density=True)[0], EDGES)
    counts, x_edges, y_edges = cr.vjp(lambda w: np.histogram2d(X, Y, EDGES, weights=w), W)[0]
    expected = np.histogram2d(X, Y, EDGES, weights=W)
    np.testing.assert_allclose(expected[0], counts)
    np.testing.assert_array_equal(expected[1], x_edges)
    np.testing.assert_array_equal(expected[2], y_edges)


def test_samples_on_the_edges():
    x = np.array([0.0, 1.0, 2.0, 2.0, 5.0])
    wbar = cr.grad(lambda w: np.histogramdd([x], [[0.0, 1.0, 2.0]], weights=w)[0][-1])(W[:5])
    np.testing.assert_array_equal([0, 1, 1, 1, 0], wbar)


def test_types():
    weights = W.astype(np.float32)
    assert (
        np.float32 == cr.grad(lambda w: np.histogram2d(X, Y, 2, weights=w)[0][0, 0])(weights).dtype
    )
    weights = np.arange(8)
    assert (
        np.float64 == cr.grad(lambda w: np.histogram2d(X, Y, 2, weights=w)[0][0, 0])(weights).dtype
    )


def test_errors():
    with pytest.raises(ValueError, match="same length"):
        cr.vjp(lambda x: np.histogram2d(x, Y[:3])[0], X)
    with pytest.raises(ValueError, match="each of its variables"):
        cr.vjp(lambda sample: np.histogramdd(sample, [2, 2, 2])[0], SAMPLE)
