# ruff: noqa: E501 - tables of programs, one a line
"""A search over random straight-line programs: each way beside plain NumPy, at three points."""
# ruff: noqa: E501 - tables are read by their rows

import numpy as np
import pytest
from fuzz_settings import always_the_same
from hypothesis import given
from hypothesis import strategies as st
from three_ways import Recorded, differences, run

import chainrules as cr
from chainrules.compiling.passes.fused import groups
from chainrules.compiling.passes.scalar import scalar_program

ONE = (
    "np.sin({a})", "np.exp(-{a} ** 2)", "np.abs({a})", "-{a}", "{a} ** 2", "{a} * 2", "1.5 - {a}", "np.tanh({a})",
    "np.sqrt(np.abs({a}))", "np.sign({a})", "np.floor({a} * 3)", "{a} ** 3", "np.square({a})", "np.maximum({a}, 0.0)",
    "np.sum({a})", "np.sum({a}, axis=0)", "np.mean({a}, axis=-1, keepdims=True)", "np.max({a}, axis=-1)", "np.min({a})",
    "np.prod({a}, axis=0, keepdims=True)", "np.cumsum({a}, axis=0)", "np.any({a} > 0.3, axis=-1) * 1.0",
    "np.count_nonzero({a} > 0.1, axis=0) * 0.5", "{a}[::-1]", "{a}[..., 1:]", "{a}[0]", "{a}[..., ::2]", "{a}[:, None]",
    "{a}[..., -1]", "{a}.T", "np.swapaxes({a}, 0, -1)", "np.reshape({a}, -1)", "{a}.reshape(-1, 2)", "{a}.ravel('K')",
    "np.moveaxis({a}, 0, -1)", "np.roll({a}, 1, axis=-1)", "np.flip({a}, 0)", "np.diag({a})", "np.repeat({a}, 2, axis=0)",
    "np.clip({a}, -0.4, 0.6)", "np.where({a} > 0.2, {a}, 0.0)", "np.linalg.norm({a}, axis=-1)", "np.tile({a}, 2)",
    "np.broadcast_to({a}, (2, *{a}.shape))", "np.expand_dims({a}, 1)", "np.squeeze({a})", "np.zeros_like({a})",
    "np.ones_like({a}) * {a}", "np.take({a}, [0, -1, 0], axis=-1)", "np.logical_not({a} > 0.0) * 2.0", "{a} * W[:{a}.shape[-1]]",
    "np.cos({a})[..., :1]", "{a} @ {a}", "np.split({a}, 2, axis=-1)[1]", "np.atleast_2d({a})", "np.asfortranarray(W) * 1.0 + {a}",
    "{a}[:0]", "np.copy({a}.T)", "np.argmax({a}, axis=0) * 0.25", "np.sort({a}, axis=-1)", "({a} > 0.1).astype(float)", "{a}[{a} > 0.1]",
)  # fmt: skip
TWO = (
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / (1.5 + np.abs({b}))", "np.maximum({a}, {b})", "np.arctan2({a}, {b})",
    "np.where({a} > {b}, {a}, {b})", "np.where(({a} > 0) & ({b} < 0.3), {b}, -{a})", "np.stack([{a}, {b}])", "{a} @ {b}",
    "np.concatenate([{a}, {b}], axis=-1)", "np.matmul({a}, {b}.T)", "np.dot({a}, {b})", "np.outer({a}, {b})", "({a} >= {b}) * {a}",
    "np.hypot({a}, {b})", "np.vstack([{a}, {b}])", "np.minimum({a}, {b}) ** 2", "({a} != {b}) | ({b} > 0.5)", "{a} * np.mean({b})",
    "{a} % (0.5 + np.abs({b}))", "np.copysign({a}, {b})", "np.tensordot({a}, {b}, 1)", "np.logaddexp({a}, {b})",
)  # fmt: skip
WRITES = (
    "{y} = {a}.copy(); {y}[0] = {b}", "{y} = {a} * 1.0; {y}[..., ::2] *= 0.5", "{y} = {a}.copy(); {y}[::-1][0] += np.sum({b})",
    "{y} = {a} + 0.0; {y}.T[0] = 1.0", "{y} = {a}.copy(); {y}[..., 1:] = {b}[..., 1:]", "{y} = {a}.copy(); {y} += {b}",
    "{y} = {a}.copy(); {y}[[0, -1]] = 0.25", "{y} = {a}.copy(); {y}[{y} > 0.2] = 0.1", "{y} = {a} if np.sum({b}) > 0.2 else {a} * 3",
    "{y} = {a}\n    for k in range(3): {y} = {y} * 0.5 + {b} * k", "{y} = {a}\n    while np.max(np.abs({y})) > 0.5: {y} = {y} * 0.5",
    "{y} = sum(row * 2.0 for row in {a})", "{y} = {a}.reshape(-1)[int(np.abs(np.sum({b})) * 2) % 3] + {b}",
)  # fmt: skip
SHAPES = [
    (),
    (3,),
    (4,),
    (3, 4),
    (4, 2),
    (1, 4),
    (2, 2),
    (3, 1),
    (3, 4, 2),
    (1,),
    (2, 1, 2),
    (0,),
    (2, 0),
]
W = np.linspace(-1.0, 1.0, 4)


@st.composite
def programs(draw):
    """Draw shapes of three arguments and the text of a function of them."""
    shapes = [draw(st.sampled_from(SHAPES)) for _ in range(3)]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    args = [rng.normal(size=shape)[()] for shape in shapes]
    names, lines = ["x0", "x1", "x2"], []
    values = dict(zip(names, args), np=np, W=W)
    for k in range(draw(st.integers(2, 9))):
        form = draw(st.sampled_from([ONE, ONE, TWO, TWO, WRITES]))
        text = draw(st.sampled_from(form))
        a, b = draw(st.sampled_from(names[-4:])), draw(st.sampled_from(names))
        line = (
            text.format(a=a, b=b, y=f"y{k}")
            if form is WRITES
            else f"y{k} = " + text.format(a=a, b=b)
        )
        try:
            with np.errstate(all="ignore"):
                exec(line.replace("\n    ", "\n"), values)
        except (
            ValueError,
            TypeError,
            IndexError,
            AttributeError,
            np.linalg.LinAlgError,
            np.exceptions.AxisError,
        ):
            continue
        y = values[f"y{k}"]
        if isinstance(y, np.ndarray | np.number) and np.all(np.isfinite(y)) and np.size(y) < 300:
            names.append(f"y{k}")
            lines.append(line)
    outputs = ", ".join(names[3:][-3:]) or "x0 * 2"
    return args, "def f(x0, x1, x2):\n    " + "\n    ".join([*lines, f"return ({outputs},)"])


def made_of(text):
    names = {"np": np, "W": W}
    exec(text, names)
    return names["f"]


def of_all_ways(f, args):
    recorded = Recorded(f, *args)
    ways = {"replay": recorded.by("replay")}
    for way in ("numbers", "fused", "many"):
        try:
            ways[way] = recorded.by(way)
        except (scalar_program.NotLowered, TypeError):
            continue
    return ways


def compared(f, args, others, orders=True):
    ways = of_all_ways(f, args)
    for k, xs in enumerate([args, *others]):
        try:
            with np.errstate(all="ignore"):
                expected = f(*xs)
        except (ValueError, IndexError):
            continue
        first, _ = run(ways["replay"], xs)
        assert k or first is None, first
        for way, made in ways.items():
            missed, found = run(made, xs)
            assert missed == first, f"{way}, point {k}: {missed}, and {first} by replay"
            if missed is None:
                said = differences(found, expected, ulps=1e5, zeros=False, orders=orders)
                assert not said, f"{way}, point {k}: {said}"


@pytest.mark.parametrize("f", [
    lambda x: (x[:0] > 0.0, x * 2.0),
    lambda x: (x * 2.0 if np.any(x[:0] > 0.0) else x * 3.0, np.all(x[:0] > x[0])),
])  # fmt: skip
def test_truths_without_entries(f):
    compared(f, [np.array([1.0, -2.0, 0.5])], [[np.array([-1.0, 2.0, 0.1])]])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_random_lines(part, monkeypatch):
    monkeypatch.setattr(groups, "LOOP_ENTRIES", 1)

    @always_the_same(20)
    @given(st.just(part).flatmap(lambda _: programs()), st.integers(0, 10**6))
    def search(drawn, seed):
        args, text = drawn
        rng = np.random.default_rng([part, seed])
        others = [[rng.normal(size=np.shape(x))[()] for x in args] for _ in range(2)]
        try:
            compared(made_of(text), args, others)
        except Exception as error:
            raise AssertionError(f"{error!r}\n{text}\n{args!r}") from error

    search()


@pytest.mark.slow
def test_random_gradients(monkeypatch):
    monkeypatch.setattr(groups, "LOOP_ENTRIES", 1)

    @always_the_same(20)
    @given(programs(), st.integers(0, 10**6))
    def search(drawn, seed):
        args, text = drawn
        f = made_of(text)
        g = cr.value_and_grad(lambda *xs: sum(np.sum(y * 1.0) for y in f(*xs)), argnums=(0, 1, 2))
        rng = np.random.default_rng(seed)
        others = [[rng.normal(size=np.shape(x))[()] for x in args] for _ in range(2)]
        try:
            g(*args)
        except Exception:
            return  # what has no derivative
        try:
            compared(g, args, others, orders=False)
        except cr.MutationError as error:  # it runs uncompiled: a number goes into booleans
            if error.code != "CR135":
                raise
        except Exception as error:
            raise AssertionError(f"{error!r}\n{text}\n{args!r}") from error

    search()
