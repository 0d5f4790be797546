"""Derivatives that were lost without a word, as met in use."""

import dataclasses
import warnings

import numpy as np
import pytest
from right_or_refused import may_refuse, same

import chainrules as cr
import chainrules.numpy as followed

X = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x.astype(object)),
        lambda x: np.sum(np.astype(x, object)),
        lambda x: np.sum(np.astype(x, float)),
        lambda x: np.sum(followed.full(3, x[0], dtype=object)) + x[1] + x[2] - 2.0 * x[0],
        lambda x: np.sum(followed.array([x[0], x[1], x[2]], dtype=object)),
        lambda x: np.sum(followed.asarray([x[0], x[1], x[2]], dtype=object)),
        lambda x: np.sum(followed.array(x, dtype=object)),
    ],
    ids=[
        "astype_method",
        "astype_object",
        "astype_float",
        "full",
        "array",
        "asarray",
        "array_of_array",
    ],
)
def test_object_arrays_keep_derivatives(f):
    may_refuse(lambda: same(np.ones(3), cr.grad(f)(X)))()
    may_refuse(lambda: same(3.0, cr.jvp(f, (X,), (np.ones(3),))[1]))()


def test_hvp_through_a_primitive_whose_rrule_calls_itself():
    @cr.primitive
    def cubes(t):
        return np.asarray(t) ** 3

    @cr.rrule.register(cubes)
    def cubes_rrule(cubes, t):
        def cubes_pullback(ybar):
            return cr.NoTangent(), 3 * t**2 * ybar

        return cubes(t), cubes_pullback

    def f(t):
        return np.sum(cubes(t) ** 2)

    may_refuse(lambda: same(30 * X**4, cr.hvp(f, (X,), (np.ones(3),))))()


@pytest.mark.parametrize("operator", ["@", "*", "+", "-"])
def test_dask_array_on_the_left_of_an_operator(operator):
    da = pytest.importorskip("dask.array")
    d = da.ones((3, 3), chunks=2) * 2.0
    plain = np.full((3, 3), 2.0)

    def f(left, w):
        y = {"@": left @ w, "*": left * w, "+": left + w, "-": left - w}[operator]
        return np.sum(y)

    right = cr.grad(lambda w: f(plain, w))(X)
    may_refuse(lambda: same(right, cr.grad(lambda w: f(d, w))(X)))()


def test_pullback_that_returns_none_is_no_nan():
    @cr.primitive
    def scaled(t, c):
        return t * c

    @cr.rrule.register(scaled)
    def scaled_rrule(scaled, t, c):
        def scaled_pullback(ybar):
            return cr.NoTangent(), ybar * c, None

        return scaled(t, c), scaled_pullback

    def f(c):
        return np.sum(scaled(X, c))

    with pytest.raises(cr.ChainRulesError):
        cr.grad(f)(2.0)


def found_or_warned_of(register, f):
    """The gradient comes from the rule that ``register`` registers, or somebody warned."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        register()
        ours = cr.grad(f)(3.0)
    assert warned or ours == 10.0


def register_ten(key):
    """Register a rule by which the derivative is 10."""

    @cr.rrule.register(key)
    def ten_rrule(square, t):
        def ten_pullback(ybar):
            return cr.NoTangent(), 10.0 * ybar

        return square(t), ten_pullback


def test_rule_of_an_undecorated_function_is_found_or_warned_of():
    def square(t):
        return t * t

    found_or_warned_of(lambda: register_ten(square), lambda t: square(t) * 1.0)


def test_rule_of_a_constructor_is_found_or_warned_of():
    @dataclasses.dataclass
    class Scaled:
        value: object

    def register():
        @cr.rrule.register(Scaled)
        def scaled_rrule(cls, value):
            def scaled_pullback(ybar):
                return cr.NoTangent(), 10.0 * ybar.value

            return cls(value), scaled_pullback

    found_or_warned_of(register, lambda t: Scaled(t).value * 1.0)


def test_rule_of_a_functor_is_found_or_warned_of():
    class Square:
        def __call__(self, t):
            return t * t

    square = Square()
    found_or_warned_of(lambda: register_ten(cr.instances(Square)), lambda t: square(t) * 1.0)


def test_an_object_array_of_floats_beside_a_traced_one():
    odd = np.array([1.0, 2.0], object)
    for f in (
        lambda t: np.stack([t, odd]),
        lambda t: np.concatenate([t, odd]),
        lambda t: np.where(t > 0, t, odd),
        lambda t: t * odd,
        lambda t: np.dot(t, odd),
    ):
        try:
            gradient = cr.grad(lambda t: np.sum(f(t)))(np.ones(2))
        except cr.LostDerivativeError:
            continue
        assert np.all(gradient != 0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.all(dtype=object),
        lambda x: x.any(None, object),
        lambda x: np.logical_and.reduce(x, dtype="O"),
        lambda x: np.logical_or.accumulate(x, dtype=object)[0],
    ],
)
def test_truth_of_objects_is_one_of_them(f):
    """NumPy gives back an entry, not True or False: its derivative is not 0."""
    assert f(np.array([2.0, 3.0])) in (2.0, 3.0)
    with pytest.raises(cr.MissingRuleError, match="leave out dtype"):
        cr.grad(f)(np.array([2.0, 3.0]))
    assert cr.grad(lambda x: x[0] if x.all() and x.any(axis=0) else x[1])(np.ones(2))[0] == 1


@pytest.mark.parametrize("name", ["value", "level", "index", "data_", "tangent_", "entry", "node"])
def test_names_that_numbers_of_other_libraries_have(name):
    """``getattr(p, "value", p)`` asks whether p is a parameter: a traced number is none."""
    for x in (3.0, np.float64(3.0), X):
        for transform in (cr.grad, cr.jacfwd):
            got = transform(lambda x: np.sum(getattr(x, name, x) ** 2))(x)
            same(2 * np.asarray(x), np.asarray(got))


def objects_in_objects(x):
    y = np.empty(2, object)
    y[0], y[1] = np.asarray([x[0], x[1]]), x[:2]
    return y


def in_itself(x):
    y = np.array(x)
    y[0] = y
    return y


@pytest.mark.parametrize("transform", [cr.jacrev, cr.jacfwd])
@pytest.mark.parametrize(
    "f",
    [
        objects_in_objects,
        in_itself,
        lambda x: {"a": objects_in_objects(x)},
        lambda x: objects_in_objects(x) * x[:2],
        lambda x: np.copy(x).__setitem__(0, in_itself(x)),
    ],
)
def test_arrays_of_objects_that_are_arrays(f, transform):
    with pytest.raises(cr.LostDerivativeError, match="make it a list; or one array"):
        transform(f)(X)


@pytest.mark.parametrize("transform", [cr.jacrev, cr.jacfwd])
def test_flat_is_written_entry_by_entry(transform):
    """``y.flat = y[::-1]`` reads what it has written already."""

    def f(x, source):
        y = 1.0 * x
        y.flat = source(y)
        return y

    def g(x, source):
        y = 1.0 * x
        y.flat[:] = source(y)
        return y

    for h in (f, g):
        with pytest.raises(cr.MutationError, match="a view of the same"):
            transform(lambda x, h=h: h(x, lambda y: y[::-1]))(X)
        same(np.eye(3)[::-1], transform(lambda x, h=h: h(x, lambda y: y[::-1].copy()))(X))
        same(np.eye(3), transform(lambda x, h=h: h(x, lambda y: y))(X))


@pytest.mark.parametrize("transform", [cr.jacrev, cr.jacfwd])
@pytest.mark.parametrize("x", [np.zeros(0), np.ones(2)])
def test_matrices_and_empty_ones_as_well(x, transform):
    same(np.stack([np.eye(len(x))] * 2), transform(lambda x: np.asmatrix([x, x]))(x))


@pytest.mark.parametrize("transform", [cr.jacrev, cr.jacfwd])
def test_a_matrix_that_was_overwritten(transform):
    def f(x):
        y = np.bmat(x)
        y.reshape(-1)[:1] = 2.0
        return y

    x = np.ones((1, 3))
    same(np.zeros((1, 3, 1, 3)), transform(f)(x))
    assert type(cr.jvp(f, (x,), (x,))[0]) is np.matrix


@pytest.mark.parametrize("wrapped", [lambda t: t, lambda t: cr.thunk(lambda: t)])
def test_a_derived_frule_asks_for_what_is_not_implemented_only_where_it_moves(wrapped):
    @cr.primitive
    def f(a, n):
        return np.asarray(a) * np.asarray(n)

    @cr.rrule.register(f)
    def f_rrule(f, a, n):
        return f(a, n), lambda ybar: (cr.NoTangent(), n * ybar, wrapped(cr.not_implemented("n")))

    x = np.ones(2)
    np.testing.assert_array_equal([2.0, 2.0], cr.jvp(lambda a: f(a, 2.0), (x,), (x,))[1])
    with pytest.raises(cr.MissingDerivativeError):
        cr.jvp(lambda n: f(x, n), (2.0,), (1.0,))


def test_reshape_to_an_array_of_sizes_for_a_block_of_directions():
    def f(x):
        return np.reshape(x, np.array([1, 3])) ** 2

    np.testing.assert_array_equal(np.diag([0.0, 2.0, 4.0])[None], cr.jacfwd(f)(np.arange(3.0)))
