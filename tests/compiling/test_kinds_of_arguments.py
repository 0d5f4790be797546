"""Arguments of other dtypes and layouts: right by whatever way is chosen."""

import warnings
from typing import Any

import numpy as np
import pytest
from three_ways import differences

import chainrules as cr
from chainrules.compiling import native

pytestmark = pytest.mark.usefixtures("small_loops")

BASE = np.array([[1.5, -2.0, 3.25, 0.5], [0.0, -0.75, 2.0, 1.0], [-1.0, 4.0, 0.125, -3.0]])


def unaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)[1:]
    y = memory.view(x.dtype).reshape(x.shape)
    y[...] = x
    return y


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


FORMS: dict[str, Any] = {
    "float32": lambda x: x.astype(np.float32),
    "float16": lambda x: x.astype(np.float16),
    "longdouble": lambda x: x.astype(np.longdouble),
    "complex": lambda x: x + 0.5j,
    "complex64": lambda x: (x - 1j).astype(np.complex64),
    "integers": lambda x: (x * 2).astype(int),
    "int8": lambda x: x.astype(np.int8),
    "uint8": lambda x: np.abs(x).astype(np.uint8),
    "truths": lambda x: x > 0.4,
    "no rows": lambda x: x[:0],
    "no columns": lambda x: x[:, :0],
    "no axis": lambda x: x[0, :1].reshape(()),
    "float64 number": lambda x: x[0, 0],
    "float32 number": lambda x: np.float32(x[0, 0]),
    "int number": lambda x: np.int64(x[0, 0] * 4),
    "bool number": lambda x: np.bool_(x[0, 0] > 0),
    "Python's float": lambda x: float(x[0, 0]),
    "Python's int": lambda x: int(x[0, 0] * 4),
    "Python's complex": lambda x: complex(x[0, 0], 1.0),
    "gaps": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "gaps of rows": lambda x: np.repeat(x, 2, axis=0)[::2],
    "backwards": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "Fortran": np.asfortranarray,
    "transposed": lambda x: x.T.copy().T,
    "axes in disorder": lambda x: np.stack([x, -x]).transpose(1, 0, 2).copy().transpose(1, 0, 2),
    "broadcast": lambda x: np.broadcast_to(x[:, :1], (3, 4)),
    "read only": read_only,
    "unaligned": unaligned,
    "swapped bytes": lambda x: x.astype(x.dtype.newbyteorder()),
    "swapped float32": lambda x: x.astype(np.dtype(np.float32).newbyteorder()),
    "one entry": lambda x: x[:1, :1].copy(),
    "of a subclass": lambda x: x.view(np.matrix),
}

FUNCTIONS = {
    "elementwise": lambda x: (x * 2 + 1, abs(x), x * x - x / 3, x**2, x**3),
    "sines": lambda x: np.sin(x) * 0.5 + np.exp(-x * x),
    "reductions": lambda x: (
        np.sum(x),
        np.sum(x, axis=0, keepdims=True),
        np.mean(x),
        np.prod(x + 1),
    ),
    "extremes": lambda x: (np.max(x), np.min(x, axis=-1), np.maximum(x, 1)),
    "compared": lambda x: (
        x > 0.5,
        np.where(x > 0.5, x, 2 * x),
        (x == x) & (x != 1),
        np.any(x > 1),
    ),
    "moved": lambda x: (x.T, x.ravel("K"), x.reshape(-1), (x + 1).T[::-1], (x * 1).ravel("A")),
    "written": lambda x: written(x),
    "products": lambda x: (x @ x.T, np.dot(x.T, x), np.outer(x, x)),
    "branches": lambda x: x * 2 if np.sum(x) > 1 else x - 1,
    "accumulated": lambda x: (np.cumsum(x), np.cumsum(x, axis=0)),
    "argument back": lambda x: [x, {"x": x * 1}],
    "itself": lambda x: x.dtype.name + str(x.shape) if hasattr(x, "dtype") else str(x),
    "gradient": cr.grad(lambda x: np.sum(np.real(x * x * x)) + np.sum(np.abs(x))),
    "tangent": lambda x: cr.jvp(lambda x: np.sin(x) * x, (x,), (x * 0 + 1,)),
}


def written(x):
    y = x.copy()
    y[0] = 1
    y[..., -1] += 1
    return y


def said(f, x):
    try:
        with np.errstate(all="ignore"):
            return f(x)
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("form", FORMS)
def test_kinds_of_arguments(function, form):
    f = FUNCTIONS[function]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        g = cr.compile(f)
        for scale in (1.0, 1.0, 0.5, -1.5, 1.0):
            x = FORMS[form](BASE * scale)
            kept = np.copy(x)
            expected, found = said(f, x), said(g, x)
            assert not differences(
                found, expected, ulps=200.0, zeros=False, orders=function == "moved"
            )
            assert np.array_equal(x, kept)


LAYOUTS = [name for name, make in FORMS.items() if np.shape(make(BASE)) == (3, 4)]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_layouts_in_turn(function):
    """One compiled function is given all of them."""
    f = FUNCTIONS[function]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        g = cr.compile(f)
        for scale in (1.0, -0.5, 3.0):
            for form in LAYOUTS:
                x = FORMS[form](BASE * scale)
                expected, found = said(f, x), said(g, x)
                difference = differences(found, expected, 200.0, False, function == "moved")
                assert not difference, form


@pytest.mark.parametrize("function", FUNCTIONS)
def test_without_llvmlite(function, monkeypatch):
    monkeypatch.setattr(native, "available", lambda: False)
    f = FUNCTIONS[function]
    g = cr.compile(f, fallback="error")
    for scale in (1.0, 1.0, 0.5, -1.5, 1.0):
        x = BASE * scale
        assert not differences(g(x), f(x), zeros=False, ulps=200.0)
    for kind in g.kinds.values():
        assert "machine code" not in "".join(kind.root.how)


def test_an_object_that_comes_again_is_of_one_kind():
    g = cr.compile(lambda x, f: f(x))
    for x, f in ((1.0, np.sin), (2.0, np.sin), (3.0, np.cos), (4.0, np.sin)):
        assert f(x) == g(x, f)
    assert len(g.kinds) == 2


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="compile takes a function, not float") as raised:
        cr.compile(3.0)
    assert raised.value.code == "CR201"
