"""Coordinates of nested values, random tangents, and the comparison of tangents."""

import dataclasses
from collections import namedtuple

import numpy as np
import pytest
import scipy.sparse as sp

import chainrules as cr
from chainrules.testing import (
    WrongDerivativeError,
    WrongStructureError,
    assert_tangents_close,
    rand_tangent,
    to_vec,
)
from chainrules.testing.coordinates import Coordinates

Pair = namedtuple("Pair", "a b")


@dataclasses.dataclass
class Layer:
    weights: object
    name: str = "layer"


class Model:
    def __init__(self, scale, layers):
        self.scale = scale
        self.layers = layers


def same(a, b):
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
        return
    assert type(a) is type(b)
    if sp.issparse(a):
        same(a.toarray(), b.toarray())
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, tuple | list):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif hasattr(a, "__dict__"):
        same(vars(a), vars(b))
    else:
        assert a == b


TREES = {
    "float": (2.5, 1),
    "complex": (1 + 2j, 2),
    "float32": (np.float32(1.5), 1),
    "complex64": (np.ones((2, 2), np.complex64), 8),
    "longdouble": (np.ones(2, np.longdouble), 2),
    "float16": (np.ones(3, np.float16), 3),
    "0-d": (np.array(3.0), 1),
    "empty": (np.zeros((0, 3)), 0),
    "nested": ({"a": [1.0, (2.0, np.arange(3.0))], "b": "text", "c": None, "d": 7}, 5),
    "namedtuple": (Pair(1.0, Pair(2.0, True)), 2),
    "dataclass": (Layer(np.arange(4.0).reshape(2, 2)), 4),
    "object": (Model(2.0, [Layer(1.0), Layer(1j)]), 4),
    "csr": (sp.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]])), 2),
    "csc": (sp.csc_array(np.array([[0.0, 1.0], [2.0, 0.0]])), 2),
    "coo": (sp.coo_array(np.array([[0.0, 1.0], [2.0, 0.0]])), 2),
    "dia": (sp.dia_array(np.diag([1.0, 2.0])), 2),
    "fortran": (np.asfortranarray(np.arange(6.0).reshape(2, 3)), 6),
}


@pytest.mark.parametrize("name", TREES)
def test_to_vec_and_back(name):
    tree, size = TREES[name]
    vector, unflatten = to_vec(tree)
    assert vector.shape == (size,)
    assert vector.dtype.kind == "f"
    same(tree, unflatten(vector))


def test_to_vec_copies():
    x = np.zeros(3)
    vector, unflatten = to_vec(x)
    vector[0] = 1.0
    assert x[0] == 0.0
    unflatten(vector)[1] = 5.0
    assert vector[1] == 0.0


def test_unflatten_wants_the_right_length():
    with pytest.raises(ValueError, match="3 coordinates"):
        to_vec(np.zeros(3))[1](np.zeros(2))


def test_integers_count_where_a_tangent_is_chosen():
    args = (3, 2.0, np.arange(2), "text")
    assert Coordinates(args).size == 1
    assert Coordinates(args, (1.0, 1.0, np.ones(2), cr.NoTangent())).size == 4


def test_names_of_coordinates():
    space = Coordinates({"a": Model(1j, [np.zeros((2, 2))])})
    names = [space.name(i) for i in range(space.size)]
    assert names[:2] == ["['a'].scale.real", "['a'].scale.imag"]
    assert names[-1] == "['a'].layers[0][1, 1]"


def test_pack_takes_tangents_of_every_form():
    space = Coordinates((1.0, [2.0, 3.0], "text"))
    forms = [
        (5.0, [0.0, 7.0], cr.NoTangent()),
        cr.Tangent(tuple, 5.0, cr.Tangent(list, cr.ZeroTangent(), 7.0), cr.NoTangent()),
        (cr.thunk(lambda: 5.0), cr.thunk(lambda: [0.0, 7.0]), cr.NoTangent()),
    ]
    for t in forms:
        np.testing.assert_array_equal([5.0, 0.0, 7.0], space.pack(t))
    np.testing.assert_array_equal([0.0, 0.0, 0.0], space.pack(cr.ZeroTangent()))


def test_pack_of_a_complex_number_for_a_real_one_is_no_number():
    assert np.isnan(Coordinates(1.0).pack(1 + 1j)).all()


def test_pack_of_sparse_reads_dense_and_other_formats():
    x = sp.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]]))
    dense = np.array([[9.0, 3.0], [4.0, 9.0]])
    for t in (dense, sp.csc_array(dense), sp.coo_array(dense)):
        np.testing.assert_array_equal([3.0, 4.0], Coordinates(x).pack(t))


# ---- random tangents -------------------------------------------------------------------------


@pytest.mark.parametrize("name", TREES)
def test_rand_tangent_fits_its_primal(name):
    x, size = TREES[name]
    xdot = rand_tangent(x)
    if size:
        vector = Coordinates(x).pack(xdot)
        assert np.all(vector != 0)
        assert np.all(np.abs(vector) <= 9.01)
    same(x, x) if sp.issparse(x) else x + xdot


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "c8", "c16"])
def test_rand_tangent_keeps_the_dtype(dtype):
    assert rand_tangent(np.ones(2, dtype)).dtype == np.dtype(dtype)
    assert rand_tangent(np.ones((), dtype)[()]).dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    "x", [3, True, "text", None, np.arange(3), np.sin, len, slice(2), [1, "a"], ()]
)
def test_rand_tangent_of_what_is_not_perturbed(x):
    assert rand_tangent(x) == cr.NoTangent()


def test_rand_tangent_is_short_and_reproducible():
    x = np.ones(50)
    xdot = rand_tangent(x)
    np.testing.assert_array_equal(np.round(xdot, 2), xdot)
    np.testing.assert_array_equal(xdot, rand_tangent(x))
    assert not np.array_equal(xdot, rand_tangent(x, np.random.default_rng(1)))


def test_rand_tangent_of_containers_is_structural():
    assert rand_tangent(Layer(1.0)).primal_type is Layer
    assert rand_tangent({"a": 1.0, "b": "text"}).backing["b"] == cr.NoTangent()


# ---- comparison ------------------------------------------------------------------------------

CLOSE = [
    (1.0, 1.0 + 1e-12),
    (np.array([1.0, 2.0]), np.array([1.0, 2.0])),
    (cr.thunk(lambda: 2.0), 2.0),
    (2.0, cr.thunk(lambda: 2.0)),
    (cr.ZeroTangent(), np.zeros(3)),
    (np.zeros(3), cr.NoTangent()),
    (cr.ZeroTangent(), cr.NoTangent()),
    (cr.Tangent(tuple, 1.0, cr.ZeroTangent()), (1.0, 0.0)),
    ([1.0, 2.0], cr.Tangent(list, 1.0, 2.0)),
    (cr.Tangent(dict, {"a": 1.0}), {"a": 1.0, "b": 0.0}),
    (cr.Tangent(Layer, weights=1.0), cr.Tangent(Layer, weights=1.0, name=cr.NoTangent())),
    (cr.Tangent(Pair, 1.0, 2.0), Pair(1.0, 2.0)),
    (cr.ZeroTangent(), cr.Tangent(tuple, 0.0, np.zeros(2))),
    (cr.not_implemented("missing"), 3.0),
    (np.array([np.nan, 1.0]), np.array([np.nan, 1.0])),
    (sp.csr_array(np.eye(2)), np.eye(2)),
]


@pytest.mark.parametrize(("actual", "expected"), CLOSE)
def test_close(actual, expected):
    assert_tangents_close(actual, expected)


APART = [
    (1.0, 2.0, WrongDerivativeError, "tangent: expected 2, got 1, off by 1"),
    (1.0, 1 + 1e-6, WrongDerivativeError, "expected 1.000001, got 1, off by 1e-06"),
    (cr.ZeroTangent(), np.ones(2), WrongDerivativeError, r"tangent\[0\]: expected 1, got 0"),
    (np.eye(2), np.zeros((2, 2)), WrongDerivativeError, r"tangent\[1, 1\]: expected 0, got 1"),
    (np.ones(2), np.ones(3), WrongStructureError, r"expected the shape \(3,\), got \(2,\)"),
    (
        {"w": [1.0, 2.0]},
        {"w": [1.0, 2.5]},
        WrongDerivativeError,
        r"tangent\['w'\]\[1\]: expected 2.5",
    ),
    ((1.0,), (1.0, 2.0), WrongStructureError, "expected the entries"),
    (1.0, (1.0,), WrongStructureError, "expected a tuple, got a float"),
    (
        cr.Tangent(tuple, 1.0),
        cr.Tangent(list, 1.0),
        WrongStructureError,
        "expected a Tangent of list",
    ),
    (cr.Tangent(Layer, weights=1.0), cr.Tangent(Layer), WrongDerivativeError, r"tangent\.weights"),
    (1j, 1.0, WrongDerivativeError, "expected 1, got 0"),
    (np.nan, 1.0, WrongDerivativeError, "got nan"),
]


@pytest.mark.parametrize(("actual", "expected", "error", "message"), APART)
def test_apart(actual, expected, error, message):
    with pytest.raises(error, match=message):
        assert_tangents_close(actual, expected)


def test_the_worst_entries_come_first_and_the_rest_is_counted():
    with pytest.raises(WrongDerivativeError) as caught:
        assert_tangents_close(np.arange(9.0), np.zeros(9), name="xbar")
    lines = str(caught.value).splitlines()
    assert lines[0] == "xbar[8]: expected 0, got 8, off by 8"
    assert lines[-1] == "  and 3 more entries"
