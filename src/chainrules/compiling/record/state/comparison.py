"""Compared state that is no object in itself: contexts, levels of loggers, slots, memory."""

import abc
import decimal
import logging
import types
from typing import Any

from .known_types import slots_of
from .state_guard import NOTHING


def context_of_decimals() -> tuple:
    """Return what arithmetic on decimals depends on."""
    now = decimal.getcontext()
    traps = tuple([kind for kind, is_set in now.traps.items() if is_set])
    return now.prec, now.rounding, now.Emin, now.Emax, now.capitals, now.clamp, traps


def token_of_classes() -> object:
    return abc.get_cache_token()


def is_empty(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is NOTHING
    except ValueError:
        return True


def slot_of(slot: Any, x: Any) -> Any:
    """Return what a slot of an object holds, or NOTHING."""
    try:
        return slot.__get__(x)
    except AttributeError:
        return NOTHING


def fields_of(x: Any) -> dict[str, Any]:
    """Return the fields of an object and what its slots hold, by their names."""
    slots = {name: slot_of(slot, x) for name, slot in slots_of(type(x))}
    return {**(getattr(x, "__dict__", None) or {}), **slots}


def level_of(x: Any) -> tuple:
    """Return at which levels a logger logs."""
    logger = x.logger if isinstance(x, logging.LoggerAdapter) else x
    levels = sorted({*logging.getLevelNamesMapping().values()})
    return logger.disabled, logger.getEffectiveLevel(), *map(logger.isEnabledFor, levels)
