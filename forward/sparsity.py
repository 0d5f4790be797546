"""sparsity: which outputs of a function depend on which inputs, from one run in forward mode."""

from collections.abc import Callable
from typing import Any

from ..config import RuleConfig
from ..rules.linear.compression import pattern_of
from ..rules.linear.leaves import leaves
from .jvp import FORWARD_BLOCKS
from .linearize import linear_program


def sparsity(f: Callable, *args: Any, config: RuleConfig = FORWARD_BLOCKS) -> Any:
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
