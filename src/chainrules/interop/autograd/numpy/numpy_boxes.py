"""As ``autograd.numpy.numpy_boxes``: traced arrays, for ``isinstance`` and annotations."""

from ..tracer import Box


class ArrayBox(Box):
    """Every traced number and array is an instance."""
