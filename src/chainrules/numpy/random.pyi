from numpy.random import *  # noqa: F403 - all of them
