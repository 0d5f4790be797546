from scipy.spatial.transform import *  # noqa: F403 - all of them
