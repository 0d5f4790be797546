"""Random programs that somebody watches: the same derivatives to the bit, or an error that says so.

``cr.explain`` of the call and of its pullback, with a clock, and ``cr.debug`` for each number.
"""

import warnings

import numpy as np
import pytest
from fuzz_generators import GENERATORS
from fuzz_settings import always_the_same
from hypothesis import given

import chainrules as cr
from chainrules.rules.containers import iterate_leaves, map_leaves

KINDS = ["views", "aliasing", "dead", "ties", "loops", "nesting", "containers", "indices"]
FOUND = {"CR103", "CR104", "CR105", "CR106"}


def ones(x):
    def of_leaf(leaf):
        dtype = np.asarray(leaf).dtype
        one = np.ones(np.shape(leaf), dtype)[()] if dtype.kind in "fc" else cr.zero_tangent(leaf)
        return float(one) if type(leaf) is float else one

    return map_leaves(of_leaf, x)


def reverse(program):
    f, inputs = program.build()
    y, pull = cr.vjp(f, *inputs)
    return y, pull(ones(y))


def forward(program):
    f, inputs = program.build()
    return cr.jvp(f, tuple(inputs), tuple(map(ones, inputs)))


def watched(run, program):
    """Yield what a run gives under a clock, and while numbers are looked at."""
    found = []
    cr.explain(lambda: found.append(run(program)), stage="times")
    yield found.pop()
    for wanted in ({"nan": True}, {"inf": True}, {"zero": True}):
        stopped: FloatingPointError | None = None
        try:
            with cr.debug(**wanted):
                found.append(run(program))
        except FloatingPointError as error:
            stopped = error
        if stopped is None:
            yield found.pop()
        else:
            assert stopped.code in FOUND
            assert ", in <program>:" in str(stopped)


def explained(program):
    f, inputs = program.build()
    y, pull = cr.vjp(f, *inputs)
    assert cr.explain(pull).held
    f, inputs = program.build()
    for stop in (None, "nan", "inf"):
        assert str(cr.explain(f, *inputs, stop=stop))
        assert str(cr.explain(lambda *xs: cr.vjp(f, *xs)[1](ones(y)), *inputs, stop=stop))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_watched_programs(kind):
    @always_the_same(6)
    @given(GENERATORS[kind]())
    def holds(program):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for run in (reverse, forward):
                try:
                    expected = list(iterate_leaves(run(program)))
                except Exception:
                    return  # it is refused, or the program itself fails
                for result in watched(run, program):
                    for a, b in zip(expected, iterate_leaves(result), strict=True):
                        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
            explained(program)

    holds()
