from scipy.interpolate import *  # noqa: F403 - all of them
