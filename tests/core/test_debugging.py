"""Debuggers: expressions that they evaluate in a frame of a differentiated function."""

import bdb
import contextlib
import sys

import numpy as np
import pytest

import chainrules as cr


class Looker(bdb.Bdb):
    """A debugger that evaluates an expression at each line, as ``p`` and ``display`` of pdb do."""

    def __init__(self, expression):
        super().__init__()
        self.expression, self.seen = expression, []

    def user_line(self, frame):
        if frame.f_code.co_name == "stepped":
            try:
                self.seen.append(eval(self.expression, frame.f_globals, frame.f_locals))
            except Exception as error:
                self.seen.append(error)
        self.set_step()


def stepped(x):
    y = x * x
    return np.sum(y)


TRANSFORMS = {
    "reverse": lambda f, x: cr.grad(f)(x),
    "forward": lambda f, x: cr.jvp(f, (x,), (x,))[1],
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("expression", ["float(x[0])", "np.asarray(x, float)", "[*map(float, x)]"])
def test_a_debugger_that_looks_leaves_the_gradient_alive(transform, expression):
    x, looker, before = np.array([1.0, 2.0]), Looker(expression), sys.gettrace()
    try:
        looker.set_trace()
        found = TRANSFORMS[transform](stepped, x)
    finally:
        sys.settrace(before)
    np.testing.assert_array_equal([2.0, 4.0] if transform == "reverse" else 10.0, found)
    assert any(isinstance(seen, cr.LostDerivativeError) for seen in looker.seen)


def viewed(x):
    with contextlib.suppress(TypeError):
        float(x)
    return x * x


def test_what_hides_an_error_refuses_the_derivative_and_says_what_to_write():
    with pytest.raises(cr.LostDerivativeError, match=r"(?s)hid this error.*cr\.debug\(\)"):
        cr.grad(viewed)(3.0)


def test_while_debugging_it_is_a_warning():
    with cr.debug(), pytest.warns(UserWarning, match=r"cr\.debug\(\) is on.*float\(x\)"):
        assert cr.grad(viewed)(3.0) == 6.0
    with pytest.raises(cr.LostDerivativeError):
        cr.grad(viewed)(3.0)


def test_a_program_that_runs_a_debugger_itself_is_the_program():
    def f(x):
        bdb.Bdb().runcall(viewed, x)
        return x * x

    before = sys.gettrace()
    try:
        with pytest.raises(cr.LostDerivativeError):
            cr.grad(f)(3.0)
    finally:
        sys.settrace(before)
