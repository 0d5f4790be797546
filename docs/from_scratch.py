"""Automatic differentiation of numbers from scratch: levels, dual numbers, a tape, rules.

The ideas of the package under its own names. ``docs/from_scratch.md`` walks through it.
"""

import itertools
import math
import operator

# ---- rules: what is known of a function, for any engine -----------------------------------------


class RuleTable(dict):
    """A table of rules: from a function to what answers a call of it."""

    def register(self, f):
        """Return a decorator that makes a function the rule of ``f``."""

        def enter(rule):
            self[f] = rule
            return rule

        return enter


frule, rrule = RuleTable(), RuleTable()


def scalar_rule(f, *partials):
    """Register both directions of ``f``, given ``partial(y, *args)`` for each argument."""

    @frule.register(f)
    def pushforward(config, tangents, f, *args):
        y = f(*args)
        terms = [xdot * partial(y, *args) for xdot, partial in zip(tangents[1:], partials)]
        return y, sum(terms[1:], terms[0])

    @rrule.register(f)
    def with_pullback(config, f, *args):
        y = f(*args)
        return y, lambda ybar: (0.0, *[ybar * partial(y, *args) for partial in partials])


# ---- traced values: what passes for a number ----------------------------------------------------


def primitive(body):
    """Return a function whose calls with traced values go to the innermost of their levels."""

    def f(*args):
        levels = [x.at_level for x in args if isinstance(x, Traced)]
        if not levels:
            return body(*args)
        return max(levels, key=lambda level: level.number).call(f, args)

    return f


add, mul, sin, exp = map(primitive, (operator.add, operator.mul, math.sin, math.exp))
cos = primitive(math.cos)
scalar_rule(add, lambda y, a, b: 1.0, lambda y, a, b: 1.0)
scalar_rule(mul, lambda y, a, b: b, lambda y, a, b: a)
scalar_rule(sin, lambda y, x: cos(x))
scalar_rule(cos, lambda y, x: -1.0 * sin(x))
scalar_rule(exp, lambda y, x: y)


class Traced:
    """A number that a transform follows. ``primal`` may itself be traced, at a lower level."""

    __add__, __mul__ = add, mul

    def __radd__(self, other):
        return add(other, self)

    def __rmul__(self, other):
        return mul(other, self)

    def __init__(self, level, primal, mark):
        self.at_level, self.primal, self.mark = level, primal, mark  # a tangent, or a position


# ---- engines: two things to do with a call ------------------------------------------------------


class Level:
    """One run of a transform. Inner ones have higher numbers, and answer first."""

    counter = itertools.count(1)

    def __init__(self, config):
        self.number, self.config = next(self.counter), config

    def carries(self, x):
        return isinstance(x, Traced) and x.at_level is self

    def strip(self, x):
        """Take this level off: what is left may be traced by outer ones."""
        return x.primal if self.carries(x) else x

    def checked(self, y):
        if self.carries(y):  # a derivative is never lost in silence
            raise TypeError("a function that a rule calls back captures a traced value")
        return y


class ForwardLevel(Level):
    """Dual numbers: the tangent of each value travels beside it."""

    def tangent(self, x):
        return x.mark if self.carries(x) else 0.0

    def call(self, f, args):
        tangents = (0.0, *map(self.tangent, args))
        y, ydot = frule[f](self.config, tangents, f, *map(self.strip, args))
        return Traced(self, self.checked(y), self.checked(ydot))


class Tape(Level):
    """Entries ``(parents, pullback)``; the position of one is the name of its value."""

    def __init__(self, config):
        super().__init__(config)
        self.entries = []

    def entry(self, y, parents, pullback):
        self.entries.append((parents, pullback))
        return Traced(self, self.checked(y), len(self.entries) - 1)

    def call(self, f, args):
        y, pullback = rrule[f](self.config, f, *map(self.strip, args))
        return self.entry(y, [x.mark if self.carries(x) else None for x in args], pullback)

    def sweep(self, y, ybar):
        """Pull a cotangent back, last entry to first."""
        bars = [0.0] * len(self.entries)
        if self.carries(y):
            bars[y.mark] = ybar
        for i in reversed(range(len(bars))):
            parents, pullback = self.entries[i]
            for parent, xbar in zip(parents, pullback(bars[i])[1:] if parents else ()):
                if parent is not None:
                    bars[parent] = bars[parent] + xbar
        return bars


class ForwardConfig:
    """Configuration by which a rule calls back into dual numbers."""

    def frule_via_ad(self, tangents, f, *args):
        if f in frule:
            return frule[f](self, tangents, f, *args)
        level = ForwardLevel(self)
        y = f(*[Traced(level, x, xdot) for x, xdot in zip(args, tangents[1:])])
        return level.strip(y), level.tangent(y)


class ReverseConfig(ForwardConfig):
    """Configuration by which a rule calls back into a tape, or into dual numbers."""

    def rrule_via_ad(self, f, *args):
        if f in rrule:
            return rrule[f](self, f, *args)
        tape = Tape(self)
        y = f(*[tape.entry(x, (), None) for x in args])
        return tape.strip(y), lambda ybar: (0.0, *tape.sweep(y, ybar)[: len(args)])


# ---- what users call, and a rule that calls back ------------------------------------------------


def jvp(f, primals, tangents):
    return ForwardConfig().frule_via_ad((0.0, *tangents), f, *primals)


def vjp(f, *primals):
    y, pullback = ReverseConfig().rrule_via_ad(f, *primals)
    return y, lambda ybar: pullback(ybar)[1:]


def grad(f):
    return lambda *args: vjp(f, *args)[1](1.0)[0]


def hvp(f, x, xdot):
    return jvp(grad(f), (x,), (xdot,))[1]


@primitive
def repeat(f, n, x):
    """Return ``f(f(...f(x)))``, ``n`` calls: a higher-order function, whose rules call back."""
    return x if n == 0 else repeat(f, n - 1, f(x))


@frule.register(repeat)
def repeat_frule(config, tangents, repeat, f, n, x):
    xdot = tangents[3]
    for _ in range(n):
        x, xdot = config.frule_via_ad((0.0, xdot), f, x)
    return x, xdot


@rrule.register(repeat)
def repeat_rrule(config, repeat, f, n, x):
    pullbacks = []
    for _ in range(n):
        x, pullback = config.rrule_via_ad(f, x)
        pullbacks.append(pullback)

    def repeat_pullback(xbar):
        for pullback in reversed(pullbacks):
            xbar = pullback(xbar)[1]
        return 0.0, 0.0, 0.0, xbar

    return x, repeat_pullback
