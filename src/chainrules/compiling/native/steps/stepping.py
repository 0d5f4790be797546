"""Stepping: one native loop, for any number of steps, around the native body of a step.

A body is a function of six arrays: the carry, the captured numbers and a row of the inputs, which
it reads; the next carry, a row of the outputs and the guards' truths, which it writes. A loop may
have several bodies, one for each way through the step. A body whose truths are not those that it
was recorded with is not the one of this step: the next is asked, and where none is left the loop
returns, to be told what to do.
"""

import functools
from collections.abc import Callable, Sequence

import numpy as np

from ..assembly.assembler import Module
from ..entry import make_callable
from ..kernel import code_of
from ..locks import made_once
from ..machine import Code
from ..request import Input, Output, Request, checked, parameters
from ..scalars.numbers import Numbers
from .way_tree import Way

#: The arrays of a body: carry, captured, row in; next carry, row out, truths.
BODY = "ckxoyt"

_STEP = """
define void @step({taken}) nounwind {{
call void @run({given})
ret void
}}
"""

# State: 0 step, 1 end, 2 bytes from row to row in, 3 out, 4 bodies, 5 body of the last step, 6 why
# it ended: 0 at the end, 1 since no body fits the next step, 2 by a body that ends the loop.
_DRIVER = """
define internal void {name}({taken}) nounwind {{
entry:
%at.end = getelementptr i64, ptr %x1, i64 1
%at.in = getelementptr i64, ptr %x1, i64 2
%at.out = getelementptr i64, ptr %x1, i64 3
%at.count = getelementptr i64, ptr %x1, i64 4
%at.body = getelementptr i64, ptr %x1, i64 5
%at.none = getelementptr i64, ptr %x1, i64 6
%first = load i64, ptr %x1
%end = load i64, ptr %at.end
%width.in = load i64, ptr %at.in
%width.out = load i64, ptr %at.out
%count = load i64, ptr %at.count
%body = load i64, ptr %at.body
br label %step
step:
%t = phi i64 [ %first, %entry ], [ %t.next, %advance ]
%b = phi i64 [ %body, %entry ], [ %try, %advance ]
%c = phi ptr [ %x2, %entry ], [ %o, %advance ]
%o = phi ptr [ %x3, %entry ], [ %c, %advance ]
%more = icmp slt i64 %t, %end
br i1 %more, label %rows, label %done
rows:
%in = mul i64 %t, %width.in
%out = mul i64 %t, %width.out
%x = getelementptr i8, ptr %x5, i64 %in
%y = getelementptr i8, ptr %x6, i64 %out
br label %ask
ask:
%try = phi i64 [ %b, %rows ], [ %other, %another ]
%tried = phi i64 [ 0, %rows ], [ %tried.next, %another ]
%place = mul i64 %try, 4
%row = getelementptr i64, ptr %x0, i64 %place
%f = load ptr, ptr %row
%at.expected = getelementptr ptr, ptr %row, i64 1
%expected = load ptr, ptr %at.expected
%at.truths = getelementptr i64, ptr %row, i64 2
%truths = load i64, ptr %at.truths
call void %f(ptr %c, ptr %x4, ptr %x, ptr %o, ptr %y, ptr %x7)
br label %compare
compare:
%k = phi i64 [ 0, %ask ], [ %k.next, %same ]
%left = icmp slt i64 %k, %truths
br i1 %left, label %truth, label %fits
truth:
%at.seen = getelementptr i8, ptr %x7, i64 %k
%at.meant = getelementptr i8, ptr %expected, i64 %k
%seen = load i8, ptr %at.seen
%meant = load i8, ptr %at.meant
%equal = icmp eq i8 %seen, %meant
br i1 %equal, label %same, label %misses
same:
%k.next = add i64 %k, 1
br label %compare
fits:
%at.stops = getelementptr i64, ptr %row, i64 3
%stops = load i64, ptr %at.stops
%goes.on = icmp eq i64 %stops, 0
br i1 %goes.on, label %advance, label %stop
advance:
%t.next = add i64 %t, 1
br label %step
stop:
store i64 2, ptr %at.none
br label %done
misses:
%tried.next = add i64 %tried, 1
%again = icmp slt i64 %tried.next, %count
br i1 %again, label %another, label %none
another:
%try.next = add i64 %try, 1
%last = icmp eq i64 %try.next, %count
%other = select i1 %last, i64 0, i64 %try.next
br label %ask
none:
store i64 1, ptr %at.none
br label %done
done:
store i64 %t, ptr %x1
store i64 %b, ptr %at.body
ret void
}}
"""

# For QUADPACK, which calls it with the addresses of the driver's arrays, and the offset in bytes of
# the number that is integrated. Behind a node that no body fits the rest is not evaluated.
_INTEGRAND = """
define double @integrand(i32 %n, ptr %node, ptr %data) nounwind {{
entry:
{loads}
%at.offset = getelementptr ptr, ptr %data, i64 8
%offset = load i64, ptr %at.offset
%at.why = getelementptr i64, ptr %x1, i64 6
%before = load i64, ptr %at.why
%goes.on = icmp eq i64 %before, 0
br i1 %goes.on, label %evaluate, label %miss
evaluate:
store i64 0, ptr %x1
%t = load double, ptr %node
store double %t, ptr %x5
call void @run({given})
%why = load i64, ptr %at.why
%fits = icmp eq i64 %why, 0
br i1 %fits, label %hit, label %miss
hit:
%place = getelementptr i8, ptr %x6, i64 %offset
%y = load double, ptr %place
ret double %y
miss:
ret double 0x7FF8000000000000
}}
"""
_ARRAYS = ["array"] * 8


def driver_text(name: str) -> str:
    """Return the LLVM text of the native loop, as a function of this name."""
    return _DRIVER.format(name=name, taken=parameters(_ARRAYS))


@made_once
def _driver_code() -> Code:
    loads = [
        line
        for k in range(len(_ARRAYS))
        for line in (
            f"%p{k} = getelementptr ptr, ptr %data, i64 {k}",
            f"%x{k} = load ptr, ptr %p{k}",
        )
    ]
    given = ", ".join(f"ptr %x{k}" for k in range(len(_ARRAYS)))
    module = Module()
    module.functions["@run"] = driver_text("@run")
    module.globals.append(_INTEGRAND.format(loads="\n".join(loads), given=given))
    return code_of(module, _ARRAYS)


@made_once
def driver() -> Callable[..., None]:
    """Return the native loop: of bodies, state, carry, next carry, captured, rows in, out, truths.

    The carry lies in the one or the other array, as the number of steps done is even or odd.
    """
    return make_callable(_driver_code())


def integrand_address() -> int:
    """Return the address of a function in C for QUADPACK, ``double f(int, double *, void *)``."""
    return _driver_code().address("integrand")


class StepBody:
    """The native body of a way through a step, made when it is first asked for its ``row``.

    ``lines`` are the user's, of the guards in their order.
    """

    def __init__(self, way: Way, lines: Sequence[str]) -> None:
        self.way, self.lines = way, lines
        self.expected = np.array(way.expected, np.bool_)

    @functools.cached_property
    def row(self) -> tuple[int, int, int, int]:
        """Return the body's row in the driver's table."""
        self.code = code = _body_code(self.way)
        address, size = code.address("step"), len(self.expected)
        return address, self.expected.ctypes.data, size, int(self.way.stops)


def _body_code(way: Way) -> Code:
    first: dict[str, int] = {}
    read = [Input("f8", (), at, _of(first, held, k)) for k, (held, at) in enumerate(way.inputs)]
    stored = [
        Output(x, (), None, "b1" if held == "t" else "f8", at, _of(first, held, k))
        for k, (x, held, at) in enumerate(way.outputs)
    ]
    module = Module()
    numbers = Numbers(checked(Request((), read, way.ops, stored)), module)
    module.globals.append(
        _STEP.format(
            taken=", ".join(f"ptr %{held}" for held in BODY),
            given=", ".join(f"ptr %{held} " for held in first),
        )
    )
    code = Code(module.text(), numbers.effort)
    code.connect(module.addresses.values())
    numbers.fill(code)
    return code


def _of(first: dict[str, int], held: str, k: int) -> int | None:
    """Return the number of the first that lies in the same array; None of the first itself."""
    found = first.setdefault(held, k)
    return None if found == k else found
