"""Compiler: it records the operations of a function once, and runs them again without Python.

A recorder stands outside all transforms, so that derivatives are recorded as functions are. See
``recorded`` for what a recorded value is, ``looks`` for what a recording depends on, ``captured``
for what it takes for granted, and ``passes.replay`` for how it runs.
"""

from .explaining.explanation import explain
from .way_in import compile

__all__ = ["compile", "explain"]
