"""x"""
import importlib as _importlib
from typing import Any
from .differential_operators import *
def __getattr__(name):
    if name in ("adopt","adopt_module"): return getattr(_importlib.import_module(".adopted",__name__),name)
    if name=="export": return getattr(_importlib.import_module(".exported",__name__),name)
    return _importlib.import_module(f".{name}",__name__)
