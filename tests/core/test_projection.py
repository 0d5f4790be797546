"""ProjectTo: bringing a cotangent into the space of the value that it belongs to."""

import dataclasses
import decimal
import fractions

import numpy as np
import pytest
import scipy.sparse

import chainrules as cr

NO, ZERO = cr.NoTangent(), cr.ZeroTangent()


@dataclasses.dataclass
class Foo:
    a: float
    name: str = "foo"


@pytest.mark.parametrize(
    ("expected", "x", "xbar"),
    [
        (np.float32(2.5), np.float32(1), 2.5),
        (np.float32(2.5), np.float32(1), 2.5 + 1j),
        (np.float16(2.5), np.float16(1), np.float64(2.5)),
        (np.float64(2), 1.0, np.float32(2)),
        (np.float64(2), 1, 2),
        (np.float64(2), np.int8(1), 2.0),
        (np.float64(2), 1.0, np.array(2.0)),
        (np.float64(2), 1.0, np.array([2.0])),
        (np.complex128(2), 1j, 2.0),
        (np.complex64(2 + 1j), np.complex64(1), 2 + 1j),
    ],
)
def test_numbers(expected, x, xbar):
    projected = cr.ProjectTo(x)(xbar)
    assert expected == projected
    assert expected.dtype == np.asarray(projected).dtype
    assert np.ndarray is not type(projected)


@pytest.mark.parametrize(
    ("expected", "x", "xbar"),
    [
        (np.ones(2, np.float32), np.ones(2, np.float32), np.ones(2)),
        (np.ones(2), np.ones(2), np.ones(2) + 1j),
        (np.ones(2), np.ones(2, int), np.ones(2, np.float32)),
        (np.ones(2) + 0j, np.ones(2) + 1j, np.ones(2)),
        (np.ones(3), np.ones(3), np.ones((3, 1))),
        (np.ones((3, 1)), np.ones((3, 1)), np.ones(3)),
        (np.array(2.0), np.array(1.0), np.array(2.0)),
        (np.array(2.0), np.array(1.0), 2.0),
        (np.array(2.0), np.array(1.0), np.array([2.0])),
        (np.zeros((0, 2)), np.zeros((0, 2)), np.ones((0, 2), np.float32)),
    ],
)
def test_arrays(expected, x, xbar):
    projected = cr.ProjectTo(x)(xbar)
    np.testing.assert_array_equal(expected, projected)
    assert (expected.shape, expected.dtype) == (projected.shape, projected.dtype)
    assert type(projected) is np.ndarray
    np.testing.assert_array_equal(projected, cr.ProjectTo(x)(projected))


def test_what_fits_is_handed_on():
    for x, xbar in ((np.ones(2), np.zeros(2)), (1.0, np.float64(2)), (1j, np.complex128(1))):
        assert xbar is cr.ProjectTo(x)(xbar)


@pytest.mark.parametrize(
    ("x", "xbar"),
    [
        (np.ones(3), np.ones(2)),
        (np.ones(3), np.ones((1, 3))),
        (np.ones((2, 3)), np.ones((3, 2))),
        (np.ones(3), 1.0),
        (1.0, np.ones(2)),
    ],
)
def test_shapes_that_do_not_fit(x, xbar):
    with pytest.raises(cr.TangentError, match=r"a cotangent of shape .* does not fit .* of shape"):
        cr.ProjectTo(x)(xbar)


@pytest.mark.parametrize(
    "x", ["a", b"a", None, True, np.True_, np.array([True]), np.array(["a"]), print, Foo, slice(2)]
)
def test_what_cannot_be_perturbed(x):
    assert NO == cr.ProjectTo(x)(2.0)


def test_what_passes():
    for x in (1.0, np.ones(2), (1.0, "a"), Foo(1.0), scipy.sparse.eye_array(2)):
        project = cr.ProjectTo(x)
        assert ZERO is project(ZERO)
        assert NO is project(NO)
        missing = cr.not_implemented("missing")
        assert missing is project(missing)


def test_a_thunk_stays_one():
    calls = []

    def compute():
        calls.append(None)
        return 2.5 + 1j

    projected = cr.ProjectTo(np.float32(1))(cr.thunk(compute))
    assert [] == calls
    assert np.float32(2.5) == cr.unthunk(projected)
    assert np.float32 is type(cr.unthunk(projected))


@pytest.mark.parametrize(
    ("expected", "x", "xbar"),
    [
        (cr.Tangent(tuple, 2.0, NO), (1.0, "a"), (2, 3)),
        (cr.Tangent(tuple, 2.0, 3.0), (1.0, 1.0), np.array([2.0, 3.0])),
        (cr.Tangent(list, 2.0), [1.0], [2 + 1j]),
        (cr.Tangent(dict, {"a": 2.0, "b": ZERO}), {"a": 1.0, "b": 1.0}, {"a": 2}),
        (cr.Tangent(Foo, a=2.0, name=NO), Foo(1.0), Foo(2.0)),
        (cr.Tangent(Foo, a=2.0), Foo(1.0), cr.Tangent(Foo, a=2.0)),
        (cr.Tangent(list, cr.Tangent(tuple, 2.0)), [(1.0,)], [[2.0]]),
        (NO, ("a", None), (1.0, 2.0)),
        (cr.Tangent(tuple), (), ()),
    ],
)
def test_containers(expected, x, xbar):
    assert expected == cr.ProjectTo(x)(xbar)


def test_containers_that_do_not_fit():
    with pytest.raises(cr.TangentError, match="the tangent of a tuple of 2 parts has 1"):
        cr.ProjectTo((1.0, 2.0))((1.0,))
    with pytest.raises(cr.TangentError, match="a dict has no part 'b'"):
        cr.ProjectTo({"a": 1.0})({"b": 1.0})


def test_numbers_that_numpy_does_not_know():
    for number in (fractions.Fraction(1, 3), decimal.Decimal("0.1")):
        assert number is cr.ProjectTo(number)(number)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok"])
@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array])
def test_sparse_arrays_keep_their_pattern(form, convert):
    pattern = np.array([[0, 1, 0], [0, 0, 1]])
    x, xbar = scipy.sparse.csr_array(2.0 * pattern).asformat(form), np.arange(6.0).reshape(2, 3) + 1
    projected = cr.ProjectTo(x)(convert(xbar))
    assert (type(x), form) == (type(projected), projected.format)
    np.testing.assert_array_equal(xbar * pattern, projected.toarray())
    np.testing.assert_array_equal(xbar * pattern, cr.ProjectTo(x)(projected).toarray())


def test_a_stored_zero_of_a_sparse_array_can_be_perturbed():
    x = scipy.sparse.csr_array(([1.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2))
    np.testing.assert_array_equal([[0, 5], [5, 0]], cr.ProjectTo(x)(np.full((2, 2), 5.0)).toarray())


def test_a_diagonal_stays_one():
    x = scipy.sparse.diags_array([1.0, 2.0, 3.0])
    projected = cr.ProjectTo(x)(np.ones((3, 3)))
    assert (1, 3) == projected.data.shape
    np.testing.assert_array_equal(np.eye(3), projected.toarray())
    with pytest.raises(cr.TangentError, match=r"shape \(2, 2\) does not fit a sparse array"):
        cr.ProjectTo(x)(np.ones((2, 2)))


def test_integers_in_a_sparse_array_count_as_float64():
    x = scipy.sparse.csr_array(np.eye(2, dtype=int))
    assert np.float64 == cr.ProjectTo(x)(np.ones((2, 2))).dtype


def test_the_data_is_not_kept():
    import weakref

    x = np.ones(3)
    project, alive = cr.ProjectTo([x]), weakref.ref(x)
    del x
    assert alive() is None
    assert cr.Tangent(list, np.ones(3)) == project([np.ones(3)])


def test_projectors_show_themselves():
    assert "ProjectTo(float64[2, 3])" == repr(cr.ProjectTo(np.ones((2, 3))))
    assert "ProjectTo(float32)" == repr(cr.ProjectTo(np.float32(1)))
    project = cr.ProjectTo(np.ones((2, 3), np.float32))
    assert ((2, 3), np.float32, 2) == (project.shape, project.dtype, project.ndim)


class Angle:
    def __init__(self, radians):
        self.radians = radians


class RightAngle(Angle):
    pass


def test_a_type_of_ones_own():
    cr.ProjectTo.register(Angle, lambda angle: lambda angle_bar: angle_bar % np.pi)
    assert 3.0 == cr.ProjectTo(Angle(1.0))(3.0)
    assert 1.0 == cr.ProjectTo(RightAngle(1.0))(1.0 + np.pi)
    assert ZERO is cr.ProjectTo(Angle(1.0))(ZERO)


def test_traced_values_have_the_space_of_what_they_carry():
    spaces = []

    def f(x):
        spaces.append(cr.ProjectTo(x))
        return np.sum(x)

    for x in (1.0, np.float32(1), np.ones(2), np.ones(2, np.float32)):
        cr.grad(f)(x)
        cr.grad(lambda x: cr.grad(f)(x) if np.ndim(x) == 0 else np.sum(cr.grad(f)(x)) + 0 * x[0])(x)
        assert {repr(cr.ProjectTo(x))} == {repr(space) for space in spaces}
        spaces.clear()
