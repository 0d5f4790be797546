"""Quantities of astropy, unyt and pint: inside, as arguments, as results, in each transform."""

import dataclasses
import pickle
from concurrent.futures import Future

import numpy as np
import pytest
from differences import jacobian_of
from programs_of_units import LENGTHS, PACKAGES

import chainrules as cr

P = np.array([1.0, 2.0])
EACH = [name for name, u in PACKAGES.items() if u is not None]
ARRAYS = [name for name in EACH if name != "pint"]  # whose quantities are arrays
packages = pytest.mark.parametrize("package", EACH)
arrays = pytest.mark.parametrize("package", ARRAYS)


def close(found, expected, rtol=1e-6):
    assert type(found) in (np.ndarray, np.float64, float)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-6 * np.max(np.abs(expected)))


@packages
@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.filterwarnings("ignore::chainrules.errors.BatchWarning")
def test_programs(package, name):
    u = PACKAGES[package]

    def inside(p):
        return u.magnitude(LENGTHS[name](u, u(p, "km")), "m")

    def argument(q):
        return u.magnitude(LENGTHS[name](u, q), "m")

    try:
        expected = jacobian_of(inside, P)
    except Exception as error:  # the package takes no such call
        pytest.skip(str(error))
    y, pullback = cr.vjp(argument, u(P, "km"))
    np.testing.assert_allclose(y, inside(P), rtol=1e-14)
    close(pullback(np.ones_like(y))[0], np.sum(expected.reshape(-1, 2), axis=0))
    for transform in (cr.jacfwd, cr.jacrev):
        close(transform(inside)(P), expected)
        close(transform(argument)(u(P, "km")), expected)
    close(cr.vmap(inside)(np.stack([P, 1.01 * P]))[0], inside(P), 1e-14)


# Packages of units do more than compute, so that a recording gives way.
@packages
@pytest.mark.filterwarnings("ignore::chainrules.errors.CompileWarning")
def test_each_transform_of_an_argument(package):
    u = PACKAGES[package]
    q, s = u(P, "km"), u(2.0, "km")

    def area(q):
        return u.magnitude(np.sum(q**2), "m**2")

    close(cr.grad(area)(q), 2e6 * P)
    assert cr.grad(area)(s) == pytest.approx(4e6)
    y, gradient = cr.value_and_grad(area)(q)
    assert y == pytest.approx(5e6)
    close(gradient, 2e6 * P)
    close(cr.hessian(area)(q), 2e6 * np.eye(2))
    close(cr.hvp(area, (q,), (P,)), 2e6 * P)
    close(cr.jacobian(lambda q: q**2)(q), np.diag(2 * P))
    close(cr.linearize(lambda q: q**2, q)[1](P), 2 * P**2)
    close(cr.vmap(cr.grad(area))(q), 2e6 * P)
    close(cr.grad(lambda a, b: area(a * b / s), argnums=(0, 1))(q, q)[1], 5e5 * P**3)
    close(cr.grad(lambda k: cr.grad(lambda q: area(q) * k)(s))(3.0), 4e6)
    compiled = cr.compile(cr.grad(area))
    for x, slope in ((q, 2e6 * P), (u(P, "m"), 2 * P), (2 * q, 4e6 * P)):
        close(compiled(x), slope)


@packages
def test_containers(package):
    u = PACKAGES[package]

    @dataclasses.dataclass
    class Box:
        side: object
        count: int = 3

    q = u(P, "km")
    gradient = cr.grad(lambda d: u.magnitude(np.sum(d["a"] * d["b"][0]), "m**2"))(
        {"a": q, "b": [q]}
    )
    close(gradient["a"], 1e6 * P)
    close(gradient["b"][0], 1e6 * P)
    gradient = cr.grad(lambda box: u.magnitude(np.sum(box.side**box.count), "m**3"))(Box(q))
    close(gradient.side, 3e9 * P**2)


@packages
def test_results_keep_their_class_and_unit(package):
    u = PACKAGES[package]
    q = u(P, "km")
    y, pullback = cr.vjp(lambda q: {"area": q**2, "first": q[0]}, q)
    assert type(y["area"]) is type(q**2)
    assert type(y["first"]) is type(q[0])
    close(u.magnitude(y["area"], "m**2"), 1e6 * P**2)
    close(pullback({"area": P, "first": 1.0})[0], 2 * P**2 + np.array([1.0, 0.0]))
    _, ydot = cr.jvp(lambda q: [q**2], (q,), (P,))
    close(ydot[0], 2 * P**2)
    with pytest.raises(cr.TangentError, match="plain number or array"):
        cr.jvp(lambda q: q, (q,), (q,))


@packages
def test_a_batch_of_quantities_is_one(package):
    u = PACKAGES[package]
    q = u(P, "km")
    y = cr.vmap(lambda q: q**2 if q > u(1500.0, "m") else q * u(1.0, "km"))(q)
    close(u.magnitude(y, "km**2"), np.array([1.0, 4.0]))


@packages
@pytest.mark.filterwarnings("ignore::chainrules.errors.BatchWarning")
def test_results_in_different_units_have_no_place_in_one_array(package):
    u = PACKAGES[package]

    def f(x):
        return u(x, "km") if x > 1.5 else u(x, "m")

    for call in (lambda: cr.vmap(f)(P), lambda: cr.map(f, P), lambda: cr.vmap(seen(f))(P)):
        with pytest.raises((cr.BatchError, TypeError), match="different units"):
            call()
    with pytest.raises(TypeError, match="different units"):
        cr.scan(lambda carry, x: (carry, f(x)), 0.0, P)
    for y, expected in zip(cr.map(f, list(P)), map(f, P), strict=True):
        assert str(y) == str(expected)


def seen(f):
    return lambda x: f(float(x))


@packages
def test_an_error_of_units_is_that_of_the_package(package):
    u = PACKAGES[package]
    with pytest.raises(Exception, match=r"[Uu]nit|meter|dimensions") as plain:
        u(1.0, "m") + u(1.0, "s")
    with pytest.raises(plain.type):
        cr.grad(lambda p: u.magnitude(u(p, "m") + u(1.0, "s"), "m"))(1.0)


@arrays
def test_a_constant_quantity_beside_traced_numbers(package):
    u = PACKAGES[package]
    q = u(P, "km")
    for f in (
        lambda p: p * q, lambda p: q * p, lambda p: np.multiply(p, q), lambda p: np.multiply(q, p),
        lambda p: p @ q, lambda p: q @ p, lambda p: np.dot(p, q), lambda p: np.multiply.outer(p, q),
        lambda p: q / p, lambda p: q * p[0], lambda p: p[0] * q, lambda p: u.unit("km") * p,
        lambda p: np.add.reduce(p * u.unit("km")),
    ):  # fmt: skip

        def magnitude(p, f=f):
            return u.magnitude(f(p), "m")

        for transform in (cr.jacfwd, cr.jacrev):
            close(transform(magnitude)(P), jacobian_of(magnitude, P))


@arrays
def test_writes_of_lists_and_conversions_by_name(package):
    u = PACKAGES[package]
    km, m = u.unit("km"), u.unit("m")

    def f(q):
        y = q * 1.0
        y[:] = [3 * q[0], 2 * q[1]]
        y[y > u(3500.0, "m")] = 2 * q[0]
        named = {"unit" if package == "astropy" else "units": m}
        return np.sum(y.to_value(**named) ** 2) + np.sum(y.to(**named).to_value(km))

    for transform in (cr.grad, cr.jacfwd):
        close(transform(f)(u(P, "km")), jacobian_of(lambda p: f(u(p, "km")), P))


@arrays
def test_numbers_are_equal_in_their_units_and_unlike_without(package):
    u = PACKAGES[package]
    s = u(1.0, "km")

    def f(q):
        same = q == u(1000.0, "m"), q != u(1.0, "km"), q == u(1.0, "s"), q != u(1.0, "s")
        assert [bool(x) for x in same] == [True, False, False, True]
        return u.magnitude(q * 2, "m")

    assert f(s) == 2000.0
    assert cr.grad(f)(s) == 2000.0


def square(q):
    return q * q


class Elsewhere:
    """An executor whose items are sent as to another process."""

    def submit(self, f, *args):
        f, args = pickle.loads(pickle.dumps((f, args)))
        done = Future()
        done.set_result(pickle.loads(pickle.dumps(f(*args))))
        return done


@packages
def test_items_of_a_map_are_sent_elsewhere(package):
    u = PACKAGES[package]

    def total(q):
        return u.magnitude(sum(cr.map(square, list(q), executor=Elsewhere())), "m**2")

    close(cr.grad(total)(u(P, "km")), 2e6 * P)


def first_written(read, write):
    """Return the magnitude of a quantity after a write into what is read off it."""

    def f(q):
        y = q * 1.0
        part = read(y)
        part[(0,) * part.ndim] = write
        return y.sum().to_value()

    return f


@arrays
@pytest.mark.parametrize(
    "name", ["value", "to_value", "to", "view", "T", "ravel", "reshape", "d", "v", "copy"]
)
def test_what_shares_memory_and_what_is_a_copy(package, name):
    u = PACKAGES[package]
    q = u(P, "km")
    reads = {
        "to_value": lambda y: y.to_value(u.unit("km")), "to": lambda y: y.to(u.unit("km")),
        "view": lambda y: y.view(np.ndarray), "T": lambda y: np.stack([y, y]).T[1:],
        "ravel": lambda y: y.ravel(), "reshape": lambda y: y.reshape((2, 1)),
        "copy": lambda y: y.copy(),
    }  # fmt: skip
    read = reads.get(name, lambda y: getattr(y, name))
    if not hasattr(q, name):
        pytest.skip(f"{package} has no {name}")
    f = first_written(read, 5.0 if type(read(q)) is np.ndarray else u(5.0, "km"))
    close(cr.grad(f)(q), jacobian_of(lambda p: f(u(p, "km")), P))


@arrays
def test_narrow_floats_stay_narrow(package):
    u = PACKAGES[package]
    q = u(np.ones(2, np.float32), "km")

    def f(q):
        return q * u.unit("m") + q * q

    y, pullback = cr.vjp(f, q)
    assert y.dtype == f(q).dtype
    assert pullback(np.ones(2, y.dtype))[0].dtype == np.float32


def refused(package):
    """Return programs that are refused, and words of the errors."""
    u = PACKAGES[package]
    q = u(P, "km")
    return {
        "a power": (lambda p: (q[0] ** p).value, "a power with a traced exponent"),
        "a zero": (lambda p: u.magnitude(q[0] + (p - 2.0), "m"), "dimensionless"),
        "out=": (lambda p: np.sum(p * q, out=0 * q[0]).value, "out= of|a write by"),
        "in place of a constant": (lambda p: added(0 * q, p * q), "in place"),
        "in place of a number": (lambda p: added(p * q[0], q[0]), "one number"),
        "np.copyto": (lambda p: np.copyto(p * q, q), "a write by numpy.copyto"),
        "np.add.at": (lambda p: np.add.at(p * q, [0], q[0]), "a write by numpy.add.at"),
        "a function": (
            lambda p: np.apply_along_axis(lambda v: v * v, 0, p * q), "of a function",
        ),
        "a write of a number": (lambda p: written(p * q[0], q[0]), "a write into one number"),
        "an attribute": (lambda p: (p * q).tofile("x"), "the attribute tofile"),
        "a new one": (lambda p: type(q)(p * q, u.unit("m")).to(u.unit("m")), "q.to|x . unit"),
    }  # fmt: skip


def added(a, b):
    a += b
    return a


def written(a, b):
    a[()] = b
    return a


@arrays
@pytest.mark.parametrize("name", refused(ARRAYS[0]) if ARRAYS else ())
def test_refusals(package, name):
    f, words = refused(package)[name]
    with pytest.raises(Exception, match=words):
        cr.grad(f)(2.0)


def test_adoption_of_unyt_is_refused():
    with pytest.raises(cr.errors.ArgumentValueError, match=r"x \* unit"):
        cr.adopt("unyt")


@arrays
def test_units_in_a_result_are_constants(package):
    u = PACKAGES[package]
    name = "unit" if package == "astropy" else "units"
    y, pullback = cr.vjp(lambda q: [q**2, getattr(q, name), {"a": u.unit("km")}], u(P, "km"))
    assert y[1:] == [u.unit("km"), {"a": u.unit("km")}]
    close(pullback([P, cr.ZeroTangent(), cr.ZeroTangent()])[0], 2 * P**2)


def test_constructors_of_adopted_astropy():
    units = pytest.importorskip("astropy.units")
    km, m = units.km, units.m
    makes = {
        "of an array": lambda x: units.Quantity(x, "km").to_value(m)[1],
        "of a number": lambda x: (units.Quantity(x[1], "km") * (2 * m)).to_value(m**2),
        "of a quantity": lambda x: units.Quantity(x * km, "m").value[1],
        "of a quantity as it is": lambda x: (units.Quantity(x * km) * x[0]).to_value(m**1)[0],
        "of a list": lambda x: units.Quantity([x[0] * km, 3 * x[1] * m])[1].to_value(m),
        "of numbers": lambda x: units.Quantity([x[0], 2 * x[1]], km).to_value(m)[1],
    }
    with cr.adopt("astropy.units.quantity"):
        for f in makes.values():
            expected = jacobian_of(f, P)
            close(cr.grad(f)(P), expected)
            close(cr.jacfwd(f)(P), expected)
