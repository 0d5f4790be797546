"""Constant arrays of a recording: copies or digests of them, compared before each replay.

An array of the user's that enters a recorded call, from wherever it was, is a constant of the
recording. A small one is copied, and compared as long as somebody else holds it; a large one is
used as it is, and compared by a digest of all its entries. What nobody can write into, or nobody
holds any more, needs no comparison.
"""

import weakref
from typing import Any

import numpy as np

from ...config.thresholds import CONSTANT_COPIED
from ...rules.tracing.captured import digest, may_change
from ...rules.tracing.classes.own_classes import OF_NUMPY
from ...rules.tracing.views import copied
from ..ir.looks import NotRecordable
from .generators import RANDOM


def _nothing() -> None:
    return None


class Constants:
    """The constant arrays of a recording; all are copied where they are ``frozen``.

    Those that are held by ``known``, too, are compared there.
    """

    __slots__ = ("copies", "digests", "frozen", "known", "recording")

    def __init__(self, frozen: bool, known: "Constants | None" = None) -> None:
        self.frozen = frozen
        self.known = known
        self.copies: dict[int, tuple[weakref.ref, np.ndarray]] = {}
        self.digests: dict[int, tuple[np.ndarray, bytes]] = {}
        self.recording: list[np.ndarray] = []  # so that none of them dies, and leaves its id

    def hold(self, x: Any) -> Any:
        """Return what a step keeps of ``x``, which may be anything.

        Raises
        ------
        NotRecordable
            If it is a generator of random numbers: each replay would draw on.
        """
        if type(x) not in OF_NUMPY or not may_change(x):
            if isinstance(x, RANDOM):
                raise NotRecordable(f"draws of a {type(x).__name__} that the function makes")
            return x
        held = self.found(x) or (self.known.found(x) if self.known is not None else None)
        if held is not None:
            return held[0]
        self.recording.append(x)
        once = _once(x)
        if self.frozen or once.nbytes <= CONSTANT_COPIED:
            few = x.nbytes <= CONSTANT_COPIED or once.shape == x.shape
            copy = copied(x) if few else np.broadcast_to(copied(once), x.shape)
            self.copies[id(x)] = weakref.ref(x), copy
            return copy
        if id(x) not in self.digests:
            self.digests[id(x)] = x, digest(x)
        return x

    def found(self, x: np.ndarray) -> tuple[np.ndarray] | None:
        """Return what is held of ``x``, if it still is what it was."""
        reference, copy = self.copies.get(id(x), (_nothing, x))
        if reference() is x and same_bits(x, copy):
            return (copy,)
        return (x,) if id(x) in self.digests else None

    def settle(self) -> None:
        """End a recording: from now on only arrays that somebody else holds are compared."""
        self.recording = []
        self.copies = {
            key: (reference, copy)
            for key, (reference, copy) in self.copies.items()
            if reference() is not None
        }

    def changed(self) -> str | None:
        """Say which array is not what it was, if there is one."""
        if self.frozen or not (self.copies or self.digests):
            return None
        for reference, copy in self.copies.values():
            x = reference()
            if x is not None and not same_bits(x, copy):
                return f"an array of shape {x.shape} and dtype {x.dtype}"
        for x, before in self.digests.values():
            if digest(x) != before:
                return f"an array of shape {x.shape} and dtype {x.dtype}"
        return None


def same_bits(x: np.ndarray, y: np.ndarray) -> bool:
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if x.strides == y.strides:
        x, y = _once(x), _once(y)
    # Of an array of objects the bytes are the addresses of these.
    return x.tobytes() == y.tobytes()


def _once(x: np.ndarray) -> np.ndarray:
    """Return the entries of ``x`` without those that repeat others in memory."""
    if 0 not in x.strides:
        return x
    return x[tuple([slice(1) if step == 0 else slice(None) for step in x.strides])]
