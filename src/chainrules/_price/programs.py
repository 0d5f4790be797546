"""Programs that ``cr.cost`` measures: each derivative as a function of the function's arguments."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np

import chainrules as cr

from ..compiling import compile
from ..config import ArgumentTypeError
from ..config.thresholds import PRICED_ENTRIES, PRICED_MEMORY
from ..forward import jacfwd, jvp
from ..reverse import grad, hessian, hvp, jacobian, jacrev, vjp
from ..rules import ZeroTangent, is_perturbable_input, iterate_leaves, map_leaves, name_of
from ..rules.engines.arguments import Arguments
from ..testing import rand_tangent
from ..testing.describe import call_text, short
from .differences import calls, differences
from .table import COMPILED, EAGER


@dataclass
class PricedProgram:
    """One program: what it computes, how it is called, and what is known of it beforehand.

    ``calls`` is how often it calls the function, where that is known; ``needs`` names the product
    of which it takes ``directions`` (see ``least``); ``refused`` says why it cannot be run.
    ``compiled`` is the compiled function in it, whose recordings tell whether it is one;
    ``prepare`` makes another library's arrays of the arguments, before calls are timed.
    """

    name: str
    order: int
    whole: bool
    call: Callable
    form: str = EAGER
    exact: bool = True
    calls: int | None = None
    needs: str = ""
    directions: int = 1
    refused: str = ""
    compiled: Any = None
    prepare: Callable[[tuple], tuple] | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.form

    def given(self, points: Iterable[tuple]) -> Iterable[tuple]:
        """Return the arguments of calls as this program takes them."""
        return points if self.prepare is None else list(map(self.prepare, points))


class Point:
    """A call of a function: what is differentiated of it, and calls with other numbers nearby.

    Raises
    ------
    TypeError
        If the arguments chosen, or the result, hold no number.
    """

    def __init__(self, f: Callable, argnums: Any, args: tuple) -> None:
        self.f = f
        self.argnums = argnums
        chosen = Arguments("cost", f, argnums, args, {})
        self.positions = chosen.positions
        self.args = tuple([_of_floats(x) if i in self.positions else x for i, x in enumerate(args)])
        self.primals = tuple([self.args[i] for i in self.positions])
        self.y = f(*self.args)
        self.inputs = len(cr.flatten(self.primals)[0])
        self.outputs = len(cr.flatten(self.y)[0])
        if not self.outputs:
            raise ArgumentTypeError(
                f"{name_of(f)} gave {short(self.y)}, which holds no number whose derivative could "
                "be measured."
            )
        self.complex = any(map(np.iscomplexobj, iterate_leaves(self.primals)))
        number = isinstance(self.y, float | np.floating | np.ndarray)
        self.real = number and np.shape(self.y) == () and np.isrealobj(self.y)
        self.text = call_text(f, self.args, {})

    def moved(self, count: int) -> Iterable[tuple]:
        """Return the arguments of so many calls, whose numbers differ in the sixth digit."""
        size = 8 * max(self.inputs, 1)
        rng = np.random.default_rng()
        made = [self._moved(rng) for _ in range(min(count, max(4, PRICED_MEMORY // size), 1000))]
        return islice(cycle(made), count)

    def _moved(self, rng: np.random.Generator) -> tuple:
        def moved(x: Any) -> Any:
            dtype = np.asarray(x).dtype
            if not is_perturbable_input(x) or dtype.kind not in "fc":
                return x
            far = 1e-6 if dtype.itemsize > 4 else 1e-4  # more than the dtype's rounding
            part = far * rng.uniform(size=np.shape(x))
            near = x + part * np.where(np.equal(x, 0), 1e-3, x)
            return type(x)(near) if isinstance(x, float | complex) else near.astype(dtype)

        args = list(self.args)
        for i in self.positions:
            args[i] = map_leaves(moved, args[i])
        return tuple(args)


def _of_floats(x: Any) -> Any:
    """Return what is differentiated with floats for integers, so that it can be moved."""
    if isinstance(x, int) and not isinstance(x, bool):
        return float(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        return x.astype(float)
    return x


def _constant(t: Any) -> Any:
    if isinstance(t, np.ndarray):
        t.flags.writeable = False  # a recording need not compare it
    return t


def programs(point: Point) -> list[PricedProgram]:
    """Return every program of a function: the cheap ones first."""
    f, positions, n, m = point.f, point.positions, point.inputs, point.outputs
    rng = np.random.default_rng(0)
    xdots = tuple([_constant(rand_tangent(x, rng)) for x in point.primals])
    ybar = _constant(rand_tangent(point.y, rng))
    along = dict(zip(positions, xdots, strict=True))
    tangents = tuple([along.get(i, ZeroTangent()) for i in range(len(point.args))])
    chosen = _chooser(f, positions, len(point.args))

    def pushed(*args: Any) -> Any:
        return jvp(f, args, tangents)

    def pulled(*args: Any) -> Any:
        g, primals = chosen(args)
        return vjp(g, *primals)[1](ybar)

    def product(*args: Any) -> Any:
        g, primals = chosen(args)
        return hvp(g, primals, xdots)

    a = point.argnums
    found = [
        PricedProgram("value", 0, False, f, calls=1),
        PricedProgram("jvp", 1, False, pushed),
        PricedProgram("vjp", 1, False, pulled),
    ]
    if point.real:
        found.append(PricedProgram("grad", 1, True, grad(f, a)))
        found.append(PricedProgram("hvp", 2, False, product))
    found += [
        PricedProgram("jacfwd", 1, True, jacfwd(f, a), needs="jvp", directions=n),
        PricedProgram("jacrev", 1, True, jacrev(f, a), needs="vjp", directions=m),
        PricedProgram("jacobian", 1, True, jacobian(f, a), needs="vjp", directions=min(n, m)),
    ]
    if point.real:
        found.append(PricedProgram("hessian", 2, True, hessian(f, a), needs="hvp", directions=n))
    found += list(_by_differences(point, f, EAGER))
    if n * m > PRICED_ENTRIES:
        for program in found:
            if program.whole and program.order == 1:
                program.refused = f"a matrix of {m} x {n} numbers is not made"
    if n * n > PRICED_ENTRIES:
        for program in found:
            if program.whole and program.order == 2:
                program.refused = f"a matrix of {n} x {n} numbers is not made"
    return found


def _chooser(f: Callable, positions: tuple[int, ...], count: int) -> Callable:
    """Return a map from all arguments to the function of those chosen, and these."""
    if positions == tuple(range(count)):
        return lambda args: (f, args)

    def chosen(args: tuple) -> tuple[Callable, tuple]:
        def of_chosen(*primals: Any) -> Any:
            given = list(args)
            for i, x in zip(positions, primals, strict=True):
                given[i] = x
            return f(*given)

        return of_chosen, tuple([args[i] for i in positions])

    return chosen


def _by_differences(point: Point, f: Callable, form: str) -> Iterable[PricedProgram]:
    """Yield finite differences of ``f``, the function or what is compiled of it."""
    for order, sides in ((1, 1), (1, 2), (2, 1), (2, 2)):
        if order == 2 and not point.real:
            continue
        name = ("one", "two")[sides - 1] + "-sided differences" + ", Hessian" * (order == 2)
        yield PricedProgram(
            name, order, True, differences(f, order, sides, point.positions), form, exact=False,
            calls=calls(order, sides, point.inputs),
            refused="the inputs are complex" if point.complex else "",
        )  # fmt: skip


def compiled(point: Point, eager: list[PricedProgram]) -> list[PricedProgram]:
    """Return the compiled forms of these programs; differences take those of the function."""
    found = []
    function = None
    for program in eager:
        if program.exact:
            made = compile(program.call)
            function = made if program.name == "value" else function
            found.append(
                PricedProgram(
                    program.name, program.order, program.whole, made, COMPILED, compiled=made,
                    needs=program.needs, directions=program.directions,
                )
            )  # fmt: skip
    if function is not None:
        known = {program.name for program in eager}
        for program in _by_differences(point, function, COMPILED):
            if program.name in known:
                program.compiled = function
                found.append(program)
    return found
