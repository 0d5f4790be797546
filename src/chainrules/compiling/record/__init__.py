"""Recording: the operations of a function are written down, with all state that it can read."""
