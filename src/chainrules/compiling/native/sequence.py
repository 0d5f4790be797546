"""Many loop nests behind each other as one native function, which reads in a table what to do.

A loop of Python, recorded, asks for the same few nests again and again, on other arrays each time.
Each nest is written once, and a row of the table is one call of it: which nest, and for each of its
arguments in which array it lies (a base), and how many bytes from where that begins. So neither the
text nor the time to compile it grows with the number of calls.
"""

import weakref
from collections.abc import Callable, Sequence

import numpy as np

from .arrays.nest_functions import write_nest
from .assembly.assembler import Module
from .entry import make_callable
from .kernel import code_of
from .locks import making
from .machine import host_width
from .request import Request, checked, parameters

# Functions in use: between calls of NumPy, too, a loop of Python asks for the same again.
_known: weakref.WeakValueDictionary[str, Callable[..., None]] = weakref.WeakValueDictionary()

Place = tuple[int, int]  # base, bytes

_DRIVER = """
define internal void @run({taken}) nounwind {{
entry:
%bases = alloca [{count} x ptr], align 8
store ptr null, ptr %bases
{stores}
br label %next
next:
%row = phi ptr [ %x0, %entry ], [ %after, %next ]
%nest = load i64, ptr %row
%where = getelementptr ptr, ptr @nests, i64 %nest
%code = load ptr, ptr %where
call void %code(ptr %row, ptr %bases)
%length.at = getelementptr i64, ptr %row, i64 1
%length = load i64, ptr %length.at
%after = getelementptr i64, ptr %row, i64 %length
%again = load i64, ptr %after
%goes.on = icmp sge i64 %again, 0
br i1 %goes.on, label %next, label %end
end:
ret void
}}
"""

_STORES = {
    "float": "store double %x{0}, ptr %number{0}",
    "bool": "%byte{0} = zext i1 %x{0} to i8\nstore i8 %byte{0}, ptr %number{0}",
}


class NestSequence:
    """Nests in the order in which they are done.

    Base 0 begins at address 0, so that what stays where it is has a place; base k is argument
    k of the native function, which takes the table before them.

    Examples
    --------
    >>> from chainrules.compiling.native import Input, Operation, Output
    >>> ops = [Operation("add", (0, 0))]
    >>> double = Request((3,), [Input("f8", (1,))], ops, [Output(1, (1,))])
    >>> sequence = NestSequence()
    >>> for _ in range(3):
    ...     sequence.add(double, [(1, 0), (1, 0)])
    >>> run, table = sequence.built(["array"])
    >>> y = np.arange(3.0)
    >>> run(table, y)
    >>> y
    array([ 0.,  8., 16.])
    """

    def __init__(self) -> None:
        self.known: dict[str, tuple[int, Request]] = {}
        self.table: list[int] = []

    def add(self, nest: Request, places: Sequence[Place]) -> None:
        """Append a nest, and where its arguments lie."""
        number, _ = self.known.setdefault(nest.key(), (len(self.known), nest))
        self.table += [number, 2 + 2 * len(places)]
        for place in places:
            self.table += place

    def built(self, kinds: Sequence[str]) -> tuple[Callable[..., None], np.ndarray]:
        """Return the native function of the table and of arguments of these kinds, and the table.

        "array" is passed as it is; of a "float" and of a "bool" the base is where it lies.
        """
        key = repr((list(self.known), kinds))
        with making:
            run = _known.get(key)
            if run is None:
                run = _known[key] = self._made(kinds)
        return run, np.array([*self.table, -1], np.int64)

    def _made(self, kinds: Sequence[str]) -> Callable[..., None]:
        module = Module()
        for number, nest in self.known.values():
            program = checked(nest)
            write_nest(program, module, program.lanes(host_width()), name=f"@nest{number}")
        stores = []
        for k, kind in enumerate(kinds, 1):
            at = f"%x{k}"
            if kind != "array":
                at = f"%number{k}"
                stores.append(f"{at} = alloca double, align 8")
                stores.append(_STORES[kind].format(k))
            stores.append(f"%base{k} = getelementptr ptr, ptr %bases, i64 {k}")
            stores.append(f"store ptr {at}, ptr %base{k}")
        taken = ["array", *kinds]
        module.functions["@run"] = _DRIVER.format(
            taken=parameters(taken), count=len(taken), stores="\n".join(stores)
        )
        nests = ", ".join(f"ptr @nest{k}" for k in range(len(self.known)))
        module.globals.append(f"@nests = internal constant [{len(self.known)} x ptr] [{nests}]")
        return make_callable(code_of(module, taken))
