"""Text of programs on single numbers: where each number lies, and repetition as loops."""
