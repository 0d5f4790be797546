"""A few programs of each generator, always the same; `make fuzz` runs any number of others."""

import pytest
from fuzz_generators import GENERATORS, QUICK
from fuzz_oracle import check
from fuzz_settings import always_the_same
from hypothesis import given

# What these find has a known cause.
KNOWN: dict[str, str] = {}


def known(name):
    marks = [pytest.mark.xfail(strict=True, reason=KNOWN[name])] if name in KNOWN else []
    return pytest.param(name, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize("name", [known(name) for name in GENERATORS if name in QUICK])
def test_random_programs(name):
    @always_the_same(QUICK[name])
    @given(GENERATORS[name]())
    def holds(program):
        check(program)

    holds()
