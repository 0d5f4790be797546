"""Machine code of a recording, scalarized or fused: the first lowering that succeeds is taken."""

import functools
from collections.abc import Callable
from typing import Any

from ..config import CompileWarning, warn_user
from .record.recorder import Recorder
from .record.recording import foreign_in


def natively(recorder: Recorder, output: Any, threads: int = 1) -> Any:
    """Return the recording in machine code, to be run as a replay is; None where it has none."""
    from .native import available

    if not available():
        return None
    from .ir.scalars import NotLowered
    from .native.disk_cache import unsafe_folder
    from .passes.scalar.scalar_program import is_of_numbers

    if reason := unsafe_folder():
        _say_once(reason)
    reasons = []
    for way in (_line, _fused, _stretches) if is_of_numbers(recorder) else (_fused,):
        try:
            return way(recorder, output, threads)
        except NotLowered as error:
            reasons.append(str(error))
        except Exception as error:  # a step with options that its lowering does not know
            reasons.append(repr(error))
    recorder.not_native = "; ".join(dict.fromkeys(reasons))
    return None


@functools.cache
def _say_once(reason: str) -> None:
    warn_user(
        CompileWarning(
            f"machine code is not kept on disk, since the folder {reason}, and what is loaded from "
            "there runs in this process.\n  set CHAINRULES_CACHE to a folder that is yours alone "
            "(chmod go-w), or to off"
        )
    )


def by_steps(recorder: Recorder) -> list[str]:
    """Say how a recording runs that is no machine code as a whole."""
    loops = sum(f.is_native for f in foreign_in(recorder))
    if loops:
        return [f"{loops} native loops, and by NumPy {len(recorder.plan) - loops} steps"]
    return [f"by NumPy, {len(recorder.plan)} steps: {recorder.not_native}"]


def about_steps(recorder: Recorder) -> list[str]:
    """Say what single steps of a recording are, where they have something to say."""
    return [text for f in foreign_in(recorder) if (text := f.about())]


def lower_loops(compiled: Callable[..., Callable]) -> None:
    """Let loops, solvers and batches be asked from now on whether they are one step of a recording.

    ``compiled`` compiles an item of a batch that is not native.
    """
    from .native import available

    if available():
        from .loops import batch_lowering, loop_lowering  # noqa: F401 - they are asked

        batch_lowering.compilers[:] = [compiled]


def _line(recorder: Recorder, output: Any, threads: int) -> Any:
    from .passes.scalar.scalar_program import NativeLine

    return NativeLine(recorder, output)


def _fused(recorder: Recorder, output: Any, threads: int) -> Any:
    from .passes.fused.fusion import Fused

    return Fused(recorder, output, threads)


def _stretches(recorder: Recorder, output: Any, threads: int) -> Any:
    from .passes.scalar.stretches import Stretches

    return Stretches(recorder, output)
