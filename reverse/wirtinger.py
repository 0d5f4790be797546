"""Wirtinger derivatives of complex functions that need not be holomorphic."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np

from ..config import RuleConfig
from ..forward import linearize
from ..forward.jvp import FORWARD
from ..rules.annotations import Value
from ..rules.engines.arguments import Arguments, takes_argnums, titled
from ..rules.linear.directions import is_complex
from ..rules.shapes import shape_of
from ..rules.tangents.project import ProjectTo

P = ParamSpec("P")


@takes_argnums
def wirtinger(
    f: Callable[P, Any],
    argnums: int = 0,
    *,
    config: RuleConfig = FORWARD,
) -> Callable[P, Any]:
    """Return a function giving both Wirtinger derivatives of ``f``.

    With z = x + iy: ``df/dz = (df/dx - i df/dy) / 2`` and ``df/dzbar = (df/dx + i df/dy) / 2``.
    A function is holomorphic where the second is zero, and the first is then its derivative.

    Parameters
    ----------
    f : callable
        Of a complex number or array; returns a number or an array.
    argnums : int, optional
        Which argument to differentiate.
    config : RuleConfig, optional
        What rules are handed: a ``ForwardConfig``, or a subclass with traits of its own.

    Returns
    -------
    callable
        With the arguments of ``f``; gives ``(df_dz, df_dzbar)``, each of shape
        ``out.shape + in.shape``.

    Raises
    ------
    TypeError
        If the argument is not complex.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> df_dz, df_dzbar = cr.wirtinger(lambda z: z * np.conj(z))(1.0 + 2.0j)
    >>> print(df_dz, df_dzbar)
    (1-2j) (1+2j)
    """

    @functools.wraps(f)
    def derivatives(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        chosen = Arguments("wirtinger", f, argnums, args, kwargs)
        (z,) = chosen.primals
        if not is_complex(z):
            raise TypeError(
                "wirtinger needs a complex argument, and argument "
                f"{chosen.positions[0]} is real.\n  use jacobian"
            )
        y, pushforward = linearize(chosen.function(), z, config=config)
        shape = shape_of(z)
        units = np.eye(int(np.prod(shape, dtype=int)), dtype=ProjectTo(z).dtype)
        columns = [unit.reshape(shape) if shape else unit[0] for unit in units]
        along_x = _matrix([pushforward(unit) for unit in columns], y, shape)
        along_y = _matrix([pushforward(1j * unit) for unit in columns], y, shape)
        return (along_x - 1j * along_y) / 2, (along_x + 1j * along_y) / 2

    return titled(derivatives, "wirtinger", f)


def _matrix(columns: list, y: Value, shape: tuple[int, ...]) -> Any:
    if not shape:
        return columns[0]
    if not columns:
        return np.zeros((*shape_of(y), *shape), complex)
    return np.reshape(np.stack(columns, axis=-1), (*shape_of(y), *shape))
