"""Partial fractions: residues of a quotient of polynomials, and the quotient made of residues."""

from itertools import chain

import numpy as np
from scipy import signal

from .....config import MissingRuleError, user_line
from .... import composed, composed_each, value
from .responses import vector


def ordered_like(roots, own):
    """The roots in the order in which SciPy gives them, which are apart."""
    gaps = np.abs(own[:, None] - value(roots))
    order = np.argmin(gaps, axis=1)
    if len(set(order)) < len(own) or np.any(np.min(gaps, axis=1) > 1e-9 * np.abs(own)):
        raise MissingRuleError(
            f"partial fractions of repeated roots have no derivative, in {user_line()}.\n"
            "  write the quotient itself, or np.roots where roots are apart"
        )
    return roots[order]


def quotient(num, den):
    return np.polydiv(num, den)[0] if np.shape(num)[0] >= np.shape(den)[0] else np.zeros(0)


@composed(signal.residue, value="own")
def residue(b, a, tol=1e-3, rtype="avg", *, own):
    """At a simple root ``p`` of ``a`` it is ``b(p) / a'(p)``."""
    b, a = (np.trim_zeros(vector(x) * 1.0, "f") for x in (b, a))
    poles = ordered_like(np.roots(a), own[1])
    residues = np.polyval(b, poles) / np.polyval(np.polyder(a), poles)
    return residues, poles, quotient(b, a)


@composed(signal.residuez, value="own")
def residuez(b, a, tol=1e-3, rtype="avg", *, own):
    """From ``c / (1/z - 1/p) = -c p / (1 - p/z)``, with the residue ``c`` in ``1/z``."""
    b, a = (np.trim_zeros(vector(x) * 1.0, "b") for x in (b, a))
    poles = ordered_like(np.roots(a), own[1])
    b, a = np.flip(b), np.flip(a)
    residues = -poles * np.polyval(b, 1 / poles) / np.polyval(np.polyder(a), 1 / poles)
    return residues, poles, np.flip(quotient(b, a))


def groups_of(poles, tol):
    """The first of poles that are equal up to ``tol``, one after the other, and their numbers."""
    firsts, counts = [], []
    for i, pole in enumerate(value(poles)):
        if firsts and abs(pole - value(poles)[firsts[-1]]) <= tol:
            counts[-1] += 1
        else:
            firsts.append(i)
            counts.append(1)
    return firsts, counts


def from_poles(poles):
    y = np.ones(1)
    for pole in poles:
        y = np.convolve(y, np.stack([pole * 0 + 1.0, -pole]))
    return y


def sum_from_the_end(terms, n):
    total = np.zeros(n)
    for x in terms:
        more = n - np.shape(x)[0]
        total = total + (np.pad(x, (more, 0)) if more > 0 else x[-more:])
    return total


@composed_each({signal.invres: lambda x: x, signal.invresz: np.flip}, value="own")
def over_one_denominator(turn, r, p, k, tol=1e-3, rtype="avg", *, own):
    """The numerators for a pole of count m are those of its powers up to m."""
    r, p, k = vector(r), vector(p), vector(k)
    firsts, counts = groups_of(p, tol)
    places = [[at] * count for at, count in zip(firsts, counts)]
    den = from_poles(p[at] for at in chain(*places))
    terms = [np.convolve(turn(k), turn(den))] if np.any(value(k) != 0) else []
    i = 0
    for group, same in enumerate(places):
        for power in range(1, len(same) + 1):
            others = chain(*places[:group], same[power:], *places[group + 1 :])
            terms.append(r[i] * turn(from_poles(p[at] for at in others)))
            i += 1
    num = turn(sum_from_the_end(terms, np.shape(own[0])[0]))
    return num, den
