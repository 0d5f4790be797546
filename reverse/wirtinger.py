"""Wirtinger derivatives of complex functions that need not be holomorphic.

Of ``f(z) = abs(z)**2 = z * conj(z)`` they are ``conj(z)`` and ``z``: what z and conj(z) are
multiplied by, as if these were two variables.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..config import RuleConfig
from ..config.tracebacks import nameless_door
from ..forward.jvp import FORWARD
from ..rules.annotations import P
from ..rules.engines.arguments import Arguments, takes_argnums, titled
from ..rules.engines.strong_levels import Zero, as_asked
from ..rules.linear.jacobians import (
    Directions,
    is_complex,
    laid_out,
    leaves,
    push_all,
    with_leaves,
)
from ..rules.refusals.table import refusal


@takes_argnums
def wirtinger(
    f: Callable[P, Any],
    argnums: int = 0,
    *,
    config: RuleConfig = FORWARD,
    zero: Zero = None,
) -> Callable[P, Any]:
    """Return a function giving both Wirtinger derivatives of ``f``.

    With z = x + iy: ``df/dz = (df/dx - i df/dy) / 2`` and ``df/dzbar = (df/dx + i df/dy) / 2``.
    A function is holomorphic where the second is zero, and the first is then its derivative.

    Parameters
    ----------
    f : callable
        Of a complex number or array; returns a number, an array, or a container of these.
    argnums : int, optional
        Which argument to differentiate.
    config : RuleConfig, optional
        What rules are handed: a ``ForwardConfig``, or a subclass with traits of its own.
    zero : "strong", optional
        Whether 0 times an infinite or undefined slope is 0: see ``grad``.

    Returns
    -------
    callable
        With the arguments of ``f``; gives ``(df_dz, df_dzbar)``, each of shape
        ``out.shape + in.shape``; for containers, with the structure of the output.

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

    @nameless_door
    def derivatives(*args: object, **kwargs: object) -> tuple[Any, Any]:
        chosen = Arguments("wirtinger", f, argnums, args, kwargs)
        (z,) = chosen.primals
        if not is_complex(z):
            raise refusal("real argument", i=chosen.positions[0])
        y, images = push_all(as_asked(config, zero), chosen.function(), (z,), Directions([z]))
        targets = leaves(y)
        slopes = [
            [laid_out(z, part, half) for half in np.split(image, 2)]
            for part, image in zip(targets, images, strict=True)
        ]
        df_dz = [(along_x - 1j * along_y) / 2 for along_x, along_y in slopes]
        df_dzbar = [(along_x + 1j * along_y) / 2 for along_x, along_y in slopes]
        return with_leaves(y, iter(df_dz)), with_leaves(y, iter(df_dzbar))

    return titled(derivatives, "wirtinger", wirtinger, f, argnums, config=config, zero=zero)
