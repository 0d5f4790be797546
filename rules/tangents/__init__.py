"""Tangents and cotangents: zeros, structures, thunks, and the spaces that they belong to."""
