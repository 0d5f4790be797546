"""Traced values, and the operations of NumPy and Python on them."""
