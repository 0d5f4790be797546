"""Liveness: the steps that the results of a recording depend on, and what each reads last."""

from ...rules.linear.steps import reads_of
from ..native.assembly.operation import INPUT, Operation

_UNNEEDED = Operation(None, ())  # in the place of a step on which nothing depends


def planned(
    steps: list[Operation], needed: set[int]
) -> tuple[dict[int, Operation], dict[int, tuple[int, ...]]]:
    """Return the steps to be done for the results ``needed``, by number, and what each reads last.

    The list lets go of the other steps, and of the constants that these hold.
    """
    plan: dict[int, Operation] = {}
    last: dict[int, tuple[int, ...]] = {}  # Python's collector looks at lists, too
    for position in range(len(steps) - 1, -1, -1):
        step = steps[position]
        if step.function is INPUT:
            continue
        if position not in needed:
            steps[position] = _UNNEEDED
            continue
        plan[position] = step
        ends: tuple[int, ...] = ()
        for read in reads_of(step.operands, step.options):
            if read not in needed:
                needed.add(read)
                ends += (read,)
        if ends:
            last[position] = ends
    return dict(reversed(plan.items())), last
