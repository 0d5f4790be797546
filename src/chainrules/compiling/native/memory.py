"""Loads and stores of several lanes at once: side by side, at a stride, or only the first few."""

from __future__ import annotations

from .assembler import Function, Lanes

__all__ = ["BYTES", "load", "load_one", "mask_of", "store"]

#: In arrays; a truth is a byte there.
BYTES = {"f8": "double", "b1": "i8"}


def load_one(fn: Function, address: str, dtype: str) -> str:
    """The double or truth at ``address``."""
    if dtype == "f8":
        return fn.let(f"load double, ptr {address}")
    return fn.let(f"icmp ne i8 {fn.let(f'load i8, ptr {address}')}, 0")


def load(v: Lanes, base: str, at: str, stride: int, lanes: int, dtype: str) -> str:
    """The doubles or truths of ``lanes`` lanes from index ``at`` on."""
    fn, kind = v.fn, BYTES[dtype]
    first = fn.address(base, fn.times(at, stride), kind)
    zero = "0" if v.width == 1 else "zeroinitializer"
    if stride == 1 and lanes == v.width:
        align = 8 if dtype == "f8" else 1
        raw = fn.let(f"load {_vector(v, kind)}, ptr {first}, align {align}")
    elif stride == 1 and dtype == "f8":
        raw = _masked_load(v, first, lanes)
    else:
        addresses = [fn.address(first, k * stride, kind) for k in range(lanes)]
        each = [fn.let(f"load {kind}, ptr {p}") for p in addresses]
        raw = v.gathered(each, kind, v.number(1.0) if dtype == "f8" else zero)
    return raw if dtype == "f8" else fn.let(f"icmp ne {_vector(v, 'i8')} {raw}, {zero}")


def store(v: Lanes, x: str, base: str, at: str, stride: int, lanes: int, dtype: str) -> None:
    """Put the first ``lanes`` of ``x``, doubles or truths, from index ``at`` on."""
    fn, kind = v.fn, BYTES[dtype]
    if dtype == "b1":
        x = fn.let(f"zext {v.truth} {x} to {_vector(v, 'i8')}")
    first = fn.address(base, fn.times(at, stride), kind)
    if stride == 1 and lanes == v.width:
        align = 8 if dtype == "f8" else 1
        fn.put(f"store {_vector(v, kind)} {x}, ptr {first}, align {align}")
    elif stride == 1 and dtype == "f8":
        name = f"@llvm.masked.store.{v.suffix}.p0"
        declared = f"declare void {name}({v.real}, ptr, i32 immarg, {v.truth})"
        fn.module.declarations[declared] = None
        mask = f"{v.truth} {mask_of(v, lanes)}"
        fn.put(f"call void {name}({v.real} {x}, ptr {first}, i32 8, {mask})")
    else:
        for k in range(lanes):
            one = v.lane(x, k, kind)
            fn.put(f"store {kind} {one}, ptr {fn.address(first, k * stride, kind)}")


def mask_of(v: Lanes, lanes: int) -> str:
    """True in the first ``lanes``."""
    return "<" + ", ".join(f"i1 {int(k < lanes)}" for k in range(v.width)) + ">"


def _vector(v: Lanes, kind: str) -> str:
    return kind if v.width == 1 else f"<{v.width} x {kind}>"


def _masked_load(v: Lanes, address: str, lanes: int) -> str:
    # The lanes beyond are 1, of which every function of mathematics is soon known.
    name = f"@llvm.masked.load.{v.suffix}.p0"
    declared = f"declare {v.real} {name}(ptr, i32 immarg, {v.truth}, {v.real})"
    v.fn.module.declarations[declared] = None
    given = f"i32 8, {v.truth} {mask_of(v, lanes)}, {v.real} {v.number(1.0)}"
    return v.fn.let(f"call {v.real} {name}(ptr {address}, {given})")
