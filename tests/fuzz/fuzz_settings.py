"""How the tests run random programs: the same ones every time."""

from hypothesis import HealthCheck, Phase, settings


def always_the_same(count):
    """Return the decorator of a test that is given ``count`` programs."""
    return settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
