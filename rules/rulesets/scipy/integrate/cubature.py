"""cubature: the value is SciPy's; its derivative is summed over the regions that SciPy ended with.

Edges of regions that lie on a limit move with it, and so do the nodes; edges inside stand still.
The sums of two rules must agree: of the rule that was asked for and of a finer one, or on regions
that are cut in two along each axis.
"""

import dataclasses
import functools
import itertools
import warnings

import numpy as np
from scipy import integrate

from .....config import MissingRuleError, user_line
from .....config.thresholds import CUBATURES_KEPT, NODES_AT_ONCE
from .... import array_of, value, with_values
from .integrands import as_array, plainly, rebuilt
from .refined import Refinement, refined, stand_ins

HALVINGS = 3


@functools.lru_cache(CUBATURES_KEPT)
def nodes_of(rule, dimensions):
    """Nodes in the unit cube (n, dimensions), and their weights: those that SciPy's rule has."""
    if rule == "genz-malik" or dimensions == 1:
        return probed(rule, dimensions)
    x, w = probed(rule, 1)
    grid = np.meshgrid(*[x[:, 0]] * dimensions, indexing="ij")
    weights = functools.reduce(np.multiply.outer, [w] * dimensions)
    return np.stack([np.ravel(part) for part in grid], axis=-1), np.ravel(weights)


def probed(rule, dimensions):
    """Ask SciPy: of a function that is 1 at one node alone the integral is the weight of that."""
    found, most = [], 1

    def note(x):
        found.append(x)
        return np.eye(len(x), most)

    for _ in range(2):  # the estimate of the error may take more nodes
        found.clear()
        cube = np.zeros(dimensions), np.ones(dimensions)
        weights = integrate.cubature(note, *cube, rule=rule, atol=np.inf).estimate
        most = max(map(len, found))
    return found[0], weights[: len(found[0])]


def finer(rule):
    """Return rules, and how often regions are halved, from that of the value on."""
    first = [("gk15", 0), ("gk21", 0)] if rule == "gk15" else [(rule, 0)]
    if rule in ("gk21", "gauss-kronrod"):
        first = [("gk15", 0), ("gk21", 0)]
    return first + [(first[-1][0], k) for k in range(1, HALVINGS + 1)]


def halved(low, high):
    """Return the regions between ``low`` and ``high`` (R, d), each cut in two along each axis."""
    middle = (low + high) / 2
    edges = np.stack([low, middle, high])
    axes = np.arange(low.shape[1])
    corners = [np.array(c) for c in itertools.product((0, 1), repeat=len(axes))]
    return [np.concatenate([edges[c + up, :, axes].T for c in corners]) for up in (0, 1)]


class IntegrationLimits:
    """Limits that may be infinite: there SciPy has ``x = start + (1 - t) / t`` or (1 - |t|) / t."""

    def __init__(self, a, b, line):
        self.turned = a > b
        low, high = np.minimum(a, b), np.maximum(a, b)
        self.onwards = np.isfinite(low) & np.isinf(high)
        self.everywhere = np.isinf(low) & np.isinf(high)
        if np.any(np.isinf(low) & np.isfinite(high)):
            # SciPy 1.17 integrates over the mirrored range, and not over the mirrored function.
            raise MissingRuleError(
                "scipy.integrate.cubature from -inf to a finite limit has no derivative, in "
                f"{line}: SciPy's own value may be wrong there.\n"
                "  integrate f(-x), from minus the limit to inf"
            )
        self.low = np.where(self.everywhere, -1.0, np.where(self.onwards, 0.0, low))
        self.high = np.where(self.everywhere | self.onwards, 1.0, high)
        self.sign = (-1.0) ** np.sum(self.turned)

    def nodes(self, a, b, low, high, unit):
        """Nodes (R, n, d) in regions (R, d), and by what their weights in a unit cube grow."""
        a, b = np.where(self.turned, b, a), np.where(self.turned, a, b)
        finite = ~(self.onwards | self.everywhere)
        low = np.where(finite & (low == self.low), a, low)
        high = np.where(finite & (high == self.high), b, high)
        size = high - low
        t = low[:, None] + unit * size[:, None]
        density = np.prod(size, axis=-1)[:, None]
        if np.all(finite):
            return t, density * np.ones(len(unit))
        s = np.where(finite, 1.0, t)
        x = np.where(
            self.onwards, (1 - s) / s + np.where(self.onwards, a, 0.0), (1 - np.abs(s)) / s
        )
        return np.where(finite, t, x), density / np.prod(s**2, axis=-1)


def cubature(f, a, b, *, rule="gk21", rtol=1e-8, atol=0, max_subdivisions=10000, args=(),
             workers=1, points=None):  # fmt: skip
    options = {"rule": rule, "rtol": rtol, "atol": atol, "max_subdivisions": max_subdivisions}
    args = args if isinstance(args, tuple) else (args,)
    build, parameters, traced = rebuilt("cubature", (f, args, (a, b)), points)
    points = value(points)
    if not traced:
        return integrate.cubature(f, a, b, **options, args=args, workers=workers, points=points)
    line = user_line()

    def run(known, level):
        own_f = plainly(*known[:2], "cubature", line, level)
        limits = value(known[2])
        return integrate.cubature(own_f, *limits, **options, points=points), limits

    own, known = build.run_plain(run, "scipy.integrate.cubature")
    if own.status != "converged":
        warnings.warn(
            f"scipy.integrate.cubature in {line} did not converge, and its derivative is no better",
            integrate.IntegrationWarning,
            stacklevel=3,
        )
    known = np.broadcast_arrays(*(np.asarray(x) * 1.0 for x in known))
    box = IntegrationLimits(*known, line)
    regions = [np.stack([getattr(region, name) for region in own.regions]) for name in "ab"]

    def pieces(level):
        name, halvings = level
        unit, w = nodes_of(name, len(known[0]))
        low, high = regions
        for _ in range(halvings):
            low, high = halved(low, high)
        at_once = max(1, NODES_AT_ONCE // len(w))
        for first in range(0, len(low), at_once):
            part = slice(first, first + at_once)
            yield low[part], high[part], unit, w

    def summand(piece, *parameters):
        low, high, unit, w = piece
        f, args, limits = build(*parameters)
        x, density = box.nodes(*np.broadcast_arrays(*map(array_of, limits)), low, high, unit)
        y = as_array(f(np.reshape(x, (-1, np.shape(x)[-1])), *args))
        weights = np.reshape(box.sign * density * w, -1)
        return np.tensordot(weights, y, axes=1)

    summand.known = own.estimate
    dtype = np.finfo(np.asarray(own.estimate).dtype).dtype
    sums = Refinement(pieces, finer(rule), "cubature", line, dtype, rtol, atol)
    y = with_values(refined(sums, summand, *parameters), own.estimate)
    return dataclasses.replace(own, estimate=y)


INSTEAD = stand_ins(cubature)
