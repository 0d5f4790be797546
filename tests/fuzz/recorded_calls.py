"""Recorder of calls: a plugin of pytest that keeps the arguments with which a library is called.

``pytest -p recorded_calls --pyargs scipy.signal`` with ``RECORDED_CALLS`` set to a file writes what
the library's own tests ask of its public functions, a few calls for each signature.
"""

import functools
import importlib
import os
import pickle
import types

import numpy as np

MODULES = (  # noqa: SIM905
    "numpy numpy.linalg numpy.fft scipy.special scipy.linalg scipy.signal scipy.ndimage "
    "scipy.interpolate scipy.integrate scipy.stats scipy.spatial.distance scipy.fft "
    "scipy.fftpack scipy.optimize"
).split()
MOST = 90  # calls of a function
LARGEST = 60_000  # bytes of a call
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.sum))

calls: dict[str, list[bytes]] = {}
_seen: set = set()
_recording = [False]


def has_floats(x):
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fc"
    if isinstance(x, list | tuple):
        return any(map(has_floats, x))
    if isinstance(x, dict):
        return any(map(has_floats, x.values()))
    return isinstance(x, float | complex | np.inexact)


def signature(x):
    """Return what makes a call another one: types, dtypes, axes, and small settings."""
    if isinstance(x, np.ndarray):
        return type(x), x.dtype.str, x.ndim, min(x.size, 2), x.flags.c_contiguous
    if isinstance(x, bool | str | None):
        return x
    if isinstance(x, int):
        return int, x if -3 <= x <= 4 else x > 0
    if isinstance(x, list | tuple):
        return type(x), min(len(x), 4), *map(signature, x[:3])
    if isinstance(x, dict):
        return tuple((name, signature(part)) for name, part in sorted(x.items(), key=str))
    return type(x)


def record(name, args, kwargs):
    if _recording[0] or not has_floats((args, kwargs)):
        return
    _recording[0] = True
    try:
        key, mine = (name, signature(args), signature(kwargs)), calls.setdefault(name, [])
        if key in _seen or len(mine) >= MOST:
            return
        _seen.add(key)
        kept = pickle.dumps((args, kwargs))
        if len(kept) < LARGEST and pickle.loads(kept):
            mine.append(kept)
    except Exception:
        return  # what cannot be kept, or compared
    finally:
        _recording[0] = False


class Recorded:
    """A function that records its calls, and is the function in every other way."""

    def __init__(self, f, name):
        self.__wrapped__, self.name = f, name
        functools.update_wrapper(self, f, updated=())

    def __call__(self, *args, **kwargs):
        record(self.name, args, kwargs)
        return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self.__wrapped__, name)

    def __get__(self, owner, cls=None):
        return self if owner is None else types.MethodType(self, owner)

    def __hash__(self):
        return hash(self.__wrapped__)

    def __eq__(self, other):
        f = other.__wrapped__ if isinstance(other, Recorded) else other
        return f is self.__wrapped__


def pytest_configure(config):
    for module in MODULES:
        source = importlib.import_module(module)
        for name in dir(source):
            f = getattr(source, name, None)
            if isinstance(f, FUNCTIONS) and not name.startswith("_"):
                setattr(source, name, Recorded(f, f"{module}.{name}"))


def pytest_sessionfinish(session, exitstatus):
    _recording[0] = True
    with open(os.environ["RECORDED_CALLS"], "wb") as file:
        pickle.dump(calls, file)
