"""Batches: ``cr.vmap`` runs a function on many items at once, one more engine on the same rules.

See ``batched`` for the values that a function gets, ``batch_level`` for what is done with them, and
``ways`` for what becomes of a batch whose items go several ways through the function.
"""

from .vmap import vmap

__all__ = ["vmap"]
