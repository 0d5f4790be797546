"""Errors that a signal's handler raises end a run: no other way is tried."""

import signal
import warnings

import numpy as np
import pytest

import chainrules as cr


class OutOfTimeError(Exception):
    pass


def out_of_time(signum, frame):
    raise OutOfTimeError


TIMES: list[str] = []  # that a signal is to come


@pytest.fixture
def limited():
    TIMES[:] = ["once"]  # another way would not meet it
    before = signal.signal(signal.SIGALRM, out_of_time)
    yield
    signal.signal(signal.SIGALRM, before)


def long(x):
    for k in range(2000):
        x = np.sin(x) * 1.01
        if k == 1000 and TIMES:  # and not by the clock, which might end what is imported meanwhile
            TIMES.clear()
            signal.raise_signal(signal.SIGALRM)
    return x


WAYS = {
    "compiled": lambda: cr.compile(long, captured="freeze")(1.5),
    "compiled gradient": lambda: cr.compile(cr.grad(long), captured="freeze")(1.5),
    "batch": lambda: cr.vmap(long)(np.array([1.5, 2.0])),
    "batch of gradients": lambda: cr.vmap(cr.grad(long))(np.array([1.5, 2.0])),
    "gradient of a batch": lambda: cr.grad(lambda x: np.sum(cr.vmap(long)(x)))(np.ones(2)),
}


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("way", WAYS)
def test_it_is_raised_and_not_answered_by_another_way(way):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(OutOfTimeError):
            WAYS[way]()


def test_an_error_of_the_functions_own_is_answered_as_before():
    def f(x):
        if type(x) is not float:
            raise TypeError("a float of Python's is asked for")
        return x * x

    with pytest.warns(cr.CompileWarning, match="as it always did"):
        assert cr.compile(f)(1.5) == 2.25
