"""Modules made of text, to be adopted, and slopes of what they compute."""

import textwrap
import types


def module_of(source, name):
    made = types.ModuleType(name)
    exec(textwrap.dedent(source), vars(made))
    return made


def slope(f, x, step=1e-5):
    return (f(x + step) - f(x - step)) / (2 * step)
