from scipy.linalg import *  # noqa: F403 - all of them
