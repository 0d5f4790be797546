"""Fused loops: elementwise steps of a recording as native loops, in the order of their run."""
