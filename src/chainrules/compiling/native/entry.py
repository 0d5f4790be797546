"""Makes a native function callable from Python as fast as a builtin: one vector call, no boxes.

CPython hands a builtin of kind METH_FASTCALL a C array of its arguments. The function written here
in LLVM text compares their types, reads the data pointer out of each ``ndarray`` and the double out
of each ``float`` where these objects keep them, and calls the kernel: 50 ns in all, where a call
through ctypes takes 250 and ``x.ctypes.data`` another 800. Where the objects keep them is probed
once; if the probe does not find what it knows to be there, nothing native is offered.
"""

import ctypes
import functools
import platform
import sys
import sysconfig
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .assembly.assembler import Module
from .machine import Code
from .request import parameters

_WORD = 8
FASTCALL = 0x80


class Layout(NamedTuple):
    """Offsets in bytes: of an object's type, of a float's number, of an array's data pointer."""

    type: int
    number: int
    data: int


@functools.cache
def layout() -> Layout | None:
    """Return the offsets of fields in this interpreter's objects; None where they are not known."""
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
        if word(x, found.type) != id(np.ndarray) or word(x, found.data) != x.ctypes.data:
            return None
    for y in (number, np.float64(number)):
        bits = ctypes.c_double.from_address(id(y) + found.number).value
        if word(y, found.type) != id(type(y)) or bits != number:
            return None
    return found


def word(x: object, offset: int) -> int:
    return ctypes.c_uint64.from_address(id(x) + offset).value


def address_of(name: str) -> int:
    """Return the address of an object that entries compare with, or of a function of CPython's."""
    if name in _OBJECTS:
        return id(_OBJECTS[name])
    return int(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)


_OBJECTS = {
    "array": np.ndarray, "float": float, "float64": np.float64, "TypeError": TypeError,
    "None": None, "True": True, "False": False, "True_": np.True_, "False_": np.False_,
}  # fmt: skip


class _Entry:
    """The lines of an entry."""

    def __init__(self, module: Module, where: Layout) -> None:
        self.module, self.where = module, where
        self.lines: list[str] = []

    def put(self, *lines: str) -> None:
        self.lines += lines

    def there(self, register: str, name: str, kind: str = "i64") -> str:
        """Put what lies elsewhere in the process into a register, and return that."""
        self.put(f"{register} = load {kind}, ptr {self.module.elsewhere(name, address_of(name))}")
        return register

    def read(self, k: int, kind: str) -> None:
        """Go on with argument ``k`` in the register ``%xk``, or to ``bad``."""
        self.put(
            f"a{k}:",
            f"%p{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"%o{k} = load ptr, ptr %p{k}",
        )
        {"array": self._array, "float": self._float, "bool": self._bool, "whole": self._whole}[
            kind
        ](k)
        self.put(f"a{k}.next:\nbr label %a{k + 1}")

    def _type(self, k: int) -> None:
        self.put(
            f"%q{k} = getelementptr i8, ptr %o{k}, i64 {self.where.type}",
            f"%t{k} = load i64, ptr %q{k}",
        )

    def _field(self, k: int, offset: int, kind: str) -> None:
        self.put(
            f"a{k}.read:",
            f"%d{k} = getelementptr i8, ptr %o{k}, i64 {offset}",
            f"%x{k} = load {kind}, ptr %d{k}",
            f"br label %a{k}.next",
        )

    def _array(self, k: int) -> None:
        self._type(k)
        self.put(
            f"%c{k} = icmp eq i64 %t{k}, {self.there(f'%w{k}', 'array')}",
            f"br i1 %c{k}, label %a{k}.read, label %bad",
        )
        self._field(k, self.where.data, "ptr")

    def _float(self, k: int) -> None:
        # float and np.float64 by their types; another subclass of float is asked for by CPython.
        self._type(k)
        self.put(
            f"%c{k} = icmp eq i64 %t{k}, {self.there(f'%v{k}', 'float')}",
            f"%e{k} = icmp eq i64 %t{k}, {self.there(f'%w{k}', 'float64')}",
            f"%b{k} = or i1 %c{k}, %e{k}",
            f"br i1 %b{k}, label %a{k}.read, label %a{k}.ask",
            f"a{k}.ask:",
            f"%i{k} = inttoptr i64 %t{k} to ptr",
            f"%f{k} = inttoptr i64 %v{k} to ptr",
        )
        ask = self.there(f"%h{k}", "PyType_IsSubtype", "ptr")
        self.put(
            f"%s{k} = call i32 {ask}(ptr %i{k}, ptr %f{k})",
            f"%g{k} = icmp ne i32 %s{k}, 0",
            f"br i1 %g{k}, label %a{k}.read, label %bad",
        )
        self._field(k, self.where.number, "double")

    def _bool(self, k: int) -> None:
        self.put(f"%t{k} = ptrtoint ptr %o{k} to i64")
        for letter, name in zip("uvwz", ("True", "True_", "False", "False_"), strict=True):
            here = self.there(f"%{letter}{k}.of", name)
            self.put(f"%{letter}{k} = icmp eq i64 %t{k}, {here}")
        self.put(
            f"%x{k} = or i1 %u{k}, %v{k}",
            f"%y{k} = or i1 %w{k}, %z{k}",
            f"%c{k} = or i1 %x{k}, %y{k}",
            f"br i1 %c{k}, label %a{k}.next, label %bad",
        )

    def _whole(self, k: int) -> None:
        ask = self.there(f"%f{k}", "PyLong_AsSsize_t", "ptr")
        self.put(
            f"%x{k} = call i64 {ask}(ptr %o{k})",
            f"%c{k} = icmp sge i64 %x{k}, 0",
            f"br i1 %c{k}, label %a{k}.next, label %bad",
        )

    def give_none(self) -> None:
        """Return None. It is immortal from 3.12 on, before that the caller gets a reference."""
        none = self.there("%none", "None", "ptr")
        if sys.version_info < (3, 12):
            self.put(
                f"%count = load i64, ptr {none}",
                "%more = add i64 %count, 1",
                f"store i64 %more, ptr {none}",
            )
        self.put(f"ret ptr {none}")


def entry_text(module: Module, kinds: Sequence[str], message: str, *, free: bool = False) -> str:
    """LLVM text of ``@entry``, which calls ``@run`` with one argument for each of ``kinds``.

    Kinds: "array" (passed as a pointer), "float" (as a double), "bool" (as an i1), "whole" (of an
    int, 0 or more). ``message`` is that of the TypeError which other arguments raise. What is
    ``free`` runs without the interpreter's lock; its caller holds the arguments meanwhile.
    """
    where = layout()
    assert where is not None
    entry = _Entry(module, where)
    entry.put(f"%ok = icmp eq i64 %n, {len(kinds)}", "br i1 %ok, label %a0, label %bad")
    for k, kind in enumerate(kinds):
        entry.read(k, kind)
    entry.put(f"a{len(kinds)}:")
    if free:
        entry.put(f"%lock = call ptr {entry.there('%let', 'PyEval_SaveThread', 'ptr')}()")
    entry.put(f"call void @run({parameters(kinds)})")
    if free:
        taken = entry.there("%take", "PyEval_RestoreThread", "ptr")
        entry.put(f"call void {taken}(ptr %lock)")
    entry.give_none()
    entry.put("bad:")
    error, raised = entry.there("%error", "TypeError", "ptr"), "PyErr_SetString"
    entry.put(
        f"call void {entry.there('%raise', raised, 'ptr')}(ptr {error}, ptr @message)",
        "ret ptr null",
    )
    text = "".join(f"\\{c:02X}" for c in message.encode("ascii"))
    return "\n".join(
        (
            f'@message = private constant [{len(message) + 1} x i8] c"{text}\\00"',
            "define ptr @entry(ptr %self, ptr %args, i64 %n) noinline optnone nounwind {",
            *entry.lines,
            "}",
            "",
        )
    )


class MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def make_callable(code: Code) -> Callable[..., None]:
    """The builtin function that runs ``@entry`` of ``code``, and keeps ``code`` alive."""
    method = MethodDef(b"kernel", code.address("entry"), FASTCALL, None)
    # The function's __self__ is the code, and the code keeps the description of the method, so all
    # three go together. CPython reads the description before it lets go of __self__.
    code.keep.append(method)
    made: Callable[..., None] = new_builtin(method, code)
    return made


def new_builtin(method: MethodDef, of: object) -> Callable[..., Any]:
    """A builtin function whose ``__self__`` is ``of``; somebody keeps ``method`` alive."""
    signature = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
    )
    new = signature(("PyCFunction_NewEx", ctypes.pythonapi))
    made: Callable[..., Any] = new(ctypes.addressof(method), of, None)
    return made
