"""Printing: tables by rich, where it is installed."""

from typing import Any


def show(x: Any) -> None:
    """Print what can draw itself by rich, or its text where that is not installed."""
    try:
        from rich.console import Console
    except ImportError:
        print(x)
    else:
        Console(highlight=False).print(x)
