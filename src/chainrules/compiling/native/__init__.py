"""Machine code for NumPy's elementwise operations, reductions and long scalar programs.

By LLVM, through ``llvmlite``. :func:`build` takes what to compute and gives a builtin function.
"""

from .assembly.operation import NativeConstant, Operation
from .kernel import Kernel, available, build, text_of
from .request import Input, Output, Request

__all__ = [
    "Input", "Kernel", "NativeConstant", "Operation", "Output", "Request", "available", "build",
    "text_of",
]  # fmt: skip
