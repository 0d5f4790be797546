"""Maps and folds whose items are evaluated elsewhere: by threads, by processes, by a cluster.

``items`` is what happens to one item, ``maps`` all of them as one function with rules. Where items
are evaluated say ``pools`` and ``cluster``, and ``tasks`` is what is sent there.
"""

from .maps import map_on, reduce_on

__all__ = ["map_on", "reduce_on"]
