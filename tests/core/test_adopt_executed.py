"""Classes and functions made by ``exec``, as plugins are, are adopted with their registry."""

import math

import numpy as np
import pytest
from modules_of_text import module_of, slope

import chainrules as cr

REGISTRY = '''
import math

PLUGIN = """
import math
import numpy as np

class Gas:
    table = {"exp": math.exp}

    def __init__(self, c):
        self.c = c

    def h(self, t, power=math.pow):
        t = np.asarray(t, dtype=float)
        y = np.zeros(2)
        y[0] = self.c * float(t)
        y[1] = self.table["exp"](-t) * power(t, 2.0)
        return y.sum()

def s(t):
    return math.log(t)
"""
registry, found = {}, {}
exec(PLUGIN, found)
registry["gas"], registry["s"] = found["Gas"], found["s"]
made = registry["gas"](2.5)


def f(t):
    return registry["gas"](1.5).h(t) * made.h(t) + registry["s"](t)
'''


def test_plugins_in_a_registry_see_traced_values():
    module = module_of(REGISTRY, "adopted_registry")
    value, expected = module.f(0.7), slope(module.f, 0.7)
    with cr.adopt(module):
        assert module.f(0.7) == value
        assert cr.grad(module.f)(0.7) == pytest.approx(expected)
        assert cr.jvp(module.f, (0.7,), (1.0,))[1] == pytest.approx(expected)
        np.testing.assert_allclose(cr.vmap(module.f)(np.array([0.7, 0.9]))[0], value)
    assert (module.found["math"], module.found["np"]) == (math, np)
    assert module.found["Gas"].table == {"exp": math.exp}
    assert "float" not in module.found
    with pytest.raises(cr.LostDerivativeError):
        cr.grad(module.f)(0.7)


def test_classes_of_modules_that_are_not_named_stay_as_they_are():
    other = module_of(
        "import math\nclass Other:\n    def sin(x):\n        return math.sin(x)", "of_others"
    )
    module = module_of("table = {}", "adopted_with_others")
    module.table["other"] = other.Other
    with cr.adopt(module), pytest.raises(cr.LostDerivativeError, match="of_others"):
        cr.grad(module.table["other"].sin)(0.7)
    assert other.math is math
