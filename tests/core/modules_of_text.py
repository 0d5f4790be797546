"""Modules made of text, to be adopted, and slopes of what they compute."""

import textwrap
import types

from differences import slope_of


def module_of(source, name):
    made = types.ModuleType(name)
    exec(textwrap.dedent(source), vars(made))
    return made


def slope(f, x, step=1e-5):
    return slope_of(f, (x,), (1.0,), step)
