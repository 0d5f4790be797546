from scipy.spatial.distance import *  # noqa: F403 - all of them
