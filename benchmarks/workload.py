"""What a workload is: programs that compute the same, and what is asked of ours."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from table import BY_HAND, COLUMNS, JAX_JIT, OURS, PEERS

# At most this much of the time of every peer that runs without a compiler.
EAGER = {peer: 1.0 for peer in PEERS if peer != JAX_JIT}
# Where arrays have more than 10^4 elements, NumPy's own work is most of the work.
LARGE = {BY_HAND: 1.25}
LARGE_MEMORY = {BY_HAND: 1.3}


@dataclass
class Workload:
    """Programs that compute the same, one per library, and what is asked of ours.

    A program under any other name than those of the table's columns is a further reference of
    ours. ``operations`` is how many operations of the differentiated function one call runs.
    ``targets`` maps another program's name to the largest ratio of ours to it that is good
    enough; of the peers at least 1 is asked, and by hand of ``large`` arrays 1.25 in time and
    1.3 in memory. ``overhead`` is for the time of ours above that by hand, over HIPS autograd's.
    ``skipped`` maps a peer that can't run the workload to the reason. ``reverse`` says whether
    peak memory is shown.
    """

    name: str
    operations: int
    programs: dict[str, Callable[[], Any]]
    targets: dict[str, float] = field(default_factory=dict)
    large: bool = False
    overhead: float | None = None
    skipped: dict[str, str] = field(default_factory=dict)
    reverse: bool = True
    rtol: float = 1e-8

    def __post_init__(self) -> None:
        self.programs = {k: v for k, v in self.programs.items() if k not in self.skipped}
        self.targets = EAGER | (LARGE if self.large else {}) | self.targets

    def first_calls(self, patience: float) -> tuple[list[str], dict[str, str]]:
        """Run each program once; return who computed another result than ours, and who raised.

        Programs that raise are dropped, and so are peers whose first call, with what they
        compile in it, takes longer than ``patience``.
        """
        results, failed = {}, {}
        for name in [name for name in (OURS, *COLUMNS) if name in self.programs]:
            begin = time.perf_counter()
            try:
                results[name] = _numbers(self.programs[name]())
            except Exception as error:
                first = str(error).strip().partition("\n")[0]
                failed[name] = f"{type(error).__name__}: {first[:100]}"
                del self.programs[name]
            if name in PEERS and (taken := time.perf_counter() - begin) > patience:
                self.skipped[name] = f"the first call took {taken:.0f} s"
                self.programs.pop(name, None)
        if (expected := results.pop(OURS, None)) is None:
            return [], failed
        wrong = [k for k, given in results.items() if not _close(expected, given, self.rtol)]
        return wrong, failed


def _numbers(x: Any) -> list[np.ndarray]:
    if isinstance(x, tuple | list):
        return [number for part in x for number in _numbers(part)]
    return [np.asarray(x)]


def _close(expected: list, given: list, rtol: float) -> bool:
    return len(expected) == len(given) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=rtol, atol=rtol * np.max(np.abs(a)))
        for a, b in zip(expected, given, strict=True)
    )
