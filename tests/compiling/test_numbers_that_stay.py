"""Calls in adopted modules by which a recording stays one, and stays machine code."""

import math as plain_math
import warnings

import numpy as np
import pytest

import chainrules as cr
import chainrules.math as math
from chainrules._numbers import Float
from chainrules.compiling.native import limits
from chainrules.compiling.native.scalars import numbers

pytest.importorskip("llvmlite")

TABLE = np.array([0.0, 1.0, 2.0, 4.0])
X = np.array([0.3, 0.5, 0.9])


def innovation(x):
    s = Float((x[None] @ x[:, None])[0, 0]) + Float(x[0])
    return 0.5 * (math.log(2 * plain_math.pi * s) + s * math.log(s, 3.0))


def looked_up(x):
    total = 0.0
    for k in range(3):
        i = int(np.searchsorted(TABLE, x[k])) - 1
        i = min(max(i, 0), 2)
        total = total + (x[k] - TABLE[i]) / (TABLE[i + 1] - TABLE[i]) * (i + 1.0)
    return total


def how(compiled):
    return [path.how for kind in compiled.kinds.values() for path in kind.all_recordings()]


@pytest.mark.parametrize("f", [innovation, looked_up])
@pytest.mark.parametrize("transform", [lambda f: f, cr.grad, cr.hessian])
def test_moved_arguments_are_one_recording_in_machine_code(f, transform):
    compiled, expected = cr.compile(transform(f)), transform(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(6):
            x = X * (1 + 0.01 * k)
            np.testing.assert_allclose(compiled(x), expected(x), rtol=1e-12, atol=1e-12)
    assert [text[0].startswith("machine code") for text in how(compiled)] == [True]


def test_another_interval_is_another_way():
    compiled = cr.compile(cr.grad(looked_up))
    points = [X, X + 1, X + 2, X + [0, 1, 2], -X, X + 100, X, X + 2]
    for x in points:
        np.testing.assert_allclose(compiled(x), cr.grad(looked_up)(x), rtol=1e-12)
    assert len(how(compiled)) == 6


def test_what_is_no_number_is_refused_as_before():
    with pytest.raises(TypeError, match="only"):
        cr.compile(lambda x: Float(x))(X)


def test_where_math_raises_a_replay_raises():
    compiled = cr.compile(cr.grad(innovation))
    [compiled(X + k) for k in range(3)]
    with pytest.raises(ValueError, match=r"math domain|positive"):
        compiled(np.array([-0.1, 0.0, 0.0]))


def test_what_repeats_is_written_once_and_what_does_not_is_left(monkeypatch):
    def loop(p):
        x = p[0]
        for _ in range(200):
            x = x + 0.01 * (p[1] * x - p[2] * np.sin(x))
        return x

    monkeypatch.setattr(numbers, "WRITTEN_OPERATIONS", 100)
    compiled = cr.compile(cr.grad(loop))
    assert limits.WRITTEN_OPERATIONS > 100
    for k in range(3):
        np.testing.assert_allclose(compiled(X + k), cr.grad(loop)(X + k), rtol=1e-12)
    assert how(compiled)[0][0].startswith("machine code")

    def irregular(p):
        x, rng = p[0], np.random.RandomState(1)
        for k in rng.randint(0, 4, 300):
            x = (x + p[1], x * p[2], np.sin(x), x / (1.5 + x * x))[k]
        return x

    compiled = cr.compile(irregular, captured="freeze")
    for k in range(3):
        np.testing.assert_allclose(compiled(X + k), irregular(X + k), rtol=1e-12)
    assert "repeat nowhere" in how(compiled)[0][0] or "loops" in how(compiled)[0][0]
