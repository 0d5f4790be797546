"""Every linear function in every form of its call: a block is the stack of its directions."""

import functools
import warnings

import linear_calls
import numpy as np
import pytest
from linear_calls import Dot
from quietly import quietly

from chainrules.rules import frule
from chainrules.rules.containers import map_leaves
from chainrules.rules.linear import blocks
from chainrules.rules.linear.blocks import Block, run_on_block
from chainrules.rules.tracing.writing import written

CALLS: dict = {}
for _f, _args, _kwargs in linear_calls.calls(60):
    CALLS.setdefault(_f, []).append((_args, _kwargs))


def name_of(f):
    owner = getattr(f, "__self__", None)
    name = getattr(f, "__name__", str(f))
    return f"{owner.__name__}.{name}" if isinstance(owner, np.ufunc) else f"{f.__module__}.{name}"


EVERY = pytest.mark.parametrize("f", [pytest.param(f, id=name_of(f)) for f in CALLS])


def filled(x, fill):
    """Fill in what stands for tangents."""
    if type(x) is Dot:
        return fill(x)
    if type(x) in (list, tuple):
        return type(x)([filled(part, fill) for part in x])
    return x


def lengths(x):
    """Return how many directions to try: one, and as many as any axis is long."""
    if type(x) is Dot:
        return {1, *x.shape}
    if type(x) in (list, tuple):
        return set().union(*map(lengths, x))
    return set(x.shape) if isinstance(x, np.ndarray) else set()


def plain(f, args, kwargs):
    """Return what NumPy gives, or None where it takes no such call."""
    try:
        with quietly():
            return f(*args, **kwargs)
    except linear_calls.REFUSED:
        return None


@functools.cache
def random(shape, dtype):
    rng = np.random.default_rng((11, *shape))
    x = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.normal(size=shape)
    return np.asarray(x, dtype)


def arrays_of(y):
    found = []
    map_leaves(found.append, y)
    return found


def zeros(x):
    return np.zeros(x.shape, x.dtype)[()]


def by_block(f, args, kwargs, count):
    given = filled(args, lambda x: Block(random((count, *x.shape), x.dtype)))
    return [block.values for block in arrays_of(run_on_block(f, given, kwargs))]


def one_by_one(f, args, kwargs, count):
    def direction(k):
        return filled(args, lambda x: random((count, *x.shape), x.dtype)[k])

    given = [direction(k) for k in range(count)] or [filled(args, zeros)]
    rows = zip(*[arrays_of(f(*each, **kwargs)) for each in given], strict=True)
    return [np.stack(parts)[:count] for parts in rows]


@EVERY
def test_a_block_is_the_stack_of_its_directions(f):
    tried = 0
    for args, kwargs in CALLS[f]:
        if plain(f, filled(args, zeros), kwargs) is None:
            continue
        for count in {*lengths(args), 0}:
            tried += 1
            what = f"{name_of(f)}(*{args}, **{kwargs}), {count} directions"
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")  # NumPy's own, of either call
                found = by_block(f, args, kwargs, count)
                each = one_by_one(f, args, kwargs, count)
            for y, expected in zip(found, each, strict=True):
                assert y.shape == expected.shape, what
                assert y.dtype == expected.dtype, what
                rtol = 1e-5 if expected.dtype in (np.float32, np.complex64) else 1e-12
                np.testing.assert_allclose(y, expected, rtol=rtol, atol=rtol, err_msg=what)
    assert tried


def test_every_linear_function_is_called():
    assert linear_calls.rules() - set(CALLS) == set()


def test_every_block_rule_is_called():
    kinds = {f: kind for f, kind in frule.kinds.items() if kind.linear}
    known = {f for f, kind in kinds.items() if kind.block or kind.axes} | set(blocks._rules)
    known = {f for f in known if linear_calls.is_ours(f)}
    assert known - set(CALLS) == {written}  # of which test_blocks has cases
