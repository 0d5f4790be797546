"""Objects of adopted modules keep ``float`` as a converter, by names that are called alone."""

import importlib
import sys

import numpy as np
import pytest
from modules_of_text import module_of, slope

import chainrules as cr

# Of attributes that no other module reads, which a test of this process may have adopted for good.
CHANNELS = """
import numpy as np


class Channel(str):
    def __new__(cls, name, chlimit=float, chkind=float):
        made = super().__new__(cls, name)
        made.chlimit, made.chkind = chlimit, chkind
        made.chasked = made.chmatched = made.chsent = float
        return made


class Space:
    CHANNELS = (Channel("red"), Channel("green", chlimit=lambda x: min(float(x), 1.0)))
    chcast = np.float64
    chnumber = complex


def limited(data):
    return [c.chlimit(v) for c, v in zip(Space.CHANNELS, data)]


def f(x):
    red, green = limited([x, 2.0 * x])
    return Space.chcast(red) * green + Space().chnumber(x, 1.0).real


class Red(Space):
    chabove = float


class Bright(Red):
    def is_float(self):
        return super().chabove is float


def kinds():
    red, _ = Space.CHANNELS
    match red:
        case Channel(chmatched=chkind):
            pass
    return [c is float for c in (red.chkind, chkind, getattr(red, "chasked"), vars(red)["chsent"])]


def calls(x):
    red = Space.CHANNELS[0]
    return red.chasked(x), red.chmatched(x), red.chsent(x), Bright().chabove(x)


def by_kind(x):
    return Space.CHANNELS[0].chkind(x)
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
        assert red.chlimit("0.5") == 0.5
        assert {float: 1}[red.chlimit] == 1
        assert isinstance(0.5, red.chlimit)
    assert (red.chlimit, channels.Space.chcast, channels.Space.chnumber) == (
        float,
        np.float64,
        complex,
    )
    assert type(red.chlimit) is type(channels.Space.chcast) is type


def test_a_converter_that_is_also_compared_stays_the_class(channels):
    with cr.adopt(channels):
        assert channels.kinds() == [True, True, True, True]
        assert channels.Bright().is_float()
        with pytest.raises(cr.LostDerivativeError):
            cr.grad(channels.by_kind)(0.3)


def test_without_a_source_each_name_in_a_function_counts_as_read(channels):
    of_text = module_of(CHANNELS, "channels_of_text")
    other = module_of("class Other:\n    def f(self, c):\n        return c.chkind", "names_kind")
    with cr.adopt(of_text):
        assert type(of_text.Space.CHANNELS[0].chlimit) is type
        with pytest.raises(cr.LostDerivativeError):
            cr.grad(of_text.f)(0.3)
    with cr.adopt(channels, other):
        assert cr.grad(channels.f)(0.3) == pytest.approx(slope(channels.f, 0.3))


def test_a_module_that_is_adopted_later_may_read_the_converter(channels):
    red = channels.Space.CHANNELS[0]
    with cr.adopt(channels):
        assert type(red.chlimit) is not type
        reader = module_of("def f(c):\n    return c.chlimit is float", "reads_limits")
        with cr.adopt(reader):
            assert reader.f(red)
        assert type(red.chlimit) is type
    assert type(red.chlimit) is type
