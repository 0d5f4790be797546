"""Public function ``cr.compile``: it checks the options, and wraps the function."""

import functools
from collections.abc import Callable
from typing import Literal, TypeVar, overload

from ..rules.annotations import P
from ..rules.refusals.table import refusal
from .compiled import Compiled

R = TypeVar("R")


@overload
def compile(f: Callable[P, R], /, **options: object) -> Callable[P, R]: ...
@overload
def compile(**options: object) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def compile(  # type: ignore[misc]
    f: Callable | None = None,
    /,
    *,
    captured: Literal["check", "freeze"] = "check",
    paths: int = 16,
    fallback: Literal["eager", "error"] = "eager",
    check: bool = True,
    threads: int = 1,
    progress: bool = False,
) -> Callable:
    """Return ``f`` as a function that is recorded at its first call, and replayed from then on.

    ``f`` is any function of NumPy code, with derivatives or without: ``cr.value_and_grad(loss)``,
    ``cr.hessian(f)``, ``cr.jvp`` or a nest of these inside. A call records what is done with the
    numbers, whatever Python did between; the next calls with arguments of the same types, shapes
    and dtypes do that again: as machine code where llvmlite is installed (``pip install
    'chainrules[compile]'``), else and where there is none by calls of NumPy. Machine code is kept
    in the user's cache folder, or where the environment variable ``CHAINRULES_CACHE`` says, which
    may be ``off``.

    What the function looks at (``if x > 0``, ``range(int(n))``, ``x[x > 0]``) is looked at in
    every replay; where that is something else, the function is recorded again, and both ways are
    kept. What the functions that it runs capture (globals, cells, fields, lists, dicts, arrays,
    memory) is compared at every call. A function that reads what nobody can compare (a clock, a
    file, an object of C that is not known) runs as it always did, with a ``CompileWarning`` that
    names it and says what to write instead.

    Inside of derivatives a compiled function of numbers and arrays is one step with compiled
    derivatives; others are followed as ever.

    Parameters
    ----------
    f : callable
        Takes numbers, arrays and containers of these. Floats, complex numbers and arrays are what
        a recording is run with; integers, texts and the like belong to the kind of the arguments,
        and a new one makes a new recording. Without ``f`` the result is a decorator.
    captured : {"check", "freeze"}, optional
        ``"freeze"`` takes what ``f`` captures as it was at the first call, and for constant;
        nothing of it is refused.
    paths : int, optional
        How many ways through ``f`` are kept for one kind of arguments. A function with more runs
        as it always did, with a ``CompileWarning`` that names the line where they part.
    fallback : {"eager", "error"}, optional
        Whether a function that cannot be recorded runs as it always did, with a
        ``CompileWarning``, or raises a ``CompileError``.
    check : bool, optional
        Whether each recording is compared with the function itself, when it is made and when it is
        first replayed: then the function runs twice.
    threads : int, optional
        On how many threads machine code goes over large arrays, of more than some 100,000 entries.
        The numbers are those of one thread, but for sums over the axis that is divided: these are
        put together of pieces, and the same on two threads and on more. (NumPy's products of
        matrices have threads of their own.)
    progress : bool, optional
        Whether a first call that takes long shows a bar by tqdm (the extra ``progress``), which
        counts the operations that are recorded.

    Returns
    -------
    callable
        With the signature and the results of ``f``; its numbers may differ in the last bits.
        ``cr.explain(compiled)`` tells what was recorded, and ``compiled.clear()`` forgets it.

    Raises
    ------
    CompileError
        When called: if ``f`` draws random numbers, or changes what it captures more than once (a
        cache may be filled). That would happen at the first call only. What else it does besides
        computing its result, such as reading a clock, is noticed when it is first replayed, and
        the function runs as it always did.

    Notes
    -----
    Assumed is that ``f`` gives the same for the same arguments and captured values. What it prints
    of other things than of its numbers, or logs, is seen while it is recorded, and a
    ``CompileWarning`` says so. A primitive is called in every run. NumPy's warnings, and
    ``np.errstate(all="raise")``, have no effect on machine code. At a tie a comparison of numbers
    that differ in the last bit may go the other way. Libraries are assumed not to change.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> def loss(w, x):
    ...     return np.sum((np.sin(w * x) - x) ** 2)
    >>> step = cr.compile(cr.value_and_grad(loss))
    >>> x = np.linspace(0.0, 1.0, 5)
    >>> for w in (1.0, 1.1):
    ...     value, slope = step(w, x)
    ...     print(f"{value:.6f} {slope:.6f}")
    0.030235 -0.265649
    0.013054 -0.084714
    """
    if f is None:
        return functools.partial(
            compile,
            captured=captured,
            paths=paths,
            fallback=fallback,
            check=check,
            threads=threads,
            progress=progress,
        )
    for name, x, known in (
        ("captured", captured, ("check", "freeze")),
        ("fallback", fallback, ("eager", "error")),
    ):
        if x not in known:
            raise refusal(
                "value of an option", name=name, x=repr(x), known=", ".join(map(repr, known))
            )
    if type(threads) is not int or threads < 1:
        raise refusal(
            "value of an option", name="threads", x=repr(threads), known="1, 2, 3 and so on"
        )
    if not callable(f):
        raise refusal("no function", name="compile", x=type(f).__name__)
    return Compiled(f, captured, paths, fallback, check, threads, progress)
