"""Refusals: every text of a trace that says no, with its cause and its remedy."""
