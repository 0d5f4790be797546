from scipy.sparse.linalg import *  # noqa: F403 - all of them
