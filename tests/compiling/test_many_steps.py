# ruff: noqa: E501 - tables are read by their rows
"""Long loops of small array steps: one native function, whatever happens on the way."""

import re

import numpy as np
import pytest
from fuzz_settings import always_the_same
from hypothesis import given
from hypothesis import strategies as st
from three_ways import Recorded, differences, run

import chainrules as cr
from chainrules.compiling.native import available
from chainrules.compiling.passes.fused import fusion, groups, schedule

pytestmark = pytest.mark.skipif(not available(), reason="needs machine code")

N = 20
RNG = np.random.default_rng(0)
W, U = RNG.normal(size=(N, N)) / 6, RNG.normal(size=(N, 3)) / 3
X = RNG.normal(size=(130, 3))


def plain(w, x):
    for _ in range(26):
        x = np.tanh(w @ x) + 0.1 * x
    return np.sum(x * x)


def with_numbers(w, x):
    total = 0.0
    for _ in range(25):
        x = np.tanh(w @ x) / (1.0 + np.sum(x * x))
        total = total + np.log(1.0 + np.max(np.abs(x))) * x[3]
    return total * np.mean(x)


def that_breaks(w, x):
    for t in range(26):
        x = np.sin(w @ x)
        if t == 12:
            x = x + np.flip(x)  # a call of NumPy
        if t == 17:
            x = np.where(x > 0.1, x, 0.5 * x)
    return np.sum(x)


def whose_values_leave(w, x):
    seen = []
    for t in range(24):
        x = w.T @ np.cos(x) * 0.5
        if t % 5 == 0:
            seen.append(x)
    return np.sum(np.stack(seen) ** 2) + np.sum(seen[3] * seen[-1])


def of_matrices(w, x):
    y = np.outer(x, x[:4])
    for _ in range(22):
        y = np.tanh(w @ y) + y @ (y.T @ y) * 0.01
        y = y - np.mean(y, axis=0)
    return np.sum(y[:, 1:3]) + np.max(y)


def of_several_shapes(w, x):
    y, z = x[:7], np.ones((3, 5)) * x[0]
    for t in range(21):
        x = x + U @ X[t] * 0.1
        y = np.concatenate([y[1:], x[:1]]) * 0.9
        z = z * np.exp(-(z**2)) + y[2:7] - x[5:8, None]
        x = np.tanh(w @ x) * np.sum(z[::2, ::-1])
    return np.sum(x) + np.sum(y * y) + np.dot(z[0], z[1])


def that_writes(w, x):
    y = 0.0 * x
    for t in range(25):
        y[t % N] = x[(3 * t) % N] * 0.5
        x = np.tanh(w @ x + y)
    return np.sum(x)


def of_truths(w, x):
    for _ in range(24):
        inside = (x > -0.5) & (x < 0.5)
        x = np.where(inside, np.sin(w @ x), x * 0.5) + np.any(inside) * 0.1
    return np.sum(x)


def of_pythons_floats(w, x):
    rate = 0.5
    for t in range(25):
        rate = rate * 0.99 + 0.001 / (1.0 + rate)
        x = np.tanh(x - rate * (w @ x) ** 3 + float(t) * 1e-3)
    return np.sum(x) * rate


PROGRAMS = [
    plain, with_numbers, that_breaks, whose_values_leave, of_matrices, of_several_shapes,
    that_writes, of_truths, of_pythons_floats,
]  # fmt: skip
MODES = {
    "value": lambda f: f,
    "gradient": lambda f: cr.value_and_grad(f, argnums=(0, 1)),
    "jvp": lambda f: lambda w, x: cr.jvp(f, (w, x), (np.ones_like(w), x * 0.5)),
    "hvp": lambda f: lambda w, x: cr.hvp(f, (w, x), (np.ones_like(w), x * 0.5)),
}
ALONE = {
    plain,
    with_numbers,
    whose_values_leave,
    of_matrices,
    of_pythons_floats,
}  # no call of NumPy between


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_of_many_steps(f, mode):
    g = MODES[mode](f)
    x = np.linspace(-0.9, 0.8, N)
    recorded = Recorded(g, W, x)
    made = recorded.by("many")
    for w, y in ((W, x), (W.T.copy(), x[::-1].copy()), (W * 0.5, x * 0.3)):
        missed, found = run(made, (w, y))
        if missed is not None:
            assert f is of_truths
            assert missed == run(recorded.by("replay"), (w, y))[0]
            continue
        assert not (said := differences(found, g(w, y), ulps=1e6, zeros=False)), said
    assert any(len(schedule.loops) > 1 for schedule in made.schedules)
    assert f not in ALONE or mode != "value" or len(made.schedules) == 1


def test_the_text_does_not_grow_with_the_steps():
    def loop(steps):
        def f(w, x):
            for _ in range(steps):
                x = np.tanh(w @ x) + 0.1 * x
            return np.sum(x)

        return Recorded(cr.value_and_grad(f), W, X[:N, 0].copy()).by("fused")

    few, many = loop(60), loop(300)
    assert len(many.source.splitlines()) == len(few.source.splitlines())
    assert len(many.schedules) == len(few.schedules) == 1
    assert len(many.how) <= len(few.how) + 5  # loops that differ


def test_more_calls_of_numpy_than_one_function_takes(monkeypatch):
    monkeypatch.setattr(fusion, "SCHEDULED_LINES", 2)
    with pytest.raises(groups.NotLowered, match="more calls of NumPy"):
        Recorded(that_breaks, W, np.ones(N)).by("many")


def test_rates_that_differ_in_each_step_make_no_other_loops():
    def f(w, x):
        for t in range(30):
            x = x - (0.1 + 0.01 * t) * np.tanh(w @ x)
        return np.sum(x)

    made = Recorded(f, W, np.ones(N)).by("many")
    assert len(made.how) < 8
    w, x = W.T.copy(), np.linspace(0.0, 1.0, N)
    assert not differences(run(made, (w, x))[1], f(w, x), 1e6)


def test_a_truth_of_python_is_read():
    def f(w, x, s):
        for _ in range(3):
            x = np.where(s > 0.1, np.tanh(w @ x), x * s)
        return x

    made = Recorded(f, W, np.ones(N), 0.5).by("many")
    for s in (0.5, 0.05):
        assert not differences(run(made, (W, np.ones(N), s))[1], f(W, np.ones(N), s), 1e6)


def test_memory_is_used_again():
    made = Recorded(plain, W, np.ones(N)).by("many")
    sizes = [int(size) for size in re.findall(r"empty\((\d+)\)", made.source)]
    assert len(sizes) == 1
    assert sizes[0] < 150


STEPS = (
    "x = np.tanh(w @ x)", "x = x * y + 0.1", "y = y - 0.1 * np.sum(x)", "x = np.sin(x) / (1.5 + y * y)",
    "s = s * 0.9 + np.mean(x)", "x = x * s + y", "y = np.roll(y, 1) * x", "y = np.where(x > 0.1, x, y)",
    "x = x[::-1] * 0.5", "y = w.T @ y * 0.3", "m = np.outer(x, y[:3]) + 0.1 * m", "x = m @ m[4] * 0.2",
    "m = np.tanh(w @ m)", "y = np.sum(m, axis=1) * 0.3", "s = np.dot(x, y) * 0.1", "s = x[2] - s / (2.0 + s * s)",
    "x = np.concatenate([x[5:], y[:5]])", "m = m - np.max(m, axis=0)", "y = np.maximum(x, y) - s", "kept.append(x * s)",
    "x = np.sqrt(np.abs(x) + 0.5)", "y = (x.reshape(4, 5) * y.reshape(5, 4).T).ravel() * 0.5", "x = x.copy(); x[3:7] = y[:4]",
    "y = np.broadcast_to(s, 20) * x", "m = m * (np.sum(m * m) < 50.0) * 0.9", "s = s + np.prod(x[:3])", "x = np.float64(0.5) * x ** 2",
)  # fmt: skip


@st.composite
def loops(draw):
    """Draw a loop of a few steps, with another step in the middle."""
    body = draw(st.lists(st.sampled_from(STEPS), min_size=2, max_size=6))
    between = draw(st.sampled_from(["pass", *STEPS, "x = np.cumsum(x) * 0.1", "x = np.sort(y)"]))
    lines = [
        "def f(w, x, y):", "    s, m, kept = 0.5, np.ones((20, 3)) * y[0], []",
        f"    for t in range({draw(st.integers(3, 8))}):",
        *[f"        {line}" for line in body],
        f"        if t == {draw(st.integers(0, 7))}: {between}",
        "    return np.sum(x) + np.sum(y * y) + s + np.sum(m[::3]) + sum(map(np.sum, kept))",
    ]  # fmt: skip
    return "\n".join(lines)


@pytest.mark.slow
def test_random_loops(monkeypatch):
    monkeypatch.setattr(groups, "MANY_STEPS", 1)

    @always_the_same(20)
    @given(loops(), st.sampled_from(["value", "gradient", "hvp"]), st.integers(0, 10**6))
    def search(text, mode, seed):
        names = {"np": np}
        exec(text, names)
        f, rng = names["f"], np.random.default_rng(seed)
        w = RNG_OF_W.normal(size=(N, N)) / 8 if seed % 2 else W * 0.5
        points = [(w, rng.normal(size=N) * 0.5, rng.normal(size=N) * 0.5) for _ in range(2)]
        g = {
            "value": f,
            "gradient": cr.value_and_grad(f, argnums=(0, 1, 2)),
            "hvp": lambda *xs: cr.hvp(f, xs, tuple(map(np.ones_like, xs))),
        }[mode]
        with np.errstate(all="ignore"):
            recorded = Recorded(g, *points[0])
            try:
                made, by_numpy = recorded.by("many"), recorded.by("replay")
            except groups.NotLowered:  # a look at a number, to its last bit
                return
            for point in points:
                missed, found = run(made, point)
                first, expected = run(by_numpy, point)
                assert missed == first
                if first is None and np.all(
                    np.isfinite(np.concatenate([*map(np.ravel, flat(expected))]))
                ):
                    assert not (said := differences(found, expected, 1e6, zeros=False)), said

    search()


RNG_OF_W = np.random.default_rng(3)


def flat(x):
    return [y for part in x for y in flat(part)] if isinstance(x, tuple | list) else [x]


def test_large_loops_are_calls_of_their_own(monkeypatch):
    monkeypatch.setattr(schedule.axes, "PIECE_POINTS", 20)
    made = Recorded(plain, W, np.ones(N)).by("many")
    assert all(len(schedule.loops) == 1 for schedule in made.schedules)
    assert not differences(run(made, (W, np.ones(N)))[1], plain(W, np.ones(N)), 1e6)
