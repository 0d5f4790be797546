"""Cases of rules, and arrays of random numbers for these: the same ones in every run."""

import numpy as np


def case(*args, **kwargs):
    return args, kwargs


def text(options):
    """Return the name of a case by its options."""
    return ",".join(f"{key}={option}" for key, option in options.items()) or "default"


def normal(of_file, *shape, seed=0):
    """Draw an array of normal numbers by the seed, the shape, and what the file begins with."""
    return np.random.default_rng((*of_file, seed, *shape)).normal(size=shape)


def complex_normal(of_file, *shape, seed=0, apart=1):
    """Draw complex numbers, whose imaginary parts have another seed, so far ``apart``."""
    imaginary = normal(of_file, *shape, seed=seed + apart)
    return normal(of_file, *shape, seed=seed) + 1j * imaginary
