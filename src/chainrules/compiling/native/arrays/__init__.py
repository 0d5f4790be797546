"""Text of loops over arrays: axes, nests, registers, reduced and running results."""
