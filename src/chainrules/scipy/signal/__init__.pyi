from typing import Any

from scipy.signal import *  # noqa: F403 - all of them

from . import windows as windows

def __getattr__(name: str) -> Any: ...
