"""A few programs of each generator, always the same; `make fuzz` runs any number of others."""

import pytest
from fuzz_generators import GENERATORS, QUICK
from fuzz_oracle import check
from hypothesis import HealthCheck, Phase, given, settings


@pytest.mark.parametrize("name", [name for name in GENERATORS if name in QUICK])
def test_random_programs(name):
    @settings(
        max_examples=QUICK[name],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(GENERATORS[name]())
    def holds(program):
        check(program)

    holds()
