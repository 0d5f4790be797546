from numpy.exceptions import *  # noqa: F403 - all of them
