"""Arrays of classes of their own, masked ones among them, that hold traced numbers, or beside."""

import types

import numpy as np
import pytest
from differences import jacobian_of

import chainrules as cr
from chainrules import numpy as followed


class Field(np.ndarray):
    """An array with a product of its own, and an attribute."""

    def __new__(cls, x, note=None):
        field = followed.asarray(x).view(cls)
        field.note = note
        return field

    def __array_finalize__(self, other):
        self.note = getattr(other, "note", None)

    def __mul__(self, other):
        return super().__mul__(other) + 1.0


class Reading(np.ndarray):
    """An array that NumPy puts results in tenths of its unit into, beside numbers alone."""

    __array_priority__ = -5.0

    def __array_wrap__(self, y, context=None, scalar=False):
        return (np.asarray(y) * 10.0).view(Reading)


class Halved(np.ndarray):
    """An array whose reflected product is its own, of which ``np.vdot`` knows nothing."""

    def __rmul__(self, other):
        return np.multiply(other, np.asarray(self)) / 2.0


R = np.array(1.7).view(Reading)
M, X = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.7, 1.9])
MASK = np.array([True, False])
N, UNMASKED = np.ma.array([3.0, 5.0], mask=MASK), np.ma.array([2.0, 3.0])

PROGRAMS = {
    "sum of a view": lambda x: np.sum(Field(x)),
    "its own product": lambda x: np.asarray((Field(x) * x) * x),
    "other operators": lambda x: np.asarray(x * Field(x**2) - Field(x) / (1 + x)),
    "a ufunc": lambda x: np.asarray(np.multiply(Field(x), np.exp(x))),
    "a number beside it": lambda x: np.asarray(x[0] * Field(x)),
    "dot": lambda x: np.asarray(np.dot(M * x[0], Field(x))),
    "matmul": lambda x: np.asarray((M * x[0]) @ Field(x)),
    "where": lambda x: np.asarray(np.where(x > 1, Field(x), x**2)),
    "in a list": lambda x: np.asarray(np.concatenate([x**2, Field(x)])),
    "an array of NumPy's": lambda x: np.sin(followed.array(Field(x))),
    "written to a buffer": lambda x: written(x, Field(x)),
    "in place": lambda x: in_place(x, Field(x)),
    "unmasked": lambda x: np.ma.asarray(x) * x,
    "masked and filled": lambda x: np.ma.filled(np.ma.array(x**2, mask=MASK) * x, 3.0),
    "sum of a masked array": lambda x: (np.ma.array(x**2, mask=MASK) * x).sum(),
    "mean of a masked array": lambda x: np.ma.masked_where(X > 1, x * x[1]).mean(),
    "masked in dot": lambda x: np.dot(M * x[0], np.ma.asarray(x) - x[1]),
    "masked in concatenate": lambda x: np.concatenate([x**2, np.ma.asarray(x)]),
    "masked in linalg": lambda x: followed.linalg.solve(M * x[0], np.ma.asarray(X) - x),
    "masked and written": lambda x: written(x, np.ma.array(x**2, mask=MASK)),
    "masked numbers beside it": lambda x: np.ma.filled(x * N, 3.0),
    "masked numbers in front of it": lambda x: np.ma.filled(N - x, 3.0),
    "masked numbers in place": lambda x: in_place(x, N),
    "masked in place": lambda x: in_place(x, np.ma.array(x + 1.0, mask=MASK)),
    "masked numbers and out": lambda x: np.add(x, N, out=x * 1.0) * x,
    "sum of masked numbers": lambda x: np.sum(x * N + x) + np.sum(x**2),
    "mean of masked numbers": lambda x: (x * N).mean() * x,
    "masked numbers in dot": lambda x: np.asarray(np.dot(M * x[0], N)),
    "masked objects in matmul": lambda x: x * (x @ np.ma.array([2.0, 3.0], dtype=object)).item(),
    "objects of a class in dot": lambda x: (
        np.asarray(np.dot(x, np.array([2.0, 3.0], object).view(Field))) * x
    ),
    "masked numbers in matmul": lambda x: np.asarray((M * x[0]) @ N),
    "masked numbers in where": lambda x: np.where(x > 1, N, x**2),
    "masked numbers in concatenate": lambda x: np.asarray(np.concatenate([x**2, N])),
    "masked constant": lambda x: np.ma.filled(x[0] * np.ma.masked, 3.0) * x,
    "nothing masked": lambda x: np.asarray(x / UNMASKED - UNMASKED * x),
    "nothing masked in dot": lambda x: np.dot(M * x[0], UNMASKED) * x,
}


def written(x, v):
    buffer = followed.zeros(2)
    buffer[:] = v
    traced = np.zeros_like(x)
    traced[:] = v
    return buffer + traced * x


def in_place(x, v):
    y = x**2
    y += v
    y *= v
    return y


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_followed_entry_by_entry(name):
    f = PROGRAMS[name]
    expected = jacobian_of(f, X)
    np.testing.assert_allclose(cr.jacfwd(f)(X), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(cr.jacrev(f)(X), expected, rtol=1e-7, atol=1e-9)
    total = lambda x: np.sum(np.asarray(f(x)) ** 2)  # noqa: E731
    second = jacobian_of(cr.grad(total), X)
    np.testing.assert_allclose(cr.hessian(total)(X), second, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(np.ma.getdata(cr.jvp(f, (X,), (X,))[0]), np.asarray(f(X)))


def test_a_view_keeps_its_class_and_what_the_class_says():
    def f(x):
        field = Field(x, note="here")
        assert type(field) is Field
        assert (field * 2.0).note == "here"
        assert x.view(np.ndarray) is not x  # as of any array
        return np.sum(field)

    np.testing.assert_array_equal(cr.grad(f)(X), np.ones(2))


REFUSED = {
    "by a dtype": (lambda x: x.view(np.int64), "x.view"),
    "a rule": (lambda x: cr.primitive(lambda a, b: a)(x, Field(x)), "class Field that holds"),
    "a rule of masked": (lambda x: cr.primitive(lambda a, b: a)(x, N), "MaskedArray beside traced"),
    "maximum of masked": (lambda x: np.max(x * N), "cannot compare.*np.where in place of a mask"),
    "divided by masked": (lambda x: x / N, "MaskedArray beside traced.*np.ma.filled"),
    "divided by zero": (lambda x: x / (UNMASKED - 2.0), "MaskedArray beside traced"),
    "a power": (lambda x: x**UNMASKED, "MaskedArray beside traced"),
}


@pytest.mark.parametrize("transform", [cr.grad, cr.jacfwd, cr.hessian])
def test_an_input_in_which_nothing_is_masked_is_a_plain_one(transform):
    y = transform(lambda x: np.mean(x**2))(UNMASKED)
    assert type(y) is np.ndarray
    np.testing.assert_array_equal(y, transform(lambda x: np.mean(x**2))(UNMASKED.data))


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("transform", [cr.jacfwd, cr.jacrev])
def test_else_they_are_refused(name, transform):
    f, text = REFUSED[name]
    with pytest.raises(cr.LostDerivativeError, match=f"(?s){text}"):
        transform(f)(X)


def test_the_priority_of_a_number_is_none_of_an_array():
    assert float(np.multiply(1.3, R)) == 22.1
    assert type(np.multiply(X, R)) is np.ndarray
    for product in (np.multiply, lambda x, r: np.add(r, x, where=True)):
        with pytest.raises(cr.LostDerivativeError, match="class Reading beside traced"):
            cr.grad(lambda x, product=product: float(product(x, R)))(1.3)
    np.testing.assert_allclose(cr.jacobian(lambda x: np.multiply(x, R))(X), 1.7 * np.eye(2))
    with pytest.warns(cr.BatchWarning, match="multiply meets a Reading"):
        np.testing.assert_allclose(cr.vmap(lambda x: np.asarray(x * R))(X), 17.0 * X)


def test_a_class_means_the_same_by_items_as_by_a_batch():
    half = lambda x: np.vdot(x, np.array(1.7).view(Halved))  # noqa: E731
    with pytest.warns(cr.BatchWarning, match="numpy.vdot meets a Halved"):
        np.testing.assert_array_equal(cr.vmap(half)(X), [half(x) for x in X])


def test_what_such_an_array_shows_cannot_be_written_to():
    def f(x):
        field = Field(x)
        field[0] = 1.0
        return np.sum(field)

    with pytest.raises((cr.MutationError, ValueError), match="read-only"):
        cr.grad(f)(X)


def test_an_array_asked_for_by_its_own_method():
    made = types.ModuleType("adopted_array")
    exec("import numpy as np\ndef f(x):\n    return np.asarray(x.__array__()).mean()", vars(made))
    with cr.adopt(made):
        np.testing.assert_array_equal(cr.grad(made.f)(X), np.full(2, 0.5))


def test_an_object_array_that_may_be_written_to_is_the_array_itself():
    x = np.array([0.5, 1.5])

    def f(x):
        entries = np.array([x[0], x[1]], dtype=object)
        same = followed.asarray(entries)
        same[0] = x[1] ** 2
        return entries[0] * x[0]

    np.testing.assert_allclose(cr.grad(f)(x), [2.25, 1.5])


@pytest.mark.filterwarnings("ignore:Setting the shape")  # NumPy 2.5 would rather not
def test_a_view_has_a_shape_of_its_own():
    def f(x):
        x = x.copy()
        y = x.view()
        y.shape = (6,)
        y[0] = 2 * x[1, 1]
        return np.sum(x * x) * x.ndim

    x = np.arange(6.0).reshape(2, 3)
    assert cr.vjp(f, x)[0] == f(x)
    np.testing.assert_array_equal(cr.grad(f)(x), [[0, 4, 8], [12, 80, 20]])
    np.testing.assert_array_equal(cr.jacfwd(f)(x), [[0, 4, 8], [12, 80, 20]])
