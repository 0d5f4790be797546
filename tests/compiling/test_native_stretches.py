"""Native stretches: programs on numbers with steps between that are called."""

import numpy as np
import pytest
from cached import ways
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr

pytest.importorskip("llvmlite")

P = np.array([1.3, 0.7, 2.1, -0.4])


def matrix(p):
    return np.stack([p[0] * p[:2], p[2:] + 3.0])


def between(p):
    x = np.sin(p[0]) * p[1] + p[2] ** 2 - p[3] * 0.5
    c = np.linalg.cond(matrix(p), 1)
    y = c * x + np.cos(p[1]) * p[2] - np.exp(-p[3]) * p[0] + x * x
    d = np.linalg.cond(matrix(p * y), 1)
    return y * d + np.tanh(x) - p[0] * p[1] * p[2] + c


def guarded(p):
    x = p[0] * p[1] + p[2] * p[3] - np.sin(p[0]) * 3.0 + p[1] ** 2
    far = x > 0
    c = np.linalg.cond(matrix(p), 1)
    y = c + x * p[0] if far else c - x * p[1] * np.exp(p[2])
    if c * y > 40.0:
        y = y * 0.5 + np.cos(x)
    return y + p[0] * p[1] - p[2] * p[3] * 2.0


def truths(p):
    near = np.abs(p) < 1.0
    c = np.linalg.cond(matrix(p), 1)
    kept = np.where(near, c * p, p - c) * p[0] + np.sin(p) * p[1] - np.cos(p) * p[2]
    return np.sum(kept), near & (p > 0), kept[1:], kept


def whole(p):
    k = np.argmax(p * p[::-1]) + 1
    c = np.linalg.cond(matrix(p), 1)
    return k * c + p[0] * p[1] + np.sin(p[2]) * p[3] - p[0] ** 3 + p[1] * p[2], k


PROGRAMS = [between, guarded, truths, whole]


def same(found, own):
    for a, b in zip(found if type(found) is tuple else (found,), own, strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS)
def test_stretches_give_what_numpy_gives(f):
    compiled = cr.compile(f, fallback="error")
    for k in range(6):
        p = P * (1 + 0.2 * k)
        own = f(p)
        same(compiled(p), own if type(own) is tuple else (own,))
    assert any("stretches" in how for how in ways(compiled))


def test_results_share_memory_as_those_of_numpy():
    compiled = cr.compile(truths, fallback="error")
    for k in range(3):
        _, _, part, kept = compiled(P * (1 + k))
        assert np.shares_memory(part, kept)


@pytest.mark.parametrize("f", [between, guarded])
def test_derivatives(f):
    pytest.importorskip("scipy")
    both = cr.value_and_grad(f)
    compiled = cr.compile(both, fallback="error")
    for k in range(4):
        p = P * (1 + 0.3 * k)
        for a, b in zip(compiled(p), both(p)):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_explanations_name_stretches():
    compiled = cr.compile(between)
    compiled(P)
    assert "native stretches between calls" in str(cr.explain(compiled, P, stage="grouped"))
    assert "results = " in str(cr.explain(compiled, P, stage="source"))


@settings(max_examples=15)
@given(
    st.lists(st.sampled_from("+-*sctbdgn"), min_size=12, max_size=30),
    st.lists(st.floats(0.2, 3.0), min_size=4, max_size=4),
)
def test_random_programs(letters, numbers):
    def f(p):
        x, y = p[0], p[1] * p[2]
        for k, letter in enumerate(letters):
            z = p[k % 4]
            if letter in "+-*":
                x = {"+": x + z, "-": x - y, "*": x * z}[letter]
            elif letter in "sct":
                y = {"s": np.sin(y + x), "c": np.cos(x) * z, "t": np.tanh(x - y)}[letter]
            elif letter in "dn":
                x = x / np.linalg.cond(np.stack([p[:2], p[2:] + np.stack([y, 9.0])]), 1)
            elif letter == "b":
                x = x + z if x > y else x - 0.5 * z
            else:
                x = np.where(x * x > y, x, y * z)[()]
        return x, y, x * y

    compiled = cr.compile(f, fallback="error", paths=64)
    for k in range(3):
        p = np.array(numbers) * (1 + 0.1 * k)
        same(compiled(p), f(p))
