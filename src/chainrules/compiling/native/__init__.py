"""Machine code for NumPy's elementwise operations, reductions and long scalar programs.

By LLVM, through ``llvmlite``. :func:`build` takes what to compute and gives a builtin function.
"""

from .kernel import Kernel, available, build, text_of
from .request import Input, Output

__all__ = ["Input", "Output", "Kernel", "available", "build", "text_of"]
