from cmath import *  # noqa: F403 - all of them
