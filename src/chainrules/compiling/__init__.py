"""Programs recorded from plain NumPy code, and run again as machine code."""
