"""State of adopted modules: what their functions hold and keep, and types in their code."""
