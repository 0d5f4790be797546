"""Refusals: the texts of the errors that a trace raises, each with its cause and its remedy."""
