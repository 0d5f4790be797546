from numpy.testing import *  # noqa: F403 - all of them
