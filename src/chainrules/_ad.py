"""``cr.ad``: the request for exact derivatives where a solver takes a function for them."""

from typing import Any, NoReturn

from .config import ArgumentTypeError, user_frame, user_line
from .config.tracebacks import door
from .rules.refusals.remedies import of_scipy


class _Exact:
    """The type of ``ad``; equal to the text ``"ad"``, which asks for the same.

    A solver of SciPy's own takes ``ad`` for a function, and calls it: that is an error, where the
    text is ignored without a word.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> from chainrules.scipy import optimize
    >>> found = optimize.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(2), jac=cr.ad)
    >>> found.x.round(6), found.njev
    (array([1., 1.]), 3)
    """

    __slots__ = ()

    @door
    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        frame = user_frame()
        names = {} if frame is None else frame.f_globals
        raise ArgumentTypeError(
            f"cr.ad was handed to a solver of SciPy's own, in {user_line()}, which takes it for a "
            f"function.\n  {of_scipy('scipy.optimize', names)};\n"
            "  or write from chainrules.scipy import optimize, integrate"
        )

    def __eq__(self, other: object) -> bool:
        return other is self or (isinstance(other, str) and other == "ad")

    def __hash__(self) -> int:
        return hash("ad")

    def __repr__(self) -> str:
        return "cr.ad"

    def __reduce__(self) -> str:
        return "ad"


ad = _Exact()
