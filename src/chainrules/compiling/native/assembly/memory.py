"""Loads and stores of several lanes at once: side by side, at a stride, or only the first few."""

from .assembler import FunctionText, Lanes
from .kinds import BYTES, KINDS


def load_one(fn: FunctionText, address: str, dtype: str) -> str:
    """The number or truth at ``address``."""
    x = fn.let(f"load {BYTES[dtype]}, ptr {address}")
    return fn.let(f"icmp ne i8 {x}, 0") if dtype == "b1" else x


def load(v: Lanes, base: str, at: str, stride: int, lanes: int, dtype: str) -> str:
    """The numbers or truths of ``lanes`` lanes from index ``at`` on."""
    fn, kind, v = v.fn, BYTES[dtype], v.of(dtype)
    first = fn.address(base, fn.times(at, stride), kind)
    zero = "0" if v.width == 1 else "zeroinitializer"
    if stride == 1 and lanes == v.width:
        raw = fn.let(f"load {_vector(v, kind)}, ptr {first}, align {KINDS[dtype].bytes}")
    elif stride == 1 and dtype != "b1":
        raw = _masked_load(v, first, lanes)
    elif stride == 2 and lanes == v.width > 1 and dtype != "b1":
        raw = _every_other(v, first)
    else:
        addresses = [fn.address(first, k * stride, kind) for k in range(lanes)]
        each = [fn.let(f"load {kind}, ptr {p}") for p in addresses]
        raw = v.gathered(each, kind, v.number(1.0) if dtype != "b1" else zero)
    return raw if dtype != "b1" else fn.let(f"icmp ne {_vector(v, 'i8')} {raw}, {zero}")


def store(v: Lanes, x: str, base: str, at: str, stride: int, lanes: int, dtype: str) -> None:
    """Put the first ``lanes`` of ``x``, numbers or truths, from index ``at`` on."""
    fn, kind, v = v.fn, BYTES[dtype], v.of(dtype)
    if dtype == "b1":
        x = fn.let(f"zext {v.truth} {x} to {_vector(v, 'i8')}")
    first = fn.address(base, fn.times(at, stride), kind)
    if stride == 1 and lanes == v.width:
        fn.put(f"store {_vector(v, kind)} {x}, ptr {first}, align {KINDS[dtype].bytes}")
    elif stride == 1 and dtype != "b1":
        name = f"@llvm.masked.store.{v.suffix}.p0"
        declared = f"declare void {name}({v.real}, ptr, i32 immarg, {v.truth})"
        fn.module.declarations[declared] = None
        mask = f"{v.truth} {mask_of(v, lanes)}"
        align = KINDS[dtype].bytes
        fn.put(f"call void {name}({v.real} {x}, ptr {first}, i32 {align}, {mask})")
    else:
        for k in range(lanes):
            one = v.lane(x, k, kind)
            fn.put(f"store {kind} {one}, ptr {fn.address(first, k * stride, kind)}")


def store_pairs(v: Lanes, x: str, y: str, base: str, at: str, lanes: int, dtype: str) -> None:
    """Put ``x`` and ``y`` side by side, as real and imaginary parts, from index ``at`` on."""
    fn, v = v.fn, v.of(dtype)
    order = ", ".join(f"i32 {k + half}" for k in range(v.width) for half in (0, v.width))
    mask = f"<{2 * v.width} x i32> <{order}>"
    both = fn.let(f"shufflevector {v.real} {x}, {v.real} {y}, {mask}")
    pairs = Lanes(fn, 2 * v.width, dtype)
    store(pairs, both, base, fn.times(at, 2), 1, 2 * lanes, dtype)


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
    align = KINDS[v.kind].bytes
    given = f"i32 {align}, {v.truth} {mask_of(v, lanes)}, {v.real} {v.number(1.0)}"
    return v.fn.let(f"call {v.real} {name}(ptr {address}, {given})")


def _every_other(v: Lanes, address: str) -> str:
    """Every other number from ``address`` on, as real parts lie, and nothing beyond the last."""
    fn, w, half = v.fn, v.width, v.width // 2
    parts = [
        fn.let(f"load {v.real}, ptr {p}, align {KINDS[v.kind].bytes}")
        for p in (address, fn.address(address, w - 1, v.scalar))
    ]
    order = ", ".join(f"i32 {2 * k if k < half else 2 * k + 1}" for k in range(w))
    both = f"{v.real} {parts[0]}, {v.real} {parts[1]}"
    return fn.let(f"shufflevector {both}, <{w} x i32> <{order}>")
