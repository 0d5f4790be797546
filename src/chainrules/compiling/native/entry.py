"""Makes a native function callable from Python as fast as a builtin: one vector call, no boxes.

CPython hands a builtin of kind METH_FASTCALL a C array of its arguments. The function written here
in LLVM text compares their types, reads the data pointer out of each ``ndarray`` and the double out
of each ``float`` where these objects keep them, and calls the kernel: 50 ns in all, where a call
through ctypes takes 250 and ``x.ctypes.data`` another 800. Where the objects keep them is probed
once; if the probe does not find what it knows to be there, nothing native is offered.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
import sysconfig
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .machine import Code

__all__ = ["Layout", "entry_text", "layout", "make_callable"]

_WORD = 8
_FASTCALL = 0x80


class Layout(NamedTuple):
    """Offsets in bytes: of an object's type, of a float's number, of an array's data pointer."""

    type: int
    number: int
    data: int


@functools.cache
def layout() -> Layout | None:
    """Where this interpreter's objects keep what an entry reads; None where that is not known."""
    known = (
        platform.python_implementation() == "CPython"
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and not hasattr(sys, "gettotalrefcount")  # a debug build
        and ctypes.sizeof(ctypes.c_void_p) == _WORD
        and sys.byteorder == "little"
    )
    return _probe() if known else None


def _probe() -> Layout | None:
    array, number = np.arange(6.0), 1.2345678
    found = Layout(_WORD, 2 * _WORD, 2 * _WORD)
    for x in (array, array[::-2], np.empty((0, 3)), array.reshape(2, 3).T):
        if _word(x, found.type) != id(np.ndarray) or _word(x, found.data) != x.ctypes.data:
            return None
    for y in (number, np.float64(number)):
        bits = ctypes.c_double.from_address(id(y) + found.number).value
        if _word(y, found.type) != id(type(y)) or bits != number:
            return None
    return found


def _word(x: object, offset: int) -> int:
    return ctypes.c_uint64.from_address(id(x) + offset).value


def _api(name: str) -> int:
    return int(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)


def _pointer(address: int) -> str:
    return f"inttoptr (i64 {address} to ptr)"


def entry_text(kinds: Sequence[str], message: str) -> str:
    """LLVM text of ``@entry``, which calls ``@run`` with one argument for each of ``kinds``.

    Kinds: "array" (passed as a pointer), "float" (as a double), "bool" (as an i1). ``message`` is
    that of the TypeError which other arguments raise.
    """
    where = layout()
    assert where is not None
    lines = [f"%ok = icmp eq i64 %n, {len(kinds)}", "br i1 %ok, label %a0, label %bad"]
    given = []
    for k, kind in enumerate(kinds):
        lines += [
            f"a{k}:",
            f"%p{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"%o{k} = load ptr, ptr %p{k}",
        ]
        lines += _READ[kind](k, where)
        lines.append(f"a{k}.next:\nbr label %a{k + 1}")
        given.append({"array": "ptr", "float": "double", "bool": "i1"}[kind] + f" %x{k}")
    text = message.encode("ascii")
    lines += [
        f"a{len(kinds)}:",
        f"call void @run({', '.join(given)})",
        *_none(),
        "bad:",
        f"call void {_pointer(_api('PyErr_SetString'))}(ptr {_pointer(id(TypeError))}, "
        "ptr @message)",
        "ret ptr null",
    ]
    return "\n".join(
        (
            f"@message = private constant [{len(text) + 1} x i8] "
            f'c"{"".join(f"{chr(92)}{c:02X}" for c in text)}{chr(92)}00"',
            "define ptr @entry(ptr %self, ptr %args, i64 %n) noinline optnone nounwind {",
            *lines,
            "}",
            "",
        )
    )


def _type_of(k: int, where: Layout) -> list[str]:
    return [
        f"%q{k} = getelementptr i8, ptr %o{k}, i64 {where.type}",
        f"%t{k} = load i64, ptr %q{k}",
    ]


def _read_array(k: int, where: Layout) -> list[str]:
    return [
        *_type_of(k, where),
        f"%c{k} = icmp eq i64 %t{k}, {id(np.ndarray)}",
        f"%d{k} = getelementptr i8, ptr %o{k}, i64 {where.data}",
        f"br i1 %c{k}, label %a{k}.read, label %bad",
        f"a{k}.read:",
        f"%x{k} = load ptr, ptr %d{k}",
        f"br label %a{k}.next",
    ]


def _read_float(k: int, where: Layout) -> list[str]:
    # float and np.float64 by their types; another subclass of float is asked for by CPython.
    return [
        *_type_of(k, where),
        f"%c{k} = icmp eq i64 %t{k}, {id(float)}",
        f"%e{k} = icmp eq i64 %t{k}, {id(np.float64)}",
        f"%b{k} = or i1 %c{k}, %e{k}",
        f"br i1 %b{k}, label %a{k}.read, label %a{k}.ask",
        f"a{k}.ask:",
        f"%i{k} = inttoptr i64 %t{k} to ptr",
        f"%s{k} = call i32 {_pointer(_api('PyType_IsSubtype'))}"
        f"(ptr %i{k}, ptr {_pointer(id(float))})",
        f"%g{k} = icmp ne i32 %s{k}, 0",
        f"br i1 %g{k}, label %a{k}.read, label %bad",
        f"a{k}.read:",
        f"%d{k} = getelementptr i8, ptr %o{k}, i64 {where.number}",
        f"%x{k} = load double, ptr %d{k}",
        f"br label %a{k}.next",
    ]


def _read_bool(k: int, where: Layout) -> list[str]:
    lines = [f"%t{k} = ptrtoint ptr %o{k} to i64"]
    for name, x in (("u", True), ("v", np.True_), ("w", False), ("z", np.False_)):
        lines.append(f"%{name}{k} = icmp eq i64 %t{k}, {id(x)}")
    return [
        *lines,
        f"%x{k} = or i1 %u{k}, %v{k}",
        f"%y{k} = or i1 %w{k}, %z{k}",
        f"%c{k} = or i1 %x{k}, %y{k}",
        f"br i1 %c{k}, label %a{k}.next, label %bad",
    ]


_READ: dict[str, Callable[[int, Layout], list[str]]] = {
    "array": _read_array,
    "float": _read_float,
    "bool": _read_bool,
}


def _none() -> list[str]:
    """Return None. It is immortal from Python 3.12 on, before that the caller gets a reference."""
    none = _pointer(id(None))
    if sys.version_info >= (3, 12):
        return [f"ret ptr {none}"]
    return [
        f"%count = load i64, ptr {none}",
        "%more = add i64 %count, 1",
        f"store i64 %more, ptr {none}",
        f"ret ptr {none}",
    ]


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def make_callable(code: Code, name: str = "kernel") -> Callable[..., None]:
    """The builtin function that runs ``@entry`` of ``code``, and keeps ``code`` alive."""
    method = _MethodDef(name.encode(), code.address("entry"), _FASTCALL, None)
    # The function's __self__ is the code, and the code keeps the description of the method, so all
    # three go together. CPython reads the description before it lets go of __self__.
    code.keep.append(method)
    signature = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
    )
    new = signature(("PyCFunction_NewEx", ctypes.pythonapi))
    made: Callable[..., None] = new(ctypes.addressof(method), code, None)
    return made
