"""Programs that are run twice, eagerly and compiled, and must tell the same story.

A program is a generator function. It is given ``wrap``, which makes a compiled function of one, or
leaves it as it is; it makes its own state, calls, changes what it likes between calls, and yields
what came out. Types, dtypes, shapes and structure must be equal, numbers but for rounding.
"""

import collections
import contextlib
import warnings

import numpy as np
import pytest

import chainrules as cr
import chainrules.compiling
from chainrules.compiling.compiled import Compiled
from chainrules.compiling.ir.looks import NotRecordable
from chainrules.compiling.record.cache_key import signature
from chainrules.config import CompileError, CompileWarning

compiled = chainrules.compiling.compile


class Quickly(Compiled):
    """Takes the quick way from its second call on, where others have been called some times."""

    __slots__ = ()

    def __call__(self, *args, **kwargs):
        y = super().__call__(*args, **kwargs)
        with contextlib.suppress(NotRecordable):
            key, values = signature(args, kwargs)
            kind = self.kinds.get(key)
            if kind is not None and kind.root is not None and not kwargs:
                self.quick = kind.quickly(key, args, values)
        return y

    def __reduce__(self):
        return Quickly, (self.f, *self.options)


def quickly(f, **options):
    g = compiled(f, **options)
    g.__class__ = Quickly
    return g


def jvp(f):
    def pushed(x, *rest, **options):
        return cr.jvp(lambda x: f(x, *rest, **options), (x,), (0.5 * x + 0.25,))

    return pushed


MODES = {"value": lambda f: f, "value_and_grad": cr.value_and_grad, "jvp": jvp}
VALUE = ("value",)


def program(*, modes=tuple(MODES), warns=None, error=None, fails=None, fails_in=None, **options):
    """Make a test of a program.

    ``warns``: it runs eagerly, and a warning says so with these words ("": it may); ``error``: it
    ends in a CompileError; ``fails``: what is wrong with it today, in the modes ``fails_in``.
    """

    def decorated(script):
        def test(mode, make):
            with np.errstate(all="ignore"):
                expected = list(script(MODES[mode]))
            found = []
            ends = pytest.raises(CompileError, match=error) if error else contextlib.nullcontext()
            with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"), ends:
                warnings.simplefilter("always", CompileWarning)
                for result in script(lambda f: make(MODES[mode](f), **options)):
                    found.append(result)  # one by one: what came before an error is seen
            for k, (x, y) in enumerate(zip(found, expected)):
                assert not (difference := differs(x, y)), f"call {k}: {difference}"
            assert error or len(found) == len(expected)
            said = [str(w.message) for w in said if issubclass(w.category, CompileWarning)]
            assert all(warns is not None and warns in text for text in said), said
            assert not warns or said, "it was to say something"

        given = []
        for mode in modes:
            failing = fails and mode in (fails_in or modes)
            marks = [pytest.mark.xfail(strict=True, reason=fails)] if failing else []
            given.append(pytest.param(mode, marks=marks))
        test.__name__, test.__doc__ = script.__name__, script.__doc__
        test.__module__ = script.__module__
        ways = pytest.mark.parametrize("make", [compiled, quickly], ids=["compiled", "quickly"])
        return ways(pytest.mark.parametrize("mode", given)(test))

    return decorated


def said(g, *args, **kwargs):
    """Return what a call gives, or what it raises."""
    try:
        return g(*args, **kwargs)
    except CompileError:
        raise
    except Exception as error:
        return type(error).__name__, str(error)


def differs(x, y):
    """Say how two results differ, if they do."""
    if type(x).__qualname__ != type(y).__qualname__:
        return f"{type(x).__name__} {x!r:.80} for {type(y).__name__} {y!r:.80}"
    if isinstance(y, list | tuple | set | frozenset | collections.deque):
        if len(x) != len(y):
            return f"{len(x)} parts for {len(y)}"
        if isinstance(y, set | frozenset):
            x, y = sorted(x), sorted(y)
        return next(filter(None, map(differs, x, y)), None)
    if isinstance(y, dict):
        return differs([*x, *x.values()], [*y, *y.values()])
    if hasattr(y, "__dict__") and not isinstance(y, type | np.ndarray) and not callable(y):
        return differs(vars(x), vars(y))
    if isinstance(y, float | complex | np.ndarray | np.generic):
        return differ_in_numbers(np.asarray(x), np.asarray(y))
    return None if x is y or repr(x) == repr(y) or x == y else f"{x!r:.80} for {y!r:.80}"


def differ_in_numbers(x, y):
    if (x.dtype, x.shape) != (y.dtype, y.shape):
        return f"{x.dtype}{x.shape} for {y.dtype}{y.shape}"
    if y.dtype.kind not in "fc":
        return None if np.array_equal(x, y) else f"{x!r:.80} for {y!r:.80}"
    size = np.max(np.abs(y), initial=0.0, where=np.isfinite(y))
    close = np.allclose(x, y, rtol=1e-9, atol=1e-12 * size, equal_nan=True)
    if y.dtype.itemsize < 8 or y.dtype == np.complex64:
        close = np.allclose(x, y, rtol=1e-4, atol=1e-5 * size, equal_nan=True)
    if close and y.dtype.kind == "f":  # -0.0 is another number than 0.0: 1 / y tells
        close = np.array_equal(np.signbit(x) & (x == 0), np.signbit(y) & (y == 0))
    return None if close else f"{x!r:.80} for {y!r:.80}"
