"""Cases of scipy.linalg, at generic points."""

import numpy as np

from chainrules.scipy import linalg


def case(*args, **kwargs):
    return args, kwargs


def real(*shape, seed=0):
    return np.random.default_rng((29, seed, *shape)).normal(size=shape)


S = real(3, 3) + 2 * np.eye(3)
X = real(3)

CASES: dict = {
    linalg.det: [case(S)],
    linalg.solve: [case(S, X)],
}
