"""Machine code of a recording, scalarized or fused: the first lowering that succeeds is taken."""

import math
from typing import Any

import numpy as np

from ..config.thresholds import SCALAR_AVERAGE, SCALAR_ENTRIES
from ..rules import getitem
from ..rules.tracing.writing import written
from .ir.lowering import moves, scatter
from .record.recorder import Recorder


def natively(recorder: Recorder, output: Any, threads: int = 1) -> Any:
    """Return the recording in machine code, to be run as a replay is; None where it has none."""
    from .native import available

    if not available():
        return None
    from .ir.scalars import NotLowered

    reasons = []
    for way in (_line, _fused) if _is_of_numbers(recorder) else (_fused,):
        try:
            return way(recorder, output, threads)
        except NotLowered as error:
            reasons.append(str(error))
        except Exception as error:  # a step with options that its lowering does not know
            reasons.append(repr(error))
    recorder.not_native = "; ".join(reasons)
    return None


def lower_loops() -> None:
    """Let ``scan`` and ``loop`` be asked from now on whether they are one step of a recording."""
    from .native import available

    if available():
        from .loops import loop_lowering  # noqa: F401 - it is asked


def _line(recorder: Recorder, output: Any, threads: int) -> Any:
    from .passes.scalar_program import NativeLine

    return NativeLine(recorder, output)


def _fused(recorder: Recorder, output: Any, threads: int) -> Any:
    from .passes.fusion import Fused

    return Fused(recorder, output, threads)


def _is_of_numbers(recorder: Recorder) -> bool:
    """Say whether the steps are on numbers and arrays so small that they are better taken apart."""
    sizes = [
        math.prod(form.shape)
        for position, f, *_ in recorder.plan
        if (form := recorder.forms[position]) and not _moves_data(f)
    ]
    return sum(sizes) <= max(SCALAR_ENTRIES, SCALAR_AVERAGE * len(recorder.plan))


def _moves_data(f: Any) -> bool:
    return f in (getitem, written, scatter, np.array) or moves(f)
