"""The quadrature rules of QUADPACK, on the nodes at which SciPy evaluated an integrand.

The derivative of an integral by a parameter is the same weighted sum over the same nodes, of the
integrand's derivatives: so the integrand runs once at each node, with a block of directions. Each
derivative is held to QUADPACK's own estimate of its error and to the tolerances of the call. Where
one fails, or where extrapolation made the value, there is no such sum, and ``integral`` integrates
the derivative by itself.
"""

import numpy as np
from scipy.special import roots_legendre

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
        """The integrals of plain ``values`` at the evaluations, (N, columns), and their errors."""
        values = values[self.used] * self.factors[..., None]
        if self.used.ndim == 3:
            values = values[:, :, 0] + values[:, :, 1]
        sums, errors = self.rule.sums(values, self.halves)
        return np.add.reduce(sums), np.add.reduce(errors)

    def give(self, y, values):
        """Say whether the values at the nodes make SciPy's ``y``, to rounding."""
        terms = self.weights * values[self.numbers]
        return bool(abs(terms.sum() - y) <= 1e-13 * np.abs(terms).sum())

    def are_enough(self, values, epsabs=1.49e-8, epsrel=1.49e-8, **_):
        """Say whether the integrals of ``values`` are as good as the tolerances ask for."""
        found, errors = self.integrals(values)
        return bool((errors <= np.maximum(epsabs, epsrel * np.abs(found))).all())


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
        # The middle one of its nodes tells an interval, in whatever order QUADPACK keeps them.
        middles = x[np.arange(len(x)), order[:, each // 2]]
        centers = (self.begin + self.end) / 2
        near = np.abs(middles - centers[:, None]) <= 1e-6 * np.abs(self.end - self.begin)[:, None]
        if not np.all(np.count_nonzero(near, axis=1) == 1):
            raise ValueError("an interval without nodes")
        groups = np.argmax(near, axis=1)
        used = order[groups] + each * groups[:, None]
        if self.both:  # t and -t, one after the other
            used = np.reshape(used, (len(used), 15, 2))
        self.use(used, factors[used])


class LastNodes(WeightedSum):
    """The sum over the nodes ``ts`` of the intervals that QUADPACK ended with, one by one."""

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
