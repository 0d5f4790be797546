"""Second derivatives by forward over reverse; a few rows of a Hessian by reverse over reverse.

To run ``f`` on dual numbers on a tape once for several directions, what becomes of the tangents is
recorded, and run again. For two to four numbers it takes half the time to record the gradient on
a second tape, and to sweep that once for each.
"""

from collections.abc import Callable
from typing import Any, ParamSpec

from ..config import RuleConfig
from ..config.thresholds import WORTH_RECORDING
from ..forward import jvp, linearize
from ..forward.jacfwd import forward_jacobian, sparse_forward_jacobian
from ..forward.jvp import check_tuples
from ..rules.engines.arguments import Argnums, Arguments, Config, takes_argnums, titled
from ..rules.linear.jacobians import arrange, is_complex, leaves, size_of
from .grad import gradient_for
from .jacrev import rows
from .vjp import REVERSE, pulling

P = ParamSpec("P")


@takes_argnums
def hessian(
    f: Callable[P, Any], argnums: Argnums = 0, *, sparse: bool = False, config: Config = None
) -> Callable[P, Any]:
    """Return a function giving the Hessian of ``f``: forward mode over reverse mode.

    Where it is in two to four real numbers, reverse over reverse, which takes half the time.

    Parameters
    ----------
    f : callable
        Returns one real number.
    argnums, sparse, config
        As for ``jacrev``.

    Returns
    -------
    callable
        With the arguments of ``f``; its result has shape ``in.shape + in.shape``, and is a
        tuple of tuples for a tuple of argnums. It is symmetric to the last bit.

    Raises
    ------
    TypeError
        If the output is not one real number.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    gradient = gradient_for("hessian", f, argnums, config or REVERSE)
    known: dict = {}

    def hessian_of(*args: Any, **kwargs: Any) -> Any:
        chosen = Arguments("hessian", gradient, argnums, args, kwargs)
        if sparse:
            return sparse_forward_jacobian(chosen, known, config, symmetric=True)
        sources = leaves(chosen.primals)
        if any(map(is_complex, sources)) or not 1 < sum(map(size_of, sources)) < WORTH_RECORDING:
            return forward_jacobian(chosen, config, symmetric=True)
        called = chosen.args, chosen.kwargs, chosen.positions
        gradients, pull = pulling(config or REVERSE, gradient, *called)
        images = rows(chosen, gradients, pull)
        return arrange(images, chosen.source, gradients, transposed=False, symmetric=True)

    return titled(hessian_of, "hessian", f)


def hvp(
    f: Callable,
    primals: tuple,
    tangents: tuple,
    *,
    block: bool = False,
    config: RuleConfig = REVERSE,
) -> Any:
    """Return the Hessian of ``f`` times a vector: forward mode over reverse mode.

    Parameters
    ----------
    f : callable
        Takes the primals; returns one real number.
    primals, tangents : tuple
        The point and the direction, one entry per argument.
    block : bool, optional
        Whether the tangents are a block of directions: each has one more axis, the first, and
        so have the products. They are pushed through one recorded program.
    config : RuleConfig, optional
        What rules are handed: a ``ReverseConfig``, or a subclass with traits of its own.

    Returns
    -------
    Any
        The derivative of the gradient along ``tangents``: one entry per primal, of its shape;
        a bare array where there is one primal.

    Raises
    ------
    TangentError
        If a tangent does not fit its primal.
    TypeError
        If the output is not one real number.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    array([6., 0.])
    """
    check_tuples("hvp", primals, tangents)
    argnums = tuple(range(len(primals)))
    gradient = gradient_for("hvp", f, argnums, config)
    if block:
        products = linearize(gradient, *primals, config=config)[1](*tangents, block=True)
    else:
        products = jvp(gradient, primals, tangents, config=config)[1]
    return products if len(products) != 1 else products[0]
