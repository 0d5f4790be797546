"""Machine code for a recording, where there is a way and llvmlite is installed."""

from typing import Any

import numpy as np

from .recorder import Recorder

FEW = 3000  # entries of all results together, each an operation of its own
SMALL_ARRAYS = 12  # entries of a result on average


def natively(recorder: Recorder, output: Any) -> Any:
    """Return the recording in machine code, to be run as a replay is; None where it has none."""
    from .native import available

    if not available():
        return None
    from .fused import Fused
    from .line_of_numbers import NativeLine, NotLowered

    for way in (NativeLine, Fused) if _is_of_numbers(recorder) else (Fused,):
        try:
            return way(recorder, output)
        except NotLowered as error:
            recorder.not_native = str(error)
        except Exception as error:  # a step with options that its lowering does not know
            recorder.not_native = repr(error)
    return None


def _is_of_numbers(recorder: Recorder) -> bool:
    """Say whether the steps are on numbers and arrays so small that they are better taken apart."""
    sizes = [int(np.prod(f.shape)) for p, *_ in recorder.plan if (f := recorder.forms[p])]
    return sum(sizes) <= max(FEW, SMALL_ARRAYS * len(sizes))
