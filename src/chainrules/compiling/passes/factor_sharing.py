"""Shared factors: steps of a recording that use one large matrix factorize it once.

The rule: ``solve``, ``inv``, ``det`` and ``slogdet`` share factors if the matrices that they read
are the result of one step, or its transpose or conjugate, or of equal steps: the same function of
NumPy's, of the same constants and results of equal steps. The factors of a constant are made once
for all calls. A result of ``cholesky`` is its own factor. Stacks of matrices are NumPy's.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...config.thresholds import FACTORED_ROWS
from ...rules.containers import LEAVES
from ...rules.linear.steps import Slot
from ..ir.forms import ValueForm
from ..ir.lowering import lowering_of
from ..native.assembly.operation import NO_OPTIONS, Operation
from ..record.recorder import Recorder
from . import factors
from .factors import LU, Seen, Triangular

# By the names of lowerings, what stands for a function: it is given the factors, how the matrix is
# seen, and the rest.
STANDS_FOR: dict[str, Callable] = {
    "solve": factors.solve, "inv": factors.inv, "inverse_of_lower": factors.inv,
    "inverse_or_nan": factors.inverse_or_nan, "det": factors.det, "slogdet": factors.slogdet,
    "cholesky_pull": factors.cholesky_pull,
}  # fmt: skip
_INVERSES = (factors.inv, factors.inverse_or_nan)  # NumPy solves for the columns of an eye
_OF_LOWER = ("inverse_of_lower", "cholesky_pull")
_OF_TWO = ("solve", "cholesky_pull")
_KNOWN = ("numpy", "_operator", "math", "chainrules.rules")  # whose functions draw no numbers


class Factor:
    """Stands in a step for the factors of ``matrix``, a slot, made where they are first read."""

    __slots__ = ("make", "matrix", "position")

    def __init__(self, make: Callable, matrix: Slot) -> None:
        self.make, self.matrix, self.position = make, matrix, matrix.position

    def __repr__(self) -> str:
        return f"factors(v{self.position})"


LEAVES.add(Factor)


def factored(recorder: Recorder) -> dict[int, Operation]:
    """Return the plan of a recording, with steps that share factors where there are any."""
    plan = recorder.plan
    if not any(lowering_of(step.function).does in STANDS_FOR for step in plan.values()):
        return plan
    return _Factored(recorder).plan if factors.available() else plan


class _Sharing(NamedTuple):
    """A step that can be done with the factors of ``matrix``, a slot or a constant."""

    position: int
    matrix: Any
    upper: bool | None  # of a Cholesky factor, whether it is the upper one
    f: Callable
    args: tuple


class _Factored:
    """Equality classes of steps, and by their matrices the steps that can share factors."""

    def __init__(self, recorder: Recorder) -> None:
        self.steps = recorder.steps
        self.equal: dict[int, int] = {}  # of each step, the first that is equal
        self.first: dict[Any, int] = {}
        self.sharing: dict[Any, list[_Sharing]] = {}
        for position, step in recorder.plan.items():
            key = self.key_of_step(position, step)
            self.equal[position] = self.first.setdefault(key, position)
            if lowering_of(step.function).does in STANDS_FOR and not step.options:
                self.take(position, step)
        self.plan = dict(recorder.plan)
        for position, f, args in self.replaced():
            step = self.plan[position]
            self.plan[position] = step._replace(function=f, operands=args, options=NO_OPTIONS)

    # ---- which steps are equal ------------------------------------------------------------------

    def key_of_step(self, position: int, step: Operation) -> Any:
        if not (getattr(step.function, "__module__", None) or "").startswith(_KNOWN):
            return position
        return step.function, self.key(step.operands), self.key(step.options)

    def key(self, x: Any) -> Any:
        """Return what is equal for equal operands alone."""
        kind = type(x)
        if kind is Slot:
            return kind, self.equal.get(x.position, x.position)
        if kind is tuple or kind is list:
            return kind, *map(self.key, x)
        if kind is dict:
            return kind, *[(k, self.key(part)) for k, part in x.items()]
        if kind is slice:
            return kind, *map(self.key, (x.start, x.stop, x.step))
        if kind in (bool, int, str) or x is None or x is ...:
            return kind, x
        if isinstance(x, np.generic):
            return kind, x.tobytes()
        return kind, repr(x) if kind is float else id(x)

    # ---- which matrix a step reads --------------------------------------------------------------

    def take(self, position: int, step: Operation) -> None:
        """Note a step that can be done with the factors of the matrix that it reads."""
        does, args = lowering_of(step.function).does, step.operands
        form, found = self.form(args[0]), self.matrix(args[0])
        if form is None or found is None:
            return
        matrix, seen = found
        upper = self.upper(matrix)
        if does in _OF_LOWER and seen.transposed is not upper:
            return  # not known to be triangular
        if does in _OF_TWO:
            other, y = self.form(args[1]), step.form
            if other is None or y is None or not 0 < len(other.shape) < 3 or 0 in other.shape:
                return
            if y.kind != form.kind:
                return
        key = matrix.position if type(matrix) is Slot else id(matrix)
        rest = args if does == "cholesky_pull" else args[1:]
        sharing = _Sharing(position, matrix, upper, STANDS_FOR[does], (seen, *rest))
        self.sharing.setdefault((type(matrix), key), []).append(sharing)

    def form(self, x: Any) -> ValueForm | None:
        if type(x) is Slot:
            return self.steps[x.position].form
        return ValueForm.of(x) if type(x) is np.ndarray else None

    def matrix(self, x: Any) -> tuple[Any, Seen] | None:
        """Return the matrix, a slot or a constant, that ``x`` is or shows; None if not large."""
        form = self.form(x)
        if form is None or not _is_large(form):
            return None
        if type(x) is not Slot:
            return x, Seen()
        is_complex, seen = form.kind.kind == "c", Seen()
        while True:
            x = Slot(self.equal.get(x.position, x.position))
            f, args, options, *_ = self.steps[x.position]
            if f in _TRANSPOSES and _TRANSPOSES[f](*args[1:], **options):
                seen = Seen(not seen.transposed, seen.conjugated)
            elif f is np.conjugate and not options:
                seen = Seen(seen.transposed, seen.conjugated != is_complex)
            else:
                return x, seen
            if type(args[0]) is not Slot:
                return x, seen
            x = args[0]

    def upper(self, matrix: Any) -> bool | None:
        """Say of a Cholesky factor whether it is the upper one; None of any other matrix."""
        if type(matrix) is not Slot:
            return None
        step = self.steps[matrix.position]
        upper = step.options.get("upper", False)
        return upper if step.function is np.linalg.cholesky and type(upper) is bool else None

    # ---- the steps that stand for others --------------------------------------------------------

    def replaced(self) -> Iterator[tuple[int, Callable, tuple]]:
        """Yield the steps that others stand for: their positions, functions and operands."""
        for position, first in self.equal.items():
            if self.steps[position].function is np.linalg.cholesky and first != position:
                yield position, np.copy, (Slot(first),)
        for group in self.sharing.values():
            matrix, upper, f = group[0].matrix, group[0].upper, group[0].f
            factor: Any
            if type(matrix) is not Slot:
                factor = LU(matrix)
            elif upper is not None:
                factor = Factor(functools.partial(Triangular, upper=upper), matrix)
            elif len(group) > 1 or f in _INVERSES:
                factor = Factor(LU, matrix)
            else:
                continue  # NumPy makes them as well
            for step in group:
                first, form = self.equal[step.position], self.steps[step.position].form
                if first != step.position and form is not None and form.array:
                    yield step.position, np.copy, (Slot(first),)
                else:
                    yield step.position, step.f, (factor, *step.args)


def _is_large(form: ValueForm) -> bool:
    square = form.array and len(form.shape) == 2 and form.shape[0] == form.shape[1]
    return square and form.shape[0] >= FACTORED_ROWS and form.kind.char in factors.KINDS


def _swaps_two(first: Any, second: Any) -> bool:
    """Say of two axes of a matrix, in their order or not, whether they are to change places."""
    return type(first) is type(second) is int and (first - second) % 2 == 1


# Of settings, whether a function transposes a matrix.
_TRANSPOSES: dict[Any, Callable] = {
    np.swapaxes: lambda axis1, axis2: _swaps_two(axis1, axis2),
    np.transpose: lambda axes=None: axes is None or axes[0] % 2 == 1,
    np.matrix_transpose: lambda: True,
}  # fmt: skip
