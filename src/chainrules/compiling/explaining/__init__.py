"""Explanations: the steps of one call, their lines and times, and a program at each stage."""
