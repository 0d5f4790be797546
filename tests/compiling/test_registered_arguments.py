"""Compiled functions of registered containers: what these hold besides their parts is compared."""

import numpy as np
import pytest

import chainrules as cr

A = np.array([1.0, 2.0])


class Scaled:
    """A number, and a constant beside it."""

    __slots__ = ("__held", "scale")

    def __init__(self, x, scale):
        self.__held, self.scale = x, scale

    def held(self):
        return self.__held


class Checked(Scaled):
    """A registered class whose constructor takes nothing but what it was written for."""

    __slots__ = ()

    def __init__(self, x, scale):
        if np.any(x == 0.0):
            raise ValueError("zero")
        super().__init__(x, scale)


for cls in (Scaled, Checked):
    cr.register_container(
        cls, lambda s: {"x": s.held()}, lambda s, parts: type(s)(parts["x"], s.scale)
    )


def check(f, *arguments):
    """Call the compiled function thrice with each argument, and compare with the plain one."""
    compiled = cr.compile(f)
    for x in (*arguments, *arguments[::-1]):
        for _ in range(3):
            np.testing.assert_allclose(compiled(x), f(x))


LARGE = np.arange(20000.0)


@pytest.mark.parametrize(
    "scales", [(2, 3), (2, 2.0), ((1, 2.0), (1, 3.0)), (A, 2 * A), (LARGE, LARGE[::-1].copy())]
)
def test_a_constant_of_a_users_container(scales):
    arguments = [Scaled(x, scale) for scale in scales for x in (0.5, 0.7)]
    check(lambda s: np.sin(s.held()) * np.ravel(s.scale)[0], *arguments)


def test_a_constant_in_a_field_that_is_an_object():
    class Unit:
        def __init__(self, factor):
            self.factor = factor

    check(
        lambda s: np.sin(s.held()) * s.scale.factor, Scaled(0.5, Unit(2.0)), Scaled(0.5, Unit(3.0))
    )


def test_a_constant_that_changes_in_place():
    class Unit:
        def __init__(self, factor):
            self.factor = factor

    unit = Unit(2.0)
    compiled = cr.compile(lambda s: np.sin(s.held()) * s.scale.factor)
    for factor in (2.0, 3.0):
        unit.factor = factor
        for x in (0.5, 0.7, 0.9):
            assert compiled(Scaled(x, unit)) == np.sin(x) * factor


def test_derivatives_of_a_compiled_function_and_its_results():
    compiled = cr.compile(lambda s: np.sin(s.held()) * s.scale)
    for scale in (2.0, 3.0):
        for x in (0.5, 0.7):
            expected = np.cos(x) * scale
            assert cr.grad(lambda x, k=scale: compiled(Scaled(x, k)))(x) == pytest.approx(expected)
            assert cr.grad(compiled)(Scaled(x, scale)).x == pytest.approx(expected)
    doubled = cr.compile(lambda s: Scaled(s.held() * 2, s.scale))
    for scale in (2.0, 3.0):
        for x in (0.5, 0.7, 0.9):
            y = doubled(Scaled(x, scale))
            assert (y.held(), y.scale) == (2 * x, scale)


def test_one_recording_serves_equal_constants():
    compiled = cr.compile(lambda s: np.sin(s.held()) * s.scale[0])
    compiled(Scaled(0.5, [2.0])), compiled(Scaled(0.7, [2.0]))
    assert len(cr.explain(compiled, Scaled(0.9, [2.0])).steps) > 0


def test_a_container_whose_rebuild_refuses_zeros_runs_as_it_is():
    with pytest.warns(cr.errors.CompileWarning, match="whose rebuild says zero"):
        check(lambda s: np.sin(s.held()) * s.scale, Checked(0.5, 2.0), Checked(0.5, 3.0))


def test_labelled_arrays():
    xarray = pytest.importorskip("xarray")

    def labelled(data=A, dims="x", at=(1, 2), **more):
        return xarray.DataArray(data, dims=dims, coords={dims: list(at)}, **more)

    check(
        lambda a: np.sum(a.data * a[a.dims[0]].values) * len(a.dims[0]) * a.attrs.get("k", 1.0),
        labelled(), labelled(2 * A), labelled(at=(2, 3)), labelled(dims="yy"),
        labelled(attrs={"k": 2.0}),
    )  # fmt: skip


def test_tables():
    pandas = pytest.importorskip("pandas")
    if int(pandas.__version__.partition(".")[0]) < 3:
        pytest.skip("pandas before 3.0")
    series = [pandas.Series(v, index=i) for v in (A, 2 * A) for i in ([1.0, 2.0], [2.0, 2.0])]
    check(lambda s: np.sum(s.to_numpy() * s.index.to_numpy()), *series)
    frames = [pandas.DataFrame({"a": A, "of": list(of)}) for of in ("uv", "uu")]
    check(lambda df: np.sum(df["a"].to_numpy() ** 2 * (df["of"].to_numpy() == "u")), *frames)


# Since pint 0.26 a number in a recording is no number to it: then the function runs as it is.
@pytest.mark.filterwarnings("ignore::chainrules.errors.CompileWarning")
def test_units_of_pint():
    pint = pytest.importorskip("pint")
    u = pint.UnitRegistry()
    quantities = [x * unit for unit in (u.km, u.m) for x in (0.5, 0.7)]
    check(lambda q: np.sin(q.magnitude) * (2.0 if str(q.units) == "meter" else 3.0), *quantities)


def test_the_type_of_a_tangent():
    point = type("Point", (), {})
    other = type("Other", (), {})
    compiled = cr.compile(lambda t: t.x * (2.0 if t.primal_type is point else 3.0))
    for _ in range(3):
        assert compiled(cr.Tangent(point, x=1.5)) == 3.0
    assert compiled(cr.Tangent(other, x=1.5)) == 4.5
