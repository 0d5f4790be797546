"""Cases of scipy.optimize: of its functions that solve nothing."""

import numpy as np
from generic_points import case

from chainrules.scipy import optimize

X, P = np.array([0.3, 1.2, -0.5, 0.8]), np.array([1.0, 2.0, -1.0, 0.5])

CASES: dict = {
    optimize.rosen: [case(X), case(X[:2]), case(np.stack([X, P], axis=1))],
    optimize.rosen_der: [case(X), case(X[:2])],
    optimize.rosen_hess: [case(X), case(X[:2])],
    optimize.rosen_hess_prod: [case(X, P), case(X[:2], P[:2])],
    optimize.linear_sum_assignment: [case(np.outer(X, P) + np.eye(4))],
}
WITHOUT_CASES = {optimize.show_options, optimize.linprog_verbose_callback}
