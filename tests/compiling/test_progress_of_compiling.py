"""``cr.compile(f, progress=True)``: a bar of tqdm's that counts what a first call records."""

import re
import sys

import numpy as np
import pytest

pytest.importorskip("tqdm")

import chainrules as cr
from chainrules.compiling.record import progress_bar


def long(x):
    for _ in range(700):
        x = np.sin(x) * 1.5
    return x


def test_a_bar_counts_the_operations(monkeypatch, capsys):
    monkeypatch.setattr(progress_bar, "RECORDING_SHOWN", 0.0)
    monkeypatch.setattr(progress_bar, "STEPS_BETWEEN_LOOKS", 100)
    g = cr.compile(cr.grad(long), progress=True, fallback="error")
    slope = g(0.3)
    shown = capsys.readouterr().err
    assert re.search(r"grad\(long\), machine code: \d{4} operations", shown)
    assert np.isclose(cr.grad(long)(0.3), slope, rtol=1e-12)
    g(0.3)
    assert "" == capsys.readouterr().err


def test_short_calls_show_nothing(capsys):
    g = cr.compile(np.sin, progress=True)
    assert np.sin(0.5) == g(0.5)
    assert "" == capsys.readouterr().err


def test_inside_derivatives_and_where_nothing_is_recorded(monkeypatch, capsys):
    monkeypatch.setattr(progress_bar, "RECORDING_SHOWN", 0.0)
    g = cr.compile(lambda x: x**3, progress=True)
    assert 12.0 == cr.grad(g)(2.0)
    h = cr.compile(lambda x: float(np.sin(x)) + np.random.rand(), progress=True)
    with pytest.raises(cr.CompileError):
        h(1.0)
    capsys.readouterr()


def test_without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ModuleNotFoundError, match=r"compile\(..., progress=True\) needs tqdm"):
        cr.compile(np.sin, progress=True)(0.5)
