"""NumPy's warnings of floating-point numbers, at the user's line in place of one of ours.

NumPy warns of the Python frame that calls it, which under a transform is a rule's. While one runs,
errors that NumPy would warn of are handed to ``_Teller`` by NumPy's own setting for that,
``np.errstate(divide="log", call=...)``, and warned of again where the user can see it. What the
user ignores, raises or handles stays as it is.
"""

from contextvars import ContextVar, Token
from typing import Any

import numpy as np
from numpy._core import umath

from .lines import warn_user

KEPT = 64  # settings whose replacement is remembered
# NumPy's own variable of these settings, since to enter np.errstate takes ten times as long. Where
# a NumPy has none of that name, its warnings stay as they are.
_settings: Any = getattr(umath, "_extobj_contextvar", ContextVar("settings", default=None))
_get, _set, _reset = _settings.get, _settings.set, _settings.reset


class _Teller:
    """Receiver of NumPy's warnings, as ``Warning: overflow encountered in exp``."""

    def write(self, message: str) -> None:
        warn_user(RuntimeWarning(message.removeprefix("Warning: ").rstrip("\n")))


_TELLER = _Teller()
_telling: dict[Any, Any] = {}  # by the settings that they replace


def tell_user() -> tuple[Token, Any] | None:
    """Let NumPy's warnings be told at the user's line, until ``as_before`` gets the answer."""
    now = _get()
    telling = _telling.get(now) or _replaced(now)
    return None if telling is now else (_set(telling), telling)


def as_before(told: tuple[Token, Any] | None) -> None:
    """Take back what ``tell_user`` has set; what the user has set since stays, as by ``seterr``."""
    if told is None:
        return
    token, telling = told
    now = _get()
    _reset(token)
    if now is telling:
        return
    handler = np.geterrcall()
    _set(now)
    if np.geterrcall() is _TELLER:
        again: Any = {kind: "warn" for kind, mode in np.geterr().items() if mode == "log"}
        np.seterr(**again)
        np.seterrcall(handler)


def _replaced(now: Any) -> Any:
    """Return the settings in place of ``now``; the same where there is nothing to be warned of."""
    modes, telling = np.geterr(), now
    warned: Any = {kind: "log" for kind, mode in modes.items() if mode == "warn"}
    if now is not None and warned and not {"call", "log"} & {*modes.values()}:
        with np.errstate(**warned, call=_TELLER):
            telling = _get()
    if len(_telling) >= KEPT:
        _telling.clear()
    _telling[now] = _telling[telling] = telling
    return telling
