"""A program as data: lines of Python that print as they run, and from which lines can be struck."""

import dataclasses
import functools
import textwrap

import numpy as np

import chainrules as cr


class Constants:
    """``chainrules`` for a plain run: what is handed out is a copy, and kept for differences.

    ``value`` and ``stop_gradient`` are constants to a derivative, so that a run at another point
    has to see the numbers of the first one.
    """

    def __init__(self, kept=()):
        self._kept = iter(kept)
        self.seen = []

    def __getattr__(self, name):
        return getattr(cr, name)

    def value(self, x):
        x = np.array(next(self._kept, x)) if isinstance(x, np.ndarray) else next(self._kept, x)
        self.seen.append(np.array(x) if isinstance(x, np.ndarray) else x)
        return x

    stop_gradient = value


CAST = ".astype(np.float32)"


@functools.lru_cache(maxsize=256)
def compiled(text):
    return compile(text, "<program>", "exec")


@dataclasses.dataclass(frozen=True)
class Program:
    """A function ``f`` of ``inputs``, each given by the expression that makes it."""

    inputs: tuple  # pairs of name and expression
    body: tuple
    result: str
    setup: tuple = ()  # lines before the function: what it captures
    check: str = "agree"  # the name of the check in fuzz_oracle

    def lines(self):
        if not self.inputs:  # a whole script
            return "\n".join(self.setup) + "\n"
        names = ", ".join(name for name, _ in self.inputs)
        body = textwrap.indent("\n".join((*self.body, f"return {self.result}")), "    ")
        made = [f"{name} = {expression}" for name, expression in self.inputs]
        return "\n".join([*self.setup, f"def f({names}):", body, *made]) + "\n"

    def source(self):
        return "import numpy as np\nimport chainrules as cr\n" + self.lines()

    def build(self, module=cr, double=False):
        """Run the lines anew; give ``f`` and its inputs, in double precision if asked for.

        A function that rounds to single precision is a staircase, of which differences with a
        step for doubles tell nothing: in double precision its casts round to doubles.
        """
        space = {"__name__": "program", "np": np, "cr": module}
        lines = self.lines()
        exec(compiled(lines.replace(CAST, ".astype(np.float64)") if double else lines), space)
        inputs = [space[name] for name, _ in self.inputs]
        if double:
            inputs = [in_double(x) for x in inputs]
        return space["f"], inputs

    def smaller(self):
        """Yield the programs with a line less, and those that give back less."""
        for i in reversed(range(len(self.body))):
            end = i + 1
            while end < len(self.body) and self.body[end].startswith((" ", "else", "except")):
                end += 1
            yield dataclasses.replace(self, body=self.body[:i] + self.body[end:])
        for i in range(len(self.setup) if self.inputs else 0):
            yield dataclasses.replace(self, setup=self.setup[:i] + self.setup[i + 1 :])
        terms = self.result.split(" + ")
        for i in range(len(terms) if len(terms) > 1 else 0):
            rest = " + ".join(terms[:i] + terms[i + 1 :])
            yield dataclasses.replace(self, result=rest)
        for i in range(len(self.inputs) if len(self.inputs) > 1 else 0):
            yield dataclasses.replace(self, inputs=self.inputs[:i] + self.inputs[i + 1 :])


def in_double(x):
    if isinstance(x, np.ndarray) and x.dtype == np.float32:
        return x.astype(np.float64)
    if isinstance(x, np.ndarray) and x.dtype == np.complex64:
        return x.astype(np.complex128)
    return np.float64(x) if isinstance(x, np.float32) else x
