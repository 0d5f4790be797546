"""Equal numbers: they share a derivative evenly, and what is differentiated again takes one branch.

A smooth function that is written with ``max`` or ``sort`` equals, beside a tie, the same function
of one choice among the equal numbers. Where all its calls choose as at one point, all its higher
derivatives are those of the choice. The levels further out show the way to such a point: there the
numbers move, and of equal ones the larger is the one that grows faster (Nesterov, lexicographic
differentiation of nonsmooth functions, 2005). In forward mode they move along the tangents, in
reverse mode along a direction in general position (``Level.motion``). Those that grow alike share
evenly: a derivative is linear in what they differ by, and so the mean over both choices.

An engine without a direction leaves equal numbers in the stable ascending order: ``max`` takes the
last of them, ``min`` the first, and so do ``maximum(a, b)`` and ``minimum(a, b)``. It is wrong
where calls put numbers in two orders, as in ``maximum(a, b) * minimum(b, a)``.

Tangents that are differentiated again are the choice's, for they meet second derivatives later
on. Cotangents have met these already: they stay even, and only their derivatives are the choice's.
"""

import itertools
import math

import numpy as np

from ... import (
    Shares,
    array_of,
    dtype_of,
    innermost,
    is_lazy,
    is_traced,
    layers,
    linear_rule,
    primitive,
    shared,
    value,
    with_values,
)
from ...shapes import TRUTHS


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


def motion(x):
    """0 with the derivative of ``x``, so that sums of shares are finite where ``x`` is not."""
    return with_values(x, np.zeros_like(value(x)))


def moving_with(y, ydot):
    """``y`` with the derivative of ``ydot`` in place of its own."""
    return with_values(ydot, value(y))


# ---- the order among equal numbers ----


def in_order(*xs):
    """Numbers that compare as ``xs`` do, and equal ones as they do beside the point, or stably.

    They are complex: NumPy compares real parts first, and imaginary parts where these are equal.
    """
    found = [derivatives(x) for x in xs]
    parts = [part for part, directed in found]
    keys = sorted({key for part in parts for key in part}, key=lambda key: (len(key), key))
    values = [part[()] for part in parts]
    shapes, dtype = list(map(np.shape, values)), np.result_type(*values)
    rows = [[part.get(key, 0) for part in parts] for key in keys]
    stable = not all(directed for part, directed in found)
    pairs = in_one_row(shapes, dtype, stable, *itertools.chain(*rows))
    ends = [0, *itertools.accumulate(map(math.prod, shapes))]
    return [np.reshape(pairs[i:j], n) for i, j, n in zip(ends, ends[1:], shapes)]


@primitive
def in_one_row(shapes, dtype, stable, *rows):
    """The numbers in one row, as ``in_order`` pairs them: first they themselves, then their ways.

    A primitive, so that a recording makes the pairs anew and looks at none of the numbers.
    """
    columns = []
    for k in range(0, len(rows), len(shapes)):
        parts = [np.asarray(x, dtype) for x in rows[k : k + len(shapes)]]
        parts = [np.ravel(np.broadcast_to(x, n)) for x, n in zip(parts, shapes)]
        columns.append(np.concatenate(parts))
    if stable:
        columns.append(np.arange(len(columns[0])))
    y, ways = columns[0], [np.where(np.isnan(way), 0, way) for way in columns[1:]]
    if len(ways) > 1 or np.iscomplexobj(y):
        ways = [ranks(ways)]
    if np.iscomplexobj(y):
        y = np.where(np.isnan(y), np.nan, ranks([y]))
    pairs = np.empty(len(y), np.result_type(y, np.complex128))
    pairs.real, (pairs.imag,) = y, ways
    return pairs


in_one_row.gives_one_shape = True  # type: ignore[attr-defined]


def derivatives(x):
    """The number in ``x`` and its derivatives along its levels, by their numbers.

    And whether each of them knows a direction. Single ones weigh more than mixed ones, and outer
    levels more than inner ones: the point moves along the next by far less.
    """
    found, directed = {}, True
    left = [((), x)]
    while left:
        key, x = left.pop()
        for layer in layers(x):
            xdot = layer.at_level.motion(layer)
            if xdot is not None:
                left.append(((*key, layer.at_level.number), xdot))
            elif not key:
                directed = False
        found[tuple(sorted(key))] = value(x)
    return found, directed


def side_of(x):
    """The sign of a real number beside the point where it is 0; 0 where it stays, -1 if unknown."""
    found, directed = derivatives(x)
    for key in sorted(found, key=lambda key: (len(key), key)):
        if found[key] < 0 or found[key] > 0:
            return -1.0 if found[key] < 0 else 1.0
    return 0.0 if directed else -1.0


def ranks(columns):
    """One number for the many in each row, which compares as they do, one after the other."""
    order = np.lexsort(columns[::-1])
    in_turn = [column[order] for column in columns]
    steps = np.any([column[1:] != column[:-1] for column in in_turn], axis=0)
    y = np.zeros(len(order))
    y[order[1:]] = np.cumsum(steps)
    return y


# ---- shares ----


def through(branch, even, *xs):
    """The numbers of ``even``, with the derivative of ``branch`` where ``xs`` are traced."""
    number = innermost(xs).number
    return steady(even, number) + (branch - steady(branch, number))


def shares_in_order(share, a, b):
    """``share(a, b)`` and ``share(b, a)`` of the two in their order."""
    a, b = in_order(a, b)
    with np.errstate(invalid="ignore"):  # NumPy warns of complex NaN where it does not of real
        return share(a, b), share(b, a)


def have_tie(x, z):
    """Say whether numbers, or entries of arrays, are equal; levels are looked through before."""
    tie = x == z
    if type(tie) is np.ndarray:
        return np.count_nonzero(tie)
    return tie if type(tie) in TRUTHS else np.any(tie)


def shares_of(share, a, b, i=0):
    """``share(a, b)``, or ``share(b, a)`` for 1; differentiated again at a tie, the choice's."""
    x, z = value(a), value(b)
    even = share(z, x) if i else share(x, z)
    if (x is a and z is b) or not have_tie(x, z) or not is_traced((a, b)):
        return even
    return shares_again(shares_in_order(share, a, b)[i], even, a, b)


def shares_again(branch, even, *xs):
    """The share ``even`` of cotangents; what is differentiated again is the ``branch``."""

    def pull(ybar):
        return through(branch * ybar, even * ybar, *xs)

    return Shares(branch, pull)


def choice_by(share):
    """Return what is differentiated again at a tie: ``y``, with the derivative of the choice."""

    def choice(y, a, b):
        if not have_tie(value(a), value(b)):
            return y
        of_a, of_b = shares_in_order(share, a, b)
        return moving_with(y, weighed(of_a, motion(a)) + weighed(of_b, motion(b)))

    return choice


def weighed(weights, t):
    return weights * np.where(weights, t, 0)


def shared_again(t, even, chosen, *xs):
    """As ``shared``; differentiated again by the choice's place and number, if there is one."""
    share = shared(t, *even)
    return share if chosen is None else through(shared(t, *chosen), share, *xs)


def has_branch(number, *xs):
    """Say whether a derivative is differentiated again where a ``number`` of ``xs`` are equal."""
    if type(number) is int and number == 1:
        return False
    several = np.greater(number, 1)
    if type(several) in TRUTHS and not several:
        return False
    return is_traced(xs) and bool(np.any(several))  # in this order: dask's is not looked at


# ---- what a reduction chooses ----


class TieChoice:
    """The choice that is differentiated again at a tie in ``x``, by its ``shares``."""

    def __init__(self, shares, x):
        self.shares = shares
        self.x = x

    def value(self, y, push):
        return moving_with(y, push(motion(self.x)))

    def through(self, branch, even):
        return through(branch, even, self.x)


def chooses(order):
    """Decorator: the weights below, for a ``reduction_rule``, are of entries that are chosen.

    They tell where such entries are, and by how many each is shared. Differentiated again at a
    tie, they are those of the numbers in their ``order``, of which ``initial`` is one more.
    """

    def again(rule, even, x, axis, options):
        place, number = even
        if not np.any(np.greater(number, 1)):
            return None
        x, initial = array_of(x), options.get("initial")
        if initial is not None:
            initial, ordered = order(initial, x)
            options = {**options, "initial": initial[()]}
        elif has_equal(value(x)[place]):
            (ordered,) = order(x)
        else:
            return None  # the two in the middle are no tie
        options = {**options, "keepdims": True}
        place, several = rule.weights_at(ordered, rule.f(ordered, **options), axis, options)
        if type(several) is not int:
            several = several.astype(dtype_of(array_of(number)))
        return TieChoice((place, several), x)

    def define(weights):
        weights.again = again
        return weights

    return define


def has_equal(x):
    # Dask sorts nothing; what was chosen is little.
    x = np.sort(np.asarray(x) if is_lazy(x) else x)
    return np.any(x[1:] == x[:-1])
