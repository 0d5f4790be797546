"""The stages of a step of Radau's method, and their derivative by the implicit function theorem.

Stages ``z`` solve ``z = y + h * A @ F(z)``, where row ``i`` of ``F(z)`` is
``f(t + c[i] * h, z[i])``: collocation at the nodes ``c``. Source: Hairer and Wanner (1996),
Solving Ordinary Differential Equations II, IV.8.
"""

import numpy as np

from .....config import HasForwardsMode, HasReverseMode, NoSolutionError, frule_via_ad, rrule_via_ad
from .... import (
    AbstractZero,
    NoTangent,
    ProjectTo,
    as_structured,
    frule,
    primitive,
    rrule,
    sum_tangents,
    value,
)

NODES = np.array([(4 - 6**0.5) / 10, (4 + 6**0.5) / 10, 1.0])
_POWERS = np.arange(3)
# Weights that integrate polynomials of degree 2 from 0 to each node.
A = (NODES[:, None] ** (_POWERS + 1) / (_POWERS + 1)) @ np.linalg.inv(NODES[:, None] ** _POWERS)
TRIES = 20


@primitive
def stages(guess, field, t, h, y, *parameters):
    """Solve ``z = y + h * A @ field(t + c * h, z, *parameters)`` by Newton's method. (3, n)."""
    z = guess
    newton = system(h, difference_jacobians(field, t + NODES * h, z, parameters))
    size = np.finfo(float).tiny + np.max(np.abs(z), axis=0)
    before = np.inf
    for _ in range(TRIES):
        residual = y + h * (A @ field(t + NODES * h, z, *parameters)) - z
        step = np.linalg.solve(newton, residual.ravel()).reshape(z.shape)
        z = z + step
        change = np.max(np.abs(step) / size, initial=0.0)
        if change < 1e-14 or (change < 1e-9 and change > 0.1 * before):
            return z
        before = change
    raise NoSolutionError(
        "the stages of a step, of which a derivative is to be taken, do not converge at "
        f"t = {float(t):.6g}.\n  ask for smaller tolerances (rtol, atol), so that steps are smaller"
    )


def system(h, jacobians):
    """The matrix of ``z - h * A @ F(z)``, of the Jacobians at the stages, (3, n, n)."""
    n = np.shape(jacobians)[-1]
    blocks = h * np.einsum("ik,kab->iakb", A, jacobians)
    return np.eye(3 * n) - np.reshape(blocks, (3 * n, 3 * n))


def difference_jacobians(field, ts, z, parameters):
    """Jacobians by differences: Newton's method needs no more."""
    f = field(ts, z, *parameters)
    columns = []
    for j in range(z.shape[1]):
        step = np.zeros_like(z)
        step[:, j] = 1e-8 * np.maximum(1e-3, np.abs(z[:, j]))
        columns.append((field(ts, z + step, *parameters) - f) / step[:, j : j + 1])
    return np.stack(columns, axis=-1)


@frule.register(stages)
def stages_frule(config: HasForwardsMode, tangents, stages, guess, field, t, h, y, *parameters):
    """``zdot - h * A @ (F' zdot) = ydot + hdot * A @ F + h * A @ Fdot``, with ``z`` held."""
    _, _, _, tdot, hdot, ydot, *dots = tangents
    z = stages(guess, field, t, h, y, *parameters)
    n = np.shape(z)[1]

    def at_stages(t, h, z, *parameters):
        return field(t + NODES * h, z, *parameters)

    given, none = (t, h, z, *parameters), [as_zero(dot) for dot in dots]
    f, fdot = frule_via_ad(
        config, (NoTangent(), tdot, hdot, as_zero(None), *dots), at_stages, *given
    )
    right = h * (A @ as_structured(f, fdot))
    right = right if isinstance(ydot, AbstractZero) else right + ydot
    right = right if isinstance(hdot, AbstractZero) else right + hdot * (A @ f)
    columns = []
    for direction in np.eye(n, dtype=np.result_type(value(z))):
        zdot = np.broadcast_to(direction, (3, n))
        still = (NoTangent(), as_zero(None), as_zero(None), zdot, *none)
        _, column = frule_via_ad(config, still, at_stages, *given)
        columns.append(as_structured(f, column))
    jacobians = np.stack(columns, axis=-1)
    zdot = np.linalg.solve(system(h, jacobians), np.ravel(right))
    return z, np.reshape(zdot, np.shape(z))


def as_zero(_):
    return sum_tangents([])


@rrule.register(stages)
def stages_rrule(config: HasReverseMode, stages, guess, field, t, h, y, *parameters):
    z = stages(guess, field, t, h, y, *parameters)
    n = np.shape(z)[1]
    project_h, project_y = ProjectTo(h), ProjectTo(y)

    def at_stages(t, h, z, *parameters):
        return field(t + NODES * h, z, *parameters)

    def stages_pullback(zbar):
        f, pullback = rrule_via_ad(config, at_stages, t, h, z, *parameters)
        rows = []
        for direction in np.eye(n, dtype=np.result_type(value(z))):
            row = pullback(np.broadcast_to(direction, (3, n)))[3]
            rows.append(np.conj(as_structured(f, row)))
        newton = system(h, np.stack(rows, axis=1))
        weights = np.linalg.solve(np.conj(np.transpose(newton)), np.ravel(zbar))
        weights = np.reshape(weights, np.shape(z))
        fbar = h * (A.T @ weights)
        _, tbar, hbar, _, *bars = pullback(fbar)
        own_hbar = np.sum(np.real(np.conj(A @ f) * weights))
        ybar = project_y(np.sum(weights, axis=0))
        return (
            NoTangent(), NoTangent(), NoTangent(), tbar,
            sum_tangents([hbar, project_h(own_hbar)]), ybar, *bars,
        )  # fmt: skip

    return z, stages_pullback
