"""Running sums and products in loops of compiled programs, beside NumPy's own."""

import numpy as np
import pytest
from beside_eager import differs
from fuzz_settings import always_the_same
from hypothesis import given
from hypothesis import strategies as st
from three_ways import Recorded, differences, run

import chainrules as cr
from chainrules.compiling.ir.values import Group

pytest.importorskip("llvmlite")

PARTS = {
    "all": np.s_[...], "reversed": np.s_[..., ::-1], "backwards": np.s_[::-1],
    "inner": np.s_[1:, 1:], "every second": np.s_[:, ::2], "one row": np.s_[-1],
    "one column": np.s_[:, 0], "none": np.s_[:0],
}  # fmt: skip
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1.5, 0.1])


def scans_of(made):
    groups = [item for item in made.groups.items if type(item) is Group]
    return [y for group in groups for y in group.stored.values() if y.running is not None]


@always_the_same(50)
@given(st.data())
def test_scans_are_numpys_to_the_last_bit(data):
    shape = data.draw(st.sampled_from([(4, 6), (5, 40), (2, 3, 8), (1, 20), (20, 1)]))
    dtype = data.draw(
        st.sampled_from([float, float, np.float32, np.int64, np.int32, bool, complex])
    )
    part = PARTS[data.draw(st.sampled_from(sorted(PARTS)))]
    axis = data.draw(st.sampled_from([None, 0, 1, -1, -2]))
    f = data.draw(st.sampled_from([np.cumsum, np.cumprod]))
    turned, special = data.draw(st.booleans()), data.draw(st.booleans())

    def program(x):
        y = x[part].T if turned else x[part]
        y = y * y
        return f(y, None if y.ndim < 2 and axis is not None else axis), f(x[part], axis=0), y

    rng = np.random.default_rng(0)
    points = [rng.normal(size=shape) * 3 for _ in range(3)]
    if special:
        points.append(rng.choice(SPECIAL, shape))
    with np.errstate(all="ignore"):
        points = [x.astype(dtype) for x in points]
        made = Recorded(program, points[0]).by("many")
        for x in points:
            expected = program(x)
            assert not differences(run(made, (x,))[1], expected, ulps=0.0)


def test_which_are_loops():
    def program(x):
        return np.cumsum(x), np.cumsum(x[::-1]), np.cumprod(x * x, 0, None), x.cumsum()

    made = Recorded(program, np.linspace(-1.0, 1.0, 40)).by("fused")
    assert len(scans_of(made)) == 4
    assert "0 calls of NumPy" in made.how[0]
    few = Recorded(lambda x: (np.cumsum(x), np.sum(np.ones(30) * x[0])), np.ones(3)).by("fused")
    assert not scans_of(few)


def walk(x):
    steps = np.cumsum(x * 0.5, axis=1)
    return np.sum(np.sin(steps) * x) + np.sum(np.cumsum(x.ravel()) ** 2)


def growth(x):
    return np.sum(np.cumprod(1.0 + 0.1 * x, axis=-1)[:, -1] * np.cumsum(x[:, ::-1], 1)[:, 2])


def with_zeros(x):
    return np.sum(np.cumprod(np.where(x > 0.3, x, 0.0), axis=1) * x)


TRANSFORMS = {
    "value": lambda f: f,
    "gradient": cr.value_and_grad,
    "slope": lambda f: lambda x: cr.jvp(f, (x,), (x * 0.5 + 1.0,)),
    "second": lambda f: cr.grad(lambda x: np.sum(cr.grad(f)(x) ** 2)),
    "hvp": lambda f: lambda x: cr.hvp(f, (x,), (x[::-1] * 1.0,)),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("f", [walk, growth, with_zeros], ids=lambda f: f.__name__)
@pytest.mark.usefixtures("by_groups")
def test_programs(f, transform):
    f = TRANSFORMS[transform](f)
    c = cr.compile(f, fallback="error")
    rng = np.random.default_rng(3)
    for _ in range(4):
        x = rng.uniform(-1, 1, (5, 7))
        assert not differs(c(x), f(x))


def test_a_gradient_is_that_of_differences():
    found = cr.compile(cr.grad(growth))
    for seed in range(3):
        x = np.random.default_rng(seed).uniform(-1, 1, (3, 8))
        for place in ((0, 0), (1, 5), (2, 7)):
            up, down = x.copy(), x.copy()
            up[place] += 1e-6
            down[place] -= 1e-6
            slope = (growth(up) - growth(down)) / 2e-6
            assert found(x)[place] == pytest.approx(slope, abs=1e-8)


def test_large_ones_on_threads():
    f = cr.value_and_grad(lambda x: np.sum(np.sin(np.cumsum(x * 1e-3)) * x))
    c = cr.compile(f, threads=2)
    for k in range(3):
        x = np.random.default_rng(k).normal(size=150_000)
        assert not differs(c(x), f(x))


def test_stages_are_printed():
    grid = np.linspace(0.0, 1.0, 5)

    def f(x, y):
        return np.sum(np.cumsum(np.interp(x, grid, y)) * x)

    c = cr.compile(cr.grad(f, argnums=(0, 1)))
    c(np.linspace(0, 1, 20), grid)
    text = str(cr.explain(c, stage="grouped"))
    assert "running sum(" in text
    assert "add at(" in text
    assert "search right(" in text
