"""Random programs of tests/fuzz, their derivatives compiled, beside eager at three points."""

import dataclasses
import re

import numpy as np
import pytest
from beside_eager import compiled, differs
from fuzz_generators import GENERATORS
from fuzz_settings import always_the_same
from hypothesis import given
from quietly import quietly

import chainrules as cr
from chainrules.config import CompileError

COUNTS = {
    "views": 6, "aliasing": 6, "indices": 6, "calls": 6, "dead": 6, "ties": 3, "losses": 8,
    "nesting": 3, "loops": 1, "containers": 6, "scipy": 4,
}  # fmt: skip
# They keep values, or use up what they read, when they are recorded: see test_adversary_state.
LEAKING = re.compile(r"lru_cache|next\(|cached_property|memo")


def is_moved(x):
    return np.asarray(x).dtype.kind in "fc"


def map_leaves(f, x):
    if isinstance(x, list | tuple) and not hasattr(x, "_fields"):
        return type(x)(map_leaves(f, part) for part in x)
    if isinstance(x, dict):
        return {key: map_leaves(f, part) for key, part in x.items()}
    return f(x) if isinstance(x, np.ndarray | np.generic | float | complex) else x


def ones_like(y):
    return map_leaves(lambda y: np.ones_like(y)[()] if is_moved(y) else y, y)


def direction(x):
    """Return a tangent along which a sum of differences is not zero but for rounding."""
    dtype = np.asarray(x).dtype
    if dtype.kind not in "fc":
        return x
    return np.reshape(1 + np.arange(np.size(x)) % 3 / 2, np.shape(x)).astype(dtype)[()]


def vjp(f):
    def pulled(*xs):
        y, pullback = cr.vjp(f, *xs)
        return y, pullback(ones_like(y))

    return pulled


def jvp(f):
    return lambda *xs: cr.jvp(f, xs, tuple(map_leaves(direction, x) for x in xs))


def hvp(f):
    def total(*xs):
        y = f(*xs)
        return np.sum(np.real(y) * 0.5) + np.sum(np.sin(np.imag(y)))

    return lambda *xs: cr.hvp(total, xs, tuple(map_leaves(direction, x) for x in xs))


MODES = {"value": lambda f: f, "vjp": vjp, "jvp": jvp, "hvp": hvp}


def points(xs):
    """The inputs, and two other points: one near, one with the signs and the order changed."""
    xs = tuple(xs)
    near = map_leaves(
        lambda x: x * np.asarray(1.125, np.asarray(x).dtype)[()] if is_moved(x) else x, xs
    )
    far = map_leaves(lambda x: -x[::-1] if is_moved(x) and np.ndim(x) else x, xs)
    return xs, near, xs, far, near


def outcome(g, xs):
    try:  # the sign of a zero depends on the order of sums, and is not compared
        return map_leaves(lambda y: y + np.zeros_like(y)[()] if is_moved(y) else y, g(*xs))
    except CompileError:
        raise
    except Exception as error:
        return type(error).__name__


def on_copies(program):
    """The same on copies of its inputs: what writes into an argument is not recorded."""
    _, xs = program.build()
    names = [name for (name, _), x in zip(program.inputs, xs) if isinstance(x, np.ndarray)]
    lines = tuple(f"{name} = {name}.copy(order='K')" for name in names)
    return dataclasses.replace(program, body=(*lines, *program.body))


REFUSED = "refused"


def difference(program, mode):
    """Say where a compiled program differs from the eager one, if it does, or REFUSED."""
    with quietly():
        f, xs = program.build()
        g, ys = program.build()
        f, g = MODES[mode](f), compiled(MODES[mode](g))
        for k, (x, y) in enumerate(zip(points(xs), points(ys))):
            expected = outcome(f, x)
            try:
                found = outcome(g, y)
            except CompileError:
                return REFUSED  # with the reason
            if found_difference := differs(found, expected):
                return f"{mode}, call {k}: {found_difference}"
    return None


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_random_programs(name):
    @always_the_same(COUNTS[name])
    @given(GENERATORS[name]())
    def holds(program):
        if not program.inputs or LEAKING.search(program.source()):
            return
        for mode in MODES:
            found = difference(program, mode)
            if found == REFUSED:  # as nearly always where it writes into an argument
                found = difference(on_copies(program), mode)
            assert found in (None, REFUSED), f"{found}\n{program.source()}"

    holds()
