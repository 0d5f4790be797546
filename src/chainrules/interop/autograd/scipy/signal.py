"""As ``autograd.scipy.signal``: ``scipy.signal``, by ours, and autograd's own ``convolve``."""

import string
from collections.abc import Sequence
from typing import Any

from .... import numpy as np
from ....config import ArgumentValueError
from ....scipy import signal as _signal

__all__ = list(_signal.__all__)
globals().update({name: getattr(_signal, name) for name in __all__})


def convolve(
    A: Any,  # noqa: N803 - autograd's names
    B: Any,  # noqa: N803
    axes: Sequence | None = None,
    dot_axes: Sequence = ((), ()),
    mode: str = "full",
) -> Any:
    """Convolve two arrays along ``axes`` of each, and sum over products along ``dot_axes``.

    Shapes: first the other axes of ``A``, then those of ``B``, then those convolved.

    Examples
    --------
    >>> from chainrules.interop.autograd.scipy.signal import convolve
    >>> convolve(np.arange(4.0), np.array([1.0, -1.0]), mode="valid")
    array([1., 1., 1.])
    >>> images, filters = np.ones((5, 2, 8, 8)), np.ones((2, 3, 3, 3))
    >>> y = convolve(images, filters, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid")
    >>> y.shape
    (5, 3, 6, 6)
    """
    if mode not in ("full", "same", "valid"):
        raise ArgumentValueError(f"there is no mode {mode!r}: write 'full', 'same' or 'valid'.")
    dot_a, dot_b = ([i % np.ndim(x) for i in at] for x, at in zip((A, B), dot_axes))
    if axes is None:
        axes = (range(np.ndim(A)), range(np.ndim(B)))
    on_a, on_b = ([i % np.ndim(x) for i in at] for x, at in zip((A, B), axes))
    letters = iter(string.ascii_letters)
    summed = [next(letters) for _ in dot_a]
    slid = [next(letters) for _ in on_a]
    of_a: dict = {}
    of_b: dict = {}
    for table, dots, on in ((of_a, dot_a, on_a), (of_b, dot_b, on_b)):
        table.update(zip(dots, summed))
        table.update(zip(on, slid))
    for x, table in ((A, of_a), (B, of_b)):
        table.update({i: next(letters) for i in range(np.ndim(x)) if i not in table})
    return _convolved(A, B, of_a, of_b, (on_a, on_b), (dot_a, dot_b), mode)


def _convolved(a: Any, b: Any, of_a: dict, of_b: dict, axes: tuple, dots: tuple, mode: str) -> Any:
    """Sum over the places of the smaller array: for each, a product of it with a part of ``a``."""
    on_a, on_b = axes
    sizes_a = [np.shape(a)[i] for i in on_a]
    sizes_b = [np.shape(b)[i] for i in on_b]
    if mode == "valid" and any(p < q for p, q in zip(sizes_a, sizes_b)):
        if any(p > q for p, q in zip(sizes_a, sizes_b)):
            raise ArgumentValueError(
                "One array must be larger than the other along all convolved axes."
            )
        y = _convolved(b, a, of_b, of_a, (on_b, on_a), dots[::-1], mode)
        free_b = np.ndim(b) - len(on_b) - len(dots[1])
        free_a = np.ndim(a) - len(on_a) - len(dots[0])
        return np.moveaxis(y, range(free_b), range(free_a, free_a + free_b))
    width = [(0, 0)] * np.ndim(a)
    for i, q in zip(on_a, sizes_b):
        left, right = {"full": (q - 1, q - 1), "valid": (0, 0)}.get(mode, (q // 2, (q - 1) // 2))
        width[i] = (left, right)
    padded = np.pad(a, width)
    lengths = [np.shape(padded)[i] - q + 1 for i, q in zip(on_a, sizes_b)]
    slid = [of_a[i] for i in on_a]
    free = [table[i] for x, table, on, dot in ((a, of_a, on_a, dots[0]), (b, of_b, on_b, dots[1]))
            for i in range(np.ndim(x)) if i not in on and i not in dot]  # fmt: skip
    left_letters = "".join(of_a[i] for i in range(np.ndim(a)))
    right_letters = "".join(of_b[i] for i in range(np.ndim(b)) if i not in on_b)
    total: Any = 0.0
    for place in np.ndindex(*sizes_b):
        part: list = [slice(None)] * np.ndim(a)
        picked: list = [slice(None)] * np.ndim(b)
        for i, j, k, q, length in zip(on_a, on_b, place, sizes_b, lengths):
            part[i], picked[j] = slice(q - 1 - k, q - 1 - k + length), k
        result = "".join(free + slid)
        total = total + np.einsum(
            f"{left_letters},{right_letters}->{result}", padded[tuple(part)], b[tuple(picked)]
        )
    return total


def __getattr__(name: str) -> Any:
    return getattr(_signal, name)
