"""PyTorch: ``export(f)`` gives it a function of NumPy code, ``import_(f)`` takes one of its own.

It needs PyTorch (``pip install "chainrules[torch]"``), which nothing else here imports.
"""

from .exported import export
from .imported import import_

__all__ = ["export", "import_"]
