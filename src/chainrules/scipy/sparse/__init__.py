"""``scipy.sparse``, whose arrays may hold traced entries at constant places.

An array that is made of traced numbers and constant indices is one of ours, with SciPy's methods;
``to_scipy()`` gives the plain one, without derivatives. Constant arrays and linear operators that
this module makes are of subclasses of SciPy's classes, and may stand beside traced values:
``a @ x``, ``x @ a``, ``t * a``. SciPy's own are left as they are: ``csr_array(a)`` makes one of
ours of another's, with the same data.

Examples
--------
>>> import numpy as np
>>> import chainrules as cr
>>> from chainrules.scipy import sparse
>>> def loss(k):
...     a = sparse.diags([k, -1.0, -1.0], offsets=[0, 1, -1], shape=(3, 3), format="csc")
...     return np.sum(sparse.linalg.spsolve(a, np.ones(3)))
>>> cr.grad(loss)(np.array([2.0, 2.0, 2.0])).round(6)
array([-2.25, -4.  , -2.25])
"""

import importlib

from ..._mirrors import mirror
from ...rules.rulesets.scipy import sparse as _rules

mirror(__name__, "scipy.sparse", _rules)
csgraph, linalg = (  # in place of SciPy's own
    importlib.import_module(f".{name}", __package__) for name in ("csgraph", "linalg")
)
