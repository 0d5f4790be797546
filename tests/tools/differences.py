"""Central differences: derivatives of a function of plain numbers, for tests to compare with.

They know nothing of the package, not even of its testing kit: what they find is evidence against
both. ``chainrules.testing.check_grad`` is the whole check of one function; these are for what
tests compare besides, such as Jacobians, sparse ones, or solutions that are good to few digits.
"""

import numpy as np

# By order: the steps to each side, and the weights of what lies between their ends.
STENCILS = {2: {1: 1 / 2}, 4: {1: 2 / 3, 2: -1 / 12}}


def slope_of(f, xs, xdots, step=1e-6, order=2):
    """Return the derivative of ``f(*xs)`` along ``xdots``.

    Order 4 stands a step a hundred times larger, which a function that is not exact needs.
    """

    def at(k):
        return np.asarray(f(*[x + k * step * xdot for x, xdot in zip(xs, xdots, strict=True)]))

    return sum(weight * (at(k) - at(-k)) for k, weight in STENCILS[order].items()) / step


def jacobian_of(f, x, step=1e-6, order=2):
    """Return the derivatives of ``f(x)`` in each entry: axes of the result, then those of ``x``."""
    x = np.asarray(x, float)
    units = np.eye(x.size).reshape(x.size, *x.shape)
    columns = np.stack([slope_of(f, (x,), (unit,), step, order) for unit in units], axis=-1)
    return columns.reshape((*columns.shape[:-1], *x.shape))
