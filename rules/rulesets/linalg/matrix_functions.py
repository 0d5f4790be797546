"""Functions of symmetric matrices by their eigenvalues, with derivatives of every order.

``matrix_function`` and all its derivatives are one primitive. Its derivative of order k along
``e1, ..., ek`` is the sum, over the orders of the directions, of the product
``v^H @ e1 @ v, ..., v^H @ ek @ v`` weighed with the divided differences of ``g`` at k + 1
eigenvalues; and no divided difference divides by zero. Source: Daleckii and Krein (1965);
Higham (2008), functions of matrices, section 3.2.
"""

import itertools
import math
import string

import numpy as np

from ....config import HasForwardsMode, frule_via_ad
from ... import (
    AbstractZero,
    NoTangent,
    ProjectTo,
    array_of,
    body,
    frule,
    is_traced,
    primitive,
    rrule,
    sum_tangents,
    thunk,
    value,
)
from ..arrays.products import adjoint


def matrix_function(a, g):
    """Apply ``g`` to the eigenvalues of symmetric or Hermitian matrices.

    Its derivatives, of every order, are exact at repeated eigenvalues too, wherever ``g`` itself
    has them: composed by hand, ``(v * g(w)) @ v.T`` has a derivative there that no rule for
    the eigenvectors ``v`` can give, and it is NaN.

    Parameters
    ----------
    a : array_like
        One matrix, or a stack of them. Of a matrix that is not Hermitian its Hermitian part
        ``(a + a^H) / 2`` counts.
    g : callable
        NumPy code, elementwise. It may depend on other differentiated values; at equal
        eigenvalues mixed second derivatives in these and ``a`` may be NaN.

    Returns
    -------
    array
        ``v @ diag(g(w)) @ v^H``, where ``w`` and ``v`` are the eigenvalues and eigenvectors.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.matrix_function(np.diag([1.0, 4.0]), np.sqrt)
    array([[1., 0.],
           [0., 2.]])
    >>> cr.grad(lambda a: cr.matrix_function(a, np.log)[0, 1])(2 * np.eye(2))
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    a = array_of(a)

    def at(w):  # what g captures is followed by way of the result, and so are a functor's fields
        return np.broadcast_to(g(w), np.shape(w))

    plain = value(a)
    return derivative_along((at,), a, np.linalg.eigh(hermitian_part(plain)))


def hermitian_part(x):
    return (x + adjoint(x)) / 2


def derivative_along(derivatives, a, spectrum, *directions):
    """Call ``frechet``, or its body where ``a`` is a constant: then nothing but products is left.

    An engine that runs those again, for other directions, does not ask ``derivatives`` again.
    """
    f = frechet if is_traced(a) else body(frechet)
    return f(derivatives, a, spectrum, *directions)


@primitive
def frechet(derivatives, a, spectrum, *directions):
    """Derivative of a matrix function at ``a`` along one or more directions; without any, itself.

    Linear in each direction. ``derivatives`` are g, its derivative, and so on, one more than
    there are directions; ``spectrum`` is ``eigh`` of the values of ``a``.
    """
    w, v = np.linalg.eigh(hermitian_part(a)) if is_traced(a) else spectrum
    if not directions:
        return (v * np.expand_dims(derivatives[0](w), -2)) @ adjoint(v)
    weights, _ = divided_differences(derivatives, all_choices(w, len(derivatives)))
    turned = [adjoint(v) @ x @ v for x in directions]
    names = string.ascii_lowercase[: len(derivatives)]
    factors = [f"...{pair}" for pair in map("".join, itertools.pairwise(names))]
    formula = f"...{names},{','.join(factors)}->...{names[0]}{names[-1]}"
    products = [np.einsum(formula, weights, *xs) for xs in itertools.permutations(turned)]
    return v @ sum(products) @ adjoint(v)


def all_choices(w, count):
    """Return every choice of ``count`` eigenvalues, in ascending order along the last axis."""
    *stack, n = np.shape(w)
    shape = (*stack, *(n,) * count)
    places = [(*stack, *(n if k == i else 1 for k in range(count))) for i in range(count)]
    choices = np.stack([np.broadcast_to(np.reshape(w, place), shape) for place in places], axis=-1)
    return np.sort(choices, axis=-1)


def divided_differences(derivatives, points):
    """Return the divided differences of ``derivatives[0]`` at ``points``, and their errors.

    ``g[x0, ..., xk]`` is ``(g[x1, ..., xk] - g[x0, ..., x(k-1)]) / (xk - x0)``, and a mean of the
    k-th derivative over what lies between the points. The quotient loses digits where they are
    close, quadrature where they are far apart: of the two, the one with the smaller error. Errors
    are plain numbers: to follow them took a third of the time of second derivatives.
    """
    *lower, g = derivatives
    if not lower:
        y = g(points[..., 0])
        return y, resolution(y) * np.abs(value(y))
    low, low_error = divided_differences(lower, points[..., :-1])
    high, high_error = divided_differences(lower, points[..., 1:])
    gap = points[..., -1] - points[..., 0]
    equal = gap == 0
    gap = np.where(equal, 1, gap)
    quotient, quotient_error = (high - low) / gap, (high_error + low_error) / value(gap)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, rough = mean_between(g, points, 6), mean_between(g, points, 4)
        mean_error = np.abs(value(mean) - value(rough)) + resolution(mean) * np.abs(value(mean))
    chosen = equal | (mean_error < quotient_error)
    return np.where(chosen, mean, quotient), np.where(chosen, mean_error, quotient_error)


def resolution(y):
    return np.finfo(y.dtype).eps


def mean_between(g, points, count):
    """Integrate ``g`` over the simplex of the weights of ``points``: Hermite and Genocchi.

    With k + 1 points and k numbers s between 0 and 1, each with ``count`` Gauss nodes: at
    ``x0 + s1 (x1 - x0) + s1 s2 (x2 - x1) + ...``, with the weight ``s1**(k-1) * s2**(k-2) ...``.
    """
    order = np.shape(points)[-1] - 1
    nodes, weights = np.polynomial.legendre.leggauss(count)
    grid = np.stack(np.meshgrid(*[(nodes + 1) / 2] * order, indexing="ij"), axis=-1)
    grid = grid.reshape(-1, order)
    products = np.cumprod(grid, axis=-1)
    measure = np.array([math.prod(row) for row in itertools.product(weights / 2, repeat=order)])
    measure = measure * np.prod(grid ** np.arange(order - 1, -1, -1), axis=-1)
    dtype = points.dtype
    steps = points[..., 1:] - points[..., :-1]
    inside = points[..., :1] + steps @ products.T.astype(dtype)
    return g(inside) @ measure.astype(dtype)


def derivative_of(config, g):
    """Return the derivative of an elementwise ``g``, by whichever engine is active."""

    def derivative(w):
        _, ydot = frule_via_ad(config, (NoTangent(), np.ones_like(w)), g, w)
        return np.zeros_like(w) if isinstance(ydot, AbstractZero) else ydot

    return derivative


def one_more(config, derivatives):
    return (*derivatives, derivative_of(config, derivatives[-1]))


@frule.register(frechet)
def frechet_frule(
    config: HasForwardsMode, tangents, frechet, derivatives, a, spectrum, *directions
):
    _, _, adot, _, *moved = tangents
    y = derivative_along(derivatives, a, spectrum, *directions)
    parts = [
        derivative_along(derivatives, a, spectrum, *directions[:i], xdot, *directions[i + 1 :])
        for i, xdot in enumerate(moved)
        if not isinstance(xdot, AbstractZero)
    ]
    if not isinstance(adot, AbstractZero):
        more = one_more(config, derivatives)
        parts.append(derivative_along(more, a, spectrum, *directions, hermitian_part(adot)))
    return y, sum_tangents(parts)


@rrule.register(frechet)
def frechet_rrule(config: HasForwardsMode, frechet, derivatives, a, spectrum, *directions):
    """The trace of ``ybar^H @ y`` is symmetric in ``ybar^H`` and the directions: they trade places.

    Shapes: ``a``, each direction, ``y``, ``ybar``: (..., n, n).
    """
    y = derivative_along(derivatives, a, spectrum, *directions)
    project_a, projects = ProjectTo(a), [ProjectTo(x) for x in directions]

    def frechet_pullback(ybar):
        weight = adjoint(ybar)

        def pull_to_a():
            more = one_more(config, derivatives)
            return project_a(
                hermitian_part(derivative_along(more, a, spectrum, *directions, weight))
            )

        def pull_to_direction(i):
            others = (*directions[:i], weight, *directions[i + 1 :])
            return projects[i](adjoint(derivative_along(derivatives, a, spectrum, *others)))

        xbars = [thunk(lambda i=i: pull_to_direction(i)) for i in range(len(directions))]
        return NoTangent(), NoTangent(), thunk(pull_to_a), NoTangent(), *xbars

    return y, frechet_pullback
