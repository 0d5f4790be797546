from typing import Any

from scipy.signal.windows import *  # noqa: F403 - all of them

def __getattr__(name: str) -> Any: ...
