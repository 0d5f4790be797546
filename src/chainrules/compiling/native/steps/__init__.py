"""Loops of recorded steps in machine code: one way or several through a step, for many rounds."""
