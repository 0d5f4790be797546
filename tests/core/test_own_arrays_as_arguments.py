"""Arrays of own classes, masked arrays and matrices as arguments and results of transforms."""

import numpy as np
import pytest

import chainrules as cr

X, V = np.array([0.5, 1.5, 2.5]), np.array([1.0, -2.0, 0.5])


class Scaled(np.ndarray):
    """An array whose product adds one, and that hands on a note."""

    def __array_finalize__(self, other):
        self.note = getattr(other, "note", None)

    def __mul__(self, other):
        return super().__mul__(other) + 1.0


def scaled(x, note="here"):
    y = np.array(x).view(Scaled)
    y.note = note
    return y


MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
SEEN = np.array([1.0, 0.0, 1.0])
MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)
pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass")


def total(a):
    assert type(a) is Scaled
    assert a.note == "here"
    return np.sum(a * a * a)  # (a * a + 1) * a + 1


def doubled(a):
    return a * 2.0


def test_gradient_and_second_derivatives_are_plain():
    a = scaled(X)
    for transform, expected in (
        (cr.grad, 3 * X**2 + 1),
        (cr.hessian, np.diag(6 * X)),
        (cr.jacfwd, 3 * X**2 + 1),
        (cr.jacrev, 3 * X**2 + 1),
    ):
        found = transform(total)(a)
        assert type(found) is np.ndarray
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_allclose(cr.hvp(total, (a,), (V,)), 6 * X * V, rtol=1e-14)
    assert type(a - 0.1 * cr.grad(total)(a)) is Scaled


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_result_of_the_class(dtype):
    a, v = scaled(X.astype(dtype)), V.astype(dtype)
    expected = doubled(a)
    y, ydot = cr.jvp(doubled, (a,), (v,))
    again, pullback = cr.vjp(doubled, a)
    for found in (y, again, cr.linearize(doubled, a)[0]):
        assert (type(found), found.dtype, found.note) == (Scaled, dtype, "here")
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
    for found in (ydot, *pullback(v), cr.linearize(doubled, a)[1](v)):
        assert (type(found), found.dtype) == (np.ndarray, dtype)
        np.testing.assert_array_equal(found, 2 * v)


def test_in_containers_and_beside_others():
    found = cr.grad(lambda d, k: np.sum(d["a"] * k), argnums=(0, 1))({"a": scaled(X)}, 3.0)
    np.testing.assert_allclose(found[0]["a"], np.full(3, 3.0))
    assert found[1] == X.sum()
    (y, number), dots = cr.jvp(lambda a: [a * 2.0, a[0]], (scaled(X),), (V,))
    assert type(y) is Scaled
    np.testing.assert_array_equal(dots[0], 2 * V)
    assert (number, dots[1]) == (X[0], V[0])


def test_a_function_with_a_rule_and_an_auxiliary_result():
    np.testing.assert_array_equal(cr.grad(np.sum)(scaled(X)), np.ones(3))
    (_, aux), _ = cr.value_and_grad(lambda a: (np.sum(a), a * 2.0), has_aux=True)(scaled(X))
    assert type(aux) is Scaled
    np.testing.assert_array_equal(np.asarray(aux), 2 * X + 1)


def test_a_gradient_in_a_gradient():
    def squares(a):
        return np.sum(cr.grad(total)(a) ** 2)

    np.testing.assert_allclose(cr.grad(squares)(scaled(X)), 2 * (3 * X**2 + 1) * 6 * X, rtol=1e-13)


MASKED_PROGRAMS = {
    "sum": (lambda m: m.sum(), SEEN),
    "mean": (lambda m: (m * m).mean(), MASKED.data * SEEN),
    "filled": (lambda m: np.sum(m.filled(5.0) ** 2), 2 * MASKED.data * SEEN),
    "compressed": (lambda m: np.prod(m.compressed()), [3.0, 0.0, 1.0]),
    "average": (lambda m: np.ma.average(m, weights=[1.0, 2.0, 3.0]), [0.25, 0.0, 0.75]),
    "exp": (lambda m: np.exp(m).sum(), np.exp(MASKED.data) * SEEN),
    "where": (lambda m: np.ma.where(m > 2.0, m, 0.0).sum(), [0.0, 0.0, 1.0]),
    "masked further": (lambda m: np.ma.masked_greater(m, 2.5).sum(), [1.0, 0.0, 0.0]),
    "data under the mask": (lambda m: np.sum(m.data), np.ones(3)),
}


@pytest.mark.parametrize("name", MASKED_PROGRAMS)
def test_masked_entries_have_the_derivative_zero(name):
    f, expected = MASKED_PROGRAMS[name]
    np.testing.assert_allclose(cr.grad(f)(MASKED), expected, rtol=1e-14)
    y, ydot = cr.jvp(f, (MASKED,), (V,))
    assert y == f(MASKED)
    assert ydot == pytest.approx(V @ expected, rel=1e-14)


def test_masked_result():
    y, ydot = cr.jvp(lambda m: m * 2.0, (MASKED,), (V,))
    assert type(y) is np.ma.MaskedArray
    np.testing.assert_array_equal(np.ma.getmaskarray(y), np.ma.getmaskarray(MASKED))
    np.testing.assert_array_equal(y.compressed(), [2.0, 6.0])
    np.testing.assert_array_equal(ydot, 2 * V * SEEN)
    y, pullback = cr.vjp(lambda m: m * m[2], MASKED)
    np.testing.assert_array_equal(pullback(np.ones(3))[0], [3.0, 0.0, 7.0])


@pytest.mark.parametrize("f", [lambda m: m**2, lambda m: m / 2.0, lambda m: m.max(), np.ma.log])
def test_functions_of_masked_arrays_that_ask_for_numbers_are_refused(f):
    with pytest.raises(cr.LostDerivativeError, match=r"masked traced numbers(.|\n)*np.where"):
        cr.jvp(f, (MASKED,), (V,))


def test_product_and_power_of_matrices():
    found = cr.grad(lambda m: np.trace(m * m * m))(MATRIX)
    np.testing.assert_allclose(found, 3 * np.asarray(MATRIX * MATRIX).T)
    y, ydot = cr.jvp(lambda m: m.T * m, (MATRIX,), (np.ones((2, 2)),))
    np.testing.assert_array_equal(y, MATRIX.T * MATRIX)
    assert (type(y), type(ydot)) == (np.matrix, np.ndarray)
    np.testing.assert_array_equal(ydot, [[8.0, 10.0], [10.0, 12.0]])
    np.testing.assert_array_equal(cr.grad(lambda m: m.A1[3] * m[0, 1])(MATRIX), [[0, 4], [0, 2]])


def test_compiled_it_runs_as_it_does():
    slope = cr.compile(cr.grad(lambda m: (m * m).sum()))
    with pytest.warns(cr.CompileWarning, match="an argument of type MaskedArray"):
        found = slope(MASKED)
    np.testing.assert_array_equal(found, 2 * MASKED.data * SEEN)
    other = np.ma.array(MASKED.data, mask=[True, False, False])
    np.testing.assert_array_equal(slope(other), [0.0, 4.0, 6.0])


def test_a_number_of_the_class_and_a_pullback_in_a_gradient():
    y, ydot = cr.jvp(np.sum, (scaled(X),), (V,))
    assert type(y) is type(np.sum(scaled(X))) is Scaled
    assert (float(y), float(ydot)) == (X.sum(), V.sum())

    def pulled(a):
        y, pullback = cr.vjp(lambda b: b * b, a)
        assert type(y) is Scaled
        return np.sum(pullback(np.ones(3))[0] ** 2)

    np.testing.assert_allclose(cr.grad(pulled)(scaled(X)), 8 * X)
