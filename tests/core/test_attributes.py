"""ndarray's methods and attributes on a traced array: NumPy's answers, or a clear refusal."""

import numpy as np
import pytest
from differences import slope_of

import chainrules as cr

X = np.array([[0.6, -1.4, 2.2], [0.3, 3.1, 1.1]])

METHODS = {
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "real": lambda x: x.real * 2.0,
    "imag": lambda x: x.imag + x,
    "flat": lambda x: x.flat[1:4] * x.flat[0],
    "sum": lambda x: x.sum(axis=0),
    "mean": lambda x: x.mean(1, keepdims=True),
    "prod": lambda x: x.prod(),
    "std": lambda x: x.std(axis=0, ddof=1),
    "var": lambda x: x.var(),
    "max": lambda x: x.max(axis=1),
    "min": lambda x: x.min(),
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: x.cumprod(),
    "trace": lambda x: x.trace(),
    "diagonal": lambda x: x.diagonal(),
    "dot": lambda x: x.dot(x.T),
    "ravel": lambda x: x.ravel(),
    "flatten": lambda x: x.flatten(),
    "reshape": lambda x: x.reshape(3, -1) @ x.reshape((2, 3)),
    "transpose": lambda x: x.transpose(1, 0),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "squeeze": lambda x: x[:1].squeeze(),
    "repeat": lambda x: x.repeat(2, axis=1),
    "take": lambda x: x.take([0, 2, 2], axis=1),
    "compress": lambda x: x.compress([True, False, True], axis=1),
    "clip": lambda x: x.clip(0.0, 1.5),
    "conj": lambda x: x.conj(),
    "copy": lambda x: x.copy(),
    "astype": lambda x: x.astype(complex).real,
    "tolist": lambda x: np.stack(x.tolist()[1]),
    "round": lambda x: x.round() + x,
    "len": lambda x: x * len(x) * x.size * x.ndim * x.shape[1],
    "iteration": lambda x: sum(row * row for row in x),
    "abs": lambda x: abs(x) + divmod(x, 2.0)[1] + (+x) - (-x),
    "operators": lambda x: 2.0**x + x**2 + 1 / (x + 7) + x % 3 + 7 % (x + 9) + (x @ x.T).sum(),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    f, h = METHODS[name], 1e-6
    direction = np.array([[1.0, -0.5, 0.25], [2.0, 0.75, -1.0]])
    expected = slope_of(f, (X,), (direction,), h)
    y, ydot = cr.jvp(f, (X,), (direction,))
    np.testing.assert_array_equal(y, f(X))
    np.testing.assert_allclose(ydot, expected, rtol=1e-6, atol=1e-7)
    y, pullback = cr.vjp(f, X)
    np.testing.assert_array_equal(y, f(X))
    ybar = np.random.default_rng(0).normal(size=np.shape(y))
    np.testing.assert_allclose(np.vdot(pullback(ybar)[0], direction), np.vdot(ybar, ydot))


@pytest.mark.parametrize("name", [n for n in dir(X) if n[0] != "_" and hasattr(X, n)])
def test_every_attribute_is_there_or_refused(name):
    def f(x):
        if not hasattr(x, name):
            with pytest.raises(AttributeError, match=r"cannot be followed, in test_attributes.py"):
                getattr(x, name)
        return np.sum(x)

    cr.grad(f)(X)
    cr.jvp(f, (X,), (X,))


def test_an_unknown_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'shap'"):
        cr.grad(lambda x: x.shap)(X)


def test_what_is_computed_of_a_list_is_a_number_of_pythons():
    with pytest.raises(AttributeError, match=r"'reshape'\.\n  what NumPy .* cr.array\(\[x, y\]\)"):
        cr.grad(lambda x: np.subtract.reduce([x, x]).reshape(-1))(1.5)
    assert cr.grad(lambda x: np.subtract.reduce(cr.array([2.0 * x, x])).reshape(-1)[0])(1.5) == 1.0


def test_flat_is_an_iterator():
    def f(x):
        i = x.T.flat
        first, second = next(i), next(i)
        assert (2, (1, 0), 6) == (i.index, tuple(map(int, i.coords)), len(i))
        rest = list(i)
        assert (4, []) == (len(rest), list(i))
        with pytest.raises(StopIteration):
            next(i)
        return first * second + rest[0] * rest[-1] + i[-1] * next(i) + np.sum(i.copy()) ** 2

    for transform in (cr.grad, cr.jacfwd):
        x = X.copy()
        differences = np.zeros_like(x)
        for index in np.ndindex(x.shape):
            h = np.zeros_like(x)
            h[index] = 1e-6
            differences[index] = (f(x + h) - f(x - h)) / 2e-6
        np.testing.assert_allclose(transform(f)(x), differences, atol=1e-6)


def test_what_is_read_from_flat_is_a_copy():
    def f(x):
        y = x * 1.0
        first = y.flat[:2]
        first[0] = 100.0
        for k, entry in enumerate(y.flat):
            y.flat[k] = 2 * entry
        return np.sum(y * y)

    assert f(X) == cr.value_and_grad(f)(X)[0]
    np.testing.assert_allclose(cr.grad(f)(X), 8 * X)


def test_writing_through_flat():
    def f(x):
        y = x.T * 1.0
        y.flat[1] = x[0, 0] * x[1, 1]
        y.flat[3:5] = x[0, :2]
        return y

    direction = np.ones_like(X)
    expected = slope_of(f, (X,), (direction,))
    np.testing.assert_allclose(cr.jvp(f, (X,), (direction,))[1], expected, atol=1e-7)


def test_integers_in_lists_and_masks():
    # A list, an option or a mask beside an integer hid that the integer can be perturbed.
    n = np.array([1, 2])
    np.testing.assert_array_equal(cr.grad(lambda n: np.sum(np.stack([n, n])))(n), [2.0, 2.0])
    np.testing.assert_array_equal(
        cr.grad(lambda n: np.sum(np.where([True, False], n, n * 3)))(n), [1.0, 3.0]
    )
    np.testing.assert_array_equal(cr.grad(lambda n: np.einsum("i,i->", n, n))(n), [2.0, 4.0])


def test_an_order_of_memory_is_refused_in_both_modes():
    x = np.outer(X, X)
    for f in (lambda x: x.ravel(order="K"), lambda x: np.ravel(x, "K")):
        for run in (lambda f=f: cr.vjp(f, x), lambda f=f: cr.jvp(f, (x,), (x,))):
            with pytest.raises(cr.MissingRuleError, match="write order='A'"):
                run()


def test_a_composed_function_answers_a_query_of_an_engine():
    y, pullback = cr.rrule(cr.ReverseConfig(), np.ptp, X)
    assert y == np.ptp(X)
    assert np.sum(pullback(1.0)[1]) == 0.0
    assert cr.rrule(np.ptp, X) is None
