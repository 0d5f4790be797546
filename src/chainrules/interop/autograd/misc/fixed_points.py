"""As ``autograd.misc.fixed_points``."""

from collections.abc import Callable
from typing import Any

from ..core import make_vjp, vspace
from ..extend import defvjp, primitive


@primitive
def fixed_point(f: Callable, a: Any, x0: Any, distance: Callable, tol: float) -> Any:
    """Return ``x = f(a)(x)``, found by iterating from ``x0`` until steps are below ``tol``.

    Examples
    --------
    >>> from chainrules.interop.autograd import grad, numpy as np
    >>> from chainrules.interop.autograd.misc.fixed_points import fixed_point
    >>> def root(a):
    ...     newton = lambda a: lambda x: (x + a / x) / 2
    ...     return fixed_point(newton, a, 1.0, lambda x, y: np.abs(x - y), 1e-12)
    >>> round(float(grad(root)(4.0)), 8)
    0.25
    """
    step = f(a)
    x, former = step(x0), x0
    while distance(x, former) > tol:
        x, former = step(x), x
    return x


def _fixed_point_vjp(
    ans: Any, f: Callable, a: Any, x0: Any, distance: Callable, tol: float
) -> Callable:
    # x = f(a)(x): abar is that of f at the fixed point of xbar = pull_x(xbar) + g.
    def reverse(params: tuple) -> Callable:
        a, x, g = params
        pull_x, _ = make_vjp(f(a), x)
        return lambda xbar: vspace(x).add(pull_x(xbar), g)

    pull_a, _ = make_vjp(lambda a: f(a)(ans), a)

    def vjp(g: Any) -> Any:
        return pull_a(fixed_point(reverse, (a, ans, g), vspace(x0).zeros(), distance, tol))

    return vjp


defvjp(fixed_point, None, _fixed_point_vjp, None)
