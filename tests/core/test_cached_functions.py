"""Functions with a cache of ``functools`` in adopted modules: traced values pass it by."""

import math
import sys
import types

import numpy as np
import pytest
from modules_of_text import module_of, slope

import chainrules as cr

CACHED = """
import functools
import math

calls = []

@functools.lru_cache(maxsize=8)
def length(x, y=2.0):
    calls.append(x)
    return math.hypot(float(x), y)

@functools.cache
def again(n, x):
    return x if n == 0 else x * again(n - 1, x)

class Beam:
    def __init__(self, width):
        self.width = width

    @functools.lru_cache
    def stiffness(self, x):
        return self.width * math.sin(x) ** 2

    @staticmethod
    @functools.cache
    def area(x):
        import math
        return math.exp(x)

def everything(x):
    return length(x) + length(y=x, x=1.0) + again(3, x) + Beam(2.0).stiffness(x) + Beam.area(x)
"""


@pytest.fixture
def module():
    made = module_of(CACHED, "with_caches")
    with cr.adopt(made):
        yield made


def test_traced_values_run_the_function(module):
    for x in (0.7, np.float64(1.3)):
        gradient = cr.grad(module.everything)(x)
        assert float(gradient) == pytest.approx(slope(module.everything, float(x)), rel=1e-7)
        assert float(cr.jvp(module.everything, (x,), (1.0,))[1]) == pytest.approx(float(gradient))
    bend = cr.hvp(module.everything, (0.7,), (1.0,))
    assert float(bend) == pytest.approx(slope(cr.grad(module.everything), 0.7), rel=1e-6)


def test_plain_values_are_kept_and_traced_ones_are_not(module):
    module.length.cache_clear()
    module.calls.clear()
    assert module.length(3.0) == module.length(3.0) == math.hypot(3.0, 2.0)
    assert module.calls == [3.0]
    cr.grad(module.length)(3.0)
    cr.grad(module.length)(3.0)
    assert len(module.calls) == 3
    assert module.length.cache_info()[:2] == (1, 1)
    assert module.length.cache_parameters()["maxsize"] == 8


def test_the_cache_is_the_own_one_after_adoption():
    made = module_of(CACHED, "with_caches_for_a_while")
    own = made.length
    with cr.adopt(made):
        assert made.length is not own
    assert made.length is own
    with pytest.raises(cr.LostDerivativeError, match="a function with a cache"):
        cr.grad(made.length)(1.0)


def test_a_compiled_function_with_a_cache_in_it(module):
    compiled = cr.compile(cr.grad(module.everything))
    with pytest.warns(cr.CompileWarning, match=r"calls\[\d+\]\) holds traced values"):
        found = [compiled(x) for x in (0.7, 0.9, 0.7)]
    assert found == pytest.approx(
        [cr.grad(module.everything)(x) for x in (0.7, 0.9, 0.7)], rel=1e-12
    )


METHODS = """
def density(self, x):
    from math import exp
    from scipy.stats import norm

    return exp(x) * norm.cdf(x * self.scale)

def respond(self, x):
    import math
    return math.sin(x)
"""

CLASS = """
class Model:
    from methods_of_a_class import density, respond

    scale = 2.0
"""


def test_methods_of_other_modules_that_import_when_they_run():
    methods = types.ModuleType("methods_of_a_class")
    exec(METHODS, vars(methods))
    sys.modules[methods.__name__] = methods
    try:
        model = module_of(CLASS, "class_of_methods")
        own = model.Model.density
        with cr.adopt(methods, model):
            for f in (lambda x: model.Model().density(x), lambda x: model.Model().respond(x)):
                assert float(cr.grad(f)(0.4)) == pytest.approx(slope(f, 0.4), rel=1e-7)
        assert model.Model.density is own
    finally:
        del sys.modules[methods.__name__]
