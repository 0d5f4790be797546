"""Objects of adopted modules keep ``float`` as a converter, by names that are called alone."""

import importlib
import sys

import numpy as np
import pytest
from modules_of_text import module_of, slope

import chainrules as cr

CHANNELS = """
import numpy as np


class Channel(str):
    def __new__(cls, name, limit=float, kind=float):
        made = super().__new__(cls, name)
        made.limit, made.kind = limit, kind
        made.asked = made.matched = made.sent = float
        return made


class Space:
    CHANNELS = (Channel("red"), Channel("green", limit=lambda x: min(float(x), 1.0)))
    cast = np.float64
    number = complex


def limited(data):
    return [c.limit(v) for c, v in zip(Space.CHANNELS, data)]


def f(x):
    red, green = limited([x, 2.0 * x])
    return Space.cast(red) * green + Space().number(x, 1.0).real


class Red(Space):
    above = float


class Bright(Red):
    def is_float(self):
        return super().above is float


def kinds():
    red, _ = Space.CHANNELS
    match red:
        case Channel(matched=kind):
            pass
    return [c is float for c in (red.kind, kind, getattr(red, "asked"), vars(red)["sent"])]


def calls(x):
    red = Space.CHANNELS[0]
    return red.asked(x), red.matched(x), red.sent(x), Bright().above(x)


def by_kind(x):
    return Space.CHANNELS[0].kind(x)
"""


@pytest.fixture
def channels(tmp_path, monkeypatch):
    (tmp_path / "adopted_channels.py").write_text(CHANNELS)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("adopted_channels")
    del sys.modules["adopted_channels"]


def test_a_converter_that_is_called_alone_keeps_the_derivative(channels):
    red = channels.Space.CHANNELS[0]
    value, expected = channels.f(0.3), slope(channels.f, 0.3)
    with cr.adopt(channels):
        assert channels.f(0.3) == value
        assert cr.grad(channels.f)(0.3) == pytest.approx(expected)
        assert cr.jvp(channels.f, (0.3,), (1.0,))[1] == pytest.approx(expected)
        np.testing.assert_allclose(cr.vmap(channels.f)(np.array([0.3, 0.3])), [value, value])
        assert red.limit("0.5") == 0.5
        assert {float: 1}[red.limit] == 1
        assert isinstance(0.5, red.limit)
    assert (red.limit, channels.Space.cast, channels.Space.number) == (float, np.float64, complex)
    assert type(red.limit) is type(channels.Space.cast) is type


def test_a_converter_that_is_also_compared_stays_the_class(channels):
    with cr.adopt(channels):
        assert channels.kinds() == [True, True, True, True]
        assert channels.Bright().is_float()
        with pytest.raises(cr.LostDerivativeError):
            cr.grad(channels.by_kind)(0.3)


def test_without_a_source_each_name_in_a_function_counts_as_read(channels):
    of_text = module_of(CHANNELS, "channels_of_text")
    other = module_of("class Other:\n    def f(self, c):\n        return c.kind", "names_kind")
    with cr.adopt(of_text):
        assert type(of_text.Space.CHANNELS[0].limit) is type
        with pytest.raises(cr.LostDerivativeError):
            cr.grad(of_text.f)(0.3)
    with cr.adopt(channels, other):
        assert cr.grad(channels.f)(0.3) == pytest.approx(slope(channels.f, 0.3))


def test_a_module_that_is_adopted_later_may_read_the_converter(channels):
    red = channels.Space.CHANNELS[0]
    with cr.adopt(channels):
        assert type(red.limit) is not type
        reader = module_of("def f(c):\n    return c.limit is float", "reads_limits")
        with cr.adopt(reader):
            assert reader.f(red)
        assert type(red.limit) is type
    assert type(red.limit) is type
