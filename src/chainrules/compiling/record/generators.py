"""States of generators of random numbers: a function that draws is refused."""

import random
from typing import Any

import numpy as np

RANDOM = np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random


def bits_of_generator(x: Any) -> Any:
    if isinstance(x, np.random.Generator):
        return repr(x.bit_generator.state)
    if isinstance(x, np.random.BitGenerator):
        return repr(x.state)
    return repr(x.get_state() if isinstance(x, np.random.RandomState) else x.getstate())


def process_generators() -> tuple:
    """Return the states of the generators that all of the process shares."""
    state: Any = np.random.get_state()
    return state[1].tobytes(), state[2:], random.getstate()
