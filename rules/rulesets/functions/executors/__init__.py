"""Maps and folds whose items are evaluated elsewhere: by threads, by processes, by a cluster.

``items`` is what happens to one item, ``maps`` all of them as one function with rules. Where items
are evaluated say ``pools`` and ``cluster``, ``tasks`` is what is sent there, in ``chunks`` of many
items, and ``parcels`` are what all of them share.
"""

from .maps import MapOptions, is_under_way, map_on, reduce_on

__all__ = ["MapOptions", "is_under_way", "map_on", "reduce_on"]
