"""Sums of a function over the nodes of a rule, which are made finer until the sum is settled.

The derivative of a sum is the sum of the derivatives, at nodes that move with the limits; how fine
they must be for it is found out anew. In forward mode it is summed along one direction, in reverse
mode for all parameters at once, by one pullback of all nodes. The result is a sum again, so there
are derivatives of any order.
"""

import functools
import warnings

import numpy as np
from scipy import integrate

from .....config import HasForwardsMode, HasReverseMode
from .... import ZERO, AbstractZero, NoTangent, ProjectTo, frule, primitive, rrule, unthunk
from .integral import pulled_integrand, pushed_integrand, size_of, unflattened
from .integrands import settling

ROUNDING = 0.6  # eps to this power: sums whose terms cancel are settled to no more


def stand_ins(*functions):
    """Return these in place of SciPy's functions of the same names, if it has them (1.15)."""
    theirs = {f: getattr(integrate, f.__name__, None) for f in functions}
    return {f.__name__: settling(functools.wraps(own)(f)) for f, own in theirs.items() if own}


@primitive
def refined(rule, f, *parameters):
    """The sum of ``f(piece, *parameters)`` over the pieces of a rule that is fine enough."""
    known = getattr(f, "known", None)  # what SciPy gave, for the user's own function
    return rule(lambda piece: f(piece, *parameters)) if known is None else known


class Refinement:
    """A sequence of rules: those of ``pieces(level)``, until two that follow each other agree."""

    def __init__(self, pieces, levels, name, line, dtype, rtol=None, atol=None):
        self.pieces, self.levels, self.name, self.line = pieces, levels, name, line
        self.rtol = max(rtol or 0.0, np.finfo(dtype).eps ** ROUNDING)
        self.atol = atol or 0.0

    def __call__(self, f):
        before = np.inf
        for level in self.levels:
            with np.errstate(all="ignore"):  # as SciPy does: nodes come very near to the ends
                y = sum(f(piece) for piece in self.pieces(level))
                if self.agree(before, y):
                    return y
            before = y
        warnings.warn(
            f"the derivative of scipy.integrate.{self.name} in {self.line} is not settled: it may "
            "diverge, or change where the function has no derivative",
            integrate.IntegrationWarning,
            stacklevel=3,
        )
        return y

    def agree(self, before, y):
        size = np.max(np.abs(y), initial=0.0)
        near = self.atol + self.rtol * size
        return np.isfinite(size) and np.max(np.abs(y - before), initial=0.0) <= near


@frule.register(refined)
def refined_frule(config: HasForwardsMode, tangents, refined, rule, f, *parameters):
    _, _, _, *dots = map(unthunk, tangents)
    y = refined(rule, f, *parameters)
    moving = [i for i, dot in enumerate(dots) if not isinstance(dot, AbstractZero)]
    if not moving:
        return y, ZERO
    size = size_of(*(dots[i] for i in moving))
    fdot = pushed_integrand(config, f, moving, len(parameters))
    ydot = size * refined(rule, fdot, *parameters, *[dots[i] / size for i in moving])
    return y, ProjectTo(y)(ydot)


@rrule.register(refined)
def refined_rrule(config: HasReverseMode, refined, rule, f, *parameters):
    y = refined(rule, f, *parameters)
    spaces = [ProjectTo(x) for x in parameters]

    def refined_pullback(ybar):
        size = size_of(ybar)
        vector = refined(rule, pulled_integrand(config, f), ybar / size, *parameters)
        return NoTangent(), NoTangent(), NoTangent(), *unflattened(size * vector, spaces)

    return y, refined_pullback
