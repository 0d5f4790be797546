"""Functions of SciPy whose derivatives were wrong in complex numbers, or their dtype in float32."""

import numpy as np
import pytest
from both_modes import both

import chainrules as cr
from chainrules.scipy import fft, ndimage, signal, stats
from chainrules.scipy.sparse import csgraph
from chainrules.scipy.spatial import distance

RNG = np.random.default_rng(0)
Z = RNG.normal(size=5) + 1j * RNG.normal(size=5)
TIMES = np.array([0.3 + 0.1j, 0.5 - 0.2j])
COMPLEX = {
    "SciPy forgets orthogonalize": lambda z: fft.dct(z, 2, norm="ortho", orthogonalize=False),
    "and in sines": lambda z: fft.dst(z, 3, orthogonalize=True),
    "and in several axes": lambda z: fft.idctn(z, 1, orthogonalize=True),
    "SciPy forgets grid_mode": lambda z: ndimage.zoom(z, 1.6, mode="nearest", grid_mode=True),
    "the root of squares is no norm": lambda z: ndimage.gaussian_gradient_magnitude(z, 0.9),
    "a window of odd length": lambda z: signal.resample(z, 8, window="hann"),
    "the second cumulant has no conjugates": stats.kstat,
    "nor has the variance of describe": lambda z: stats.describe(z).variance,
    "a square of steps, or of their lengths": lambda z: distance.sqeuclidean(z, 0.5 * Z[::-1]),
    "tvar has": stats.tvar,
    "tstd has": stats.tstd,
}


@pytest.mark.parametrize("name", COMPLEX)
def test_of_complex_numbers(name):
    both(COMPLEX[name], Z)


@pytest.mark.parametrize("method", ["linear", "quadratic", "log"])
def test_a_chirp_at_complex_times_is_a_cosine(method):
    both(lambda t: signal.chirp(t, 1.1, 2.0, 3.3, method), TIMES)


def test_a_line_through_complex_numbers_is_refused():
    """Since SciPy 1.18 it takes none itself."""
    with pytest.raises((cr.MissingRuleError, TypeError), match=r"complex numbers|'stdtr' not supp"):
        cr.grad(lambda z: np.abs(stats.linregress(z, 2 * Z).slope))(Z)


SINGLE = {
    "distances that the user wrote": lambda a: distance.pdist(a, lambda u, v: np.sum(u * v)),
    "between two sets": lambda a: distance.cdist(a, a, lambda u, v: np.sum(u * v)),
    "a Laplacian that is normed": lambda a: csgraph.laplacian(a[:, :3], normed=True),
}


@pytest.mark.parametrize("name", SINGLE)
def test_of_single_precision(name):
    a = RNG.uniform(0.5, 1.5, (3, 4)).astype(np.float32)
    assert SINGLE[name](a).dtype == cr.vjp(SINGLE[name], a)[0].dtype
    assert SINGLE[name](a).dtype == cr.jvp(SINGLE[name], (a,), (a,))[0].dtype
