"""A recording run in each of the three ways, beside plain NumPy."""

import numpy as np

from chainrules.compiling.ir.values import Group
from chainrules.compiling.passes.fused.fusion import Fused
from chainrules.compiling.passes.replay import Replay
from chainrules.compiling.passes.scalar.scalar_program import NativeLine
from chainrules.compiling.record.cache_key import signature
from chainrules.compiling.record.recording import record
from chainrules.compiling.record.state.captured_state import Captured
from chainrules.rules import iterate_leaves


def many(recorder, output):
    """As a program of many steps, of whatever length it is: all loops in one function."""
    return Fused(recorder, output, many=True)


WAYS = {"replay": Replay, "numbers": NativeLine, "fused": Fused, "many": many}


class Recorded:
    """One recording of ``f`` at ``args``."""

    def __init__(self, f, *args):
        self.f = f
        key, _ = signature(args, {})
        with np.errstate(all="ignore"):
            self.recorder, self.output, _ = record(f, args, {}, Captured((f, key), False))

    def by(self, way):
        return WAYS[way](self.recorder, self.output)

    def functions(self, way):
        """Return the functions of the steps that ``way`` has native code for."""
        made = self.by(way)
        plan = self.recorder.plan
        if way not in ("fused", "many"):
            functions = [step.function for step in plan.values()]
            return {f for f in functions if way == "numbers" and type(f).__hash__}
        native = set(made.groups.views)
        for item in made.groups.items:
            if type(item) is Group:
                native |= {*item.of_step, *item.stored}
        return {step.function for position, step in plan.items() if position in native}


def run(made, args):
    with np.errstate(all="ignore"):
        return made.run(signature(args, {})[1])


def differences(found, expected, ulps=4.0, zeros=True, orders=True):
    """Say where two results differ: types, dtypes, shapes, order of memory, numbers."""
    xs, ys = list(iterate_leaves(found)), list(iterate_leaves(expected))
    if len(xs) != len(ys):
        return [f"{len(xs)} parts for {len(ys)}"]
    said = []
    for k, (x, y) in enumerate(zip(xs, ys)):
        if text := _difference(x, y, ulps, zeros, orders):
            said.append(f"{k}: {text}")
    return said


def _difference(x, y, ulps, zeros, orders):
    if type(x) is not type(y):
        return f"{type(x).__name__} for {type(y).__name__}"
    if not isinstance(y, np.ndarray | np.generic | float | complex):
        return "" if x == y else f"{x!r} for {y!r}"
    ordered = isinstance(y, np.ndarray) and orders and order(y) != "?"
    if ordered and order(x) != order(y):
        return f"order {order(x)} for {order(y)}"
    x, y = np.asarray(x), np.asarray(y)
    if (x.dtype, x.shape) != (y.dtype, y.shape):
        return f"{x.dtype}{x.shape} for {y.dtype}{y.shape}"
    if y.dtype.kind not in "fc":
        return "" if np.array_equal(x, y) else f"{x} for {y}"
    with np.errstate(all="ignore"):
        size = np.max(np.abs(y), initial=0.0, where=np.isfinite(y))
        eps = float(np.finfo(y.dtype).eps)
        scale = np.where(np.isfinite(y), np.abs(y), 0.0) if ulps < 100 else size
        room = ulps * eps * scale + 4 * float(np.finfo(y.dtype).smallest_subnormal)
        same = np.ones(y.shape, bool)
        for a, b in ((x.real, y.real), (x.imag, y.imag)):  # an inf is near nothing but inf
            same &= (np.abs(a - b) <= room) | (a == b) | (np.isnan(a) & np.isnan(b))
    if zeros and y.dtype.kind == "f":
        same &= (np.signbit(x) == np.signbit(y)) | (y != 0) | (x != 0)
    if same.all():
        return ""
    return f"{x[~same][:4]} for {y[~same][:4]}"


def order(x):
    flags = x.flags
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else "?"
