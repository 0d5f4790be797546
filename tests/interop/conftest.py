"""Lets tests import the modules beside them; and 64 bits for those of JAX."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def x64():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield
