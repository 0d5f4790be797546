from numpy.linalg import *  # noqa: F403 - all of them
