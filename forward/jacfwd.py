"""jacfwd: Jacobians in forward mode, dense or sparse."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np

from ..config import RuleConfig
from ..rules.engines.arguments import Argnums, Arguments, takes_argnums, titled
from ..rules.linear.blocks import Block
from ..rules.linear.compression import sparse_matrix
from ..rules.linear.directions import Directions, arrange, run_program
from ..rules.linear.leaves import leaves, tangent_leaves, with_leaves
from .jvp import FORWARD, FORWARD_BLOCKS, jvp
from .linearize import linear_program

P = ParamSpec("P")


@takes_argnums
def jacfwd(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    *,
    sparse: bool = False,
    config: RuleConfig | None = None,
) -> Callable[P, Any]:
    """Return a function giving the Jacobian of ``f``, column by column in forward mode.

    Parameters
    ----------
    f : callable
        Returns a number, an array, or a container of these.
    argnums : int, str, or tuple of these, optional
        Which arguments to differentiate, by position or by name.
    sparse : bool, optional
        Whether to find which entries can be other than 0, and compute those alone, by as few
        directions as they need. Needs SciPy.
    config : RuleConfig, optional
        What rules are handed: a ``ForwardConfig``, or a subclass with traits of its own.

    Returns
    -------
    callable
        With the arguments of ``f``. Its result has shape ``out.shape + in.shape``; for a tuple
        of argnums, a tuple of these; for containers, the output's structure of the input's.
        Of a complex function of a complex argument it is the complex derivative. With
        ``sparse`` it is one ``scipy.sparse.csr_array``, of shape (entries of the output,
        entries of the input). Its pattern is kept from call to call, and found anew where the
        function takes other steps.

    Raises
    ------
    TypeError
        If a complex function is not holomorphic, or sparse.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    >>> cr.jacfwd(lambda x: x * x, sparse=True)(np.ones(1000)).nnz
    1000
    """
    known: dict = {}

    @functools.wraps(f)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        chosen = Arguments("jacfwd", f, argnums, args, kwargs)
        if sparse:
            return sparse_forward_jacobian(chosen, known, config)
        return forward_jacobian(chosen, config)

    return titled(jacobian_of, "jacfwd", f)


def forward_jacobian(chosen: Arguments, config: RuleConfig | None, symmetric: bool = False) -> Any:
    """Return the Jacobian of a function in its chosen arguments, by forward mode."""
    function, primals = chosen.function(), chosen.primals
    directions = Directions(leaves(primals))
    if directions.count == 1:
        images, y = _along_one(config or FORWARD, function, primals, directions)
    else:
        y, program = linear_program(config or FORWARD_BLOCKS, function, primals)
        images = run_program(program, directions, leaves(y))
    return arrange(images, chosen.source, y, transposed=False, symmetric=symmetric)


def _along_one(
    config: RuleConfig, function: Callable, primals: tuple, directions: Directions
) -> tuple[list, Any]:
    y: Any = None

    def push(values: list) -> list:
        nonlocal y
        y, ydot = jvp(function, primals, with_leaves(primals, iter(values)), config=config)
        return tangent_leaves(y, ydot)

    ydots = push([x.values[0] if type(x) is Block else x for x in directions.block(0, 1)])
    return [np.expand_dims(ydot, 0) for ydot in ydots], y


def sparse_forward_jacobian(
    chosen: Arguments, known: dict, config: RuleConfig | None, symmetric: bool = False
) -> Any:
    """Return the same as a sparse matrix; ``known`` keeps what was found of its pattern."""
    y, program = linear_program(config or FORWARD_BLOCKS, chosen.function(), chosen.primals)
    return sparse_matrix(program, leaves(chosen.primals), leaves(y), known, symmetric)
