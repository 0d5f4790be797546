"""The transpose of a linear program: what was recorded forwards, pulled back.

Of the program that computes ``A @ xdot`` it is the function ``ybar -> A.T @ ybar``.
"""

from collections.abc import Callable

from ..rules.linear.program import LinearProgram
from ..rules.tangents.filled import zero_tangent
from .vjp import REVERSE, ReverseConfig, pulling


def transposed(
    program: LinearProgram, sources: list, config: ReverseConfig = REVERSE
) -> Callable[[list], list]:
    """Return the function from cotangents of the outputs of ``program`` to those of ``sources``.

    ``sources`` are the leaves that its inputs are tangents of.
    """
    zeros = tuple(map(zero_tangent, sources))

    def run(*values: object) -> list:
        return program.run(list(values))

    _, pull = pulling(config, run, zeros, {}, range(len(zeros)))
    return lambda ybars: pull(ybars, False)
