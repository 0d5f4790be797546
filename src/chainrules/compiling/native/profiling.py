"""Profile functions in machine code: call Python for each piece of code that a table lacks.

A profile function of Python's costs 150 ns for each call and each return, of functions in C as
well; a recording makes millions of them, and need be told once of each piece of code.
"""

import ctypes
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from .entry import address_of
from .locks import made_once
from .machine import Code

_BITS = 15
_SIZE = 1 << _BITS
_SPREAD = 0x9E3779B97F4A7C15  # Knuth's: 2**64 divided by the golden ratio
_TAKEN = (
    "PyFrame_GetCode", "Py_DecRef", "PyTuple_GetItem", "PyLong_AsVoidPtr", "PyObject_CallOneArg",
)  # fmt: skip
_TEXT = f"""
@c = global [5 x ptr] zeroinitializer

define i32 @profile(ptr %given, ptr %frame, i32 %event, ptr %of) {{
  %is_call = icmp eq i32 %event, 0
  br i1 %is_call, label %look, label %done

look:
  %get_code = load ptr, ptr @c
  %code = call ptr %get_code(ptr %frame)
  %decref.at = getelementptr ptr, ptr @c, i64 1
  %decref = load ptr, ptr %decref.at
  call void %decref(ptr %code)
  %item.at = getelementptr ptr, ptr @c, i64 2
  %item = load ptr, ptr %item.at
  %number = call ptr %item(ptr %given, i64 0)
  %pointer.at = getelementptr ptr, ptr @c, i64 3
  %pointer = load ptr, ptr %pointer.at
  %table = call ptr %pointer(ptr %number)
  %word = ptrtoint ptr %code to i64
  %spread = mul i64 %word, {_SPREAD}
  %index = lshr i64 %spread, {64 - _BITS}
  %entry.at = getelementptr ptr, ptr %table, i64 %index
  %entry = load ptr, ptr %entry.at
  %is_known = icmp eq ptr %entry, %code
  br i1 %is_known, label %done, label %tell

tell:
  %tell.function = call ptr %item(ptr %given, i64 1)
  %call.at = getelementptr ptr, ptr @c, i64 4
  %call = load ptr, ptr %call.at
  %answer = call ptr %call(ptr %tell.function, ptr %frame)
  %is_error = icmp eq ptr %answer, null
  br i1 %is_error, label %error, label %told

told:
  call void %decref(ptr %answer)
  br label %done

error:
  ret i32 -1

done:
  ret i32 0
}}
"""


class KnownCode:
    """Pieces of code of which nobody need be told again, and their table for machine code.

    Where two share an entry of the table, the later one has it, and the other is looked up here.
    """

    def __init__(self) -> None:
        self.codes: dict[int, CodeType] = {}  # they live as long as their addresses are kept
        self.table = (ctypes.c_uint64 * _SIZE)()

    def __contains__(self, code: CodeType) -> bool:
        return id(code) in self.codes

    def add(self, code: CodeType) -> None:
        self.codes[id(code)] = code
        self.table[id(code) * _SPREAD % 2**64 >> 64 - _BITS] = id(code)

    def clear(self) -> None:
        self.codes.clear()
        ctypes.memset(self.table, 0, ctypes.sizeof(self.table))


@made_once
def _profile() -> Code:
    code = Code(_TEXT)
    code.connect(map(address_of, _TAKEN))
    return code


def native_profile(known: KnownCode, tell: Callable[[FrameType], Any]) -> tuple:
    """Make machine code the profile function of this thread; return what ``sys.getprofile`` gives.

    ``tell`` is called with the frame of each function that begins and has code not in ``known``.

    Raises
    ------
    ImportError
        Where llvmlite is missing.
    """
    address = _profile().address("profile")
    given = (ctypes.addressof(known.table), tell)
    ctypes.pythonapi.PyEval_SetProfile(ctypes.c_void_p(address), ctypes.py_object(given))
    return given
