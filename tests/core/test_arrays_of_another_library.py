"""Arrays of a library such as CuPy: no conversion to NumPy's, and gradients of their own class."""

import operator

import numpy as np
import pytest

import chainrules as cr

COMPARISONS = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
OPERATORS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "pow": np.power,
    "matmul": np.matmul, "and": np.bitwise_and, "or": np.bitwise_or,
}  # fmt: skip
BY_NAME = ("sum", "any", "all", "cumsum", "ravel", "take", "reshape", "astype")


class Array:
    """An array on a device, which meets none of NumPy's with axes, as one of CuPy does."""

    __slots__ = ("memory",)
    __hash__ = None

    def __init__(self, memory):
        self.memory = np.asarray(memory)

    dtype = property(lambda self: self.memory.dtype)
    shape = property(lambda self: self.memory.shape)
    ndim, size = property(lambda self: self.memory.ndim), property(lambda self: self.memory.size)
    T = property(lambda self: Array(self.memory.T))

    def __array__(self, dtype=None, copy=None):
        raise TypeError("no implicit conversion to an array of NumPy's")

    def __array_ufunc__(self, ufunc, method, *xs, **options):
        if any(isinstance(x, np.ndarray) and x.ndim for x in xs):
            raise TypeError("no array of NumPy's beside one on the device")
        return given_back(getattr(ufunc, method)(*map(taken, xs), **options))

    def __array_function__(self, f, kinds, args, options):
        if any(issubclass(kind, np.ndarray) for kind in kinds):
            raise TypeError("no array of NumPy's beside one on the device")
        return given_back(f(*taken(args), **taken(options)))

    def __getitem__(self, index):
        return given_back(self.memory[taken(index)])

    def __setitem__(self, index, v):
        self.memory[taken(index)] = taken(v)

    def __float__(self):
        return float(self.memory)

    def __index__(self):
        return operator.index(self.memory)

    def __bool__(self):
        return bool(self.memory)

    def __len__(self):
        return len(self.memory)

    def __invert__(self):
        return np.invert(self)

    def __neg__(self):
        return np.negative(self)

    def __abs__(self):
        return np.absolute(self)


def taken(x):
    if isinstance(x, tuple | list):
        return type(x)(map(taken, x))
    if isinstance(x, dict):
        return {name: taken(part) for name, part in x.items()}
    return x.memory if type(x) is Array else x


def given_back(y):
    if isinstance(y, tuple | list):
        return type(y)(map(given_back, y))
    return Array(y) if isinstance(y, np.ndarray | np.generic) else y


def _operator(ufunc):
    return lambda self, other: ufunc(self, other), lambda self, other: ufunc(other, self)


def _method(name):
    return lambda self, *args, **options: given_back(
        getattr(self.memory, name)(*taken(args), **taken(options))
    )


for _name, _ufunc in OPERATORS.items():
    _left, _right = _operator(_ufunc)
    setattr(Array, f"__{_name}__", _left)
    setattr(Array, f"__r{_name}__", _right)
for _name, _ufunc in {**COMPARISONS, "eq": np.equal, "ne": np.not_equal}.items():
    setattr(Array, f"__{_name}__", _operator(_ufunc)[0])
for _name in BY_NAME:
    setattr(Array, _name, _method(_name))
Array.__module__ = "cupy"

X = np.array([0.5, 1.5, 2.5])
W = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]])
PROGRAMS = {
    "ufuncs": lambda x, a: np.sum(x**2 * 3.0 + np.sin(x)),
    "dot": lambda x, a: np.sum(np.dot(a(W), x) ** 2),
    "matmul": lambda x, a: np.sum((a(W) @ x) ** 2 + (x @ a(W)) ** 2),
    "statistics": lambda x, a: np.mean(x) * np.var(x) + np.std(x),
    "entries": lambda x, a: x[0] * x[2] + np.sum(x[1:]) ** 2,
    "where": lambda x, a: np.sum(np.where(x > 1.0, x**2, -x)),
    "extremes": lambda x, a: np.max(x) ** 2 * np.min(x),
    "lists": lambda x, a: np.sum(np.stack([x, 2.0 * x]) ** 2) + np.sum(np.concatenate([x, x]) ** 2),
    "zeros_like": lambda x, a: np.sum(np.zeros_like(x) + x * np.full_like(x, 2.0)),
    "like=": lambda x, a: np.sum(
        (np.arange(3.0, like=x) + np.full(3, 2.0, like=x) + np.asarray([1.0, 2.0, 3.0], like=x)) * x
    ),
    "matrices like=": lambda x, a: np.sum(np.eye(3, like=x) @ x * x + np.zeros((3, 3), like=x)),
    "solve": lambda x, a: np.sum(np.linalg.solve(a(W), x) * x) + np.linalg.norm(x),
    "inv": lambda x, a: np.sum(np.linalg.inv(a(W) * x[0]) @ x),
    "cumsum": lambda x, a: np.sum(np.cumsum(x) * x) + np.prod(x),
    "einsum": lambda x, a: np.einsum("i,ij,j", x, a(W), x),
    "sort": lambda x, a: np.sum(np.sort(x) * a(np.arange(3.0))),
    "clip": lambda x, a: np.sum(np.clip(x, 1.0, 2.0) ** 2 + np.abs(x - 1.0)),
    "interp": lambda x, a: np.sum(np.interp(x, a(np.arange(4.0)), a(np.arange(4.0) ** 2))),
    "take": lambda x, a: np.sum(np.take(x, [0, 2]) ** 2) + np.sum(x[[1, 1, 0, 1]] ** 3),
    "axes": lambda x, a: np.sum((np.reshape(x, (3, 1)) * a(W)).T @ x) + np.sum(np.flip(x) * x),
    "fft": lambda x, a: np.sum(np.abs(np.fft.fft(x)) ** 2),
    "numbers": lambda x, a: (x[0] + 1.0) * 2.0 / x[1] ** 3,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_are_of_the_class(name):
    f = PROGRAMS[name]
    ours, theirs = (lambda x: f(x, np.asarray)), (lambda x: f(x, Array))
    x = Array(X)
    gradient = cr.grad(theirs)(x)
    assert type(gradient) is Array
    np.testing.assert_allclose(gradient.memory, cr.grad(ours)(X))
    slope = taken(cr.jvp(theirs, (x,), (x,))[1])
    np.testing.assert_allclose(slope, cr.grad(ours)(X) @ X, atol=1e-12)
    second = cr.hvp(theirs, (x,), (x,))
    assert type(second) is Array
    np.testing.assert_allclose(second.memory, cr.hvp(ours, (X,), (X,)), atol=1e-12)


@pytest.mark.parametrize("x", [X.astype(np.float32), X + 1j, np.zeros(0)])
def test_dtypes_and_empty_arrays(x):
    f = lambda x: np.sum(np.real(x * np.conj(x)) * 2.0)  # noqa: E731
    gradient = cr.grad(f)(Array(x))
    assert gradient.dtype == x.dtype
    np.testing.assert_array_equal(gradient.memory, 4 * x)


def test_zeros_of_a_class_that_makes_none_are_numpys():
    class Bare(Array):
        def __array_function__(self, f, kinds, args, options):
            return NotImplemented

    zeros = cr.ProjectTo(Bare(X)).zeros()
    assert type(zeros) is np.ndarray
    np.testing.assert_array_equal(zeros, np.zeros(3))


def test_a_recorded_value_is_no_array_of_another_library():
    f = lambda x: np.sum(np.real(x[0] * np.exp(1j * x)) * np.zeros(3, like=x) + x**2)  # noqa: E731
    compiled = cr.compile(cr.grad(f))
    for k in (1.0, 1.1, 0.7):
        np.testing.assert_allclose(compiled(k * X), 2 * k * X)
