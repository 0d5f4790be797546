"""``buffer += x`` with a plain ``buffer``: bound anew where nobody else sees it, else refused."""

import operator

import numpy as np
import pytest

import chainrules as cr

X = np.array([0.7, 1.3, 2.2])
SHARED = np.zeros(3)


def operators(x):
    y = np.ones(3)
    y += x
    y -= 2 * x * x
    y *= x
    y /= 1 + x
    y **= 2
    y[0] = x[1]
    return y


def loop(x):
    y = np.zeros((2, 3))
    for k in range(3):
        y += x**k
    return y * x


def two_buffers(x):
    y, z = np.zeros(3), np.zeros(3)
    y += x
    z += y * x
    y *= z
    return y + z


def add_to(buffer, x):
    buffer += x
    return buffer


def only_given_away(x):
    return add_to(np.zeros(3), x) * x


def of_an_enclosing_function(x):
    y = np.zeros(3)

    def step():
        nonlocal y
        y += x * x

    step()
    step()
    return y * x


@pytest.mark.parametrize(
    "f", [operators, loop, two_buffers, only_given_away, of_an_enclosing_function]
)
def test_a_buffer_of_ones_own(f):
    h = 1e-6
    expected = np.stack([(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(3)], axis=-1)
    for transform in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(transform(f)(X), expected, rtol=1e-7, atol=1e-7)
    gradient = cr.grad(lambda x: np.sum(np.sin(f(x))))
    expected = np.stack([(gradient(X + h * e) - gradient(X - h * e)) / (2 * h) for e in np.eye(3)])
    for outer in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(outer(gradient)(X), expected, rtol=1e-6, atol=1e-6)


def test_the_dtype_and_the_shape_are_those_of_the_buffer():
    def single(x):
        y = np.zeros((2, 3), np.float32)
        y += x
        assert y.dtype == np.float32
        return np.sum(y)

    np.testing.assert_array_equal(cr.grad(single)(X), [2.0, 2.0, 2.0])
    with pytest.raises(cr.MutationError, match="an array of dtype int64 cannot hold"):
        cr.grad(lambda x: np.sum(add_to(np.zeros(3, int), x)))(X)
    with pytest.raises(ValueError, match="broadcast"):
        cr.grad(lambda x: np.sum(add_to(np.zeros(3), np.stack([x, x]))))(X)


def alias(x):
    y = z = np.zeros(3)
    y += x
    return z


def view_of_it(x):
    y = np.zeros(3)
    z = y[1:]
    y += x
    return z


def it_is_a_view(x):
    y = np.zeros((2, 3))
    for row in y:
        row += x
    return y


def array_of_the_caller(x):
    y = np.zeros(3)
    add_to(y, x)
    return y


def by_keyword(x):
    y = np.zeros(3)
    add_to(buffer=y, x=x)
    return y


def unpacked(x):
    arguments = [np.zeros(3), x]
    add_to(*arguments)
    return arguments[0]


def in_a_list(x):
    buffers = [np.zeros(3)]
    for y in buffers:
        y += x
    return buffers[0]


def in_a_map(x):
    y = np.zeros(3)
    list(map(add_to, [y], [x]))
    return y


def a_global(x):
    y = SHARED
    y += x
    return SHARED


def a_default(x, y=np.zeros(3)):  # noqa: B008
    y += x
    return a_default.__defaults__[0]


class Accumulator:
    total = np.zeros(3)


def attribute_of_a_class(x):
    accumulator = Accumulator()
    accumulator.total += x
    return Accumulator.total


def held_by_a_memoryview(x):
    y = np.zeros(3)
    memory = memoryview(y)
    y += x
    return np.asarray(memory)


def held_by_a_generator(x):
    def twice():
        y = np.zeros(3)
        yield y
        yield y

    both = twice()
    y = next(both)
    y += x
    return next(both)


def captured(x):
    y = z = np.zeros(3)
    y += x
    return (lambda: y, z)[1]


def out_argument(x):
    y = np.zeros(3)
    np.add(y, x, out=y)
    return y


def operator_module(x):
    y = np.zeros(3)
    operator.iadd(y, x)
    return y


def method(x):
    y = np.zeros(3)
    y.__iadd__(x)
    return y


def entries(x):
    y = np.zeros(3)
    y[[0, 1]] += x[:2]
    return y


@pytest.mark.parametrize(
    "f",
    [
        alias, view_of_it, it_is_a_view, array_of_the_caller, by_keyword, unpacked, in_a_list,
        in_a_map, a_global, a_default, attribute_of_a_class, held_by_a_memoryview,
        held_by_a_generator, captured, out_argument, operator_module, method, entries,
    ],
)  # fmt: skip
def test_a_buffer_that_others_see(f):
    for _ in range(20):  # Python specialises code that has run a few times
        for transform in (cr.jacrev, cr.jacfwd):
            with pytest.raises((cr.MutationError, cr.LostDerivativeError), match="test_augmented"):
                transform(lambda x: f(x) * 1.0)(X)
