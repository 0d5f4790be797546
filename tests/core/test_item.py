"""``x.item()`` and ``x.tolist()``: the number that NumPy gives, of its type; its derivative."""

import numpy as np
import pytest

import chainrules as cr

ONE = [
    np.float64(1.5), np.float32(1.5), np.complex128(1.5 + 1j),
    np.array(1.5), np.array([1.5]), np.array([[1.5]], np.float32), np.array([1.5 + 1j]),
]  # fmt: skip
THREE = np.array([1.0, 2.0, 3.0])
TRANSFORMS = {
    "vjp": lambda f, x: cr.vjp(f, x)[0],
    "jvp": lambda f, x: cr.jvp(f, (x,), (np.ones_like(x),))[0],
    "jvp of vjp": lambda f, x: cr.jvp(lambda x: cr.vjp(f, x)[0], (x,), (np.ones_like(x),))[0],
    "vmap": lambda f, x: cr.vmap(f)(np.stack([x, x]))[0],
    "compile": lambda f, x: cr.compile(f)(x),
}


@pytest.mark.parametrize("transform", sorted(TRANSFORMS.keys() - {"vmap"}))
@pytest.mark.parametrize("x", ONE, ids=repr)
def test_value_and_type(transform, x):
    def f(x):
        return x.item() * 2.5

    y = TRANSFORMS[transform](f, x)
    assert type(y) is type(f(x))
    assert y == f(x)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("index", [(0,), (-1,), ((2,),)])
def test_of_an_array(transform, index):
    def f(x):
        return x.item(*index) ** 2 + sum(t * t for t in x.tolist())

    np.testing.assert_allclose(TRANSFORMS[transform](f, THREE), f(THREE), rtol=1e-15)


@pytest.mark.parametrize("index", [(0,), (-1,), ((2,),)])
def test_derivatives(index):
    def f(x):
        return x.item(*index) ** 3 + sum(t * t * t for t in x.tolist()) * x[1].item()

    named = np.zeros(3)
    named[index[0]] = 1.0
    total = np.sum(THREE**3)
    slope = 3 * THREE**2 * (named + THREE[1])
    slope[1] += total
    np.testing.assert_allclose(cr.grad(f)(THREE), slope, rtol=1e-14)
    np.testing.assert_allclose(cr.jacfwd(f)(THREE), slope, rtol=1e-14)
    second = np.diag(6 * THREE * (named + THREE[1]))
    second[1] += 3 * THREE**2
    second[:, 1] += 3 * THREE**2
    np.testing.assert_allclose(cr.hessian(f)(THREE), second, rtol=1e-14)


def test_pythons_numbers_divide_as_pythons():
    with pytest.raises(ZeroDivisionError):
        cr.grad(lambda x: 1.0 / (x[0] - 1.0).item())(THREE)
    assert type(cr.vjp(lambda x: x[0].item(), THREE)[0]) is float
