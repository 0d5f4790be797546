"""Costs of one call, forward and back, on twelve numbers; and of small programs as a whole.

One call: a program that calls the function ``REPEATS`` times more than another one, which adds up
one result as often, minus that one, divided by ``REPEATS``. So the transform, the additions and
the sums of cotangents cancel. All is CPU time with one thread; see README.md beside this file.
"""

import dataclasses
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from calls_of_functions import Call, calls
from table import AUTOGRAD, OURS, PYTORCH

TARGETS = {AUTOGRAD: 0.5, PYTORCH: 0.9}
REPEATS = 50
HEADING = f"{'call':42} {'ours':>9} {AUTOGRAD:>9} {PYTORCH:>9} {'/ a.':>8} {'/ P.':>8}  (us)"


@dataclasses.dataclass
class CallRow:
    """The microseconds of each library, and the ratios of ours to the peers'."""

    name: str
    times: dict[str, float]
    ratios: dict[str, float]
    wrong: list[str]
    notes: list[str] = dataclasses.field(default_factory=list)
    day: str = ""
    load: float = 0.0

    def missed(self) -> list[str]:
        """Return the targets that are missed."""
        found = self.ratios.items()
        return [f"{TARGETS[name]:.3g} {name}" for name, x in found if x > TARGETS[name]]

    def cells(self) -> list[str]:
        shown = [self.times.get(name) for name in (OURS, AUTOGRAD, PYTORCH)]
        cells = ["" if x is None else f"{x:.1f}" if x < 1e4 else f"{x:.0f}" for x in shown]
        for name, limit in TARGETS.items():
            x = self.ratios.get(name)
            cells.append("" if x is None else f"{x:.2f}" + " *"[x > limit])
        return cells

    def __str__(self) -> str:
        times, ratios = self.cells()[:3], self.cells()[3:]
        cells = [f"{self.name:42}", *[f"{x:>9}" for x in times], *[f"{x:>8}" for x in ratios]]
        return " ".join([*cells, *self.notes, *[f"{name} differs" for name in self.wrong]])

    def markdown(self) -> str:
        return "| " + " | ".join([self.name, *self.cells(), ", ".join(self.missed())]) + " |"


def markdown_heading() -> str:
    names = ["call", "ours, us", AUTOGRAD, PYTORCH, f"/ {AUTOGRAD}", f"/ {PYTORCH}", "missed"]
    return "| " + " | ".join(names) + " |\n|" + "---|" * len(names)


# ---- one call ----


def repeated(f: Callable, total: Callable, again: bool) -> Callable:
    """Return the program that adds up results of ``f``: of many calls, or of one as often."""

    def program(*xs: Any) -> Any:
        y = f(*xs)
        sums = y
        for _ in range(REPEATS):
            sums = sums + (f(*xs) if again else y)
        return total(sums)

    return program


def numpy_programs(name: str, call: Call) -> tuple[Callable, Callable]:
    """Return the two programs of one of the libraries that have NumPy's namespace."""
    from peers import peers

    peer = peers()[name]
    chosen = tuple(range(len(call.inputs)))
    given = *call.inputs, *call.plain
    f, total = call.numpy(peer.namespace), peer.namespace.sum

    def built(again: bool) -> Callable:
        gradient = peer.of["grad"](repeated(f, total, again), chosen)
        return lambda: gradient(*given)

    return built(True), built(False)


def torch_programs(call: Call) -> Iterator[tuple[Callable, Callable]]:
    """Yield the two programs in PyTorch for every way to write them."""
    from peers import peers

    peer = peers()[PYTORCH]
    torch: Any = peer.torch  # type: ignore[attr-defined]
    inputs = [peer.array(x).requires_grad_() for x in call.inputs]
    given = *inputs, *map(peer.array, call.plain)
    for written in call.torch:
        f = written(torch)
        for sweep in (by_grad(torch), by_backward):
            pair = [repeated(f, torch.sum, again) for again in (True, False)]
            yield tuple([sweep(program, given, inputs) for program in pair])  # type: ignore


def by_grad(torch: Any) -> Callable:
    grad = torch.autograd.grad
    return lambda f, given, inputs: lambda: grad(f(*given), inputs)


def by_backward(f: Callable, given: tuple, inputs: list) -> Callable:
    def program() -> tuple:
        for x in inputs:
            x.grad = None
        f(*given).backward()
        return tuple([x.grad for x in inputs])

    return program


def row_of_call(call: Call, effort: Any) -> CallRow:
    import timing

    pairs: dict[str, tuple[Callable, Callable]] = {}
    for name in libraries():
        if name == PYTORCH:
            pairs[name] = cheapest(list(torch_programs(call)))
        else:
            pairs[name] = numpy_programs(name, call)
    wrong = others_differ(call.name, {name: pair[0] for name, pair in pairs.items()})
    both = {(name, k): program for name, pair in pairs.items() for k, program in enumerate(pair)}
    taken = timing.interleaved(both, effort, time.process_time)
    times = {
        name: [(a - b) / REPEATS for a, b in zip(taken[name, 0], taken[name, 1], strict=False)]
        for name in pairs
    }
    return row_from(call.name, times, wrong)


def cheapest(candidates: list[tuple]) -> tuple:
    """Return the programs whose first one takes the least time, of those that run."""
    import timing

    if len(candidates) == 1:
        return candidates[0]
    firsts = {k: programs[0] for k, programs in enumerate(candidates)}
    taken = timing.interleaved(firsts, timing.QUICK, time.process_time)
    return candidates[min(taken, key=lambda k: statistics.median(taken[k]))]


def others_differ(name: str, programs: dict[str, Callable]) -> list[str]:
    """Return the libraries that compute something else than we do.

    Raises
    ------
    RuntimeError
        If a program raises.
    """
    from workload import first_calls

    told = first_calls(dict(programs), patience=300.0)
    if told.failed:
        raise RuntimeError(f"{name}: {told.failed}")
    return told.wrong


def row_from(name: str, times: dict[str, list[float]], wrong: list[str], *notes: str) -> CallRow:
    import timing

    ratios = {other: timing.ratio(times, OURS, other) for other in TARGETS if other in times}
    medians = {library: 1e6 * statistics.median(found) for library, found in times.items()}
    return CallRow(name, medians, ratios, wrong, list(notes))


def libraries() -> list[str]:
    from peers import peers

    return [name for name in (OURS, AUTOGRAD, PYTORCH) if name in peers()]


# ---- the transform itself, and whole programs ----


def empty_programs() -> Iterator[tuple[str, dict[str, list[Callable]]]]:
    """Yield the name and the programs, of each library those to choose from, of next to nothing."""
    import numpy as np
    from peers import peers

    x, array = 0.7, np.linspace(0.5, 1.5, 12)
    for name, f_in, given in (
        ("x", lambda _: lambda x: x, x),
        ("x * x", lambda _: lambda x: x * x, x),
        ("np.sum(x)", lambda namespace: lambda x: namespace.sum(x), array),
    ):
        for made in (False, True):
            built: dict[str, list[Callable]] = {}
            for library, peer in peers().items():
                f = f_in(peer.namespace)
                if library == PYTORCH:
                    built[library] = torch_from_plain(peer, f, given)
                elif library in libraries():
                    grad = peer.of["grad"]
                    gradient = grad(f)
                    built[library] = [
                        (lambda gradient=gradient, x=given: gradient(x))
                        if made
                        else (lambda grad=grad, f=f, x=given: grad(f)(x))
                    ]
            text = f"cr.grad(f)(x), f: {name}"
            yield f"grad(f) made before, f: {name}" if made else text, built


def torch_from_plain(peer: Any, f: Callable, x: Any) -> list[Callable]:
    """Return ways to ask PyTorch for the gradient at a tensor that does not require one yet."""
    given = peer.array(x)
    grad = peer.torch.autograd.grad

    def backward() -> Any:
        leaf = given.detach().requires_grad_()
        f(leaf).backward()
        return leaf.grad

    def by_function() -> Any:
        leaf = given.detach().requires_grad_()
        return grad(f(leaf), leaf)[0]

    return [backward, by_function]


def row_of_empty(name: str, built: dict[str, list[Callable]], effort: Any) -> CallRow:
    import timing

    programs = {k: cheapest([(p,) for p in ways])[0] for k, ways in built.items()}
    wrong = others_differ(name, programs)
    return row_from(name, timing.interleaved(programs, effort, time.process_time), wrong)


def row_of_workload(workload: Any, effort: Any) -> CallRow:
    import timing

    functions = workload.functions()
    found = workload.programs({name: functions[name] for name in libraries()})
    programs = {name: found[name] for name in libraries()}
    ways = [program for name, program in found.items() if name.startswith(PYTORCH)]
    if ways:
        programs[PYTORCH] = cheapest([(program,) for program in ways])[0]
    wrong = others_differ(workload.name, programs)
    gradients = {f"gradient, {name}" for name in programs} & set(found)
    programs |= {name: found[name] for name in gradients}
    times = timing.interleaved(programs, effort, time.process_time)
    multiples = [
        f"{name} {timing.ratio(times, name, f'gradient, {name}'):.1f}"
        for name in libraries()
        if f"gradient, {name}" in gradients
    ]
    notes = ["in gradients: " + ", ".join(multiples)] if multiples else []
    return row_from(workload.name, {name: times[name] for name in libraries()}, wrong, *notes)


# ---- the run ----


def measure(wanted: Callable[[str], bool], effort: Any) -> Iterator[CallRow]:
    """Yield the rows whose names are wanted."""
    import workloads_small

    for name, built in empty_programs():
        if wanted(name):
            yield row_of_empty(name, built, effort)
    for call in calls():
        if wanted(call.name):
            yield row_of_call(call, effort)
    for workload in workloads_small.workloads():
        if wanted(workload.name):
            yield row_of_workload(workload, effort)


def summary(rows: list[CallRow]) -> str:
    missed = [target for row in rows for target in row.missed()]
    targets = [f"{limit:.3g} {name}" for name, limit in TARGETS.items()]
    found = ", ".join(f"{target} by {missed.count(target)}" for target in targets)
    return f"targets missed (*), of {len(rows)} rows: {found}"
