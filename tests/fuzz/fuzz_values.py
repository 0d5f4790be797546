"""Inputs of every kind, as expressions; a scope in which lines are tried by plain NumPy."""

import re

import numpy as np
from fuzz_program import Constants, Program
from hypothesis import strategies as st

SHAPES = [(), (1,), (2,), (3,), (1, 2), (2, 2), (2, 3), (3, 1), (2, 1, 2), (2, 2, 2), (1, 3, 2)]
LAYOUTS = ["C", "C", "C", "F", "strided", "float32", "complex"]


@st.composite
def literals(draw, shape, low=0.3, high=1.7):
    """Distinct numbers of two digits, away from the kinks at 0 and 1."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    values = rng.uniform(low, high, shape).round(2) + 0.003
    return np.round(values, 3).tolist()


@st.composite
def inputs(draw, shapes=SHAPES, layouts=LAYOUTS):
    """An expression that makes an input."""
    shape = draw(st.sampled_from(shapes))
    literal = draw(literals(shape))
    layout = draw(st.sampled_from(layouts))
    if shape == () and draw(st.booleans()):
        return {"complex": f"{literal} + 0.5j", "float32": f"np.float32({literal})"}.get(
            layout, f"{literal}"
        )
    if layout == "F" and len(shape) > 1:
        return f"np.asfortranarray({literal})"
    if layout == "strided" and shape:
        return f"np.repeat({literal}, 2, axis=-1)[..., ::2]"
    if layout == "float32":
        return f"np.array({literal}, np.float32)"
    if layout == "complex":
        return f"np.array({literal}) * (1 + 0.5j)"
    return f"np.array({literal})"


# A ufunc's "at" ends the process where what it is given does not fit; an assignment says so.
AT = re.compile(r"np\.\w+\.at\((\w+), (\(.*,\)), (.*)\)")


class Scope:
    """Variables with the values that plain NumPy gives them, so that each line fits."""

    def __init__(self, given, setup=()):
        self.given, self.setup, self.body = tuple(given), tuple(setup), []
        self.space = {"np": np, "cr": Constants()}
        for line in setup:
            exec(line, self.space)
        # The arrays that lines are tried on are written to by these, as in the program.
        for name, expression in given:
            self.space[name] = eval(expression, self.space)
        self.names = [name for name, _ in given]
        self.next = iter("abcdeghijklmnopqrstuvw")

    def __getitem__(self, name):
        return self.space[name]

    def arrays(self, rank=0):
        found = [n for n in self.names if isinstance(self.space[n], np.ndarray)]
        return [n for n in found if self.space[n].ndim >= rank]

    def fresh(self):
        return next(self.next)

    def add(self, line, name=None):
        """Keep the line if plain NumPy runs it and what it gives is finite and not large."""
        try:
            with np.errstate(all="ignore"):
                if at := AT.fullmatch(line):
                    exec("{}.copy()[{}] = {}".format(*at.groups()), self.space)
                exec(line, self.space)
        except Exception:
            self.forget(name)
            return False
        if name is not None:
            value = self.space[name]
            if not isinstance(value, np.ndarray | float | complex | np.inexact):
                return self.forget(name)
            value = np.asarray(value)
            if value.dtype.kind not in "fc" or not 0 < value.size <= 40:
                return self.forget(name)
            if not np.all(np.abs(value) < 1e3):
                return self.forget(name)
            self.names.append(name)
        self.body.append(line)
        return True

    def forget(self, name):
        self.space.pop(name, None)
        return False

    def evaluate(self, expression):
        """The value of an expression, or None."""
        try:
            return eval(expression, self.space)
        except Exception:
            return None

    def program(self, result, **options):
        return Program(self.given, tuple(self.body), result, self.setup, **options)
