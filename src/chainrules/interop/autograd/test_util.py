"""As ``autograd.test_util``: derivatives against finite differences, by ``chainrules.testing``."""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...config import ArgumentValueError
from ...testing import check_grad
from .core import make_vjp, vspace
from .trees import leaves_of
from .wrap_util import unary_to_nary


@unary_to_nary
def check_grads(f: Callable, x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2) -> None:
    """Return a function that checks the derivatives of ``f`` in both modes.

    Parameters
    ----------
    f : callable
    argnum : int, or tuple of these, optional
    modes : list of {"fwd", "rev"}, optional
        Here both are checked always.
    order : int, optional
        To which order.

    Raises
    ------
    AssertionError
        A ``WrongDerivativeError`` that says which entry is off, and by how much.

    Examples
    --------
    >>> from chainrules.interop.autograd import numpy as np
    >>> from chainrules.interop.autograd.test_util import check_grads
    >>> check_grads(np.tanh)(0.3)
    >>> check_grads(lambda a, b: np.sum(a * b), (0, 1), modes=["rev"], order=1)(np.ones(2), 3.0)
    """
    unknown = set(modes) - {"fwd", "rev"}
    if unknown:
        raise ArgumentValueError(f"there is no mode {min(unknown)!r}: write 'fwd' or 'rev'.")
    # As near as autograd asks: what iterates has no more digits.
    check_grad(f, x, second_order=order > 1, rtol=1e-5, atol=1e-6)
    if order > 2:
        y = f(x)
        check_grads(lambda x, v: make_vjp(f, x)[0](v), (0, 1), modes, order - 1)(
            x, vspace(y).randn()
        )


def check_vjp(f: Callable, x: Any) -> None:
    """Check the first derivative of a function of one argument."""
    check_grad(f, x, second_order=False, rtol=1e-5, atol=1e-6)


check_jvp = check_vjp


def check_equivalent(x: Any, y: Any) -> None:
    """Check that two values have one structure, and equal numbers to 1e-6."""
    assert vspace(x) == vspace(y), f"{vspace(x)} is not {vspace(y)}"
    for a, b in zip(leaves_of(x), leaves_of(y), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def scalar_close(a: float, b: float) -> bool:
    """Say whether two numbers are equal to 1e-6, absolutely or relatively."""
    return abs(a - b) < 1e-6 or abs(a - b) / abs(a + b) < 1e-6


def combo_check(fun: Callable, *argnums: Any, **options: Any) -> Callable:
    """Return a function that checks each combination of the values listed for each argument."""

    @functools.wraps(fun)
    def checks(*args: Any, **kwargs: Any) -> None:
        named = [[(key, x) for x in values] for key, values in kwargs.items()]
        for given in itertools.product(*args):
            for chosen in itertools.product(*named):
                check_grads(fun, *argnums, **options)(*given, **dict(chosen))

    return checks
