"""Second derivatives by forward over reverse: dual numbers on a tape.

``hvp(f, (x,), (v,))`` pushes ``v`` through the gradient of ``f``; ``hessian(f)(x)`` pushes a block
of all unit vectors through it, so that the tape and its sweep run once.
"""

from collections.abc import Callable
from typing import Any

from ..config import RuleConfig
from ..config.tracebacks import door, nameless_door
from ..forward import jvp
from ..forward.jacfwd import forward_jacobian, sparse_forward_jacobian
from ..forward.jvp import check_tuples
from ..forward.linearize import push_blocks
from ..rules.annotations import P
from ..rules.engines.arguments import Argnums, Arguments, Config, takes_argnums, titled
from ..rules.engines.strong_levels import Zero, as_asked
from .grad import gradient_for, untitled_gradient
from .vjp import REVERSE


@takes_argnums
def hessian(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    *,
    sparse: bool = False,
    config: Config = None,
    zero: Zero = None,
) -> Callable[P, Any]:
    """Return a function giving the Hessian of ``f``: forward mode over reverse mode.

    Parameters
    ----------
    f : callable
        Returns one real number.
    argnums, sparse, config, zero
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
    gradient = gradient_for(f, argnums, False, "hessian", config or REVERSE, zero)
    known: dict = {}

    @nameless_door
    def hessian_of(*args: object, **kwargs: object) -> Any:
        chosen = Arguments("hessian", gradient, argnums, args, kwargs)
        if sparse:
            return sparse_forward_jacobian(chosen, known, config, zero, symmetric=True)
        return forward_jacobian(chosen, config, zero, symmetric=True)

    return titled(
        hessian_of, "hessian", hessian, f, argnums, sparse=sparse, config=config, zero=zero
    )


@door
def hvp(
    f: Callable,
    primals: tuple,
    tangents: tuple,
    *,
    block: bool = False,
    config: RuleConfig = REVERSE,
    zero: Zero = None,
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
        so have the products. They are pushed together.
    config : RuleConfig, optional
        What rules are handed: a ``ReverseConfig``, or a subclass with traits of its own.
    zero : "strong", optional
        Whether 0 times an infinite or undefined slope is 0, in both: see ``grad``.

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
    argnums = 0 if len(primals) == 1 else tuple(range(len(primals)))
    asked = as_asked(config, zero)
    gradient = untitled_gradient("hvp", f, argnums, False, asked)
    if block:
        return push_blocks(gradient, primals, tangents, asked)
    return jvp(gradient, primals, tangents, config=asked)[1]
