"""Native guard: a builtin that checks whether arguments, and objects in memory, are as they were.

It reads a table: which word of which object should be what. Such a comparison takes a nanosecond,
where the expression ``cell.cell_contents is x`` takes 40, and the kind of one array 300. Where the
objects keep what is compared is probed once, as in :mod:`.entry`; what is not found is compared by
Python. It says yes only if all is as it was to the bit; of a no the reason is seen by others.
"""

import ctypes
import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .assembly.assembler import Module
from .entry import FASTCALL, MethodDef, address_of, layout, new_builtin, word
from .locks import made_once
from .machine import Code, libm

#: What is compared, of which object, and three numbers that it takes.
Row = tuple[int, int, int, int, int]

# Odd ones are of an argument, which is given by its number; the others of an object at an address.
WORD, PART, BEYOND, BYTES, ENTRY, OTHER, ITEMS = 0, 2, 4, 6, 8, 10, 12

_TEXT = """
define ptr @entry(ptr %self, ptr %args, i64 %n) nounwind {{
entry:
%place = alloca i64
%key.of = alloca ptr
%value.of = alloca ptr
%table.at = getelementptr i8, ptr %self, i64 {data}
%table = load ptr, ptr %table.at
%count = load i64, ptr %table
%all = icmp eq i64 %n, %count
%first = getelementptr i64, ptr %table, i64 1
br i1 %all, label %row, label %no
row:
%at = phi ptr [ %first, %entry ], [ %after, %next ]
%what = load i64, ptr %at
%a.at = getelementptr i64, ptr %at, i64 1
%a = load i64, ptr %a.at
%b.at = getelementptr i64, ptr %at, i64 2
%b = load i64, ptr %b.at
%c.at = getelementptr i64, ptr %at, i64 3
%c = load i64, ptr %c.at
%v.at = getelementptr i64, ptr %at, i64 4
%v = load i64, ptr %v.at
%after = getelementptr i64, ptr %at, i64 5
%is.end = icmp slt i64 %what, 0
br i1 %is.end, label %yes, label %some
some:
%odd = trunc i64 %what to i1
br i1 %odd, label %argument, label %object
argument:
%argument.at = getelementptr ptr, ptr %args, i64 %a
%given = load ptr, ptr %argument.at
br label %go
object:
%there = inttoptr i64 %a to ptr
br label %go
go:
%p = phi ptr [ %given, %argument ], [ %there, %object ]
%kind = lshr i64 %what, 1
%field = getelementptr i8, ptr %p, i64 %b
switch i64 %kind, label %no [
  i64 0, label %word  i64 1, label %part  i64 2, label %beyond
  i64 3, label %bytes  i64 4, label %entry.of  i64 5, label %other
  i64 6, label %items ]
word:
%word.is = load i64, ptr %field
%word.same = icmp eq i64 %word.is, %v
br i1 %word.same, label %next, label %no
part:
%part.all = load i32, ptr %field
%part.mask = trunc i64 %c to i32
%part.is = and i32 %part.all, %part.mask
%part.should = trunc i64 %v to i32
%part.same = icmp eq i32 %part.is, %part.should
br i1 %part.same, label %next, label %no
beyond:
%beyond.base = load ptr, ptr %field
%beyond.at = getelementptr i8, ptr %beyond.base, i64 %c
%beyond.is = load i64, ptr %beyond.at
%beyond.same = icmp eq i64 %beyond.is, %v
br i1 %beyond.same, label %next, label %no
bytes:
%bytes.are = load ptr, ptr %field
%bytes.should = inttoptr i64 %c to ptr
%compare = load ptr, ptr {memcmp}
%bytes.differ = call i32 %compare(ptr %bytes.are, ptr %bytes.should, i64 %v)
%bytes.same = icmp eq i32 %bytes.differ, 0
br i1 %bytes.same, label %next, label %no
entry.of:
%key = inttoptr i64 %c to ptr
%get = load ptr, ptr {get}
%found = call ptr %get(ptr %p, ptr %key)
%found.is = ptrtoint ptr %found to i64
%found.same = icmp eq i64 %found.is, %v
br i1 %found.same, label %next, label %no
other:
%other.at = getelementptr ptr, ptr %args, i64 %b
%other.is = load ptr, ptr %other.at
%other.differs = icmp ne ptr %other.is, %p
br i1 %other.differs, label %next, label %no
items:
store i64 0, ptr %place
%pairs = inttoptr i64 %c to ptr
br label %item
item:
%item.number = phi i64 [ 0, %items ], [ %item.next, %item.same ]
%walk = load ptr, ptr {next}
%item.found = call i32 %walk(ptr %p, ptr %place, ptr %key.of, ptr %value.of)
%item.none = icmp eq i32 %item.found, 0
%item.end = icmp eq i64 %item.number, %v
br i1 %item.end, label %items.end, label %item.more
items.end:
br i1 %item.none, label %next, label %no
item.more:
br i1 %item.none, label %no, label %item.here
item.here:
%pair = mul i64 %item.number, 2
%key.at = getelementptr ptr, ptr %pairs, i64 %pair
%key.should = load ptr, ptr %key.at
%value.at = getelementptr ptr, ptr %key.at, i64 1
%value.should = load ptr, ptr %value.at
%key.is = load ptr, ptr %key.of
%value.is = load ptr, ptr %value.of
%key.same = icmp eq ptr %key.is, %key.should
%value.same = icmp eq ptr %value.is, %value.should
%both.same = and i1 %key.same, %value.same
br i1 %both.same, label %item.same, label %no
item.same:
%item.next = add i64 %item.number, 1
br label %item
next:
br label %row
yes:
%yes.is = load ptr, ptr {true}
br label %end
no:
%no.is = load ptr, ptr {false}
br label %end
end:
%answer = phi ptr [ %yes.is, %yes ], [ %no.is, %no ]
{count}
ret ptr %answer
}}
"""

# True and False are immortal from 3.12 on; before that the caller gets a reference.
_COUNTED = """%references = load i64, ptr %answer
%more = add i64 %references, 1
store i64 %more, ptr %answer"""


@made_once
def _compiled() -> tuple[Code, MethodDef]:
    where = layout()
    assert where is not None
    module = Module()
    compare = module.elsewhere("memcmp", libm("memcmp"))
    get = module.elsewhere("PyDict_GetItem", address_of("PyDict_GetItem"))
    walk = module.elsewhere("PyDict_Next", address_of("PyDict_Next"))
    true, false = (module.elsewhere(name, address_of(name)) for name in ("True", "False"))
    count = _COUNTED if sys.version_info < (3, 12) else ""
    names = {"memcmp": compare, "get": get, "next": walk, "true": true, "false": false}
    module.globals.append(_TEXT.format(data=where.data, count=count, **names))
    code = Code(module.text(), 1)
    code.connect(module.addresses.values())
    return code, MethodDef(b"guard", code.address("entry"), FASTCALL, None)


def guard(count: int, rows: Iterable[Row]) -> Callable[..., bool]:
    """Return a function of ``count`` arguments that says whether all rows of a table hold.

    Who calls it keeps the objects alive whose addresses are in the table.
    """
    table = np.array([count, *(x for row in rows for x in row), -1, 0, 0, 0, 0], np.int64)
    made: Callable[..., bool] = new_builtin(_compiled()[1], table)
    return made


@functools.cache
def fields() -> dict[str, int]:
    """Return where objects keep what is compared: offsets by names, of those that are found."""
    arrays = [np.arange(6.0).reshape(2, 3), np.zeros((4, 1, 2), bool).T, np.ones(3, np.int32)[::2]]
    where = layout()
    assert where is not None
    found = {"type": where.type, "array.data": where.data}
    if all(_part(x, 24) == x.ndim and _part(x, 64) & 1 == x.flags.c_contiguous for x in arrays):
        dims = [ctypes.c_uint64.from_address(word(x, 32) + 8 * x.ndim - 8).value for x in arrays]
        if dims == [x.shape[-1] for x in arrays] and all(
            word(x, 56) == id(x.dtype) for x in arrays
        ):
            found |= {"array.ndim": 24, "array.shape": 32, "array.dtype": 56, "array.flags": 64}
    if all(word(x, 16) == len(x) for x in ({}, {"a": 1}, dict.fromkeys("abcde"))):
        found["dict.length"] = 16
    lists: list[list] = [[], [1], [None, 2.0, 3]]
    entries = [(word(x, 24) + 8 * k, y) for x in lists for k, y in enumerate(x)]
    if all(word(x, 16) == len(x) for x in lists) and all(
        ctypes.c_uint64.from_address(at).value == id(y) for at, y in entries
    ):
        found |= {"list.length": 16, "list.items": 24}
    if all(word(cell, 16) == id(cell.cell_contents) for f in _samples() for cell in f.__closure__):
        found["cell.contents"] = 16
    for name in ("__code__", "__defaults__", "__kwdefaults__"):
        found |= _field(f"function.{name}", name, _samples())
    return found | _field("type.__mro__", "__mro__", (float, Exception, Code, MethodDef))


def _field(key: str, name: str, samples: tuple[Any, ...]) -> dict[str, int]:
    """Return where objects of one type keep an attribute, if one place alone has it in all."""
    places = [
        k for k in range(16, type(samples[0]).__basicsize__, 8)
        if all(word(x, k) == id(getattr(x, name)) for x in samples)
    ]  # fmt: skip
    return {key: places[0]} if len(places) == 1 else {}


def _part(x: object, offset: int) -> int:
    return ctypes.c_uint32.from_address(id(x) + offset).value


@functools.cache
def _samples() -> tuple[Any, ...]:
    one, two = object(), object()

    def f(a: Any = one, *, b: Any = one) -> Any:
        return one, a, b

    def g(a: Any = two, *, b: Any = two) -> Any:
        return two, a, b

    return f, g
