"""Floating-point warnings of NumPy, shown at the user's line in place of a line of this package.

NumPy warns of the Python frame that calls it, which under a transform is a rule's. While one runs,
errors that NumPy would warn of are handed to ``_Teller`` by NumPy's own setting for that,
``np.errstate(divide="log", call=...)``, and warned of again where the user can see it. What the
user ignores, raises or handles stays as it is.
"""

import functools
import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import Any

import numpy as np
from numpy._core import umath

from .lines import is_the_users, passed_by, warn_user
from .thresholds import SETTINGS_KEPT

# NumPy's own variable of these settings, since to enter np.errstate takes ten times as long. Where
# a NumPy has none of that name, its warnings stay as they are.
_settings: Any = getattr(umath, "_extobj_contextvar", ContextVar("settings", default=None))
_get, _set = _settings.get, _settings.set


# By the code of a function that goes through recorded operations: words for the one under way.
_replays: dict[CodeType, Callable[[FrameType], str]] = {}
HINT = "`with cr.debug(nan=True, inf=True):` names the operation and its line"
HINT_OF_LINE = "`with cr.debug(nan=True, inf=True):` names its line"


def replays(f: Callable, when: str, named: Callable[[FrameType], str] | None = None) -> None:
    """Say that ``f`` goes through operations that were recorded, whose lines nobody noted.

    To note them takes 85 ns, which is half of an operation on numbers. So a warning has the line of
    the transform, and says how to find that of the operation.

    Parameters
    ----------
    f : Callable
        The function whose frame is looked for.
    when : str
        Words for an operation of it that has no name.
    named : Callable, optional
        Finds words for the operation under way in a frame of ``f``; empty if it has no name.
    """

    def words(frame: FrameType) -> str:
        name = "" if named is None else named(frame)
        return name or f"{when}; {HINT}"

    _replays[f.__code__] = words


class _Teller:
    """Receiver of NumPy's warnings, as ``Warning: overflow encountered in exp``."""

    def write(self, message: str) -> None:
        said = message.removeprefix("Warning: ").rstrip("\n")
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and not is_the_users(frame):
            if words := _replays.get(frame.f_code):
                said = f"{said}, {words(frame)}"
                break
            frame = frame.f_back
        warn_user(RuntimeWarning(said))


def note_replay(error: FloatingPointError) -> None:
    """Add to an error of NumPy's how to find its operation, if that was one that was recorded."""
    found = None
    for frame, _ in passed_by(error):
        if is_the_users(frame):
            found = None
        elif words := _replays.get(frame.f_code):
            found = frame, words
    if found is not None and not hasattr(error, "code"):
        frame, words = found
        error.add_note(f"It was {words(frame)}.")


# What NumPy's settings, and Python's filters of warnings, raise for an error of floating point.
RAISED = ArithmeticError, RuntimeWarning


def raising() -> tuple[Any, Any]:
    """Return what decides which errors of floating point are raised here."""
    return _get(), warnings.filters


def is_as_entered(entered: tuple[Any, Any]) -> bool:
    """Say whether the settings are those of before, which a transform may have had told."""
    before, filters = entered
    now = _get()
    return warnings.filters is filters and (now is before or now is _telling.get(before))


_TELLER = _Teller()
_telling: dict[Any, Any] = {}  # by the settings that they replace


settings = _get  # as they are now


def tell_user(before: Any) -> None:
    """Let NumPy's warnings be told at the user's line, where they are under settings ``before``."""
    telling = _telling.get(before) or _replaced(before)
    if telling is not before:
        _set(telling)


def as_before(before: Any) -> None:
    """Take back what ``tell_user`` has set; what the user has set since stays, as by ``seterr``."""
    now = _get()
    if now is before:
        return
    if now is _telling.get(before):
        _set(before)
        return
    _set(before)
    handler = np.geterrcall()
    _set(now)
    if np.geterrcall() is _TELLER:
        again: Any = {kind: "warn" for kind, mode in np.geterr().items() if mode == "log"}
        np.seterr(**again)
        np.seterrcall(handler)


def telling_user(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``run``, a replay, with NumPy's warnings in it told at the line of its call."""

    @functools.wraps(run)
    def told(*args: Any) -> Any:
        before = _get()
        try:
            tell_user(before)
            return run(*args)
        finally:
            as_before(before)

    replays(told, "in a compiled function")
    return told


def _replaced(now: Any) -> Any:
    """Return the settings in place of ``now``; the same where there is nothing to be warned of."""
    modes, telling = np.geterr(), now
    warned: Any = {kind: "log" for kind, mode in modes.items() if mode == "warn"}
    if now is not None and warned and not {"call", "log"} & {*modes.values()}:
        with np.errstate(**warned, call=_TELLER):
            telling = _get()
    if len(_telling) >= SETTINGS_KEPT:
        _telling.clear()
    _telling[now] = _telling[telling] = telling
    return telling
