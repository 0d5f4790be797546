"""Rules for linear algebra: systems, factorizations, norms, functions of matrices."""

from . import factorizations, matrix_functions, norms, qr, svd, systems, triangular
