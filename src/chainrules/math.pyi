from math import *  # noqa: F403 - all of them
