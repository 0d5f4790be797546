"""``while_loop``: a loop that carries a value along as long as a condition of it holds.

Reverse mode keeps what the loop carries at the beginning of each segment, as that of ``loop``. How
many rounds there are is not known before: each segment is longer than the last by as many rounds
as the first, so that both their number and their length grow as the square root of all rounds.
"""

import itertools
from collections.abc import Callable
from typing import TypeVar

from ....config.progress import LongWork, ending, long_work
from ....config.thresholds import SHORTEST_SEGMENT
from ....config.tracebacks import door
from ... import is_traced
from .bodies import asked
from .checkpoint import checkpoint
from .closures import lifted
from .progress import counted
from .scan import recordings
from .sequences import copied

Carry = TypeVar("Carry")

# Functions of ``cond``, ``step`` and ``carry`` that answer for a whole loop by the number of its
# rounds, the last carry and the rows, or give None; here a step gives the next carry, and a row.
while_lowerings: list[Callable[..., tuple | None]] = []


@door
def while_loop(
    cond: Callable[[Carry], object], step: Callable[[Carry], Carry], carry: Carry
) -> Carry:
    """Carry a value along as long as a condition of it holds.

    Parameters
    ----------
    cond : callable
        ``cond(carry)`` is true where one more step is done. It has no derivative.
    step : callable
        ``step(carry)`` returns the next carried value. Of more than 64 rounds it gives the same
        each time that it is called with the same arguments, and writes to no traced value that it
        captures; its argument it may write into.
    carry : Any
        The first carried value: a number, an array, or a container of these.

    Returns
    -------
    Any
        The first carried value for which ``cond`` is not true.

    Raises
    ------
    MutationError
        By the pullback, as that of ``scan``: if ``step`` does not give the same again.

    Notes
    -----
    The derivative is that of the steps that were done, their number held fixed. In a function that
    is compiled, the loop is one native one, for any number of rounds, and so is its derivative.

    Examples
    --------
    >>> import chainrules as cr
    >>> def root(a):
    ...     far = lambda x: abs(x * x - a) > 1e-12
    ...     return cr.while_loop(far, lambda x: (x + a / x) / 2, a)
    >>> root(9.0), round(cr.grad(root)(9.0), 12)
    (3.0, 0.166666666667)
    """
    cond, step = asked(cond), asked(step)
    for lower in while_lowerings if recordings else ():
        if (answer := lower(cond, lambda carry: (step(carry), ()), carry)) is not None:
            return answer[1]

    work: LongWork | None = None if recordings else long_work("while_loop", None)

    def rounds(carry: Carry, count: int) -> tuple[Carry, bool]:
        """Do at most ``count`` steps; say whether the condition still held."""
        for _ in range(count) if work is None else work.over(range(count)):
            if not cond(carry):
                return carry, False
            carry = step(carry)
        return carry, True

    carry = copied(carry)  # which a step may write into
    with ending(work):
        carry, goes_on = rounds(carry, SHORTEST_SEGMENT)
        if not is_traced((carry, lifted(rounds))):
            for _ in counted(itertools.count(), work):
                if not cond(carry):
                    return copied(carry)
                carry = step(carry)
        segment, count = checkpoint(rounds), SHORTEST_SEGMENT
        while goes_on:
            count += SHORTEST_SEGMENT
            carry, goes_on = segment(carry, count)
    return copied(carry)
