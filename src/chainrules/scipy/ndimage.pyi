from scipy.ndimage import *  # noqa: F403 - all of them
