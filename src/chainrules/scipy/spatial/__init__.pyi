from scipy.spatial import *  # noqa: F403 - all of them

from . import distance as distance
from . import transform as transform
