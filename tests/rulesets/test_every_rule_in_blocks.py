"""Every rule on a block of directions: forward, back, and forward along a tape.

A block is the stack of its directions, pushed or pulled one by one.
"""

import functools

import numpy as np
import pytest
from quietly import quietly
from test_every_rule import CASES, EVERY, Case, like

import chainrules as cr
from chainrules.forward.linearize import push_blocks
from chainrules.reverse.forward_sweep import push_recording
from chainrules.reverse.vjp import REVERSE, Recording, value_and_pull
from chainrules.rules import Block
from chainrules.rules.linear.jacobians import GivenDirections, leaves, pull_all

pytestmark = pytest.mark.every_case

COUNT = 2


def stacked(values):
    return [np.stack(column) for column in zip(*values, strict=True)]


def agree(found, expected, case, what):
    scale = max([1.0, *[np.nanmax(np.abs(x), initial=0) for x in expected]])
    tolerance = 1e-4 if case.coarse else 1e-8
    for ours, right in zip(found, expected, strict=True):
        near = np.shape(ours) == np.shape(right) and np.allclose(
            ours / scale, right / scale, rtol=tolerance, atol=tolerance, equal_nan=True
        )
        assert near, f"{what}, {case.args} {case.kwargs}: {ours} and not {right}"


@functools.cache
def smooth_cases(f):
    """Return the cases whose arguments and results are numbers that can be perturbed."""
    with quietly():
        cases = [Case(f, args, kwargs) for args, kwargs in CASES[f]]
    return [
        case
        for case in cases
        if case.numbers and case.ys and all(np.asarray(y).dtype.kind in "fc" for y in case.ys)
    ]


@EVERY
def test_blocks(f):
    for case in smooth_cases(f):
        rng = np.random.default_rng(17)
        dots = [tuple(like(x, rng) for x in case.numbers) for _ in range(COUNT)]
        bars = [tuple(like(y, rng) for y in case.ys) for _ in range(COUNT)]
        with quietly():
            try:
                rows = [cr.jvp(case, case.numbers, xdots)[1] for xdots in dots]
            except (NotImplementedError, cr.LostDerivativeError):
                rows = None
            blocks = tuple(stacked(dots))
            if rows is not None:
                ydots = push_blocks(case, case.numbers, blocks, cr.ForwardConfig())
                agree(ydots, stacked(rows), case, "forward")
            y, pull = value_and_pull(REVERSE, case, case.numbers, {}, range(len(case.numbers)))
            if type(getattr(pull, "__self__", None)) is not Recording:
                continue
            one = functools.partial(pull, last=False)
            pull_block = GivenDirections(leaves(y), [Block(b) for b in stacked(bars)], COUNT)
            try:
                _, user_pull = cr.vjp(case, *case.numbers)
                columns = [user_pull(ybars) for ybars in bars]
            except (NotImplementedError, cr.LostDerivativeError):
                continue
            xbars = pull_all(one, y, case.numbers, pull_block)
            agree(xbars, stacked(columns), case, "back")
            if rows is not None:
                push = GivenDirections(leaves(case.numbers), [Block(b) for b in blocks], COUNT)
                ydots = push_recording(pull.__self__, push)
                agree(ydots, stacked(rows), case, "along a tape")


@EVERY
def test_second_order_in_blocks(f):
    for case in smooth_cases(f)[:2]:
        if any(np.asarray(x).dtype.kind == "c" for x in (*case.numbers, *case.ys)):
            continue

        def loss(*xs, case=case):
            return sum(np.sum(np.sin(y) * w) for y, w in zip(case(*xs), case.bars, strict=True))

        rng = np.random.default_rng(3)
        dots = [tuple(like(x, rng) for x in case.numbers) for _ in range(COUNT)]
        with quietly():
            try:
                rows = [cr.hvp(loss, case.numbers, xdots) for xdots in dots]
            except (NotImplementedError, TypeError, ValueError, cr.LostDerivativeError):
                continue  # it has no second derivative, or takes nothing that is traced
            found = cr.hvp(loss, case.numbers, tuple(stacked(dots)), block=True)
        alone = len(case.numbers) == 1
        rows = [(row,) for row in rows] if alone else rows
        agree((found,) if alone else found, stacked(rows), case, "of second order")
