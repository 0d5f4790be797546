"""Gradients through solvers, beside JAX's and autograd's odeint, diffrax and optimistix.

``python benchmarks/solvers_and_peers.py`` prints a table for each problem; ``--only WORD`` picks
some. A library that is not installed has no row. See README.md beside this file.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

from threads import set_threads

set_threads(1)  # before NumPy is imported

import numpy as np  # noqa: E402
from peers import optional  # noqa: E402
from solvers_problems import (  # noqa: E402
    ANSWERS,
    AUTOGRAD,
    INITIAL_VALUES,
    OURS,
    STIFF,
    Contender,
    Problem,
    exact_answer,
    solvers_of,
    solvers_of_answers,
)
from timing import Effort, interleaved  # noqa: E402

import chainrules as cr  # noqa: E402

EFFORT = Effort(rounds=21, seconds=0.02, budget=4.0, fewest_rounds=3, patience=300.0)
HEADING = (
    "| library | method | error | calls, value | calls, gradient | first, s | value, ms | "
    "gradient, ms | gradient / ours |\n|---|---|---|---|---|---|---|---|---|"
)


class Count:
    """Number of calls of a function: from Python, or from inside a compiled program."""

    def __init__(self) -> None:
        self.calls = 0

    def one(self) -> None:
        self.calls += 1

    def counted(self, f: Callable, jax: Any) -> Callable:
        def counting(*args: Any) -> Any:
            jax.debug.callback(self.one) if jax else self.one()
            return f(*args)

        return counting


def programs(problem: Problem, contender: Contender, count: Count | None = None) -> list[Callable]:
    """Return what computes the loss, and what computes it and its gradient."""
    jax = None
    if contender.library == OURS:
        namespace, derivative = np, cr.value_and_grad
    elif contender.library == AUTOGRAD:
        namespace, derivative = optional("autograd.numpy"), optional("autograd").value_and_grad
    else:
        jax = optional("jax")
        namespace, derivative = jax.numpy, jax.value_and_grad
    f = problem.function_in(namespace)
    f = count.counted(f, jax) if count else f

    def loss(p: Any) -> Any:
        return problem.loss(namespace, contender.solve(f, problem.start(p), p))

    of_p = [loss, derivative(loss)]
    if jax is None:
        return [lambda g=g: g(problem.p) for g in of_p]
    p = jax.numpy.asarray(problem.p)
    return [lambda g=g: jax.block_until_ready(g(p)) for g in map(jax.jit, of_p)]


def calls(problem: Problem, contender: Contender) -> list[int]:
    found = []
    for which in range(2):
        count = Count()
        program = programs(problem, contender, count)[which]
        program()
        if jax := optional("jax"):
            jax.effects_barrier()
        found.append(count.calls)
    return found


def reference(problem: Problem) -> np.ndarray:
    if problem.reference is not None:
        return problem.reference(problem)
    exact = Contender(OURS, "to rounding", exact_answer(problem))
    return programs(problem, exact)[1]()[1]


def off(found: Any, expected: np.ndarray) -> float:
    """The largest error, relative to each entry of a short gradient, to the largest of a long."""
    size = np.abs(expected) if expected.size < 10 else np.max(np.abs(expected))
    return float(np.max(np.abs(np.asarray(found) - expected) / size))


def report(problem: Problem, contenders: list[Contender]) -> None:
    print(f"\n{problem.name}\n\n{HEADING}", flush=True)
    expected, lines, timed = reference(problem), {}, {}
    for contender in contenders:
        name = f"{contender.library} | {contender.method}"
        value, gradient = programs(problem, contender)
        begin = time.process_time()
        try:
            _, found = gradient()
        except Exception as error:  # whatever a library raises is its answer
            print(f"| {name} | failed: {type(error).__name__} |", flush=True)
            continue
        first = time.process_time() - begin
        in_value, in_gradient = calls(problem, contender)
        lines[name] = f"{off(found, expected):.0e} | {in_value} | {in_gradient} | {first:.2f}"
        timed[name, "value"], timed[name, "gradient"] = value, gradient
    times = interleaved(timed, EFFORT, time.process_time)
    medians = {of: statistics.median(found) for of, found in times.items()}
    ours = min(x for (name, of), x in medians.items() if of == "gradient" and OURS in name)
    for name, line in lines.items():
        value, gradient = medians[name, "value"], medians[name, "gradient"]
        print(
            f"| {name} | {line} | {1e3 * value:.3g} | {1e3 * gradient:.3g} | "
            f"{gradient / ours:.2g} |", flush=True,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="the problems whose name contains the word")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if jax := optional("jax"):
        jax.config.update("jax_enable_x64", True)
        jax.jit(lambda x: x + 1)(1.0)  # its start is nobody's first call
    for problem in [*INITIAL_VALUES, STIFF, *ANSWERS]:
        if options.only in problem.name:
            found = solvers_of_answers if problem in ANSWERS else solvers_of
            report(problem, found(problem))


if __name__ == "__main__":
    main()
