"""autograd: its names here, on our rules; and ``export``, ``adopt`` and ``adopt_module``.

**A drop-in.** A project moves by its import lines, and autograd need not be installed::

    from autograd import grad, numpy as np, scipy
    from chainrules.interop.autograd import grad, numpy as np, scipy

Names, arguments and results are autograd's, also in ``builtins``, ``core``, ``extend``, ``misc``,
``numpy``, ``scipy``, ``test_util``, ``tracer``, ``util`` and ``wrap_util``. What it has not, and we
do: writes into arrays, plain ``import numpy``, all of SciPy that has rules, forward mode of
every function.

Of a complex argument x + iy autograd's gradient of a real function is df/dx - i df/dy, and so it is
here, that projects stay right; our own transforms (``cr.grad``) give df/dx + i df/dy. ``grad``,
``value_and_grad``, ``elementwise_grad``, ``jacobian``, ``make_vjp`` and ``grad_and_aux`` take
``convention="chainrules"`` to give ours. Rules of ``defvjp`` are in autograd's convention always.

**Beside autograd** (``pip install "chainrules[autograd]"``): ``export(f)`` makes a function of
NumPy code one of autograd's; ``adopt(f)`` and ``adopt_module(m)`` make functions of autograd, with
the rules of their primitives, ours. autograd is imported with the first of the three.

Examples
--------
>>> from chainrules.interop.autograd import grad, elementwise_grad, numpy as np
>>> def tanh(x):
...     return (1.0 - np.exp(-2 * x)) / (1.0 + np.exp(-2 * x))
>>> float(grad(tanh)(0.0))
1.0
>>> elementwise_grad(tanh)(np.zeros(2))
array([1., 1.])
"""

import importlib as _importlib
from typing import Any

from .builtins import dict, isinstance, list, tuple, type
from .differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from .extend import primitive

_AUTOGRAD = {"export": "exported", "adopt": "adopted", "adopt_module": "adopted"}
_MODULES = (
    "builtins", "core", "differential_operators", "extend", "misc", "numpy", "scipy",
    "test_util", "tracer", "util", "wrap_util",
)  # fmt: skip
_INSTEAD = {
    "quick_grad_check": "write test_util.check_grads(f, modes=['rev'], order=1)(x)",
    "multigrad": "write grad(f, (0, 1))",
    "value_and_multigrad": "write value_and_grad(f, (0, 1))",
}


def __getattr__(name: str) -> Any:
    if name in _AUTOGRAD:
        return getattr(_importlib.import_module(f".{_AUTOGRAD[name]}", __name__), name)
    if name in _MODULES:
        return _importlib.import_module(f".{name}", __name__)
    message = f"module {__name__!r} has no attribute {name!r}"
    if name in _INSTEAD:
        message += f".\n  {_INSTEAD[name]}"
    raise AttributeError(message)
