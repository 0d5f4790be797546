"""jacrev: Jacobians row by row; and jacobian, which picks the cheaper mode.

Row i of the Jacobian of ``f`` is the pull of the i-th unit vector; they are pulled in blocks.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..config import AsksForBlocks
from ..config.thresholds import (
    ARRAY_IN_NUMBERS,
    BLOCK_IN_CACHE,
    FORWARD_AT_ONCE,
    FORWARD_IF_SMALL,
    ROWS_OF_ARRAYS,
    ROWS_OF_NUMBERS,
)
from ..config.tracebacks import nameless_door
from ..forward.jacfwd import forward_jacobian, sparse_forward_jacobian
from ..rules.annotations import P, Value
from ..rules.engines.arguments import Argnums, Arguments, Config, takes_argnums, titled
from ..rules.engines.strong_levels import Zero, as_asked
from ..rules.linear.compression import prefers_rows, sparse_matrix
from ..rules.linear.jacobians import (
    Directions,
    arrange,
    leaves,
    pull_all,
    recorded,
    size_of,
)
from ..rules.linear.program import LinearProgram
from ..rules.shapes import FLOATS, is_lazy
from ..rules.tangents.fitting import as_numpys_beside
from .entries import OF_NUMBERS_ALONE
from .forward_sweep import push_recording
from .vjp import Recording, ReverseConfig, for_user, value_and_pull


class ReverseBlocks(ReverseConfig, AsksForBlocks):
    """The configuration of reverse mode with blocks of cotangents."""

    __slots__ = ()


REVERSE_BLOCKS = ReverseBlocks()


@takes_argnums
def jacrev(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    *,
    sparse: bool = False,
    config: Config = None,
    zero: Zero = None,
) -> Callable[P, Any]:
    """Return a function giving the Jacobian of ``f``, row by row in reverse mode.

    Parameters
    ----------
    f, argnums, sparse
        As for ``jacfwd``.
    config : RuleConfig, optional
        What rules are handed: a ``ReverseConfig``, or a subclass with traits of its own.
    zero : "strong", optional
        Whether 0 times an infinite or undefined slope is 0: see ``grad``.

    Returns
    -------
    callable
        With the arguments of ``f``; the form of its result is that of ``jacfwd``, sparse or not.

    Raises
    ------
    TypeError
        If a complex function is not holomorphic, or sparse.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.jacrev(lambda x: x[0] * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [2., 1.]])
    """

    known: dict = {}

    @nameless_door
    def jacobian_of(*args: object, **kwargs: object) -> Any:
        chosen = Arguments("jacrev", f, argnums, args, kwargs)
        asked = as_asked(config or REVERSE_BLOCKS, zero)
        y, pull = value_and_pull(asked, chosen.f, chosen.args, chosen.kwargs, chosen.positions)
        if sparse:
            return _sparse_reverse_jacobian(chosen, y, pull, known)
        return _reverse_jacobian(chosen, y, pull)

    return titled(
        jacobian_of, "jacrev", jacrev, f, argnums, sparse=sparse, config=config, zero=zero
    )


@takes_argnums
def jacobian(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    *,
    sparse: bool = False,
    config: Config = None,
    zero: Zero = None,
) -> Callable[P, Any]:
    """Return a function giving the Jacobian of ``f`` by the cheaper mode.

    The function runs once. In a few numbers, beside small arrays, it pushes all tangents as a
    block. Else it runs on a tape: where its result has fewer numbers than its arguments,
    cotangents of that are pulled back along the tape; else tangents are pushed along it.

    Parameters
    ----------
    f, argnums, sparse, config, zero
        As for ``jacrev``.

    Returns
    -------
    callable
        With the arguments of ``f``; its result has shape ``out.shape + in.shape``. See
        ``jacfwd`` for several arguments and for containers.

    Raises
    ------
    TypeError
        As ``jacrev`` does.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.jacobian(np.cumsum)(np.zeros(2))
    array([[1., 0.],
           [1., 1.]])
    """

    forward: dict = {}
    backward: dict = {}

    @nameless_door
    def jacobian_of(*args: object, **kwargs: object) -> Any:
        chosen = Arguments("jacobian", f, argnums, args, kwargs)
        if sparse and not (forward and prefers_rows(forward)):
            return sparse_forward_jacobian(chosen, forward, config, zero)
        directions = Directions(leaves(chosen.primals))
        few = _are_few(chosen, directions.count)
        if not sparse and (few or any(map(is_lazy, directions.sources))):
            return forward_jacobian(chosen, config, zero, directions=directions)
        asked = as_asked(config or REVERSE_BLOCKS, zero)
        y, pull = value_and_pull(asked, chosen.f, chosen.args, chosen.kwargs, chosen.positions)
        if sparse:
            return _sparse_reverse_jacobian(chosen, y, pull, backward)
        recording = getattr(pull, "__self__", None)  # None where a rule of ``f`` answered
        if type(recording) is Recording and directions.count <= sum(map(size_of, leaves(y))):
            images = push_recording(recording, directions)
            return arrange(images, chosen.source, y, transposed=False)
        return _reverse_jacobian(chosen, y, pull)

    return titled(
        jacobian_of, "jacobian", jacobian, f, argnums, sparse=sparse, config=config, zero=zero
    )


def _are_few(chosen: Arguments, count: int) -> bool:
    """Say whether a block of ``count`` directions costs no more than a tape, for any result."""
    if count <= FORWARD_AT_ONCE or count > FORWARD_IF_SMALL:
        return count <= FORWARD_AT_ONCE
    return count * chosen.largest() <= BLOCK_IN_CACHE


def _reverse_jacobian(chosen: Arguments, y: Value, pull: Callable) -> Any:
    if type(y) in FLOATS and all(map(_is_real_leaf, leaves(chosen.primals))):
        gradients = tuple(map(for_user, chosen.primals, pull(as_numpys_beside(y, 1.0), True)))
        return gradients if chosen.several else gradients[0]  # of one number it is the one row
    return arrange(rows(chosen, y, pull), y, chosen.source, transposed=True)


def _is_real_leaf(x: Value) -> bool:
    """Say whether the one row of a leaf is its gradient: of a float, or of an array with axes."""
    return type(x) in FLOATS or (type(x) is np.ndarray and x.dtype.kind == "f" and x.ndim > 0)


def rows(chosen: Arguments, y: Value, pull: Callable) -> list:
    """Return the cotangents of the chosen leaves, for all unit cotangents of ``y`` in a row."""
    pulled, directions = partial(pull, last=False), Directions(leaves(y))
    return pull_all(pulled, y, chosen.primals, directions, _are_few_rows(pull, directions.count))


def _are_few_rows(pull: Callable, count: int) -> bool:
    """Say whether ``count`` sweeps back cost less than one with a block of cotangents.

    A block makes an array of each number. What an entry of each kind costs was measured.
    """
    recording = getattr(pull, "__self__", None)
    if type(recording) is not Recording or count > ROWS_OF_NUMBERS:
        return False
    entries = recording.tape.recorded
    numbers = sum(map(OF_NUMBERS_ALONE.__contains__, map(len, entries)))
    arrays = ARRAY_IN_NUMBERS * (len(entries) - recording.inputs - numbers)
    return count * (numbers + arrays) <= ROWS_OF_NUMBERS * numbers + ROWS_OF_ARRAYS * arrays


def _sparse_reverse_jacobian(chosen: Arguments, y: Value, pull: Callable, known: dict) -> Any:
    program = _program(chosen, y, pull)
    return sparse_matrix(program, leaves(y), leaves(chosen.primals), known).T.tocsr()


def _program(chosen: Arguments, y: Value, pull: Callable) -> LinearProgram:
    """Return the pullback as a program from the leaves of ``y`` to those of the arguments."""
    return recorded(partial(pull, last=False), y, chosen.primals)
