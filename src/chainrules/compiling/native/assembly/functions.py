"""Functions that kernels call: those of C's library, and those that a module writes once."""

from collections.abc import Callable

from ..machine import libm
from .assembler import FunctionText, Lanes, Module


def function_of_c(module: Module, name: str, count: int) -> str:
    """The name of a function that goes on to C's of this name, wherever that lies."""
    full = f"@c.{name}"
    if full not in module.functions:
        taken = ", ".join(f"double %x{k}" for k in range(count))
        module.functions[full] = (
            f"define internal double {full}({taken}) noinline nounwind {{\n"
            f"%f = load ptr, ptr {module.elsewhere(name, libm(name))}\n"
            f"%y = musttail call double %f({taken})\nret double %y\n}}"
        )
    return full


def each_lane(v: Lanes, c_name: str, *xs: str) -> str:
    """C's function ``c_name`` of each lane: one call, to a function that is written once.

    Of float32 it is that of doubles, rounded.
    """
    if v.kind == "f4":
        wide = v.of("f8")
        y = each_lane(wide, c_name, *(v.cast("fpext", x, wide) for x in xs))
        return wide.cast("fptrunc", y, v)
    target = function_of_c(v.fn.module, c_name, len(xs))

    def of_one(fn: FunctionText, *xs: str) -> str:
        given = ", ".join(f"double {x}" for x in xs)
        return fn.let(f"call double {target}({given}) #0")

    def of_all(inner: Lanes, *xs: str) -> str:
        lanes = [[inner.lane(x, k) for x in xs] for k in range(v.width)]
        return inner.gathered([of_one(inner.fn, *each) for each in lanes])

    return of_one(v.fn, *xs) if v.width == 1 else as_function(v, f"{c_name}.each", of_all, *xs)


def as_function(v: Lanes, name: str, write: Callable[..., str], *xs: str) -> str:
    """A call of what ``write`` writes, as a function that is written once."""
    full = f"@own.{name}.{v.suffix}"
    module = v.fn.module
    if full not in module.functions:
        fn = FunctionText(module)
        parameters = [f"%x{k}" for k in range(len(xs))]
        fn.put(f"ret {v.real} {write(Lanes(fn, v.width, v.kind), *parameters)}")
        taken = ", ".join(f"{v.real} {x}" for x in parameters)
        head = f"define internal {v.real} {full}({taken}) noinline #0 {{"
        module.functions[full] = "\n".join((head, "entry:", *fn.lines, "}", ""))
    given = ", ".join(f"{v.real} {x}" for x in xs)
    return v.fn.let(f"call {v.real} {full}({given}) #0")
