from typing import Any

from scipy.fftpack import *  # noqa: F403 - all of them

def __getattr__(name: str) -> Any: ...
