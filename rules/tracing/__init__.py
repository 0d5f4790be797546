"""What a traced value is, and what NumPy and Python may do with it."""
