"""nsum: series, whose terms a function gives that takes any array, entry by entry.

The value is SciPy's. The derivative is that of the terms, of which there are as many as it takes;
where the series has more, that of the integral over the rest of them, by the formula of Euler and
Maclaurin: the sum of f(k), f(k + h), ... is the integral of f / h from k on, and f(k) / 2.
"""

import numpy as np

from .....config.thresholds import TERMS_AT_ONCE
from .double_exponential import integrated, nodes_of
from .elementwise import ElementwiseCall
from .refined import stand_ins

TERMS, FIRST_LEVEL, LAST_LEVEL = 16, 2, 8  # at level 0, and four times as many at each level


def nsum(f, a, b, *, step=1, args=(), log=False, maxterms=2**20, tolerances=None, **options):
    given = {"maxterms": maxterms, "tolerances": tolerances, **options}
    call = ElementwiseCall("nsum", f, {"a": a, "b": b, "step": step}, args, log, given)
    if not call.traced:
        return call.answer
    rays = Rays(*call.limits, maxterms)

    def pieces(at):
        count = TERMS * 4 ** min(at[0], LAST_LEVEL)
        most = max(rays.most(count), 1)
        for first in range(0, most, TERMS_AT_ONCE):
            yield count, np.arange(first, min(first + TERMS_AT_ONCE, most), dtype=call.dtype), None
        if not np.all(rays.whole):
            yield count, None, nodes_of(*at, call.dtype)

    def summand(piece, *parameters):
        count, j, nodes = piece
        of_nodes, limits = call.opened(parameters)
        if nodes is None:
            return rays.terms(of_nodes, *limits, np.where(rays.whole, np.inf, count), j)
        return rays.rest(of_nodes, *limits, count, nodes)

    rtol = None if log else (tolerances or {}).get("rtol")
    return call.result("sum", summand, pieces, FIRST_LEVEL, rtol)


class Rays:
    """Ranges of the terms of a series: from one end on, or from 0 on to both sides.

    Shapes: ``a``, ``b``, ``step``, and what is made of them: S.
    """

    def __init__(self, a, b, step, maxterms):
        self.has_a, self.has_b = np.isfinite(a), np.isfinite(b)
        self.everywhere = ~self.has_a & ~self.has_b
        finite = self.has_a & self.has_b
        with np.errstate(invalid="ignore"):
            self.last = np.where(finite, np.floor((b - a) / step), np.inf)
        self.whole = ~(self.last + 1 > maxterms)
        # For each ray: which way it goes, and in which entries there is one.
        self.signs = [(np.where(self.has_b & ~self.has_a, -1.0, 1.0), np.full(a.shape, True))]
        if np.any(self.everywhere):
            self.signs.append((np.full(a.shape, -1.0), self.everywhere))

    def most(self, count):
        """Return how many terms are added up, where ``count`` of a long series are."""
        counts = np.where(self.whole, self.last + 1, count)
        return int(np.max(counts, initial=0, where=np.isfinite(counts)))

    def start(self, a, b):
        return np.where(self.has_a, a, np.where(self.has_b, b, 0.0))

    def terms(self, f, a, b, step, count, j):
        start, y = self.start(a, b)[..., None], 0.0
        for sign, there in self.signs:
            counts = there[..., None] & (j < np.minimum(count, self.last + 1)[..., None])
            x = start + np.where(counts, j, 0.0) * (sign * step)[..., None]
            weights = np.where(self.everywhere[..., None] & (j == 0), 0.5, 1.0)
            y = y + np.sum(np.where(counts, weights * f(x), 0.0), axis=-1)
        return y

    def rest(self, f, a, b, step, count, nodes):
        start, y = self.start(a, b), 0.0
        for sign, there in self.signs:
            there = there & ~self.whole & (count <= self.last)
            k = start + sign * step * count
            # A limit that is far away is where the last term is.
            far = np.isfinite(self.last)
            end = np.where(far, a + step * np.where(far, self.last, 0.0), sign * np.inf)
            part = (
                sign
                / step
                * integrated(f, np.where(there, k, 0.0), np.where(there, end, 1.0), *nodes)
            )
            ends = f(np.stack([k, np.where(far, end, k)], axis=-1))
            part = part + ends[..., 0] / 2 + np.where(far, ends[..., 1] / 2, 0.0)
            y = y + np.where(there, part, 0.0)
        return y


INSTEAD = stand_ins(nsum)
