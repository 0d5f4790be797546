"""A user's module that has the name of one of Python's is the user's: its file says so."""

import subprocess
import sys
import textwrap

import pytest

from chainrules.config.foundations import is_of_python

MODULE = """
    import numpy as np
    from scipy import integrate
    import chainrules as cr

    RATE = 1.0

    class Wave:
        def __init__(self, k):
            self.k = k

        def slope(self, t, y):
            return -self.k * y

    def end(k):
        w = Wave(k)
        return integrate.solve_ivp(w.slope, (0, 1), [1.0]).y[0, -1] * np.sin(w.k)

    def moved(p):
        global RATE
        total = 0.0
        for RATE in (0.5, 1.5):
            total = total + integrate.quad_vec(lambda t: RATE * t * p, 0, 1)[0]
        return total

    def unknown(x):
        return x.hex()

    cr.adopt()
"""
PROGRAM = """
    import chainrules as cr
    import {name} as mine

    print(cr.grad(mine.end)(0.5), cr.compile(cr.grad(mine.end))(0.5))
    print(cr.grad(lambda w: w.slope(0.0, 2.0))(mine.Wave(0.5)))
    for f in (mine.moved, mine.unknown):
        try:
            print(cr.grad(f)(0.5))
        except Exception as error:
            print(type(error).__name__, error)
"""


def said_by(name, folder):
    (folder / f"{name}.py").write_text(textwrap.dedent(MODULE), encoding="utf-8")
    program = textwrap.dedent(PROGRAM.format(name=name))
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    assert ended.stderr == ""
    return ended.stdout


@pytest.mark.slow
def test_it_is_followed_and_named_in_errors(tmp_path):
    said = said_by("wave", tmp_path)
    assert "wave.py:" in said
    assert "MutationError RATE is read" in said
    assert said == said_by("of_waves", tmp_path).replace("of_waves", "wave")


def test_pythons_own():
    names = ["functools", "builtins", "_thread", "os", "importlib", "types", "__main__", "numpy"]
    assert [is_of_python(name) for name in names] == [True] * 6 + [False] * 2
