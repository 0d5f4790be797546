from typing import Any

from scipy.spatial import *  # noqa: F403 - all of them

from . import distance as distance
from . import transform as transform

def __getattr__(name: str) -> Any: ...
