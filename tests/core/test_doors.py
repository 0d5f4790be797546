"""Length of the way in and out of a transform: calls of Python's that one array takes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from counted_calls import calls_of

import chainrules as cr

X, XDOT = np.linspace(0.5, 1.5, 12), np.ones(12)


def square(x):
    return x * x


def calls(run):
    run()
    return sum(module is not None for module, _ in calls_of(run))


def test_one_leaf_is_taken_in_and_given_out_at_once():
    # In a process of its own: rules that other tests register for a configuration are asked, too.
    program = (
        "import test_doors as t\n"
        "print(t.calls(lambda: t.cr.jvp(t.square, (t.X,), (t.XDOT,))))\n"
        "print(t.calls(lambda: t.cr.jvp(t.square, (0.7,), (1.0,))))\n"
        "print(t.calls(lambda: t.cr.vjp(t.square, t.X)[1](t.XDOT)))\n"
        "print(t.calls(lambda: t.cr.vjp(t.square, 0.7)[1](1.0)))\n"
    )
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-P", "-c", program]
    said = subprocess.run(command, check=True, capture_output=True, text=True, env=here).stdout
    found = list(map(int, said.split()))
    assert [n <= most for n, most in zip(found, (50, 50, 64, 55), strict=True)] == [True] * 4, found


def test_what_a_list_of_integers_reads_goes_back_to_each_entry():
    gradient = cr.grad(lambda x: np.sum(x[[1, 4, 4, -1]] * np.arange(1.0, 5.0)))(X)
    expected = np.zeros(12)
    expected[[1, 4, -1]] = 1.0, 5.0, 4.0
    np.testing.assert_array_equal(gradient, expected)


def test_a_list_of_indices_may_change_after_the_read():
    def f(x):
        index = [1, 4]
        y = np.sum(x[index] ** 2)
        index[0] = 0
        return y

    np.testing.assert_array_equal(np.flatnonzero(cr.grad(f)(X)), [1, 4])
