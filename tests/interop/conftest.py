"""64 bits for the tests of JAX."""

import pytest


@pytest.fixture
def x64():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield
