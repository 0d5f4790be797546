"""Debugging: a context in which debuggers look at traced values, and bad numbers end a run."""

import contextlib
from collections.abc import Iterator

from .onlookers import debugging
from .watching import Stops, watching


@contextlib.contextmanager
def debug(nan: bool = False, inf: bool = False, zero: bool = False) -> Iterator[None]:
    """Let a debugger look at traced values; stop at the first NaN, infinity or zero derivative.

    A tool that evaluates ``float(x)`` of a traced ``x``, and goes on, has hidden an error from the
    program: so the derivative is refused. pdb, and other tools built on ``bdb``, are known.
    For tools that evaluate in the program's thread by other means, call the transform in this
    context: a hidden error then is a warning.

    Transforms that begin inside look at each operation, if they are asked to, forward and on the
    way back, and raise with the user's line. They take several times as long. Functions of
    ``cr.compile`` run as they are written.

    Parameters
    ----------
    nan, inf : bool, optional
        Stop where a value, a tangent or a cotangent becomes NaN, or infinite, though what it was
        computed from is not.
    zero : bool, optional
        Stop where a pullback gives zeros alone for a cotangent that has others.

    Raises
    ------
    FloatingPointError
        At such a number.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> with np.errstate(all="ignore"), cr.debug(inf=True):
    ...     cr.grad(lambda x: np.sum(np.sqrt(x)))(np.array([1.0, 0.0]))
    Traceback (most recent call last):
    FloatingPointError: the pullback of sqrt gives an infinity at [1], ...

    >>> import warnings
    >>> import chainrules as cr
    >>> def f(x):
    ...     try:
    ...         float(x)  # as a view of variables does
    ...     except TypeError:
    ...         pass
    ...     return x * x
    >>> with warnings.catch_warnings(), cr.debug():
    ...     warnings.simplefilter("ignore")
    ...     cr.grad(f)(3.0)
    6.0
    """
    wanted = Stops(nan, inf, zero, operands=True)
    token = debugging.set(True)
    try:
        with watching(wanted) if wanted.looks else contextlib.nullcontext():
            yield
    finally:
        debugging.reset(token)
