"""Parcels for other processes: pickled objects, whose large arrays each worker is sent once.

What is sent with each chunk of a map is pickled, but for the memory of large arrays: a worker keeps
that by its digest, and is sent it where it has it not. Arrays come out read-only.
"""

import hashlib
import pickle
import threading
from collections.abc import Callable
from typing import Any

from .....config.thresholds import BUFFER_SENT_ONCE, BUFFERS_KEPT


class Parcel:
    """A pickled object: ``blob`` without the memory of large arrays, ``buffers`` by digests."""

    __slots__ = ("blob", "buffers", "keys")

    def __init__(self, x: Any, dumps: Callable) -> None:
        self.buffers: dict[bytes, Any] = {}
        self.keys: list[bytes] = []
        self.blob: bytes = dumps(x, self._keep)

    def _keep(self, buffer: pickle.PickleBuffer) -> bool:
        """Take a large buffer out of the pickle; say whether it stays in there."""
        memory = buffer.raw()
        if memory.nbytes < BUFFER_SENT_ONCE:
            return True
        key = hashlib.blake2b(memory, digest_size=16).digest()
        self.buffers[key] = memory
        self.keys.append(key)
        return False

    def copies(self) -> dict[bytes, bytes]:
        """Return the buffers as they can be sent."""
        return {key: bytes(memory) for key, memory in self.buffers.items()}


def opened(blob: bytes, keys: list[bytes], buffers: dict[bytes, bytes]) -> Any:
    """Return the object of a parcel, of which these buffers are at hand.

    Raises
    ------
    KeyError
        If one was not sent, and is not kept here.
    """
    return pickle.loads(blob, buffers=[_kept(key, buffers) for key in keys])


_here: dict[bytes, bytes] = {}  # buffers of this process, the one that was used last at the end
_lock = threading.Lock()


def _kept(key: bytes, sent: dict[bytes, bytes]) -> bytes:
    with _lock:
        buffer = _here.pop(key, None)
        if buffer is None:
            buffer = sent[key]
        _here[key] = buffer
        while len(_here) > 1 and sum(map(len, _here.values())) > BUFFERS_KEPT:
            del _here[next(iter(_here))]
        return buffer
