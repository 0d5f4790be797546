"""Distributions of one variable that accept traced values.

``Distribution`` stands in for an object as ``stats.norm``, ``Frozen`` for ``stats.norm(0, 1)``.
Where nothing is traced they ask SciPy's own. Else the value is still SciPy's, and the derivative
that of a formula in the table: of the standard form, to which location and scale are added here.
"""

import functools

import numpy as np
from scipy import stats

from .....config import MissingRuleError, user_line
from .... import (
    Traced,
    array_of,
    astype,
    dtype_of,
    entry_by_entry,
    holds_traced,
    innermost,
    levels_of,
    library_value,
    value,
    with_values,
)
from ...arrays.ties import motion
from ..traced_objects import valued

VALUES = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")
INVERSES = ("ppf", "isf")
SUMMARIES = ("mean", "var", "std", "entropy")
ELEMENTWISE = {*VALUES, *INVERSES, *SUMMARIES, "_argcheck", "_get_support"}


@entry_by_entry
def is_of_scipys_distribution(f):
    own, name = getattr(f, "__self__", None), getattr(f, "__name__", "")
    known = isinstance(own, stats.rv_continuous | stats.rv_discrete)
    return known and type(own).__module__.startswith("scipy.stats.") and name in ELEMENTWISE


def number(x):
    """``x`` in double precision, in which SciPy computes."""
    if not isinstance(x, Traced):
        x = array_of(x) if holds_traced(x) or innermost((x,)) is not None else np.asarray(x)
    dtype = dtype_of(value(x))
    if dtype.kind == "c":
        raise MissingRuleError(
            f"the rules of scipy.stats are of real numbers, not of {dtype}, in {user_line()}.\n"
            "  write np.real(x), or the formula in NumPy"
        )
    if not isinstance(x, Traced) or (dtype.kind == "f" and dtype.itemsize >= 8):
        return x
    return astype(x, float)


def traced_in(args, kwargs):
    return innermost((*args, *kwargs.values())) is not None


def refusal_of(dist, name, remedy):
    return MissingRuleError(
        f"scipy.stats.{dist.name}.{name} has no derivative, in {user_line()}.\n  write {remedy}"
    )


def blurred(where, y):
    """``y`` but NaN in its derivative, too, where its value is no number."""
    return y if np.all(where) else np.where(where, y, y * np.nan)


def inside_of(low, high):
    """A point between the two ends, of which one is finite."""
    middle = np.where(np.isinf(low), high - 1, np.where(np.isinf(high), low + 1, (low + high) / 2))
    return np.where(np.isinf(low) & np.isinf(high), 0.0, middle)


def valued_by_name(method):
    """Decorator: the method below has the value of the method ``name`` of SciPy's distribution."""

    @functools.wraps(method)
    def answers(self, name, *args, **kwds):
        own = library_value(getattr(self.own, name), args, kwds)
        with np.errstate(all="ignore"):
            y = method(self, name, own, *args, **kwds)
            return with_values(np.broadcast_to(y, np.shape(own)), own)

    return answers


class Distribution:
    """A distribution of ``scipy.stats``; its ``own`` is that of SciPy."""

    def __init__(self, own, formulas):
        self.own, self.formulas = own, formulas

    def __getattr__(self, name):
        if name in ("own", "formulas"):  # not there yet, while it is copied
            raise AttributeError(name)
        return getattr(self.own, name)

    @property  # type: ignore[misc]  # isinstance asks for it
    def __class__(self):
        return type(self.own)

    def __reduce__(self):
        from . import named

        return named, (self.own.name,)

    def __call__(self, *args, **kwds):
        return Frozen(self, args, kwds)

    freeze = __call__

    # ---- the standard form --------------------------------------------------------------------

    def formula(self, name):
        if (formula := self.formulas.of[name]) is None:
            raise refusal_of(self.own, name, "the formula in NumPy: there is no rule yet")
        return formula

    def parameters(self, args, kwds):
        """Shapes, location and scale, as arrays in double precision."""
        shapes, loc, scale = self.own._parse_args(*args, **kwds)
        if len(shapes) != self.own.numargs:  # poisson_binom
            raise MissingRuleError(
                f"scipy.stats.{self.own.name}, whose parameter is a list, has no rule, in "
                f"{user_line()}.\n  write the formula in NumPy"
            )
        names = (self.own.shapes or "").replace(" ", "").split(",")
        for word, x in zip(names, shapes):
            if word in self.formulas.whole and innermost((x,)) is not None:
                raise MissingRuleError(
                    f"{word} of scipy.stats.{self.own.name} is a whole number: it has no "
                    f"derivative, in {user_line()}.\n  write cr.stop_gradient({word})"
                )
        return [number(x) for x in shapes], number(loc), number(scale)

    def valid(self, shapes, scale):
        return library_value(self.own._argcheck, tuple(shapes), {}) & (value(scale) > 0)

    def at(self, name, z, shapes):
        """The formula at ``z``: constant outside of the support, and where the density ends at 0.

        There it is evaluated at a point inside, so that it is finite.
        """
        point = value(z)
        low, high = library_value(self.own._get_support, tuple(shapes), {})
        outside = (point < low) | (point > high)
        ends = (point == low) | (point == high)
        if self.discrete:
            outside = outside | ((point != np.floor(point)) if "pmf" in name else point >= high)
        elif np.any(ends):
            inside = np.where(ends, point, inside_of(low, high))
            density = library_value(self.own.pdf, (inside, *shapes), {})
            outside = outside | (ends & ((density == 0) | np.isinf(point)))
            if name in ("logcdf", "logsf"):  # the logarithm of 0
                outside = outside | (point == (low if name == "logcdf" else high))
        formula = self.formula(name)
        if not np.any(outside):
            return formula(z, *shapes)
        return np.where(outside, 0.0, formula(np.where(outside, inside_of(low, high), z), *shapes))

    @property
    def discrete(self):
        return not hasattr(self.own, "pdf")

    # ---- functions of the variable ------------------------------------------------------------

    @valued_by_name
    def evaluated(self, name, own, *args, **kwds):
        x, args, kwds = variable(args, kwds)
        shapes, loc, scale = self.parameters(args, kwds)
        if self.discrete:  # it has steps
            z = astype(array_of(value(number(x)) - value(loc)), float)
            z = np.floor(z) if name.endswith(("cdf", "sf")) else z
        else:
            z = (number(x) - loc) / scale
        y = self.at(name, z, shapes)
        if name == "logpdf":
            y = y - np.log(scale)
        elif name == "pdf":
            y = y / scale
        return blurred(self.valid(shapes, scale), y)

    @valued_by_name
    def inverse(self, name, own, *args, **kwds):
        p, args, kwds = variable(args, kwds)
        shapes, loc, scale = self.parameters(args, kwds)
        p = number(p)
        z = library_value(getattr(self.own, name), (p, *shapes), {})
        if not self.discrete and innermost((p, *shapes)) is not None:
            z = self.solved(z, p, shapes, "cdf" if name == "ppf" else "sf")
        return blurred(self.valid(shapes, scale), loc + scale * z)

    def solved(self, z, p, shapes, tail):
        """``z``, the solution of ``tail(z, *shapes) = p``, with its derivatives.

        Each step of Newton doubles the order to which they are right: there are as many as the
        levels need.
        """
        tail_of, density = self.formula(tail), self.formula("pdf")
        for _ in range(len(levels_of(p, *shapes)).bit_length()):
            gap = motion(tail_of(z, *shapes) - p) / density(z, *shapes)
            z = z - gap if tail == "cdf" else z + gap
        return z

    # ---- numbers that describe the distribution -----------------------------------------------

    @valued_by_name
    def summary(self, name, own, *args, **kwds):
        shapes, loc, scale = self.parameters(args, kwds)
        wanted = "var" if name == "std" else name
        if innermost(shapes) is None:
            y = library_value(getattr(self.own, wanted), tuple(shapes), {})
        else:
            y = self.formula(wanted)(*shapes)
        if name == "mean":
            y = loc + scale * y
        elif name == "entropy":
            y = (y if self.discrete else y + np.log(scale)) + 0 * loc
        else:
            y = scale * scale * y + 0 * loc
        y = np.sqrt(y) if name == "std" else y
        return blurred(np.isfinite(own), y)

    def median(self, *args, **kwds):
        return self.ppf(0.5, *args, **kwds)

    def interval(self, confidence, *args, **kwds):
        if not traced_in((confidence, *args), kwds):
            return self.own.interval(confidence, *args, **kwds)
        library_value(self.own.interval, (confidence, *args), kwds)
        tail = (1 - number(confidence)) / 2
        return self.ppf(tail, *args, **kwds), self.ppf(1 - tail, *args, **kwds)

    def stats(self, *args, **kwds):
        if not traced_in(args, kwds):
            return self.own.stats(*args, **kwds)
        shapes, loc, scale, moments = self.own._parse_args_stats(*args, **kwds)
        if not set(moments) <= set("mv"):
            raise refusal_of(self.own, "stats", "moments='mv': mean and variance have one")
        placed = (*shapes, loc) if self.discrete else (*shapes, loc, scale)
        found = [(self.mean if m == "m" else self.var)(*placed) for m in "mv" if m in moments]
        return found[0] if len(found) == 1 else tuple(found)

    @valued
    def moment(self, order, *args, own, **kwds):
        if not traced_in(args, kwds):
            return own
        if order not in (0, 1, 2):
            raise refusal_of(self.own, "moment", "orders up to 2: mean and var have derivatives")
        mean = self.mean(*args, **kwds)
        return (1 + 0 * mean, mean, self.var(*args, **kwds) + mean * mean)[order]

    @valued
    def nnlf(self, theta, x, *, own):
        if np.isinf(own) or not traced_in((theta, x), {}):
            return own  # infinite for impossible data
        return -np.sum(self.logpdf(x, *theta))

    # ---- samples ------------------------------------------------------------------------------

    def rvs(self, *args, **kwds):
        """Draw as SciPy does, and differentiate the path from the noise to the sample.

        Location and scale move the sample themselves; shapes by implicit reparameterization:
        ``cdf(z, *shapes)`` does not change (Figurnov, Mohamed, Mnih 2018).
        """
        if not traced_in(args, kwds):
            return self.own.rvs(*args, **kwds)
        if self.discrete:
            raise refusal_of(self.own, "rvs", "the score: samples are whole numbers, which do not "
                          "move; weigh them with the gradient of logpmf")  # fmt: skip
        return self.path("rvs", *args, **kwds)

    @valued_by_name
    def path(self, name, own, *args, **kwds):
        """The samples ``own`` as they move with the parameters."""
        args = args[: self.own.numargs + 2]  # without the size
        kwds = drop(drop(kwds, "random_state"), "size")
        shapes, loc, scale = self.parameters(args, kwds)
        z = (own - value(loc)) / value(scale)
        if innermost(shapes) is not None:
            z = self.solved(z, 0.0, shapes, "cdf")
        return loc + scale * z


def refusing(name, remedy):
    def refuses(self, *args, **kwds):
        if traced_in(args, kwds):
            raise refusal_of(self.own, name, remedy)
        return getattr(self.own, name)(*args, **kwds)

    return refuses


def answering(name, by):
    def answers(self, *args, **kwds):
        if not traced_in(args, kwds):
            return getattr(self.own, name)(*args, **kwds)
        getattr(self.own, name)  # SciPy's own error if it has none
        return by(self, name, *args, **kwds)

    answers.__name__ = name
    return answers


REFUSED = {
    "expect": "np.sum of weights times func, with nodes of your own",
    "fit": "the loss -np.sum(logpdf(x, *parameters)), and an optimizer around its gradient",
    "fit_loc_scale": "np.mean and np.std",
    "support": "the ends themselves, as loc + scale * end",
}
for _names, _by in (
    (VALUES, Distribution.evaluated),
    (INVERSES, Distribution.inverse),
    (SUMMARIES, Distribution.summary),
):
    for _name in _names:
        setattr(Distribution, _name, answering(_name, _by))
for _name, _remedy in REFUSED.items():
    setattr(Distribution, _name, refusing(_name, _remedy))


def drop(kwds, name):
    return {word: x for word, x in kwds.items() if word != name}


def variable(args, kwds):
    """The variable, which SciPy names by its kind, and the parameters."""
    if args:
        return args[0], args[1:], kwds
    name = next(word for word in ("x", "k", "q") if word in kwds)
    return kwds[name], (), drop(kwds, name)


# ---- with given parameters ----------------------------------------------------------------------


class Frozen:
    """A distribution with its parameters: SciPy's own frozen one, where these are not traced."""

    def __init__(self, distribution, args, kwds):
        self.dist, self.args, self.kwds = distribution, args, kwds
        if not traced_in(args, kwds):
            self.own = distribution.own(*args, **kwds)

    def __getattr__(self, name):
        if name in ("own", "dist", "args", "kwds"):
            raise AttributeError(name)
        if not hasattr(self, "own"):
            raise AttributeError(f"{name} of a frozen distribution whose parameters are traced")
        return getattr(self.own, name)

    @property  # type: ignore[misc]
    def __class__(self):
        return type(self.own) if "own" in vars(self) else Frozen

    @property
    def random_state(self):
        return self.own.random_state

    @random_state.setter
    def random_state(self, seed):
        self.own.random_state = seed

    def __reduce__(self):
        return Frozen, (self.dist, self.args, self.kwds)

    def rvs(self, size=None, random_state=None):
        if hasattr(self, "own"):
            return self.own.rvs(size, random_state)
        return self.dist.rvs(*self.args, **self.kwds, size=size, random_state=random_state)

    def stats(self, moments="mv"):
        return self.dist.stats(*self.args, **self.kwds, moments=moments)

    def expect(self, *args, **kwds):
        if hasattr(self, "own"):
            return self.own.expect(*args, **kwds)
        raise refusal_of(self.dist.own, "expect", REFUSED["expect"])


def of_frozen(name):
    def answers(self, *args, **kwds):
        if hasattr(self, "own") and not traced_in(args, kwds):
            return getattr(self.own, name)(*args, **kwds)
        x, _, others = variable(args, kwds) if name in (*VALUES, *INVERSES) else (None, (), kwds)
        given = (x,) if name in (*VALUES, *INVERSES) else args
        return getattr(self.dist, name)(*given, *self.args, **self.kwds, **others)

    answers.__name__ = name
    return answers


for _name in (*VALUES, *INVERSES, *SUMMARIES, "median", "interval", "moment", "support"):
    setattr(Frozen, _name, of_frozen(_name))
