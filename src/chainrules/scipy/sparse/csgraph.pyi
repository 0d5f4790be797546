from scipy.sparse.csgraph import *  # noqa: F403 - all of them
