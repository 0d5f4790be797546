"""Classes beside NumPy's own: of other libraries and of users, as operands and as duck types."""
