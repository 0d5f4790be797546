from scipy.special import *  # noqa: F403 - all of them
