"""Buffers of chainrules.numpy: plain arrays that take traced values when these come."""

import pickle

import numpy
import pytest

import chainrules as cr
from chainrules import numpy as np
from chainrules.interop import Foreign
from chainrules.testing import check_grad

X = numpy.array([0.5, 1.5, -0.75])
H = 1e-6


def recurrence(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.sin(x[i]) * (y[i - 1] if i else 1.0)
    return y


def matrix(x):
    a = np.zeros((3, 3))
    row, column = a[1], a[:, 2]
    a[0, 0] = x[0]
    row[2] = x[1] ** 2
    a[:, 1] += x
    column *= 2.0
    a.T[0, 2] = 5.0
    return a @ a.T


def functions_that_write(x):
    a, b, c = np.ones((3, 2)), np.empty(3), np.full(4, 0.5)
    np.add.at(a, ([0, 0, 2], [1, 1, 0]), x)
    np.copyto(b, x * x)
    np.put(c, [0, 3], x[:2] ** 3)
    np.fill_diagonal(a, x[2] ** 2)
    d = np.zeros_like(numpy.ones(3))
    np.multiply(x, b, out=d)
    d -= x[0]
    return np.concatenate([a.ravel(), b, c, d])


def copies(x):
    a = np.eye(3)
    b, c = a.copy(), a.astype(complex)
    a[0] = x
    b[1] = a[0] * 2
    c[2] = 1j * x
    kept = b[1]
    b[1] = 0.0
    kept[0] = x[2]  # a view: b sees it
    return np.sum(a * b, axis=1) + np.real(c[2] * 1j) + len(b)


def inner_transform(x):
    z = np.zeros(3)

    def inner(t):
        u = np.zeros(2)
        u[0], u[1] = t * x[0], t**2
        return np.sum(u**2)

    z[0] = cr.grad(inner)(x[1])
    z[1:] = x[:2]
    return np.prod(z)


def never_written(x):
    a = np.ones((2, 3))
    a[0] = 2.0
    assert numpy.linalg.norm(numpy.asarray(a)) > 0
    return a @ x + float(a[0, 0])


PROGRAMS = [recurrence, matrix, functions_that_write, copies, inner_transform, never_written]


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs_that_fill_plain_arrays(f):
    plain = f(X)
    assert not hasattr(plain, "level")
    numpy.testing.assert_array_equal(plain, cr.vjp(f, X)[0])
    numpy.testing.assert_array_equal(plain, cr.jvp(f, (X,), (X,))[0])
    check_grad(f, X)


def test_outside_of_transforms_they_are_numpys_own():
    for made in (np.zeros(3), np.ones(2), np.eye(2), np.full(2, 0.5), np.zeros_like(X)):
        assert type(made) is numpy.ndarray


def test_results_are_plain():
    (nothing, truths, _), _ = cr.vjp(lambda x: (np.zeros(2), np.arange(3) > 1, x), 1.0)
    assert type(nothing) is type(truths) is numpy.ndarray


# Of what no float can be written into, arrays of floats are made, which take traced numbers.
CLOSED = {
    "comparison": lambda x, a: (np.arange(3.0) > 1) * 1.0,
    "comparison, cast": lambda x, a: (np.zeros(3) == 0).astype(float),
    "comparison, the other way round": lambda x, a: (1.0 < np.arange(3.0)) + 0.0,
    "not": lambda x, a: (~(np.arange(3.0) >= 1)).astype(float),
    "and": lambda x, a: ((np.arange(3) > 0) & (np.arange(3) < 2)) * 2.0,
    "cast to integers": lambda x, a: np.linspace(0.0, 2.9, 3).astype(int) * 1.0,
    "cast to the same": lambda x, a: np.zeros(3).astype(float),
    "integers": lambda x, a: np.arange(3) * 1.0,
    "integers, divided": lambda x, a: np.ones(3, int) / 2,
    "integers, written": lambda x, a: with_twos(np.zeros(3, int)) * 1.0,
    "ufunc of integers": lambda x, a: np.equal(np.arange(3), 1).astype(float),
    "meshgrid": lambda x, a: 2.0 * np.meshgrid(np.arange(3.0), np.arange(3.0))[0][0],
    "meshgrid of integers": lambda x, a: np.meshgrid(np.arange(3), np.arange(2))[1][0] * 1.0,
    "outer of a ufunc": lambda x, a: np.add.outer(np.arange(3.0), np.arange(2.0))[:, 1],
    "indices": lambda x, a: np.indices((3,))[0] * 1.0,
    "mgrid": lambda x, a: np.mgrid[0:3] * 1.0,
    "of constants beside": lambda x, a: np.arange(3) * a,
    "where": lambda x, a: np.where(np.arange(3) > 1, a, 0.0),
}


def with_twos(y):
    y[1:] = 2
    return y


@pytest.mark.parametrize("name", CLOSED)
def test_what_is_computed_from_buffers_takes_traced_numbers(name):
    constants = numpy.array([1.0, 2.0, 3.0])

    def f(x):
        y = CLOSED[name](x, constants)
        y[0] = x[0]
        y += x[1]
        return np.sum(y * x)

    differences = (f(X + H * v) - f(X - H * v) for v in numpy.eye(3))
    expected = numpy.array(list(differences)) / (2 * H)
    numpy.testing.assert_allclose(cr.grad(f)(X), expected, 1e-6)
    numpy.testing.assert_allclose(cr.jacfwd(f)(X), expected, 1e-6)
    assert numpy.shape(cr.hessian(f)(X)) == (3, 3)


def test_integers_and_truths_do_what_numpys_do():
    def f(x):
        n, m = np.arange(4), np.arange(4.0) > 1
        a = numpy.arange(8.0).reshape(4, 2)
        assert n[2] == 2 and a[n].shape == a[m[n]].shape[:0] + (4, 2)  # noqa: PT018
        assert [k for k in n if m[k]] == [2, 3]
        assert {int(k): 0 for k in n} == dict.fromkeys(range(4), 0)
        assert "abcd"[n[1]] == "b" and list(range(n[3])) == [0, 1, 2]  # noqa: PT018
        assert bool(m.any()) and not m.all()  # noqa: PT018
        assert (n == n[::-1]).sum() == 0 and hash(n[1]) == hash(1)  # noqa: PT018
        assert numpy.array_equal(numpy.asarray(n), numpy.arange(4))
        assert n.view("u8").dtype.kind == "u" and m.view("u1").sum() == 2  # noqa: PT018
        assert n.tobytes() == numpy.arange(4).tobytes()
        assert type(pickle.loads(pickle.dumps(n))) is numpy.ndarray
        n[1:] += 3
        n[m] = 0
        return np.sum(x * n[1])

    for transform in (cr.grad, cr.jacfwd):
        numpy.testing.assert_array_equal(transform(f)(X), [4.0, 4.0, 4.0])


def test_what_looks_into_a_filled_buffer_is_refused():
    def f(look):
        def filled(x):
            y = np.zeros(3)
            y[0] = x[0]
            look(y)
            return np.sum(y)

        return filled

    looks = (lambda y: y.view(int), lambda y: y.tobytes(), pickle.dumps, lambda y: y.data)
    for look in looks:
        with pytest.raises((cr.LostDerivativeError, AttributeError), match=r"test_buffers\.py"):
            cr.grad(f(look))(X)


def test_a_traced_number_does_not_fit_into_integers():
    def f(x):
        n = np.zeros(3, int)
        n[0] = x[0]
        return np.sum(n * x)

    for transform in (cr.grad, cr.jacfwd):
        with pytest.raises(cr.ChainRulesError, match=r"test_buffers\.py"):
            transform(f)(X)


def test_an_array_that_others_see_is_not_replaced():
    def f(x):
        z = np.zeros(3)
        seen = numpy.asarray(z)
        z[0] = x[0]
        return z @ z + seen[0]

    for transform in (cr.grad(f), lambda x: cr.jvp(f, (x,), (x,))):
        with pytest.raises(cr.MutationError, match=r"that others may see, in test_buffers\.py"):
            transform(X)


def test_a_buffer_that_outlives_its_transform():
    kept = []

    def f(x):
        z = np.zeros(2)
        z[0] = x
        kept.append(z)
        return z[0] ** 2

    cr.grad(f)(3.0)
    with pytest.raises(cr.EscapedTraceError):
        kept[0] + 1.0


# ---- buffers that an object keeps -------------------------------------------------------------


class Simulation:
    def __init__(self, n):
        self.position = np.zeros(n)

    def run(self, k):
        self.position[:] = k
        self.position += k * k
        return np.sum(self.position)


class Adding(Simulation):
    def run(self, k):
        self.position += k
        return np.sum(self.position)


@pytest.mark.parametrize("run", [cr.grad, lambda f: lambda x: cr.jvp(f, (x,), (1.0,))])
def test_an_object_whose_buffers_are_written_to_is_made_inside_the_function(run):
    for kept, plain in ((Simulation(3), 18.0), (Adding(3), 6.0)):
        with pytest.raises(cr.ChainRulesError, match=r"(?s)ma[kd]e .*inside the"):
            run(lambda k, kept=kept: kept.run(k))(2.0)
        assert plain == kept.run(2.0)
    assert 15.0 == cr.grad(lambda k: Simulation(3).run(k))(2.0)
    assert 6.0 == cr.hessian(lambda k: Simulation(3).run(k))(2.0)
    assert 3.0 == cr.grad(lambda k: Adding(3).run(k))(2.0)


# ---- buffers that a rule is handed by what it calls -------------------------------------------


def filled(x):
    y = np.zeros(3)
    y[:] = np.sin(x)
    return y


SEEN = {
    "rule": cr.primitive(filled),
    "compiled": cr.compile(filled, paths=0),
    "foreign": Foreign(
        "filled",
        filled,
        lambda x: (filled(x), lambda ybar: (np.cos(x) * ybar,)),
        lambda xs, dots: (filled(*xs), (np.cos(*xs) * dots[0],)),
    ),
}


@cr.frule.register(SEEN["rule"])
def filled_frule(tangents, f, x):
    return f(x), np.cos(x) * tangents[1]


@cr.rrule.register(SEEN["rule"])
def filled_rrule(f, x):
    return f(x), lambda ybar: (cr.NoTangent(), np.cos(x) * ybar)


@pytest.mark.parametrize("f", SEEN.values(), ids=SEEN)
@pytest.mark.filterwarnings("ignore::chainrules.CompileWarning")
def test_a_rule_answers_whose_function_fills_a_buffer(f):
    x, xdot = np.array([0.1, 0.7, 2.0]), np.array([1.0, 2.0, 0.3])
    for called in (f, lambda x: f(x * 1.0)):
        y, ydot = cr.jvp(called, (x,), (xdot,))
        assert type(y) is type(ydot) is numpy.ndarray
        numpy.testing.assert_allclose(np.cos(x) * xdot, ydot)
        numpy.testing.assert_allclose(np.cos(x), cr.grad(lambda x, f=called: np.sum(f(x)))(x))


CONVERSIONS = {
    "dtype": lambda y: np.asarray(y, dtype=float),
    "its own": lambda y: np.asarray(y),
    "another": lambda y: np.asarray(y, dtype=np.longdouble),
    "array": lambda y: np.array(y, float),
    "any": lambda y: np.asanyarray(y, dtype=float),
    "contiguous": lambda y: np.ascontiguousarray(y, dtype=float),
    "dimensions": lambda y: np.array(y, dtype=float, ndmin=2)[0],
}


@pytest.mark.parametrize("convert", CONVERSIONS.values(), ids=CONVERSIONS)
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_what_is_made_of_a_buffer_that_was_filled_keeps_the_derivative(convert, dtype):
    def f(x):
        y = np.zeros(3, dtype=dtype)
        y[:2] = x[:2]
        y[2] = 4.0
        return np.sum(convert(y) ** 2 * np.array([1.0, 2.0, 3.0]))

    x = np.array([0.5, 2.0, 3.0])
    numpy.testing.assert_allclose([1.0, 8.0, 0.0], cr.grad(f)(x), rtol=1e-6)
    numpy.testing.assert_allclose([1.0, 8.0, 0.0], cr.jacfwd(f)(x), rtol=1e-6)
    numpy.testing.assert_allclose(np.diag([2.0, 4.0, 0.0]), cr.hessian(f)(x), rtol=1e-6)


def half_filled(x):
    y = np.zeros(2)
    y[0] = x
    return y


MADE = {"buffer": half_filled, "traced": lambda x: x * np.array([1.0, 0.0])}
SAME = {
    "asarray": lambda y: np.asarray(y, dtype=float),
    "asanyarray": lambda y: np.asanyarray(y, "f8"),
    "contiguous": lambda y: np.ascontiguousarray(y, float),
    "array": lambda y: np.array(y, float, copy=None),
    "astype": lambda y: y.astype(float, copy=False),
    "require": lambda y: np.require(y, float, "C"),
}


@pytest.mark.parametrize("convert", SAME.values(), ids=SAME)
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_an_array_that_has_the_dtype_is_itself(make, convert):
    """The write was lost: np.asarray(y, dtype=float) made another array."""

    def f(x):
        y = make(x)
        same = convert(y)
        same[1] = 3.0 * x
        return np.sum(y)

    assert f(2.0) == 8.0
    assert cr.value_and_grad(f)(2.0) == (8.0, 4.0)
    assert cr.jvp(f, (2.0,), (1.0,)) == (8.0, 4.0)


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_an_array_that_is_made_of_another_is_none_of_it(make):
    def f(x):
        y = make(x)
        other = np.array(y, dtype=float)
        other[1] = 3.0 * x
        return np.sum(y)

    assert cr.value_and_grad(f)(2.0) == (2.0, 1.0)
    assert cr.jvp(f, (2.0,), (1.0,)) == (2.0, 1.0)


MADE_BY_AN_OPERATOR = """
import numpy as np

A = np.ones(3)


def refused(t):
    z = 2 * A
    z[0] = t
    return z


def copied(t):
    z = np.copy(2 * A)
    z[0] = t
    z += t
    return z


def updated(t):
    z = 2 * A
    z += t
    return z
"""


def test_what_an_operator_made_is_refused_by_the_line_that_bound_it(tmp_path, monkeypatch):
    (tmp_path / "made_by_an_operator.py").write_text(MADE_BY_AN_OPERATOR)
    monkeypatch.syspath_prepend(tmp_path)
    import made_by_an_operator as made

    with cr.adopt(made):
        with pytest.raises(cr.LostDerivativeError) as caught:
            cr.jvp(made.refused, (0.7,), (1.0,))
        with pytest.raises(cr.MutationError, match="z, bound in line 21, is a plain array; use"):
            cr.jvp(made.updated, (0.7,), (1.0,))
        y, ydot = cr.jvp(made.copied, (0.7,), (1.0,))
    said = str(caught.value)
    assert "made_by_an_operator.py:9" in said
    assert "z, bound in line 8, is a plain array" in said
    assert "write z = np.copy(z) first" in said
    numpy.testing.assert_allclose(y, [1.4, 2.7, 2.7])
    numpy.testing.assert_allclose(ydot, [2.0, 1.0, 1.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: masked_buffer(x, np.full(4, 2.0)),
        lambda x: masked_array(x, np.full(2, 2.0)),
        lambda x: counted_places(x, np.zeros(2, int)),
    ],
)
def test_buffers_are_indices(f):
    def total(x):
        return np.sum(f(x) ** 2)

    x = numpy.array([0.5, 1.7])
    check_grad(total, x)
    gradient = cr.grad(total)
    replayed = cr.compile(gradient, fallback="error")
    for at in (x, x * 1.1, x * 1.2):
        numpy.testing.assert_allclose(replayed(at), gradient(at), rtol=1e-12)
        numpy.testing.assert_allclose(cr.jacfwd(total)(at), gradient(at), rtol=1e-12)


def masked_buffer(x, y):
    y[1:3] += x
    y[y > 3] = 0.5
    return y


def masked_array(x, y):
    y[0] = x[0]
    z = x * 2
    z[y > 1] = 3.0
    return np.where(y > 1, z, x)


def counted_places(x, k):
    k[0] = 1
    z = x * 2.0
    z[k] += x[k]
    return z[k[0]] * x[k[1]] + z[:, None][k]


@pytest.mark.parametrize("index", [1, slice(0, 2), (slice(None), 1), (0, slice(1, 3)), ..., None])
def test_an_update_in_place_is_one_write(index):
    """Python writes the view that it has updated back into the array: that is left out."""

    def updated(x, again):
        y = np.zeros((3, 4), like=x)
        y[:2] = x
        y[index] += 2 * x[0, 0]
        if again:
            y[index] = y[index]
        z = y[1:]
        z[0, 1:] *= x[1, 1]
        return np.sum(y**2)

    x = np.arange(1.0, 9).reshape(2, 4)
    np.testing.assert_array_equal(cr.grad(updated)(x, True), cr.grad(updated)(x, False))
    expected = (updated((1 + H) * x, False) - updated((1 - H) * x, False)) / (2 * H)
    for again in (False, True):
        ydot = cr.jvp(lambda x, again=again: updated(x, again), (x,), (x,))[1]
        np.testing.assert_allclose(ydot, expected, rtol=1e-6)
        np.testing.assert_allclose(np.sum(cr.grad(updated)(x, again) * x), ydot, rtol=1e-12)


def test_a_view_written_elsewhere_is_written():
    def moved(x):
        y = np.copy(x)
        y[0] += 1.0
        y[1] = y[0]
        y[0:1] = y[1:2] * 2
        return np.sum(y * x)

    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    y = np.stack([2 * (x[0] + 1), x[0] + 1])
    assert moved(x) == np.sum(y * x)
    np.testing.assert_allclose(cr.grad(moved)(x), [y[0] + 2 * x[0] + x[1], y[1]], rtol=1e-12)
