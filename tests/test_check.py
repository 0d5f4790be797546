"""``python -m chainrules check``: what it tests, what it says, and how it ends."""

import subprocess
import sys

import pytest

from chainrules.__main__ import main

MODULE = """
import numpy as np
import chainrules as cr

K = 2.0

@cr.primitive
def softplus(x):
    return np.logaddexp(0.0, x)

cr.scalar_rule(softplus, lambda y, x: 1 / (1 + np.exp(-x)))

@cr.primitive
def wrong(x):
    return K * x**2

cr.scalar_rule(wrong, lambda y, x: K * x)

@cr.primitive
def log_of_gap(a, x):
    return np.log(a - x)

cr.scalar_rule(log_of_gap, lambda y, a, x: 1 / (a - x), lambda y, a, x: -1 / (a - x))

@cr.primitive
def scaled(x, *, factor=1.0):
    if np.shape(x) != (3,):
        raise ValueError("of three numbers")
    return x * factor

@cr.rrule.register(scaled)
def scaled_rrule(scaled, x, *, factor=1.0):
    def scaled_pullback(ybar):
        return cr.NoTangent(), ybar * factor
    return scaled(x, factor=factor), scaled_pullback

def bare(x):
    return x

def text(x):
    return "no number"
"""


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    (tmp_path / "checked_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "checked_module", raising=False)

    def check(name, *options):
        try:
            code = main(["check", f"checked_module:{name}", *options])
        except SystemExit as exit:  # argparse's
            code = exit.code
        out, err = capsys.readouterr()
        return code, out + err

    return check


@pytest.mark.parametrize(
    ("expected", "words", "texts"),
    [
        (0, ["softplus"], [
            "6 passed, 0 failed.",  # numbers, vectors and matrices
            "rrule of softplus for (ndarray): scalar rule (checked_module.py:11)\n    passed",
        ]),
        (1, ["wrong"], [
            "0 passed, 6 failed.",
            "FAILED  WrongDerivativeError: the rrule of wrong gives a wrong cotangent",
            "every entry is 0.5 times what it should be",
        ]),
        (0, ["scaled"], ["frule of scaled for (ndarray): derived_frule"]),
        (0, ["scaled", "--at", "np.ones(3), factor=K", "--at", "np.arange(3.0)"],
         ["scaled([1., 1., 1.], factor=2.0)", "4 passed, 0 failed."]),
        (1, ["bare"], [
            "none is registered for any types",
            "No rule answers these calls: there is nothing to check.",
        ]),
    ],
    ids=["right", "wrong", "numbers", "given", "bare"],
)  # fmt: skip
def test_what_is_said_of_rules(check, expected, words, texts):
    code, said = check(*words)
    assert expected == code
    for text in texts:
        assert text in said


def test_points_are_those_at_which_it_gives_numbers(check):
    _, said = check("scaled")
    assert 1 == said.count("scaled([")  # not a number, and no matrix


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("no_such_name", (), "module 'checked_module' has no attribute 'no_such_name'"),
        ("K", (), "it is no function, but of type float"),
        ("", (), "write package.module:function"),
        ("text", (), "at none of the points tried; give one: --at '...'"),
        ("bare", ("--at", "np.ones(3"), "--at: SyntaxError"),
        ("bare", ("--at", "unknown"), "--at: NameError: name 'unknown' is not defined"),
    ],
)
def test_what_cannot_be_checked(check, name, options, text):
    code, said = check(name, *options)
    assert 2 == code
    assert text in said


@pytest.mark.slow
def test_rules_of_numpy_in_a_process_of_its_own():
    command = [sys.executable, "-P", "-m", "chainrules", "check", "numpy:hypot", "--at", "3.0, 4.0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert 0 == done.returncode, done.stderr
    assert "2 passed, 0 failed." in done.stdout
