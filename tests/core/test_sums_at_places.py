"""``np.add.at`` and ``np.subtract.at`` of floats, which add all parts by one scatter."""

import numpy as np
import pytest

import chainrules as cr

RNG = np.random.default_rng(7)
INDICES = {
    "repeated": ((5,), np.array([0, 3, 3, 0, 4, 3])),
    "list": ((5,), [1, 1, 2]),
    "negative": ((5,), np.array([-1, 4, 0, -5])),
    "number": ((5,), 2),
    "slice": ((5,), slice(1, 4)),
    "mask": ((5,), np.array([True, False, True, True, False])),
    "two axes": ((3, 4), (np.array([0, 2, 0, 0]), np.array([1, 3, 1, 0]))),
    "rows": ((3, 4), np.array([2, 0, 2])),
    "columns": ((3, 4), (slice(None), np.array([1, 1]))),
    "grid": ((4,), np.array([[0, 1], [1, 3]])),
    "none": ((5,), np.array([], int)),
}


def program(ufunc, index):
    def f(x, v):
        y = x + 0 * np.sum(v)  # traced where any of the two is
        ufunc.at(y, index, v)
        return y

    return f


def given(case, dtype=float):
    shape, index = INDICES[case]
    x = np.asarray(RNG.normal(size=shape), dtype)
    return index, x, np.asarray(RNG.normal(size=np.shape(x[index])), dtype)


@pytest.mark.parametrize("ufunc", [np.add, np.subtract])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("case", INDICES)
def test_values_are_numpys_to_the_last_bit(ufunc, dtype, case):
    index, x, v = given(case, dtype)
    f = program(ufunc, index)
    y, ydot = cr.jvp(f, (x, v), (x, v))
    expected = f(x, v)
    assert y.dtype == expected.dtype
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_allclose(ydot, expected, rtol=1e-5)  # it is linear


@pytest.mark.parametrize("ufunc", [np.add, np.subtract])
@pytest.mark.parametrize("case", INDICES)
def test_derivatives(ufunc, case):
    index, x, v = given(case)

    def loss(x, v):
        return np.sum(program(ufunc, index)(x, v) ** 3)

    xbar, vbar = cr.grad(loss, argnums=(0, 1))(x, v)
    for k, (part, of) in enumerate(((xbar, x), (vbar, v))):
        direction = RNG.normal(size=of.shape)
        h = 1e-5

        def at(t, k=k, direction=direction):
            return loss(*[a + t * direction if i == k else a for i, a in enumerate((x, v))])

        slope = (at(h) - at(-h)) / (2 * h)
        np.testing.assert_allclose(np.sum(part * direction), slope, rtol=1e-6, atol=1e-8)
        _, second = cr.jvp(lambda t, at=at: cr.grad(at)(t), (0.0,), (1.0,))
        curve = (at(1e-4) - 2 * at(0.0) + at(-1e-4)) / 1e-8
        np.testing.assert_allclose(second, curve, rtol=1e-4, atol=1e-5)


def test_parts_are_broadcast():
    def f(v):
        y = np.zeros_like(v)
        np.add.at(y, np.array([0, 0, 2]), v[1])
        return y

    np.testing.assert_array_equal(cr.jacrev(f)(np.arange(3.0))[:, 1], [2.0, 0.0, 1.0])


@pytest.mark.parametrize("part", [1, np.float32(0.5), True])
def test_parts_of_another_dtype_take_their_turns(part):
    def f(x):
        y = x * 1.0
        np.subtract.at(y, [0, 0, 1], part) if part is not True else np.add.at(y, [0, 0, 1], part)
        return y

    y, pull = cr.vjp(f, np.ones(3))
    np.testing.assert_array_equal(y, f(np.ones(3)))
    np.testing.assert_array_equal(pull(np.ones(3))[0], np.ones(3))


def test_batches_and_compiled():
    f = program(np.add, np.array([0, 2, 2]))
    x, v = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))
    expected = np.stack([f(a, b) for a, b in zip(x, v, strict=True)])
    np.testing.assert_allclose(cr.vmap(f)(x, v), expected, rtol=1e-15)
    g = cr.compile(cr.grad(lambda x, v: np.sum(f(x, v) ** 2)))
    for k in range(4):
        np.testing.assert_allclose(g(x[k], v[k]), 2 * expected[k], rtol=1e-14)
