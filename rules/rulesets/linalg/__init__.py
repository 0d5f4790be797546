"""Rules for linear algebra: systems, factorizations, norms, functions of matrices."""

import numpy as np

from ... import pushes_stacks
from . import (
    cholesky,
    eigen,
    matrix_functions,
    norms,
    pseudo_inverses,
    qr,
    svd,
    systems,
    triangular,
)

pushes_stacks(
    np.linalg.solve,
    np.linalg.inv,
    np.linalg.det,
    np.linalg.slogdet,
    np.linalg.cholesky,
    np.linalg.eigh,
    np.linalg.eigvalsh,
    np.linalg.eig,
    np.linalg.qr,
    np.linalg.svd,
    systems.inverse_or_nan,
    pseudo_inverses.pseudo_inverse,
    pseudo_inverses.least_squares_solution,
    systems.adjugate_by_svd,
)
