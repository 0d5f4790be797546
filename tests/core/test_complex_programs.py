"""Random programs of numbers that are real at first and complex later, against differences."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr

# Functions of two numbers, of one, and constants beside them. Each is smooth where it is asked.
OF_TWO = {
    "sum": operator.add,
    "difference": operator.sub,
    "product": operator.mul,
    "quotient": lambda a, b: a / (abs(b - 7.3) + 1.5),
    "quotient of what is complex": lambda a, b: a / (b + 9j),
    "multiply": np.multiply,
    "read": lambda a, b: cr.array([a, b, a * b])[np.argmax([1, 0]) + 1],
    "sum of an array": lambda a, b: np.sum(np.stack([a, b]) * np.stack([b, b])),
    "dot": lambda a, b: np.dot(np.stack([a, b]), np.array([1.0, 2j])),
    "vdot": lambda a, b: np.vdot(np.stack([a, b]), np.stack([b, 1.0])),
    "chosen": lambda a, b: np.where(True, a, b),
}
OF_ONE = {
    "negative": operator.neg,
    "square": lambda a: a**2,
    "cube": lambda a: (0.3 * a) ** 3,
    "reciprocal": lambda a: 1 / (a + 9j),
    "exponential": lambda a: np.exp(0.1 * a),
    "sine": np.sin,
    "root": lambda a: np.sqrt(a + (20 + 1j)),
    "abs": lambda a: abs(a - (7 + 0.5j)),
    "absolute": lambda a: np.absolute(a + 8j),
    "conj": np.conj,
    "conjugate": lambda a: a.conjugate(),
    "real": lambda a: a.real,
    "imag": np.imag,
    "angle": lambda a: np.angle(a + (20 + 5j)),
    "itself beside i": lambda a: 1j * a,
    "itself beside NumPy's": lambda a: np.complex128(0.5 + 2j) * a,
    "itself and an int": lambda a: 2 + a,
    "less precise": lambda a: np.add(a, 0.0) * np.float32(0.5) + np.complex64(1 + 0.5j),
    "element": lambda a: np.multiply(a, np.array([1.0, 2.0]))[1],
    "transform": lambda a: np.fft.fft(np.stack([a, 1.0, 2.0]))[1],
}
X = np.array([0.7, -1.2, 0.4])


def program(steps):
    """Return the function of three numbers that the steps make: they read the last ones."""

    def f(x):
        pool = [x[0], x[1], x[2]]
        for name, back, further in steps:
            a, b = pool[-1 - back % len(pool)], pool[-1 - further % len(pool)]
            y = OF_TWO[name](a, b) if name in OF_TWO else OF_ONE[name](a)
            pool.append(y / 2)  # so that nothing grows
        total = 0.0
        for k, y in enumerate(pool):
            total = total + (k + 1) * (y.real + 0.5 * np.real(y * np.conj(y)) - 0.3 * y.imag)
        return total

    return f


def slopes(f, x, h=2e-3):
    """Return the differences of fourth order of ``f``, along each entry of ``x``."""
    steps = h * np.eye(len(x))
    return np.array([(8 * (f(x + d) - f(x - d)) - (f(x + 2 * d) - f(x - 2 * d))) / (12 * h)
                     for d in steps])  # fmt: skip


NAMES = sorted(OF_TWO) + sorted(OF_ONE)
STEPS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=9
)


def check(steps):
    f = program(steps)
    known = slopes(f, X)
    scale = 1 + np.max(np.abs(known))
    gradient = cr.grad(f)
    value, found = cr.value_and_grad(f)(X)
    assert value == f(X)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, known, atol=1e-6 * scale)
    rows = {
        "jacfwd": cr.jacfwd(f)(X),
        "jacrev": cr.jacrev(f)(X),
        "jvp": np.array([cr.jvp(f, (X,), (d,))[1] for d in np.eye(3)]),
        "linearize": np.array(list(map(cr.linearize(f, X)[1], np.eye(3)))),
    }
    for name, row in rows.items():
        np.testing.assert_allclose(row, found, atol=1e-10 * scale, err_msg=name)
    second = slopes(gradient, X)
    for name, transform in (("forward over reverse", cr.hessian(f)),
                            ("reverse over reverse", cr.jacrev(gradient)),
                            ("forward over forward", cr.jacfwd(cr.jacfwd(f)))):  # fmt: skip
        np.testing.assert_allclose(
            transform(X), second, atol=1e-5 * (1 + np.max(np.abs(second))), err_msg=name
        )


@given(STEPS)
def test_random_programs(steps):
    check(steps)


@pytest.mark.parametrize("name", NAMES)
def test_each_function_of_real_and_of_complex_numbers(name):
    check([(name, 0, 1), ("itself beside i", 0, 0), (name, 0, 2), (name, 0, 0)])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (np.add(1j * x, 0.0) * np.float32(0.1)).imag * 0.7,
        lambda x: (2j * (np.multiply(0.3 + 1j, x) * np.float32(0.1))).imag,
        lambda x: (2j * (np.multiply(0.3 + 1j, x) * np.complex64(0.1 + 0.7j))).imag,
        lambda x: (0.3j * np.dot(np.stack([x, 1j * x]), np.float32([0.1, 0.7]))).imag,
    ],
)
@pytest.mark.parametrize("outer", [lambda f: f, lambda f: cr.grad(lambda x: x * f(x))])
def test_complex_numbers_of_python_do_not_give_way_to_less_precise_ones(f, outer):
    f, x = outer(f), 1.1
    known = slopes(lambda v: f(v[0]), np.array([x]))[0]
    rows = cr.grad(f)(np.float64(x)), cr.jacfwd(f)(np.float64(x)), cr.jvp(f, (x,), (1.0,))[1]
    for row in rows[:2]:
        np.testing.assert_allclose(row, known, rtol=1e-11)
    np.testing.assert_allclose(rows[2], known, rtol=1e-6)  # which computes in float32, as NumPy


def test_elementwise_rules_of_complex_numbers_are_entries_of_numbers(monkeypatch):
    def refuse(*_):
        pytest.fail("it is recorded as a call of any kind")

    monkeypatch.setattr("chainrules.reverse.tape.KindNode", refuse)

    def f(x):
        z = np.exp(2j * x[0]) * x[1] + np.complex128(1 + 1j)
        return abs(z / (3 - z) + np.sin(z)) ** 2

    x = np.array([0.3, 0.7])
    np.testing.assert_allclose(cr.grad(f)(x), slopes(f, x), rtol=1e-9)
