"""Classes that somebody else wrote, registered as containers."""

import numpy as np
import pytest

import chainrules as cr


class Box:
    """Holds an array in a C-like way: no fields, no copying."""

    __slots__ = ("__held", "label")

    def __init__(self, x, label):
        self.__held = x
        self.label = label

    def open(self):
        return self.__held

    def __copy__(self):
        raise TypeError("cannot be copied")


cr.register_container(Box, lambda b: {"x": b.open()}, lambda b, v: Box(v["x"], b.label))
X = np.array([1.0, 2.0])


def energy(box):
    assert box.label == "spring"
    return np.sum(box.open() ** 3)


def test_derivatives():
    box = Box(X, "spring")
    assert cr.Tangent(Box, x=3 * X**2) == cr.grad(energy)(box)
    direction = cr.Tangent(Box, x=np.ones(2))
    assert 15.0 == cr.jvp(energy, (box,), (direction,))[1]
    assert cr.Tangent(Box, x=6 * X) == cr.hvp(energy, (box,), (direction,))
    moved = box + (-0.5) * cr.grad(energy)(box)
    np.testing.assert_array_equal(X - 1.5 * X**2, moved.open())


def test_as_a_result():
    y, pullback = cr.vjp(lambda x: Box(x * x, "y"), X)
    assert "y" == y.label
    np.testing.assert_array_equal(2 * X, pullback(cr.Tangent(Box, x=np.ones(2)))[0])


def test_flatten():
    vector, back = cr.flatten(Box(X, "spring"))
    np.testing.assert_array_equal(X, vector)
    assert "spring" == back(vector + 1).label


def test_an_xarray_keeps_its_coordinates():
    xarray = pytest.importorskip("xarray")

    class Labelled(xarray.DataArray):
        __slots__ = ()

    cr.register_container(
        Labelled, lambda a: {"data": a.data}, lambda a, v: Labelled(a.copy(data=v["data"]))
    )
    a = Labelled(np.arange(6.0).reshape(2, 3), dims=("t", "x"), coords={"t": [1, 2]})
    found = cr.grad(lambda a: (a**2).sel(t=2).sum("x").data)(a)
    np.testing.assert_array_equal([[0.0, 0.0, 0.0], [6.0, 8.0, 10.0]], found.data)


class Sum:
    def __init__(self, x):
        self.x = x
        self.total = np.sum(x)


def test_a_rebuild_that_computes_is_refused():
    # The inputs of a tape were taken for what rebuild computed: all gradients were 0.
    cr.register_container(Sum, lambda b: {"x": b.x}, lambda b, v: Sum(v["x"]))
    with pytest.raises(cr.LostDerivativeError, match="rebuild of Sum computes with"):
        cr.grad(lambda b: np.sum(b.x**2))(Sum(X))


def test_through_a_function_with_rules_for_containers():
    box = Box(X, "spring")
    assert cr.Tangent(Box, x=3 * X**2) == cr.grad(cr.checkpoint(energy))(box)
    found = cr.grad(lambda x: cr.checkpoint(energy)(Box(x, "spring")))(X)
    np.testing.assert_array_equal(3 * X**2, found)
    total = cr.grad(lambda b: np.sum(cr.map(lambda b: energy(b), [b, b])))(box)
    assert cr.Tangent(Box, x=6 * X**2) == total


def test_a_rebuild_that_puts_in_something_else_is_refused():
    class Listed:
        def __init__(self, x):
            self.x = x

    cr.register_container(Listed, lambda b: {"x": b.x}, lambda b, v: Listed(list(v["x"])))
    with pytest.raises(cr.LostDerivativeError, match="'x' is not what was put in"):
        cr.jvp(lambda b: b.x[0], (Listed(X),), (cr.Tangent(Listed, x=X),))


@pytest.mark.parametrize("cls", [np.ndarray, float, 3])
def test_what_is_no_container(cls):
    with pytest.raises(TypeError, match=r"takes a class|a number, an array or a function"):
        cr.register_container(cls, dict, dict)


def test_a_class_without_parts_is_a_constant():
    class Settings:
        def __init__(self):
            self.rate = 2.0

    settings = Settings()
    assert cr.grad(lambda x, s: s.rate * x, 1)(3.0, settings).rate == 3.0
    cr.register_container(Settings, lambda x: {}, lambda x, values: x)
    y, pullback = cr.vjp(lambda x, s: s.rate * x * (s is settings), 3.0, settings)
    assert y == 6.0
    assert pullback(1.0)[0] == 2.0
    assert not isinstance(pullback(1.0)[1], float)
    with pytest.raises(TypeError, match="holds no number"):
        cr.grad(lambda x, s: s.rate * x, 1)(3.0, settings)
