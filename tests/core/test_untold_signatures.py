"""Signatures that NumPy before 2.4 does not tell are those that it tells since."""

import inspect

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules import signatures

NAMED = [
    *((getattr(np, name), stub) for name, stub in signatures._FUNCTIONS.items()),
    *((getattr(np.add, name), stub) for name, stub in signatures._METHODS.items()),
]


def parameters(f):
    return [(p.name.lower(), p.kind, p.default) for p in inspect.signature(f).parameters.values()]


@pytest.mark.parametrize(("f", "stub"), NAMED, ids=[f.__name__ for f, _ in NAMED])
def test_it_is_that_of_numpy(f, stub):
    assert stub is signatures.stand_in_for(f)
    try:
        told = inspect.signature(f).parameters.values()
    except ValueError:
        pytest.skip("this NumPy does not tell it")
    ours = [
        (p.name.lower(), p.kind, p.default) for p in inspect.signature(stub).parameters.values()
    ]
    assert [(p.name.lower(), p.kind, p.default) for p in told if p.name != "device"] == ours


def test_other_functions_have_none():
    def concatenate(arrays):
        return arrays

    assert signatures.stand_in_for(concatenate) is None
    assert signatures.stand_in_for(np.sum) is None


def test_options_by_position_without_a_told_signature(monkeypatch):
    def untold(f, **options):
        if f is np.concatenate:
            raise ValueError("no signature found for builtin")
        return told(f, **options)

    told = inspect.signature
    monkeypatch.setattr(signatures.inspect, "signature", untold)
    names = [p.name for p in signatures._parameters(np.concatenate)]
    assert ["arrays", "axis", "out", "dtype", "casting"] == names
    x = np.ones((2, 3))
    total = cr.grad(lambda x: np.sum(np.concatenate([x, 2.0 * x], 1) ** 2))(x)
    np.testing.assert_allclose(10.0 * x, total)
