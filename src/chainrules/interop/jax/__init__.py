"""JAX: ``export(f)`` gives it a function of NumPy code, ``import_(f)`` takes one of its functions.

It needs JAX (``pip install "chainrules[jax]"``), which nothing else here imports.
"""

from .exported import export
from .imported import import_

__all__ = ["export", "import_"]
