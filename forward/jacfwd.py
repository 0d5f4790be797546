"""Jacobians in forward mode, dense or sparse, and which of their entries there are.

``jacfwd(f)(x)`` of three numbers pushes three unit tangents, in one block: the columns of the
Jacobian.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..config import RuleConfig
from ..config.thresholds import FORWARD_AT_ONCE
from ..config.tracebacks import door, nameless_door
from ..rules.annotations import P
from ..rules.engines.arguments import Argnums, Arguments, Config, takes_argnums, titled
from ..rules.engines.strong_levels import Zero, as_asked
from ..rules.linear.compression import pattern_of, sparse_matrix
from ..rules.linear.jacobians import (
    Directions,
    arrange,
    leaves,
    linear_program,
    push_all,
    tangent_leaves,
    with_leaves,
)
from .jvp import FORWARD, FORWARD_BLOCKS, jvp


@takes_argnums
def jacfwd(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    *,
    sparse: bool = False,
    config: Config = None,
    zero: Zero = None,
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
    zero : "strong", optional
        Whether 0 times an infinite or undefined slope is 0: see ``grad``.

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

    @nameless_door
    def jacobian_of(*args: object, **kwargs: object) -> Any:
        chosen = Arguments("jacfwd", f, argnums, args, kwargs)
        if sparse:
            return sparse_forward_jacobian(chosen, known, config, zero)
        return forward_jacobian(chosen, config, zero)

    return titled(
        jacobian_of, "jacfwd", jacfwd, f, argnums, sparse=sparse, config=config, zero=zero
    )


def forward_jacobian(
    chosen: Arguments,
    config: Config,
    zero: Zero = None,
    symmetric: bool = False,
    directions: Directions | None = None,
) -> Any:
    """Return the Jacobian of a function in its chosen arguments, by forward mode."""
    function, primals = chosen.function(), chosen.primals
    directions = directions or Directions(leaves(primals))
    if directions.count == 1:  # for one direction it does not pay to record what is done with it
        tangents = with_leaves(primals, iter(directions.single(0)))
        y, ydot = jvp(function, primals, tangents, config=config or FORWARD, zero=zero)
        images = [np.expand_dims(leaf, 0) for leaf in tangent_leaves(y, ydot)]
    else:
        # Of few directions a block takes no more memory than what is recorded of one.
        largest = 1 if directions.count <= FORWARD_AT_ONCE else chosen.largest()
        asked = as_asked(config or FORWARD_BLOCKS, zero)
        y, images = push_all(asked, function, primals, directions, largest)
    return arrange(images, chosen.source, y, transposed=False, symmetric=symmetric)


def sparse_forward_jacobian(
    chosen: Arguments, known: dict, config: Config, zero: Zero = None, symmetric: bool = False
) -> Any:
    """Return the Jacobian as a sparse matrix; ``known`` keeps what was found of its pattern."""
    asked = as_asked(config or FORWARD_BLOCKS, zero)
    y, program = linear_program(asked, chosen.function(), chosen.primals)
    return sparse_matrix(program, leaves(chosen.primals), leaves(y), known, symmetric)


@door
def sparsity(f: Callable, *args: object, config: RuleConfig = FORWARD_BLOCKS) -> Any:
    """Return which outputs of ``f`` depend on which inputs, as the calls at this point show.

    Parameters
    ----------
    f : callable
        Returns a number, an array, or a container of these.
    *args : Any
        The point. The inputs are the entries of all numbers and arrays in it, in order.
    config : RuleConfig, optional
        What rules are handed: a ``ForwardConfig``, or a subclass with traits of its own.

    Returns
    -------
    scipy.sparse.csr_array
        Flags, of shape (entries of the output, entries of the inputs). It may hold an entry
        that is zero, but it lacks none that is not. Of a gradient, ``cr.sparsity(cr.grad(f), x)``,
        it is the pattern of the Hessian.

    Raises
    ------
    ImportError
        Where SciPy is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.sparsity(np.diff, np.zeros(4)).toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    y, program = linear_program(config, f, args)
    return pattern_of(program, leaves(args), leaves(y))
