"""jacrev: Jacobians row by row; and jacobian, which picks the cheaper mode."""

import functools
from collections.abc import Callable
from typing import Any

from ..forward.jacobians import jacfwd, jacobian_matrix, leaves
from ..rules import as_structured
from ..rules.arguments import Argnums, Arguments, titled
from ..rules.project import ProjectTo
from .vjp import REVERSE, pulling


def jacrev(f: Callable, argnums: Argnums = 0) -> Callable:
    """Return a function giving the Jacobian of ``f``, row by row in reverse mode.

    Parameters
    ----------
    f : callable
        Returns a number, an array, or a container of these.
    argnums : int, str, or tuple of these, optional
        Which arguments to differentiate, by position or by name.

    Returns
    -------
    callable
        With the arguments of ``f``; the form of its result is that of ``jacfwd``.

    Raises
    ------
    TypeError
        If a complex function is not holomorphic.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.jacrev(lambda x: x[0] * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [2., 1.]])
    """

    @functools.wraps(f)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        return _jacobian("jacrev", f, argnums, args, kwargs, always_reverse=True)

    return titled(jacobian_of, "jacrev", f)


def jacobian(f: Callable, argnums: Argnums = 0) -> Callable:
    """Return a function giving the Jacobian of ``f`` by the mode with fewer passes.

    Parameters
    ----------
    f : callable
        Returns a number, an array, or a container of these.
    argnums : int, str, or tuple of these, optional
        Which arguments to differentiate, by position or by name.

    Returns
    -------
    callable
        With the arguments of ``f``; its result has shape ``out.shape + in.shape``. See
        ``jacfwd`` for several arguments and for containers.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.jacobian(np.cumsum)(np.zeros(2))
    array([[1., 0.],
           [1., 1.]])
    """

    @functools.wraps(f)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        return _jacobian("jacobian", f, argnums, args, kwargs, always_reverse=False)

    return titled(jacobian_of, "jacobian", f)


def _jacobian(
    name: str, f: Callable, argnums: Any, args: tuple, kwargs: dict, always_reverse: bool
) -> Any:
    chosen = Arguments(name, f, argnums, args, kwargs)
    y, pull = pulling(REVERSE, f, chosen.args, chosen.kwargs, chosen.positions)
    if not always_reverse and _size(y) > _size(chosen.primals):
        return jacfwd(f, argnums)(*args, **kwargs)
    primals = chosen.primals if chosen.several else chosen.primals[0]

    def pull_unit(ybar: Any) -> Any:
        xbars = tuple(map(as_structured, chosen.primals, pull(ybar, False)))
        return xbars if chosen.several else xbars[0]

    return jacobian_matrix(pull_unit, y, primals, transposed=True)


def _size(x: Any) -> int:
    return sum(ProjectTo(leaf).size for leaf in leaves(x))  # type: ignore[attr-defined]
