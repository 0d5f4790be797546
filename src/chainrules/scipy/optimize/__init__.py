"""``scipy.optimize``, with functions that see traced values.

What a solver returns has derivatives in all that its function, bounds and constraints depend on,
by arguments or by variables that they capture: those of the equations that the answer solves.
A solver's calls of the function are not differentiated; but what the function captures is traced
in each of them, so what is large is better passed by ``args``. Arguments of a solver that its
answer does not depend on, as where it starts, have no derivative.

``jac=cr.ad`` (or ``"ad"``) gives the solver exact derivatives of its function, and so do ``hess``,
``hessp``, ``fprime``, ``fprime2`` and ``Dfun``. With ``jac_sparsity`` beside it ``least_squares``
gets a sparse matrix, computed by as few directions as its columns have colors.

Examples
--------
>>> import numpy as np
>>> import chainrules as cr
>>> from chainrules.scipy import optimize
>>> cube_root = lambda a: optimize.brentq(lambda x: x**3 - a, 0.0, 3.0)
>>> round(float(cr.grad(cube_root)(8.0)), 9)
0.083333333
>>> f = lambda x, a: np.sum((x - a) ** 4 + x**2)
>>> best = lambda a: optimize.minimize(f, np.zeros(2), args=(a,), jac=cr.ad, hess=cr.ad,
...                                    method="trust-exact", tol=1e-9)
>>> np.diag(cr.jacobian(lambda a: best(a).x)(np.array([1.0, 2.0]))).round(4)
array([0.676 , 0.8071])
"""

import importlib as _importlib
from typing import Any

from ..._mirrors import mirror
from ...rules.rulesets.scipy import optimize as _rules
from .._exact import OF_OPTIMIZE, exact
from .._exact import NonlinearConstraint as _NonlinearConstraint

mirror(__name__, "scipy.optimize", _rules)
NonlinearConstraint = _NonlinearConstraint
for _name in OF_OPTIMIZE:
    globals()[_name] = exact(_name, globals()[_name], OF_OPTIMIZE)


def __getattr__(name: str) -> Any:
    if name != "elementwise":  # which SciPy has since 1.15
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _importlib.import_module(".elementwise", __package__)
