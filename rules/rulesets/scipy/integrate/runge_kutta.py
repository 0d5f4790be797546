"""An initial value problem by the steps of an explicit method, on a mesh that is held constant.

Of few states and parameters both modes go by forward sensitivities. Else forward mode pushes
through one evaluation of the right-hand side after the other, and reverse mode is the discrete
adjoint: of SciPy's steps it keeps the states at which the right-hand side was evaluated, in one
array, and pulls back through one evaluation after the other. A state is ``y + h * sum(a * k)`` of
slopes k with the weights a of the method, so both are sums with these weights.
"""

import numpy as np

from .....config import (
    HasForwardsMode,
    HasReverseMode,
    frule_via_ad,
    rrule_via_ad,
)
from .....config.thresholds import SLOPES_NUMBERS
from .... import (
    ZERO,
    AbstractZero,
    NoTangent,
    ProjectTo,
    Tangent,
    add,
    as_structured,
    child_tangents,
    frule,
    innermost,
    primitive,
    rrule,
    sum_tangents,
    unthunk,
    value,
)
from .march import SAME, StepPlan
from .sensitivities import Columns, sensitivities

FLOATS = {float, np.float64, int}


class Steps(StepPlan):
    """The plan of an explicit method, and where its evaluations stand in a row.

    ``numbers[k]`` are those of the slopes of step ``k``; the first one is the last regular one of
    the step before. ``known`` are states and slopes as SciPy found them, (evaluations, n) each.
    """

    def __init__(self, method, mesh, times, warn, everywhere=False):
        super().__init__(method, mesh, times, warn)
        self.known, self.everywhere = None, everywhere
        self.moves = False  # whether an end of the span does
        self.numbers, first, count = [], 0, 1
        for k in range(len(self)):
            more = len(self.tableau(k).rows)
            self.numbers.append([first, *range(count, count + more)])
            first, count = self.numbers[k][method.last], count + more
        self.count = count
        self.nodes = [0, *(numbers[method.last] for numbers in self.numbers)]

    def tableau(self, k):
        """The weights of step ``k``: some methods have more slopes for values inside a step."""
        within = self.everywhere or self.bounds[k + 1] > self.bounds[k]
        return self.method.dense if within else self.method.regular

    def steps(self, start, stop):
        """For each step its time, length, weights and numbers."""
        for k in range(len(self)):
            t, end = self.times(k, start, stop)
            yield t, end - t, self.tableau(k), self.numbers[k]

    def times_of_evaluations(self, start, stop):
        """The time of each evaluation, in a list."""
        ts = [start]
        for t, h, tableau, _ in self.steps(start, stop):
            ts += [t + c * h for c in tableau.times]
        return ts

    def groups(self):
        """The steps with the numbers of their slopes, (steps, slopes), and the rows of weights.

        First all with the regular rows; then those that have more, with these.
        """
        rows = self.method.regular.rows
        regular = np.array([numbers[: len(rows) + 1] for numbers in self.numbers])
        yield np.arange(len(self)), regular, rows
        longer = [k for k, numbers in enumerate(self.numbers) if len(numbers) > len(rows) + 1]
        if longer:
            numbers = np.array([self.numbers[k] for k in longer])
            yield np.array(longer), numbers, self.method.dense.rows[len(rows) :]

    linearized = None

    def know(self, ys, slopes):
        """Take over what SciPy computed: the state and the slopes of each step.

        Of a span without length SciPy computes none, and of DOP853 those for values inside a step
        only where it wants them.
        """
        lengths = [len(k) < len(numbers) for k, numbers in zip(slopes, self.numbers, strict=True)]
        if self.mesh[0] == self.mesh[-1] or any(lengths):
            return
        h = np.diff(self.mesh)[:, None]
        dtype = np.result_type(*ys, *slopes)
        states, found = np.empty((2, self.count, len(ys[0])), dtype)
        states[0], ys = ys[0], np.array(ys)
        for steps, numbers, rows in self.groups():
            own = np.array([slopes[k][: numbers.shape[1]] for k in steps])
            found[numbers] = own
            for row in rows:
                sums = np.tensordot(own[:, : len(row)], row, (1, 0))
                states[numbers[:, len(row)]] = ys[steps] + h[steps] * sums
        self.known = states, found

    def linearize(self, log, k, j):
        """Take over slopes and Jacobians of all evaluations, for the states that SciPy came to."""
        count = len(self.method.regular.rows)
        order = [0]
        for step, numbers in zip(log, self.numbers, strict=True):
            order += range(step.last - count, step.last)
            order += step.more[: len(numbers) - count - 1]
        if self.known is not None and np.array_equal(k[order], self.known[1]):
            self.linearized = k[order], j[order]

    def few_columns(self, y, parameters):
        """Say whether sensitivities are the cheapest way: of few states and parameters."""
        columns = Columns(y, parameters)
        return (
            not self.moves
            and len(self) > 0
            and self.count * columns.n * columns.size <= SLOPES_NUMBERS
            and columns.fit_a_block(y, parameters)
        )

    def known_of(self, *given):
        """Return what SciPy found, for plain arguments: these are the ones it had."""
        return self.known if innermost(given) is None else None

    def check(self, slopes):
        """Warn where the right-hand side gave other slopes in the states that SciPy came to."""
        if self.known is None:
            return
        size = np.max(np.abs(self.known[0]), initial=0.0)
        lengths = np.concatenate(
            [
                np.full(len(numbers) - (k > 0), self.mesh[k + 1] - self.mesh[k])
                for k, numbers in enumerate(self.numbers)
            ]
        )
        off = np.max(np.abs((self.known[1] - slopes) * lengths[:, None]))
        if off > SAME * size:
            self.warn(off)


def mixed(weights, xs):
    """The sum of arrays with these weights."""
    return np.dot(weights, np.array(xs) if innermost(xs) is None else np.stack(xs))


def start_and_slopes(y, h, row, slopes):
    """``y + h * mixed(row, slopes)``, by one product where ``h`` is a plain number."""
    if type(h) is not np.float64:
        return y + h * mixed(row, slopes)
    weights = np.empty(len(row) + 1)
    weights[0], weights[1:] = 1.0, h * row
    return mixed(weights, [y, *slopes])


def joined(parts):
    """An array of the numbers that a right-hand side gave, or the array that it gave."""
    if type(parts) is not tuple:
        return parts
    return np.array(parts, float) if FLOATS.issuperset(map(type, parts)) else np.stack(parts)


def joined_tangents(k, kdot):
    if type(k) is not tuple:
        return as_structured(k, kdot)
    if isinstance(kdot, AbstractZero):
        return np.zeros(len(k))
    dots = child_tangents(k, kdot)
    return joined(tuple([0.0 if isinstance(dot, AbstractZero) else dot for dot in dots]))


def states_and_slopes(plan, rhs, y, start, stop):
    """Return the states at which the right-hand side is evaluated, and its slopes."""
    states, slopes = [y], [rhs(start, y)]
    for t, h, tableau, numbers in plan.steps(start, stop):
        y, found = states[numbers[0]], [slopes[numbers[0]]]
        for row, c in zip(tableau.rows, tableau.times):
            states.append(y + h * mixed(row, found))
            found.append(rhs(t + c * h, states[-1]))
        slopes += found[1:]
    return np.stack(states), np.stack(slopes)


def through(plan, f, y, start, stop, *parameters):
    return states_and_slopes(plan, lambda t, y: joined(f.slope(t, y, *parameters)), y, start, stop)


# States at all evaluations of ``f.slope``, and the slopes: (evaluations, n) each.
runge_kutta = primitive(through)


@frule.register(runge_kutta)
def runge_kutta_frule(
    config: HasForwardsMode, tangents, runge_kutta, plan, f, y, start, stop, *parameters
):
    if not plan.few_columns(y, parameters):
        return pushed_steps(config, tangents, plan, f, y, start, stop, *parameters)
    _, _, _, ydot, _, _, *dots = map(unthunk, tangents)
    columns = Columns(y, parameters)
    known = plan.known_of(y, start, stop, *parameters)
    states, slopes = known or runge_kutta(plan, f, y, start, stop, *parameters)
    moved = sensitivities(config, plan, f, states, start, stop, parameters, columns)
    dot = columns.row(as_structured(y, ydot), as_structured(parameters, tuple(dots)))
    return (states, slopes), Tangent(tuple, moved[0] @ dot, moved[1] @ dot)


def pushed_steps(config, tangents, plan, f, y, start, stop, *parameters):
    """From ``y_s = y + h * sum(a * k)``; a tangent of the slopes pushes through ``f``."""
    _, _, _, ydot, startdot, stopdot, *dots = map(unthunk, tangents)
    still = isinstance(startdot, AbstractZero) and isinstance(stopdot, AbstractZero)
    known = plan.known_of(y, start, stop, *parameters)
    states, slopes = ([y], []) if known is None else known
    ydots, kdots, given = [as_structured(y, ydot)], [], []

    def push(t, tdot, y, ydot):
        k, kdot = frule_via_ad(config, (NoTangent(), tdot, ydot, *dots), f.slope, t, y, *parameters)
        given.append(k)
        if known is None:
            slopes.append(joined(k))
        kdots.append(joined_tangents(k, kdot))

    push(start, startdot, y, ydots[0])
    for i, (t, h, tableau, numbers) in enumerate(plan.steps(start, stop)):
        y, ydot, moved = states[numbers[0]], ydots[numbers[0]], [kdots[numbers[0]]]
        found = [slopes[numbers[0]]]
        tdot = startdot if i == 0 else ZERO
        hdot = ZERO if still else add(stopdot if i == len(plan) - 1 else ZERO, -tdot)
        moves = not isinstance(hdot, AbstractZero)
        for row, c, number in zip(tableau.rows, tableau.times, numbers[1:]):
            if known is None:
                states.append(y + h * mixed(row, found))
            y_sdot = start_and_slopes(ydot, h, row, moved)
            if moves:
                y_sdot = y_sdot + hdot * mixed(row, found)
            ydots.append(y_sdot)
            push(t + c * h, add(tdot, c * hdot) if moves else ZERO, states[number], y_sdot)
            found.append(slopes[number])
            moved.append(kdots[number])
    if known is None:
        states, slopes = np.stack(states), np.stack(slopes)
        plan.check(value(slopes))
    else:
        plan.check(np.array([joined(k) for k in given]))
    return (states, slopes), Tangent(tuple, np.stack(ydots), np.stack(kdots))


@rrule.register(runge_kutta)
def runge_kutta_rrule(config: HasReverseMode, runge_kutta, plan, f, y, start, stop, *parameters):
    project_y, project_start, project_stop = ProjectTo(y), ProjectTo(start), ProjectTo(stop)
    # At a level further out, if one follows these, by the rule that it finds.
    known = plan.known_of(y, start, stop, *parameters)
    states, slopes = known or runge_kutta(plan, f, y, start, stop, *parameters)
    few = plan.few_columns(y, parameters)
    moved = None

    def by_sensitivities(statesbar, slopesbar):
        nonlocal moved
        columns = Columns(y, parameters)
        if moved is None:
            moved = sensitivities(config, plan, f, states, start, stop, parameters, columns)
        bars = np.tensordot(statesbar, moved[0], 2) + np.tensordot(slopesbar, moved[1], 2)
        ybar, found = columns.parts(bars)
        found = [ProjectTo(x)(bar) for x, bar in zip(parameters, found)]
        return NoTangent(), NoTangent(), NoTangent(), project_y(ybar), ZERO, ZERO, *found

    def runge_kutta_pullback(bars):
        statesbar, slopesbar = map(unthunk, as_structured((states, slopes), bars))
        if few:
            return by_sensitivities(statesbar, slopesbar)
        found, parameterbars = [], [ZERO] * len(parameters)

        def pull(number, t, kbar):
            nonlocal parameterbars
            k, pullback = rrule_via_ad(config, f.slope, t, states[number], *parameters)
            found.append(joined(k))
            _, tbar, ybar, *more = pullback(Tangent(tuple, *kbar) if type(k) is tuple else kbar)
            parameterbars = [add(bar, part) for bar, part in zip(parameterbars, more)]
            return unthunk(tbar), add(statesbar[number], unthunk(ybar))

        startbar = stopbar = 0.0
        ybar = kbar = 0.0  # of the state and the slope with which the next step begins
        for i, (t, h, tableau, numbers) in reversed(list(enumerate(plan.steps(start, stop)))):
            bars, tbars = [], []  # of states and times in the step, the last one first
            for j in range(len(tableau.rows), 0, -1):
                bar = slopesbar[numbers[j]]
                bar = bar + h * mixed(tableau.columns[j], bars) if bars else bar
                end = j == plan.method.last
                tbar, bar = pull(
                    numbers[j], t + tableau.times[j - 1] * h, bar + kbar if end else bar
                )
                bars.append(bar + ybar if end else bar)
                tbars.append(tbar)
            kbar, ybar = h * mixed(tableau.columns[0], bars), sum(bars[1:], bars[0])
            if i in (0, len(plan) - 1):
                hbar = length_bar(tableau, [slopes[n] for n in numbers], bars, tbars)
                stopbar = stopbar + hbar if i == len(plan) - 1 else stopbar
                startbar = sum_tangents(tbars) - hbar if i == 0 else startbar
        tbar, bar = pull(0, start, slopesbar[0] + kbar)
        plan.check(np.array([value(k) for k in reversed(found)]))
        return (
            NoTangent(), NoTangent(), NoTangent(), project_y(bar + ybar),
            project_start(add(startbar, tbar)), project_stop(stopbar), *parameterbars,
        )  # fmt: skip

    return (states, slopes), runge_kutta_pullback


def length_bar(tableau, slopes, bars, tbars):
    """The cotangent of the length of a step, from those of its states and times."""
    hbar = 0.0
    for row, c, bar, tbar in zip(tableau.rows, tableau.times, reversed(bars), reversed(tbars)):
        moved = mixed(row, slopes[: len(row)])
        hbar = hbar + np.sum(np.real(np.conj(moved) * bar)) + add(c * tbar, 0.0)
    return hbar


def inside(plan, found, start, stop, at, where):
    """Values at the times ``at``, of the polynomials of the steps ``where``; ``found`` are states
    and slopes. (len(at), n).
    """
    states, slopes = found
    if len(where) == 0:
        return np.zeros((0, np.shape(states)[1]))
    numbers = np.array([plan.numbers[k] for k in where])
    t, end = plan.mesh[where], plan.mesh[where + 1]
    if innermost((start, stop)) is not None:
        t = np.where(where == 0, start, t)
        end = np.where(where == len(plan) - 1, stop, end)
    weights = plan.method.dense.within(at, t, end - t)
    return states[numbers[:, 0]] + np.sum(weights[:, :, None] * slopes[numbers], axis=1)
