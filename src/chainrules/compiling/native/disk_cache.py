"""Machine code kept on disk, so that the next process need not compile it again.

One file for each piece of code, in a folder of the user's; its name is a digest of all that the
code was made of. A file begins with a digest of that name and of what follows: what was cut short,
or is none of ours, is not loaded, and is written anew. Files are moved to their place as a whole,
so that processes need not know of each other. A folder that cannot be written to, or platformdirs
missing, means that nothing is kept.

The digests have no key, and what is loaded runs in this process. So folder and file have to belong
to the user, and nobody else may write to them.
"""

import contextlib
import functools
import hashlib
import os
import stat
import threading

from .limits import CACHE_BYTES

_OFF = ("", "0", "off")
_DIGEST = 32


def key_of(text: str, *rest: object) -> str:
    """Return the cache key of machine code: a hash of its text, and of all else it is made of."""
    from ... import __version__

    return hashlib.sha256(repr((__version__, rest, text)).encode()).hexdigest()


def found(key: str) -> bytes | None:
    """The code that was kept by ``key``, if there is any, and it is whole."""
    folder = _folder()
    if folder is None or unsafe_folder():
        return None
    path = _path(folder, key)
    try:
        with open(path, "rb") as file:
            if _not_private(os.fstat(file.fileno())):
                return None
            data = file.read()
    except OSError:
        return None
    if data[:_DIGEST] != _digest(key, data[_DIGEST:]):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return data[_DIGEST:]


def keep(key: str, code: bytes) -> None:
    """Keep ``code`` by ``key``, where that can be done."""
    folder = _folder()
    if folder is None:
        return
    path = _path(folder, key)
    unfinished = f"{path}.{os.getpid()}.{threading.get_ident()}"
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        if unsafe_folder():
            return
        with open(unfinished, "xb", opener=_of_the_user) as file:
            file.write(_digest(key, code) + code)
        os.replace(unfinished, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.remove(unfinished)
    _tidy_once(folder)


@functools.cache
def _tidy_once(folder: str) -> None:
    """Remove the files that were not used longest, if there are too many: once in a process."""
    with contextlib.suppress(OSError):
        files = [entry for entry in os.scandir(folder) if ".code" in entry.name]
        files.sort(key=lambda entry: entry.stat().st_mtime)
        excess = sum(entry.stat().st_size for entry in files) - CACHE_BYTES
        for entry in files:
            if excess <= 0:
                break
            excess -= entry.stat().st_size
            os.remove(entry.path)


def unsafe_folder() -> str:
    """Say why nothing is kept in the folder that there is, nor loaded from it; "" if it is safe."""
    try:
        folder = _folder()
        reason = "" if folder is None else _not_private(os.stat(folder))
        return f"{folder} {reason}" if reason else ""
    except OSError:
        return ""


def _not_private(found: os.stat_result) -> str:
    """Say why a file or folder is not the user's alone; "" if it is.

    Where a system does not tell, it is if it is in the user's own folder.
    """
    if not hasattr(os, "geteuid"):
        alone = os.environ.get("CHAINRULES_CACHE") is None
        return "" if alone else "is on a system that does not tell who may write there"
    if found.st_uid != os.geteuid():
        return "belongs to another user"
    others = stat.S_IWGRP | stat.S_IWOTH
    return "may be written to by other users" if found.st_mode & others else ""


def _of_the_user(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _folder() -> str | None:
    """The folder, which ``CHAINRULES_CACHE`` may name; "off" means that there is none."""
    chosen = os.environ.get("CHAINRULES_CACHE")
    return _users_folder() if chosen is None else None if chosen in _OFF else chosen


@functools.cache
def _users_folder() -> str | None:
    try:
        from platformdirs import user_cache_dir
    except ImportError:
        return None
    return os.path.join(user_cache_dir("chainrules", appauthor=False), "compiled")


def _path(folder: str, key: str) -> str:
    return os.path.join(folder, f"{key}.code")


def _digest(key: str, code: bytes) -> bytes:
    return hashlib.sha256(key.encode() + code).digest()
