"""Machine code for a recording, where there is a way and llvmlite is installed."""

from typing import Any

from .recorder import Recorder


def natively(recorder: Recorder, output: Any) -> Any:
    """Return the recording in machine code, to be run as a replay is; None where it has none."""
    from .native import available

    if not available():
        return None
    from .line_of_numbers import NativeLine, NotLowered

    try:
        return NativeLine(recorder, output)
    except NotLowered as error:
        recorder.not_native = str(error)
    except Exception as error:  # a step with options that its lowering does not know
        recorder.not_native = repr(error)
    return None
