from scipy.stats import *  # noqa: F403 - all of them
