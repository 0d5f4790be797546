"""Passes: a recording is factored, grouped, scheduled and lowered to a program that runs."""
