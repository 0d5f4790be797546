"""Text of single operations: kinds of numbers, functions of our own, reads and writes of memory."""
