"""Calls of QUADPACK: integrals of what a callback gives, by SciPy, or on its last intervals."""

import functools
from typing import Any

import numpy as np
from scipy import integrate

from ...rules.rulesets.scipy.integrate.quadpack import K15, K21, Kronrod, LastNodes
from ..native.steps.kronrod import rule_sums
from .callbacks import CallbackRun


def scipys(run: CallbackRun, k: int, a: Any, b: Any, options: dict) -> tuple:
    """Return what ``quad`` returns for entry ``k`` of what a callback gives."""

    def in_python(t: float) -> float:
        return float(run.entries([t])[k])

    while run.ready():
        run.state[1] = 1
        found: tuple = integrate.quad(run.native_integrand(k), a, b, full_output=1, **options)
        if not run.state[6]:
            return found
        if run.callback.replays:
            break
        run.callback.add(run.plain, run.layouts.taken.read(run.taken[0]))
    return tuple(integrate.quad(in_python, a, b, full_output=1, **options))


@functools.cache
def _table_of(rule: Kronrod) -> np.ndarray:
    return np.stack([rule.nodes, *rule.both], axis=1)


def of_rule(run: CallbackRun, a: float, b: float, info: dict) -> np.ndarray:
    """Return the integrals of all entries over QUADPACK's last intervals, by its rule.

    Behind them stand its estimates of their errors, and the integrals of absolute values.
    """
    low, high = min(a, b), max(a, b)
    both, infinite = low == -np.inf and high == np.inf, low == -np.inf or high == np.inf
    rule, width = K15 if infinite else K21, run.layouts.given.size
    sign = 0 if not infinite else 1 if both or high == np.inf else -1
    counts = np.array([info["last"], rule.size, width, sign, int(both)], np.int64)
    bound = np.array([0.0 if both or not infinite else low if sign > 0 else high])
    room = np.empty((rule.size + 3) * width)
    while run.ready():
        run.state[1] = 1
        found = np.zeros((3, width))
        ends = info["alist"], info["blist"]
        rule_sums()(*run.arrays, *ends, _table_of(rule), counts, bound, found, room)
        if not run.state[6]:
            if a > b:
                found[0] *= -1
            return found
        if run.callback.replays:
            break
        run.callback.add(run.plain, run.layouts.taken.read(run.taken[0]))
    nodes = LastNodes(a, b, info)
    values = run.rows(nodes.ts)
    weighed = np.abs(nodes.weights) @ np.abs(values[nodes.numbers])
    return np.stack([*map(np.add.reduce, nodes.integrals(values)), weighed])
