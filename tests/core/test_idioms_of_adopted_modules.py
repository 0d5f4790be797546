"""Idioms of Python in modules, plain and adopted: what each gives, with its type, is the same."""

import contextlib
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest
from differences import slope_of

import chainrules as cr

HEAD = """
import abc, argparse, collections, copy, dataclasses, decimal, enum, fractions, functools, inspect
import io
import json, logging, math, numbers, operator, pickle, random, statistics, string, struct, typing
import cmath
import numpy as np
import scipy, scipy.interpolate, scipy.linalg, scipy.sparse, scipy.stats, scipy.optimize
from collections import defaultdict, namedtuple, Counter
from dataclasses import dataclass, field
from enum import Enum
from functools import partial, singledispatch, lru_cache, reduce
from math import sqrt, pi
from numpy.linalg import norm
from typing import (Annotated, Any, Callable, ClassVar, Generic, Literal, NamedTuple, Optional,
    Protocol, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints, runtime_checkable)
"""
# Each defines ``result``, of plain values.
IDIOMS = dict(
    part.split("\n", 1)
    for part in Path(__file__).with_name("idioms_of_python.txt").read_text().split("==== ")[1:]
)
# A mirror is a function of Python's, found in a module of ours; frozen distributions are ours.
OF_FUNCTIONS = {"names", "signatures", "wraps", "print", "distributions"}
# In code that comes after the adoption the names of types stand for classes of ours.
OF_CLASSES = {
    "type of float", "annotated", "type hints are float", "enum of floats", "enum of complex",
    "float with an abstract base", "dataclass", "float is float elsewhere",
    "type is, of what float makes", "the class", "dtype.type", "pickle of numpy's classes",
    "scalar types", "import inside",
}  # fmt: skip


def result_of(code, adopted, later):
    """Run the idiom in a module that is adopted, or not: as its function, or as later code."""
    made = sys.modules["idiom"] = types.ModuleType("idiom")
    exec(HEAD, vars(made))
    if not later:
        exec("def idiom():\n    global result\n" + textwrap.indent(code, "    "), vars(made))
    with cr.adopt(made) if adopted else contextlib.nullcontext(), np.errstate(all="ignore"):
        try:
            exec(code if later else "idiom()", vars(made))
        except Exception as error:
            return f"raises {type(error).__name__}: {error}"
        finally:
            sys.modules.pop("idiom")
        return shown(made.result)


def shown(x):
    """Text of a value and of the types in it, which knows nothing of ``==`` of our classes."""
    if type(x) in (list, tuple):
        return [type(x).__name__, *map(shown, x)]
    if type(x) is dict:
        return {str(k): shown(v) for k, v in x.items()}
    return f"{type(x).__module__}.{type(x).__qualname__} {x!r}"


def params():
    for name in IDIOMS:
        for later in (False, True):
            differs = name in OF_FUNCTIONS or (later and name in OF_CLASSES)
            marks = [pytest.mark.xfail(strict=True)] if differs else []
            yield pytest.param(name, later, marks=marks, id=f"{name}{', later' * later}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "later"), [*params()])
def test_idioms(name, later):
    expected = result_of(IDIOMS[name], adopted=False, later=later)
    assert expected == result_of(IDIOMS[name], adopted=True, later=later)


MADE = """
import numpy as np
from scipy import signal, special

A = np.arange(1.0, 6.0)

def filtered(t):
    y = signal.lfilter([1.0], [1.0, 0.5], A)
    y += t * A
    return np.sum(y**2)

def part_of_a_tuple(t):
    w, h = signal.freqz([1.0, 2.0], [1.0, 0.5], worN=4)
    h[1:] *= t
    return np.sum(np.abs(h)) + np.sum(w)

def named_tuple(t):
    w, v = np.linalg.eigh(np.diag(A))
    w -= t * A
    return np.sum(w**3)

def spectrum(t):
    s = np.fft.rfft(A)
    s[1] = t
    return np.sum(np.abs(s) ** 2)

def told_apart(t):
    u = np.unique(A)
    u[0] = t
    return np.sum(u**2) + np.sum(A)
"""


@pytest.mark.parametrize(
    "name", ["filtered", "part_of_a_tuple", "named_tuple", "spectrum", "told_apart"]
)
def test_arrays_made_of_constants_take_traced_values(name):
    module = types.ModuleType("made")
    exec(MADE, vars(module))
    f = getattr(module, name)
    plain = f(1.3)
    slope = slope_of(f, (1.3,), (1.0,))
    with cr.adopt(module):
        value, derivative = cr.value_and_grad(getattr(module, name))(1.3)
        pushed = cr.jvp(getattr(module, name), (1.3,), (1.0,))
    assert value == plain == pushed[0]
    np.testing.assert_allclose([derivative, pushed[1]], [slope, slope], rtol=1e-6)


NUMPYS = """
import numpy as np

def derivative_of_a_polynomial(t):
    p = np.poly1d([t, 1.0, 2.0])
    return np.polyder(p)(2.0) + np.polyint(p)(1.0) + np.polymul(p, [1.0, 2.0])(0.5)

def edges_in_a_list(t):
    counts, edges = np.histogram(np.array([0.5, 1.5, 2.5]) * t, bins=[0, 1, 3, 4])
    return t * np.sum((edges[1:] + edges[:-1]) * counts)

def decorated_with_options(t):
    @np.vectorize(otypes=[float])
    def f(x):
        return x * t if x > 0 else 0.0
    return np.sum(f([0.0, 1.0, 2.0]))
"""


@pytest.mark.parametrize(
    "name", ["derivative_of_a_polynomial", "edges_in_a_list", "decorated_with_options"]
)
def test_what_numpys_examples_do(name):
    module = types.ModuleType("numpys")
    exec(NUMPYS, vars(module))
    f = getattr(module, name)
    plain, slope = f(1.3), slope_of(f, (1.3,), (1.0,))
    with cr.adopt(module):
        value, derivative = cr.value_and_grad(getattr(module, name))(1.3)
    assert value == plain
    np.testing.assert_allclose(derivative, slope, rtol=1e-6)
