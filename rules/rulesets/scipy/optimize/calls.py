"""Calls of SciPy's solvers, with plain numbers and functions that return plain numbers."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, cast

from .....config.progress import LongWork, ending, long_work
from ...functions.closures import TakenOut
from ...functions.implicit import Watched, config_of, settled, untraced
from ...functions.scan import recordings, solver_lowerings

# Parameters that are functions of the user's, besides the one that is solved for.
DERIVATIVES = {
    "fprime", "fprime2", "fhess", "fhess_p", "jac", "hess", "hessp", "Dfun", "gradient",
    "fprime_eqcons", "fprime_ieqcons",
}  # fmt: skip

# Those that are handed ``args`` besides, and the solvers that draw no random numbers.
TAKE_ARGS = {"f", "fun", "func", "F", *DERIVATIVES}
DETERMINED = {
    "root", "fsolve", "root_scalar", "brentq", "brenth", "bisect", "ridder", "toms748", "newton",
    "fixed_point", "minimize", "minimize_scalar", "fminbound", "brent", "golden", "least_squares",
    "leastsq", "curve_fit", "fmin", "fmin_bfgs", "fmin_cg", "fmin_ncg", "fmin_l_bfgs_b",
    "fmin_powell", "fmin_tnc", "anderson", "broyden1", "broyden2", "newton_krylov", "nnls",
    "lsq_linear", "isotonic_regression",
}  # fmt: skip


# Solvers that call f(x, *args) with any sequence; others take what is no tuple for one argument.
UNPACKING = {"newton", "least_squares", "fixed_point"}


class SolverCall(dict):
    """The arguments of a call of SciPy's ``own``, by their names."""

    def __init__(self, own: Callable, names: tuple, args: tuple, kwargs: dict) -> None:
        super().__init__(zip(names, args))
        self.update(kwargs)
        self.own = own
        self.placed = names[: len(args)]  # given by position, which SciPy may tell from names

    @property
    def args(self) -> tuple:
        """The further arguments of the user's function."""
        args = self.get("args", ())
        if self.own.__name__ in UNPACKING:
            return tuple(args)
        return args if isinstance(args, tuple) else (args,)

    def run(self, **instead: Any) -> Any:
        """Call SciPy with plain numbers, and with the arguments ``instead``."""
        made = {name: instead[name] if name in instead else plain_part(name, x)
                for name, x in self.items()}  # fmt: skip
        return self.own(*[made.pop(name) for name in self.placed], **made)


def plain_part(name: str, x: Any) -> Any:
    """Return an argument without traced values."""
    if callable(x):
        return Watched(x) if name in DERIVATIVES else x
    return untraced(x)


def follows(own: Callable, body: Callable) -> Callable:
    """Return a function with the signature of SciPy's ``own`` that does ``body(call)``."""
    names = tuple(inspect.signature(own).parameters)

    @functools.wraps(own)
    def followed(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(names):
            return own(*args, **kwargs)  # it says so
        args, kwargs = settled((args, kwargs))
        return body(SolverCall(own, names, args, kwargs))

    return followed


def recorded_answer(call: SolverCall, instead: dict) -> Any:
    """Return the answer as one step of a recording; None where there is none."""
    if not recordings or (lower := solver_lowerings.get("answer")) is None:
        return None
    if call.own.__name__ not in DETERMINED or "callback" in call:
        return None
    given = {name: instead.get(name, x) for name, x in call.items()}
    given = {name: x.f if isinstance(x, Watched) else x for name, x in given.items()}

    def solve(made: dict) -> Any:
        return call.own(*[made.pop(name) for name in call.placed if name in made], **made)

    top = frozenset(TAKE_ARGS) if "args" in call else frozenset()
    return lower(given, solve, top, call.own.__name__)


class CountedCalls(Watched):
    """A function of the user's whose calls are counted in a bar."""

    def __init__(self, f: Callable, work: LongWork) -> None:
        super().__init__(f)
        self.work = work

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        y = super().__call__(*args, **kwargs)
        self.work.update()
        return y


class Solved:
    """A call whose function ``f``, the argument ``name``, SciPy has seen to: its ``answer``.

    ``config`` is that of an engine that follows what the answer depends on: what the function
    captures, its further arguments, or ``beside``. It is None where nothing is traced.
    """

    __slots__ = ("answer", "args", "call", "config", "f")

    def __init__(self, call: SolverCall, name: str, beside: Any = (), **instead: Any) -> None:
        self.call = call
        self.f: Any = cast(Any, call.get(name))
        self.args = call.args
        work = None if recordings else long_work(call.own.__name__, None, "evaluations")
        watched = Watched(self.f) if work is None else CountedCalls(self.f, work)
        if name in call:
            instead[name] = watched
        self.answer = recorded_answer(call, instead)
        if self.answer is None:
            with ending(work):
                self.answer = call.run(**instead)
            self.config = watched.config or config_of((self.args, beside))
        else:
            self.config = config_of(TakenOut((self.f, self.args, beside)).parameters)

    @property
    def traced(self) -> bool:
        return self.config is not None
