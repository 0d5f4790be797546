"""The rules themselves, by family; only the face imports them."""

from . import arrays, functions, linalg, special
