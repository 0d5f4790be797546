"""Rules for linear algebra: systems, factorizations, norms, functions of matrices."""

from . import cholesky, eigen, matrix_functions, norms, qr, svd, systems, triangular
