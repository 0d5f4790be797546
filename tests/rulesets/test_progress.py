"""Progress bars of long loops: what they count, and that nobody else notices them."""

import sys
import types

import numpy as np
import pytest

import chainrules as cr

XS = np.linspace(0.1, 1.0, 10)


@pytest.fixture
def bars(monkeypatch):
    """The bars that were shown, by a stand-in for tqdm."""
    shown = []

    class Bar:
        def __init__(self, total, desc, unit):
            self.total, self.desc, self.n, self.closed = total, desc, 0, False
            shown.append(self)

        def update(self):
            self.n += 1

        def close(self):
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
    return shown


def looped(w, **more):
    return cr.loop(10, lambda c: c + 0.1 * np.sin(w * c), w, **more)


def scanned(w, **more):
    carry, ys = cr.scan(lambda c, x: (c * np.cos(w * x), c + x), w, XS, **more)
    return carry + np.sum(ys)


LOOPS = pytest.mark.parametrize("f", [looped, scanned])
WAYS = {
    "value": lambda f: f(0.7),
    "jvp": lambda f: cr.jvp(f, (0.7,), (1.0,)),
    "grad": lambda f: cr.grad(f)(0.7),
    "hessian": lambda f: cr.hessian(f)(0.7),
    "grad of grad": lambda f: cr.grad(cr.grad(f))(0.7),
}


@LOOPS
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("segment", [None, 3])
def test_the_same_numbers(f, way, segment, bars):
    expected = WAYS[way](lambda w: f(w, segment=segment))
    found = WAYS[way](lambda w: f(w, segment=segment, progress=True))
    np.testing.assert_array_equal(expected, found)
    assert {bar.desc for bar in bars} == {"loop" if f is looped else "scan"}


@LOOPS
def test_every_step_counts(f, bars):
    f(0.7, progress=True)
    cr.jvp(lambda w: f(w, progress=True), (0.7,), (1.0,))
    cr.grad(lambda w: f(w, progress=True))(0.7)  # one segment, recorded
    cr.grad(lambda w: f(w, segment=3, progress=True))(0.7)  # all but the last again
    assert [(bar.n, bar.total, bar.closed) for bar in bars] == [(10, 10, True)] * 3 + [
        (19, 19, True)
    ]


class OneStepAtATime(cr.RuleConfig, cr.HasForwardsMode, cr.HasReverseMode):
    """An engine that is called back at every step."""

    def frule_via_ad(self, tangents, f, *args, **kwargs):
        return cr.ForwardConfig().frule_via_ad(tangents, f, *args, **kwargs)

    def rrule_via_ad(self, f, *args, **kwargs):
        return cr.ReverseConfig().rrule_via_ad(f, *args, **kwargs)


def test_rules_that_are_asked_by_name(bars):
    args = lambda c, x: (c * np.cos(x), c), 0.7, XS
    tangents = cr.NoTangent(), cr.NoTangent(), 1.0, cr.ZeroTangent()
    for forwards, backwards in (
        (OneStepAtATime(), OneStepAtATime()), (cr.ForwardConfig(), cr.ReverseConfig()),
    ):  # fmt: skip
        plain, _ = cr.scan(*args)
        assert plain == cr.frule(forwards, tangents, cr.scan, *args, progress=True)[0][0]
        assert plain == cr.rrule(backwards, cr.scan, *args, progress=True)[0][0]
    assert [bar.n for bar in bars] == [10] * 4


@LOOPS
def test_none_by_default(f, bars):
    cr.grad(f)(0.7)
    assert bars == []


@LOOPS
def test_without_tqdm(f, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(
        ModuleNotFoundError, match=r"(?s)progress=True.*test_progress.*chainrules\[progress\]"
    ):
        f(0.7, progress=True)
    f(0.7)


def test_a_loop_of_no_steps(bars):
    assert cr.loop(0, lambda c: 2 * c, 1.5, progress=True) == 1.5
    assert bars[0].closed


def test_an_error_of_the_step_arrives(bars):
    def step(c):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        cr.loop(3, step, 1.0, progress=True)
    assert bars[0].n == 0
