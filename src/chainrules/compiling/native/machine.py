"""Machine code from LLVM text; it lives as long as somebody holds it.

``Code(text)`` parses and compiles one module; ``code.address("entry")`` is where the function
begins. When the last reference to the ``Code`` goes, so does the memory of its machine code.
"""

import array
import ctypes
import functools
import importlib
import platform
import sys
from collections.abc import Iterable
from typing import Any

from . import disk_cache, limits
from .locks import making


@functools.cache
def llvm() -> Any:
    """``llvmlite.binding`` with the host as its target. Raises ImportError where it is missing."""
    binding = importlib.import_module("llvmlite.binding")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@functools.cache
def _host() -> tuple[str, str]:
    binding = llvm()
    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()


@functools.cache
def host_width() -> int:
    """Return the number of doubles in the widest registers: 8 with AVX-512, 4 with AVX2, else 2."""
    features = llvm().get_host_cpu_features()
    if features.get("avx512f") and features.get("avx512dq"):
        return 8
    return 4 if features.get("avx2") and features.get("fma") else 2


@functools.cache
def _side_by_side() -> bool:
    """Say whether code and data can be kept within the reach of one instruction.

    llvmlite's memory manager keeps them together, but ends the process where a module calls C's
    library by name; with AVX2 and FMA none of our instructions becomes such a call.
    """
    known = platform.system() == "Linux" and platform.machine() in ("x86_64", "AMD64")
    return known and host_width() >= 4


def _machine(effort: int) -> Any:
    """A target machine; each engine takes one for its own and ends it."""
    cpu, features = _host()
    target = llvm().Target.from_default_triple()
    # The small code model halves the time to compile and makes better code.
    models = {"reloc": "pic", "codemodel": "small"} if _side_by_side() else {}
    return target.create_target_machine(cpu=cpu, features=features, opt=effort, jit=True, **models)


@functools.cache
def _writer(effort: int) -> Any:
    """The target machine that writes the machine code of all modules."""
    return _machine(effort)


class Code:
    """Machine code of one module.

    ``effort`` is the level of LLVM's code generator: 2 for loops, 0 for long straight lines, where
    it takes a fifth of the time. No passes run over the text: it is written as it should be. Code
    that was made before, by any process, is not made again: see :mod:`.disk_cache`.
    """

    __slots__ = ("__weakref__", "_engine", "keep")

    def __init__(self, text: str, effort: int = 2) -> None:
        effort = min(effort, limits.MOST_EFFORT)
        with making:
            binding, together = llvm(), _side_by_side()
            key = disk_cache.key_of(text, effort, together, *_host(), *binding.llvm_version_info)
            code = disk_cache.found(key)
            if code is None:
                # A machine that has written code keeps .7 MB, and each engine has one of its own.
                code = _writer(effort).emit_object(binding.parse_assembly(text))
                disk_cache.keep(key, code)
            self._engine = binding.create_mcjit_compiler(
                binding.parse_assembly(""), _machine(effort), use_lmm=together or None
            )
            self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
            self._engine.finalize_object()
        self.keep: list[object] = []

    def address(self, name: str) -> int:
        """Return the address of the function of this name."""
        return int(self._engine.get_function_address(name))

    def data(self, name: str) -> int:
        """Return the address of the global of this name."""
        return int(self._engine.get_global_value_address(name))

    def connect(self, addresses: Iterable[int]) -> None:
        """Fill the table of what lies elsewhere in the process."""
        table = array.array("Q", addresses)
        ctypes.memmove(self.data("c"), table.buffer_info()[0], 8 * len(table))


@functools.cache
def _math_library() -> Any:
    # Elsewhere than on Windows the interpreter is linked to it.
    return ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)


@functools.cache
def libm(name: str) -> int:
    """The address of a function of C's math library."""
    return int(ctypes.cast(getattr(_math_library(), name), ctypes.c_void_p).value or 0)
