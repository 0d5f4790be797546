from scipy.sparse import *  # noqa: F403 - all of them
