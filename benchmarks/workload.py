"""Workload: a derivative that all libraries compute, and what is asked of ours."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from peers import Derived, Function, Program, peers
from table import BY_HAND, COMPILED, EAGER, JAX_JIT, OURS, OWN_LOOP, PROGRAMS

# Where arrays have more than 10^4 elements, NumPy's own work is most of the work.
LARGE = {BY_HAND: 1.25}
LARGE_MEMORY = {BY_HAND: 1.3}


@dataclass
class Workload:
    """A derivative as a function of a peer, its arguments, and what is asked of ours.

    ``by_hand`` and ``own_loop`` are the same in plain NumPy and with JAX's own loops;
    ``references`` are further programs of ours and of others. ``operations`` is how many the
    differentiated function runs. ``targets`` maps another program's name to the largest ratio of
    ours to it that is good enough, and ``compiled`` to that of compiled code; of eager peers, and
    of JAX's jit for compiled code, 1 is asked, and by hand of ``large`` arrays 1.25 in time and
    1.3 in memory. ``overhead`` is for the time of ours above that by hand, over HIPS autograd's.
    ``skipped`` maps a peer that can't run the workload to the reason, ``slow`` names those that
    take minutes. ``reverse`` says whether peak memory is shown. ``points`` gives the arguments of
    call number k in ``moved_arguments.py``, where other arguments than those nearby tell more.
    """

    name: str
    operations: int
    derived: Derived
    args: tuple
    by_hand: Function | None = None
    own_loop: Derived | None = None
    targets: dict[str, float] = field(default_factory=dict)
    compiled: dict[str, float] = field(default_factory=dict)
    references: dict[str, Program] = field(default_factory=dict)
    large: bool = False
    overhead: float | None = None
    skipped: dict[str, str] = field(default_factory=dict)
    slow: tuple[str, ...] = ()
    reverse: bool = True
    rtol: float = 1e-8
    points: Callable[[int], tuple] | None = None

    def __post_init__(self) -> None:
        self.targets = dict.fromkeys(EAGER, 1.0) | (LARGE if self.large else {}) | self.targets
        self.compiled = {JAX_JIT: 1.0} | self.compiled

    def functions(
        self, slow: bool = False, among: tuple[str, ...] = PROGRAMS
    ) -> dict[str, Function]:
        """Return the derivative in each library, of that library's arrays."""
        found = {}
        without = {*self.skipped} if slow else {*self.skipped, *self.slow}
        for name, peer in peers().items():
            derived = self.own_loop if name == OWN_LOOP else self.derived
            if derived and name in among and name not in without:
                found[name] = peer.compiled(derived(peer))
        return found

    def programs(self, functions: dict[str, Function]) -> dict[str, Program]:
        """Return the programs that call these at the workload's arguments, and all others."""
        built = {name: peers()[name].call(f, self.args) for name, f in functions.items()}
        if (by_hand := self.by_hand) is not None:
            built[BY_HAND] = lambda: by_hand(*self.args)
        return built | self.references

    def at(self, k: int) -> tuple:
        """Return the arguments of call number k, which differ from call to call."""
        return (
            nearby(self.args, np.random.default_rng(k)) if self.points is None else self.points(k)
        )


@dataclass
class FirstCalls:
    """Time and output of the first calls: see ``table.Row``."""

    seconds: dict[str, float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    warned: list[str] = field(default_factory=list)


def first_calls(programs: dict[str, Program], patience: float, rtol: float = 1e-8) -> FirstCalls:
    """Run each program once, compiled code three times, and compare the results with ours.

    Programs that raise are dropped, and so are peers whose first call, with what they compile in
    it, takes longer than ``patience``.
    """
    told, results = FirstCalls(), {}
    for name in [name for name in PROGRAMS if name in programs]:
        begin = time.process_time()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                results[name] = numbers(programs[name]())
                told.seconds[name] = time.process_time() - begin
                if name == COMPILED:  # the second call is compared with the function
                    programs[name]()
                    results[name] = numbers(programs[name]())
            except Exception as error:
                first = str(error).strip().partition("\n")[0]
                told.failed[name] = f"{type(error).__name__}: {first[:100]}"
                del programs[name]
        if name == COMPILED:
            told.warned = [str(warning.message) for warning in caught]
        elif name != OURS and told.seconds.get(name, 0.0) > patience:
            told.skipped[name] = f"the first call took {told.seconds[name]:.0f} s"
            del programs[name]
    expected = results.pop(OURS, None)
    if expected is not None:
        told.wrong = [k for k, given in results.items() if not close(expected, given, rtol)]
    return told


def numbers(x: Any) -> list[np.ndarray]:
    if isinstance(x, tuple | list):
        return [number for part in x for number in numbers(part)]
    return [np.asarray(x)]


def close(expected: list, given: list, rtol: float) -> bool:
    return len(expected) == len(given) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=rtol, atol=rtol * np.max(np.abs(a)))
        for a, b in zip(expected, given, strict=True)
    )


def nearby(args: tuple, rng: np.random.Generator) -> tuple:
    """Return the arguments with floats moved by up to a hundredth, and all others as they are.

    A symmetric matrix stays symmetric.
    """

    def moved(x: Any) -> Any:
        dtype = np.asarray(x).dtype
        if dtype.kind not in "fc":
            return x
        shift = rng.uniform(size=np.shape(x))
        if shift.ndim == 2 and np.array_equal(x, x.T):
            shift = 0.5 * (shift + shift.T)
        near = x * (1.0 + 0.01 * shift)
        return float(near) if isinstance(x, float) else near.astype(dtype)

    return tuple(map(moved, args))


def differs_elsewhere(f: Callable, compiled: Callable, args: tuple, rtol: float) -> bool:
    """Say whether compiled code differs from the function at three points nearby."""
    rng = np.random.default_rng(1)
    points = [nearby(args, rng) for _ in range(3)]
    return any(not close(numbers(f(*at)), numbers(compiled(*at)), rtol) for at in points)
