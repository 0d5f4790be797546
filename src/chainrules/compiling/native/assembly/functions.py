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
    if v.width == 1:
        given = ", ".join(f"double {x}" for x in xs)
        return v.fn.let(f"call double {target}({given}) #0")
    name = f"@{c_name}.each.{v.suffix}"
    module = v.fn.module
    if name not in module.functions:
        fn = FunctionText(module)
        inner = Lanes(fn, v.width)
        parameters = [f"%x{k}" for k in range(len(xs))]
        results = []
        for lane in range(v.width):
            given = ", ".join(f"double {inner.lane(x, lane)}" for x in parameters)
            results.append(fn.let(f"call double {target}({given}) #0"))
        fn.put(f"ret {v.real} {inner.gathered(results)}")
        module.functions[name] = _definition(v, name, parameters, fn)
    given = ", ".join(f"{v.real} {x}" for x in xs)
    return v.fn.let(f"call {v.real} {name}({given}) #0")


def as_function(v: Lanes, name: str, write: Callable[..., str], *xs: str) -> str:
    """A call of what ``write`` writes, as a function that is written once."""
    full = f"@own.{name}.{v.suffix}"
    module = v.fn.module
    if full not in module.functions:
        fn = FunctionText(module)
        parameters = [f"%x{k}" for k in range(len(xs))]
        fn.put(f"ret {v.real} {write(Lanes(fn, v.width, v.kind), *parameters)}")
        module.functions[full] = _definition(v, full, parameters, fn)
    given = ", ".join(f"{v.real} {x}" for x in xs)
    return v.fn.let(f"call {v.real} {full}({given}) #0")


def _definition(v: Lanes, name: str, parameters: list[str], fn: FunctionText) -> str:
    given = ", ".join(f"{v.real} {x}" for x in parameters)
    head = f"define internal {v.real} {name}({given}) noinline #0 {{"
    return "\n".join((head, "entry:", *fn.lines, "}", ""))
