"""Recordings of one kind of arguments: the one that answers call after call is tried first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr
from chainrules.config.thresholds import STREAK

SCALE = {"by": 1.0, "many": np.ones(3)}


def staircase(x):
    y = x * SCALE["by"]
    for i in range(1, 3):
        if x[0] > i:
            y = y * x + i
    if x[1] > 0:
        y = np.sin(y) * SCALE["many"]
    return np.sum(y * y)


def point(step, sign):
    return np.array([step + 0.5, sign, 0.3])


CALLS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([-1.0, 1.0]), st.sampled_from([1, 2, STREAK + 3])),
    max_size=5,
)


@given(CALLS, st.booleans())
def test_calls_in_any_order_are_answered_as_without_compile(calls, moves):
    compiled, plain = cr.compile(cr.value_and_grad(staircase)), cr.value_and_grad(staircase)
    try:
        for step, sign, times in calls:
            for k in range(times):
                x = point(step, sign) + 0.01 * k
                value, gradient = compiled(x)
                expected = plain(x)
                np.testing.assert_allclose(value, expected[0], rtol=1e-12)
                np.testing.assert_allclose(gradient, expected[1], rtol=1e-12)
            if moves:
                SCALE["by"] += 0.25
    finally:
        SCALE["by"] = 1.0
    (entry,) = compiled.kinds.values() or [None]
    if entry is not None and not moves:
        assert entry.recordings == len({(step, sign) for step, sign, _ in calls})


def refuse(values):
    pytest.fail("it is run though another one answers call after call")


def test_a_recording_that_answers_call_after_call_is_tried_first():
    compiled = cr.compile(cr.grad(staircase))
    expected = {step: cr.grad(staircase)(point(step, 1.0)) for step in range(3)}
    for step in range(3):
        compiled(point(step, 1.0)), compiled(point(step, 1.0))
    for _ in range(STREAK + 1):
        compiled(point(2, 1.0))
    (entry,) = compiled.kinds.values()
    run, entry.root.run = entry.root.run, refuse
    np.testing.assert_allclose(compiled(point(2, 1.0)), expected[2])
    entry.root.run = run
    for step in (1, 0, 2, 1):
        np.testing.assert_allclose(compiled(point(step, 1.0)), expected[step])
    assert entry.first is None


def test_recordings_that_are_let_go_answer_no_more():
    compiled = cr.compile(cr.grad(staircase))
    for _ in range(STREAK + 4):
        compiled(point(0, 1.0)), compiled(point(1, 1.0)), compiled(point(1, 1.0))
    for _ in range(STREAK + 4):
        compiled(point(1, 1.0))
    (entry,) = compiled.kinds.values()
    assert entry.first is not None
    SCALE["many"] = np.full(3, 2.0)
    try:
        np.testing.assert_allclose(
            compiled(point(1, 1.0)), cr.grad(staircase)(point(1, 1.0)), rtol=1e-12
        )
    finally:
        SCALE["many"] = np.ones(3)
    np.testing.assert_allclose(compiled(point(1, 1.0)), cr.grad(staircase)(point(1, 1.0)))
    compiled.clear()
    np.testing.assert_allclose(compiled(point(1, 1.0)), cr.grad(staircase)(point(1, 1.0)))
