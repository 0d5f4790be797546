"""The quadrature rules of QUADPACK, on the nodes at which SciPy evaluated an integrand.

The derivative of an integral by a parameter is the same weighted sum over the same nodes, of the
integrand's derivatives: so the integrand runs once at each node, with a block of directions. Each
derivative is held to QUADPACK's own estimate of its error and to the tolerances of the call: where
one fails, intervals are halved. Where extrapolation made the value, or that takes too many, there
is no such sum, and ``integral`` integrates the derivative by itself.
"""

import functools
import warnings

import numpy as np
from scipy import integrate
from scipy.special import roots_legendre

from .....config import HasForwardsMode
from .....config.thresholds import SHARE_OF_MOVING
from .... import (
    Traced,
    TracedArray,
    TracedNumber,
    innermost,
    is_lazy,
    is_traced,
    jacobian_via_ad,
    levels_of,
    strip,
    value,
    with_values,
)
from ....shapes import FLOATS
from .integral import with_slopes
from .integrands import number, under
from .sensitivities import NO_STATE, Columns

EPS = np.finfo(float).eps


class Kronrod:
    """A Gauss-Kronrod rule on [-1, 1]: weights by ascending node.

    ``half`` are the weights up to the middle, and ``ends`` the nodes from 1 down to it.
    """

    def __init__(self, half, ends):
        self.nodes = np.array([*np.negative(ends), *ends[-2::-1]])
        self.weights = np.array([*half, *half[-2::-1]])
        self.size = len(self.weights)
        self.both = np.zeros((2, self.size))  # Kronrod's, and Gauss's on every other node
        self.both[0] = self.weights
        self.both[1, 1::2] = roots_legendre(self.size // 2)[1]

    def sums(self, values, halves):
        """The integrals over intervals, and estimates of their errors, as QUADPACK makes them.

        Shapes: ``values``, (intervals, nodes, columns); ``halves``, half the lengths, (intervals,).
        """
        h = np.abs(halves)[:, None]
        both = np.matmul(self.both, values)
        found = both[:, 0]
        off = h * np.abs(found - both[:, 1])
        spread = h * np.matmul(self.weights, np.abs(values - found[:, None] / 2))
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = spread * np.minimum(1.0, (200 * off / spread) ** 1.5)
        off = np.where((spread != 0) & (off != 0), scaled, off)
        size = h * np.matmul(self.weights, np.abs(values))
        return halves[:, None] * found, np.maximum(off, 50 * EPS * size)


# Source: Piessens et al. (1983), QUADPACK, qk21 and qk15.
K21 = Kronrod([
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390,
    0.054755896574351996031381300244580, 0.075039674810919952767043140916190,
    0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109831074, 0.134709217311473325928054001771707,
    0.142775938577060080797094273138717, 0.147739104901338491374841515972068,
    0.149445554002916905664936468389821,
], [
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452,
    0.930157491355708226001207180059508, 0.865063366688984510732096688423493,
    0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784,
    0.294392862701460198131126603103866, 0.148874338981631210884826001129720, 0.0,
])  # fmt: skip
K15 = Kronrod([
    0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
    0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
    0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
    0.204432940075298892414161999234649, 0.209482141084727828012999174891714,
], [
    0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
    0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
    0.586087235467691130294144045838730, 0.405845151377397166906606412076961,
    0.207784955007898467600689403773245, 0.0,
])  # fmt: skip


class WeightedSum:
    """A weighted sum over nodes that makes an integral, by QUADPACK's rule on its last intervals.

    ``used`` are the numbers of the evaluations, (intervals, nodes), of a doubly infinite range one
    column more; ``weights`` those of their values in the integral.
    """

    def __init__(self, a, b, info):
        low, high = min(a, b), max(a, b)
        self.rule, self.each = (K15, 15) if low == -np.inf or high == np.inf else (K21, 21)
        self.both = low == -np.inf and high == np.inf
        if self.each == 15:  # t = bound + (1 - x) / x, or with a minus
            self.bound = 0.0 if self.both else low if high == np.inf else high
        last = info["last"]
        self.begin, self.end = info["alist"][:last], info["blist"][:last]
        self.halves = (self.end - self.begin) / 2 * (1.0 if a <= b else -1.0)

    def use(self, used, factors):
        """Take these evaluations, whose values are multiplied by ``factors``."""
        self.used, self.factors = used, factors
        places = (1, -1, 1)[: used.ndim]
        scales = np.reshape(self.halves, (-1, *(1,) * (used.ndim - 1)))
        self.weights = np.ravel(scales * np.reshape(self.rule.weights, places) * factors)
        self.numbers = np.ravel(used)

    def integrals(self, values):
        """The integrals of plain ``values`` at the evaluations, (N, columns), and their errors.

        Both are those of each interval: (intervals, columns).
        """
        values = values[self.used] * self.factors[..., None]
        if self.used.ndim == 3:
            values = values[:, :, 0] + values[:, :, 1]
        return self.rule.sums(values, self.halves)

    def give(self, y, values):
        """Say whether the values at the nodes make SciPy's ``y``, to rounding."""
        terms = self.weights * values[self.numbers]
        return bool(abs(terms.sum() - y) <= 1e-13 * np.abs(terms).sum())

    def within(self, kept):
        """Weights, and numbers of evaluations, of some of the intervals."""
        weights = np.reshape(self.weights, (len(self.halves), -1))
        return weights[kept].ravel(), self.used[kept].ravel()


class Nodes(WeightedSum):
    """The sum over nodes at which QUADPACK evaluated, in the order of their evaluation."""

    def __init__(self, ts, a, b, info):
        """Find the intervals: QUADPACK evaluates the nodes of one after those of another.

        Raises
        ------
        ValueError
            If the nodes are not those of the intervals.
        """
        super().__init__(a, b, info)
        ts = np.array(ts)
        x, factors, each = ts, np.ones(len(ts)), self.each
        if each == 15:
            x = 1 / (1 + np.abs(ts - self.bound))
            factors = 1 / x**2
        each *= 1 + self.both
        if len(ts) == 0 or len(ts) % each:
            raise ValueError("an evaluation that belongs to no interval")
        x = np.reshape(x, (-1, each))
        order = np.argsort(x, axis=1, kind="stable")
        groups = self.groups(x, order) if len(x) > 1 or len(self.halves) > 1 else np.zeros(1, int)
        used = order[groups] + each * groups[:, None]
        if self.both:  # t and -t, one after the other
            used = np.reshape(used, (len(used), 15, 2))
        self.use(used, factors[used])

    def groups(self, x, order):
        """Return which evaluations are those of each interval, for the nodes ``x`` in groups."""
        # The middle one of its nodes tells an interval, in whatever order QUADPACK keeps them.
        middles = x[np.arange(len(x)), order[:, x.shape[1] // 2]]
        centers = (self.begin + self.end) / 2
        near = np.abs(middles - centers[:, None]) <= 1e-6 * np.abs(self.end - self.begin)[:, None]
        if not np.all(np.count_nonzero(near, axis=1) == 1):
            raise ValueError("an interval without nodes")
        return np.argmax(near, axis=1)


class LastNodes(WeightedSum):
    """The sum over the nodes ``ts`` of intervals, as QUADPACK ended with them, one by one."""

    def __init__(self, a, b, info):
        super().__init__(a, b, info)
        halves, centers = (self.end - self.begin) / 2, (self.begin + self.end) / 2
        x = centers[:, None] + halves[:, None] * self.rule.nodes
        ts, factors = x, np.ones_like(x)
        if self.each == 15:
            away = (1 - x) / x
            factors = 1 / x**2
            if self.both:
                ts, factors = np.stack([away, -away], 2), np.stack([factors, factors], 2)
            else:
                ts = self.bound + away if self.bound == min(a, b) else self.bound - away
        self.ts = np.ravel(ts)
        self.use(np.arange(len(self.ts)).reshape(ts.shape), factors)


class SlopesOnNodes:
    """Slopes on nodes, (N, columns), and of each interval the integrals and estimated errors.

    ``kept`` says which intervals have not been halved.
    """

    def __init__(self, nodes, values):
        self.nodes, self.values = nodes, values
        self.found, self.errors = nodes.integrals(value(values))
        self.kept = np.ones(len(nodes.halves), bool)

    def integrals(self):
        weights, numbers = self.nodes.within(self.kept)
        return np.dot(weights, self.values[numbers])


def integrals_of_slopes(nodes, slopes, more, ends, epsabs=1.49e-8, epsrel=1.49e-8, limit=50, **_):
    """Return the integrals of ``slopes``, (N, columns), on ``nodes`` and on nodes in between.

    Intervals are halved until all errors are within the tolerances; ``more(ts)`` gives the slopes
    at further nodes. None where more than ``limit`` intervals would be needed. Where slopes move
    themselves, their own derivatives are integrated on these nodes, and the tolerances are lower.
    """
    share = SHARE_OF_MOVING if innermost((slopes,)) is not None else 1.0
    parts = [SlopesOnNodes(nodes, slopes)]
    while True:
        whole = sum(np.add.reduce(part.found[part.kept]) for part in parts)
        error = sum(np.add.reduce(part.errors[part.kept]) for part in parts)
        tolerance = share * np.maximum(epsabs, epsrel * np.abs(whole))
        if (error <= tolerance).all():
            return sum(part.integrals() for part in parts if part.kept.any())
        count = sum(np.count_nonzero(part.kept) for part in parts)
        begin, end = [], []
        for part in parts:
            half = part.kept & (part.errors > tolerance / (2 * count)).any(axis=1)
            part.kept &= ~half
            begin += part.nodes.begin[half].tolist()
            end += part.nodes.end[half].tolist()
        if count + len(begin) > limit or not np.isfinite(error).all():
            return None
        middle = np.add(begin, end) / 2
        info = {"alist": np.append(begin, middle), "blist": np.append(middle, end)}
        further = LastNodes(*ends, info | {"last": 2 * len(middle)})
        try:
            parts.append(SlopesOnNodes(further, more(further.ts)))
        except ArithmeticError:  # at a node that others may not need
            return None


WITHOUT_NODES = ("weight", "complex_func")


def by_nodes(build, limits, full_output, options, line):
    """Return what ``quad`` returns, with the derivative on the nodes of its value.

    The integrand runs once at each node, with a block of directions: those of all parameters. None
    where it is none of few real parameters, or the derivative is not settled on these nodes.
    """
    level = innermost(build.parameters)
    config = getattr(level, "config", None)
    ends = strip(limits, level)
    if (
        not isinstance(config, HasForwardsMode)
        or innermost(ends) is not None
        or any(options.get(name) for name in WITHOUT_NODES)
    ):
        return None
    parameters = strip(build.parameters, level)
    columns = Columns(NO_STATE, parameters)
    if not columns.fit_a_block(NO_STATE, parameters) or any(map(is_lazy, value(parameters))):
        return None
    result = ()

    def run(known, level, ts=None):
        """Return the integrand at ``ts``; without these, where QUADPACK asks for it."""
        nonlocal result
        f, args = known
        ys = []
        levels = levels_of(*parameters) | {level}

        def at(t):
            y = f(t, *args)
            own = y
            if not isinstance(y, TracedNumber) or isinstance(y, TracedArray):
                own = y = number(y)
            ys.append(y)
            if isinstance(y, Traced) and y.at_level is level:
                own = y.primal
            return own if type(own) in FLOATS else under(y, levels, "quad", f, line)

        def noted(t):
            asked.append(t)
            return at(t)

        if ts is None:
            asked = []
            result = (*integrate.quad(noted, *ends, (), 1, **options), asked)
        else:
            for t in ts:
                at(t)
        return np.stack(ys) if ys else NO_STATE

    def values(row, ts=None):
        at_nodes = functools.partial(run, ts=ts)
        return build.run_with(columns.parts(row)[1], at_nodes, "scipy.integrate.quad")

    def values_and_slopes(ts=None):
        return jacobian_via_ad(config, functools.partial(values, ts=ts), still)

    still = columns.row(NO_STATE, parameters)

    ys, slopes = values_and_slopes()
    y, error, info, *rest, ts = result
    try:
        nodes = Nodes(ts, *ends, info)
    except ValueError:
        return None
    if not nodes.give(y, value(ys)):
        return None
    slopes = integrals_of_slopes(
        nodes, slopes, lambda ts: values_and_slopes(ts.tolist())[1], ends, **options
    )
    if slopes is None:
        return None
    if not full_output:
        if rest:
            warnings.warn(rest[0], integrate.IntegrationWarning, stacklevel=4)
        info, rest = (), ()
    own = y if type(ys) is np.ndarray else with_values(np.dot(nodes.weights, ys[nodes.numbers]), y)
    slopes, moving = columns.parts(slopes)[1], list(build.parameters)
    moved = [k for k in range(2) if is_traced(limits[k]) and np.isfinite(ends[k])]
    if moved:
        at_ends = values(still, [float(ends[k]) for k in moved])
        slopes += [at_ends[i] if k else -at_ends[i] for i, k in enumerate(moved)]
        moving += [limits[k] for k in moved]
    y = with_slopes(own, slopes, moving)
    return (y, error, info, *rest) if full_output else (y, error)
