"""Types that objects of adopted modules keep: stand-ins, where they are called only."""

import numpy as np
import pytest
from modules_of_text import module_of, slope

import chainrules as cr

KEPT = """
import math
import numpy as np

class Channel:
    cast = complex

    def __init__(self, limit=None, kind=float, single=np.float32):
        self.limit, self.kind, self.single = limit or float, kind, single
        self.named, self.both, self.whole = float, float, int

class Name(str):
    pass

channels = [Channel(), (Channel(lambda v: float(min(v, 9.0))),)]
name = Name("a")
name.limit = float

def f(x):
    first, (second,) = channels
    total = first.limit(x) * 2 + second.limit(x) + name.limit(x) ** 2
    return total + first.cast(x).real + first.whole(2.7)

def in_single(x):
    return channels[0].single(x) * 2

def is_float():
    return [channels[0].kind is float, getattr(channels[0], "named") is float]

def uses_both(x):
    return channels[0].both(x) if channels[0].both is float else 0.0
"""


def test_types_that_are_called_only_see_traced_values():
    module = module_of(KEPT, "with_types_kept")
    expected = module.f(0.7)
    with cr.adopt(module):
        assert module.f(0.7) == expected
        assert float(cr.grad(module.f)(0.7)) == pytest.approx(slope(module.f, 0.7), rel=1e-8)
        assert float(cr.jvp(module.f, (0.7,), (1.0,))[1]) == pytest.approx(
            6.0 - 1.0 + 2 * 0.7 - 1.0
        )
        assert cr.grad(module.in_single)(0.7) == 2.0
        assert module.in_single(0.7).dtype == np.float32


def test_types_that_are_read_as_values_stay():
    module = module_of(KEPT, "with_types_read")
    with cr.adopt(module):
        assert module.is_float() == [True, True]
        assert module.uses_both(0.7) == 0.7
        with pytest.raises(cr.LostDerivativeError):
            cr.grad(module.uses_both)(0.7)
        assert {module.channels[0].limit} == {float}
        assert module.channels[0].limit is not float
        assert isinstance(1.0, module.channels[0].limit)


def test_they_are_the_classes_again_after_adoption():
    module = module_of(KEPT, "with_types_for_a_while")
    with cr.adopt(module):
        module.channels[0].single = np.float16
    first = module.channels[0]
    assert first.limit is float
    assert first.single is np.float16
    assert module.Channel.cast is complex
    assert module.name.limit is float
