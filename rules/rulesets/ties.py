"""Equal numbers: they share a derivative evenly, and what is differentiated again takes one branch.

A smooth function that is written with ``max`` or ``sort`` equals, on each side of a tie, the
same function of one choice among the equal numbers. So where all choose alike, all its higher
derivatives are those of the choice. It is that of the stable ascending order: ``max`` takes the
last of equal numbers, ``min`` the first, and so do ``maximum(a, b)`` and ``minimum(a, b)``.

It is wrong where they do not: ``maximum(a, b) * minimum(b, a)`` puts the two in two orders.

Tangents that are differentiated again are the choice's, for they meet second derivatives later
on. Cotangents have met these already: they stay even, and only their derivatives are the choice's.
"""

import numpy as np

from ..definitions import linear_rule
from ..kinds import Shares
from ..levels import innermost, is_traced, value


def steady(t, number):
    """``t``, which does not change at the levels up to ``number``.

    At levels further in it is linear in ``t``: a tangent that is still to be given is kept.
    """
    level = innermost((t,))
    if level is None:
        return t
    return value(t) if level.number <= number else level.call(steady, (t,), {"number": number})


@linear_rule(steady, elementwise=True)
def steady_transpose(ybar, space, number):
    return steady(ybar, number)


def through(branch, even, *xs):
    """The numbers of ``even``, with the derivative of ``branch`` where ``xs`` are traced."""
    number = innermost(xs).number
    return steady(even, number) + (branch - steady(branch, number))


def shares_of(even, tied, choice, *xs):
    """The shares ``even`` of an argument; differentiated again, ``choice`` where it is ``tied``."""
    if not is_traced(xs) or not np.any(tied):
        return even
    branch = np.where(tied, choice, even)

    def pull(ybar):
        return through(branch * ybar, even * ybar, *xs)

    return Shares(branch, pull)


def shared(t, place, number, chosen=None, *xs):
    """The share of ``t`` that what is one of a ``number`` in a ``place`` has or gets."""
    share = np.where(place, t, 0)
    if type(number) is not int or number != 1:
        share = share / number
    return share if chosen is None else through(np.where(chosen, t, 0), share, *xs)


def has_branch(number, *xs):
    """Say whether a derivative is differentiated again where a ``number`` of ``xs`` are equal."""
    return is_traced(xs) and bool(np.any(np.greater(number, 1)))
