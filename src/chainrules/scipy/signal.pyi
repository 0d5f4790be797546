from scipy.signal import *  # noqa: F403 - all of them
