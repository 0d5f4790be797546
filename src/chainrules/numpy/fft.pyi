from numpy.fft import *  # noqa: F403 - all of them
