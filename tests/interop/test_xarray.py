"""DataArray and Dataset of xarray as containers: programs, coordinates, chunks, refusals."""

import functools
import subprocess
import sys
import warnings

import numpy as np
import pytest

import chainrules as cr

xr = pytest.importorskip("xarray")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

from differences import slope_of
from programs_of_xarray import PROGRAMS, A, loss

REFUSED = {"interp": (cr.LostDerivativeError, "drop the derivative of a traced")}  # by SciPy
# Of a traced array of dask it asks for its chunks, where isinstance is content with __class__.
OF_CHUNKS = {"groupby anomaly"} if sys.version_info >= (3, 12) else set()
SORTED, WHOLE = {"median", "quantile"}, {"quantile"}
V = np.random.default_rng(1).normal(size=A.shape)


@pytest.fixture(autouse=True)
def synchronous():
    # opt_einsum would call dask's functions, and not NumPy's, with traced arrays.
    with dask.config.set(scheduler="synchronous"), xr.set_options(use_opt_einsum=False):
        yield


def plain(name):
    return lambda data: float(loss(name, A.copy(data=data)))


def along(f, x, v, h=1e-6):
    return slope_of(f, (x,), (v,), h)


@functools.cache
def slopes_of(name):
    """Return differences of first and second order along ``V``: chunks do not change them."""

    def gradient(data):
        return cr.grad(lambda a: loss(name, a))(A.copy(data=data)).data

    return along(plain(name), A.data, V), along(gradient, A.data, V)


def check_program(name, a, v):
    def f(a):
        return loss(name, a)

    slope, of_gradients = slopes_of(name)
    gradient = cr.grad(f)(a)
    assert isinstance(gradient, xr.DataArray)
    assert gradient.dims == a.dims
    assert gradient.attrs == a.attrs
    assert gradient.coords.equals(a.coords)
    assert type(gradient.data) is type(a.data)
    np.testing.assert_allclose((gradient * v).sum(), slope, rtol=1e-5, atol=1e-6)
    _, ydot = cr.jvp(f, (a,), (v,))
    assert isinstance(ydot, xr.DataArray)
    np.testing.assert_allclose(ydot, slope, rtol=1e-5, atol=1e-6)
    product = cr.hvp(f, (a,), (v,))
    assert type(product.data) is type(a.data) or name in SORTED
    np.testing.assert_allclose(product, of_gradients, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - REFUSED.keys()))
def test_program(name):
    check_program(name, A, A.copy(data=V))


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - REFUSED.keys() - OF_CHUNKS))
def test_program_over_chunks(name):
    chunks = {"lat": 2} if name in WHOLE else {"time": 6}
    with warnings.catch_warnings():
        if name in SORTED:  # dask has no sort, and warns where NumPy's gets the array
            warnings.simplefilter("ignore", FutureWarning)
        check_program(name, A.chunk(chunks), A.copy(data=V).chunk(chunks))


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    def f(a):
        return loss(name, a)

    error, pattern = REFUSED[name]
    for a in (A, A.chunk(time=6)):
        with pytest.raises(error, match=pattern):
            cr.grad(f)(a)
        with pytest.raises(error, match=pattern):
            cr.jvp(f, (a,), (a,))


@pytest.mark.skipif(not OF_CHUNKS, reason="this Python looks at attributes first")
def test_what_asks_for_chunks_says_what_to_write_instead():
    with pytest.raises(cr.LostDerivativeError, match=r"write groups.map\(lambda g: g - g.mean"):
        cr.grad(lambda a: loss("groupby anomaly", a))(A.chunk(time=6))


def test_functions_of_dask_say_what_to_call_instead():
    a = A.chunk(time=6)
    with pytest.raises(AttributeError, match=r"xarray.set_options\(use_opt_einsum=False\)"):
        cr.grad(lambda x: da.einsum("ijk->", x))(a.data)


# ---- Dataset ----


@pytest.fixture
def dataset():
    return xr.Dataset(
        {
            "t": A,
            "count": ("time", np.arange(12)),
            "station": ("time", list("abcdefghijkl")),
            "valid": ("time", np.arange(12) % 2 == 0),
        }
    )


def test_dataset(dataset):
    def f(d):
        assert list(d.station.values) == list("abcdefghijkl")
        return (d.t.where(d.valid) ** 2 * d["count"]).sum()

    gradient = cr.grad(f)(dataset)
    assert isinstance(gradient, xr.Dataset)
    assert list(gradient.data_vars) == ["t", "count"]  # numbers; the others have no derivative
    assert gradient.coords.equals(dataset.coords)
    right = (2 * dataset.t * dataset["count"]).where(dataset.valid, 0)
    xr.testing.assert_allclose(right.drop_attrs(), gradient.t.drop_attrs())
    direction = dataset[["t"]].drop_vars(["month"]) * 0 + 1
    _, ydot = cr.jvp(f, (dataset,), (direction,))
    np.testing.assert_allclose(ydot, right.sum())
    product = cr.hvp(f, (dataset,), (cr.Tangent(xr.Dataset, t=np.ones(A.shape)),))
    np.testing.assert_allclose(product.t, right / A)


def test_dataset_as_a_result():
    y, pullback = cr.vjp(lambda a: xr.Dataset({"p": a**2, "q": a.mean("time")}), A)
    assert isinstance(y, xr.Dataset)
    (abar,) = pullback(xr.zeros_like(y).assign(p=xr.ones_like(y.p)))
    xr.testing.assert_allclose(2 * A, abar)


def test_parameters_beside_labelled_data():
    parameters = {"scale": 2.0, "field": A.isel(time=0)}
    found = cr.grad(lambda p: ((p["scale"] * A - p["field"]) ** 2).mean())(parameters)
    assert isinstance(found["field"], xr.DataArray)
    slope = along(lambda s: float(((s * A - parameters["field"]) ** 2).mean()), 2.0, 1.0)
    np.testing.assert_allclose(found["scale"], slope, rtol=1e-6)


# ---- what is kept, and moved along ----


def test_steps_of_a_descent():
    a = A
    for _ in range(3):
        y, gradient = cr.value_and_grad(lambda a: ((a - 1) ** 2).sum())(a)
        assert isinstance(y, xr.DataArray)
        a = a - 0.25 * gradient
    np.testing.assert_allclose(a - 1, (A - 1) / 8)
    assert a.coords.equals(A.coords)


@pytest.mark.parametrize(
    "transform",
    [cr.grad, lambda f: lambda a: cr.vjp(f, a)[1](1.0)[0]],
    ids=["grad", "vjp"],
)
def test_dtypes(transform):
    found = transform(lambda a: (a**2).sum().data)(A.astype("f4"))
    assert found.dtype == np.float32
    found = transform(lambda a: (a**2).sum().data)(xr.DataArray([1, 2], dims="x"))
    np.testing.assert_array_equal([2.0, 4.0], found)
    z = A.astype(complex)
    np.testing.assert_allclose(transform(lambda z: (abs(z) ** 2).sum().data)(z), 2 * A)


def test_numbers_variables_and_subclasses():
    assert 6.0 == cr.grad(lambda a: a**2)(xr.DataArray(3.0))
    found = cr.grad(lambda v: (v**2).sum().data)(A.variable)
    assert isinstance(found, xr.Variable)

    class Field(xr.DataArray):
        __slots__ = ()

    found = cr.grad(lambda a: (a**2).sum())(Field(A))
    assert isinstance(found, Field)
    np.testing.assert_allclose(2 * A, found)


def test_linearize_checkpoint_and_flatten():
    _, push = cr.linearize(lambda a: a**2, A)
    xr.testing.assert_allclose(2 * A**2, push(A))
    found = cr.grad(lambda a: cr.checkpoint(lambda a: (a**2).sum().data)(a))(A)
    xr.testing.assert_allclose(2 * A, found)
    vector, back = cr.flatten(A)
    xr.testing.assert_allclose(A + 1, back(vector + 1))


def test_traced_arrays_around_it():
    x = np.array([0.5, 2.0])
    found = cr.grad(lambda x: ((x[0] * A.chunk(time=4) + A * x[1]) ** 2).sum())(x)
    slope = along(lambda x: float(((x[0] * A + A * x[1]) ** 2).sum()), x, np.array([1.0, 0.0]))
    np.testing.assert_allclose(found[0], slope, rtol=1e-6)

    def filled(a):
        y = np.zeros_like(a.data)
        y[1:] = a.isel(time=slice(1, None))
        return np.sum(y**2)

    right = 2 * A.where(A.time > 0, 0)
    np.testing.assert_allclose(cr.grad(filled)(A), right)


# ---- refused ----


def test_tangents_that_do_not_fit():
    _, pullback = cr.vjp(lambda a: 2 * a, A)
    for bad, pattern in (
        (A.transpose("lon", ...), r"write t.transpose\('time', 'lat', 'lon'\)"),
        (A.assign_coords(lat=A.lat + 1), "other coordinates along 'lat'"),
        (A.isel(time=slice(3)), "other coordinates along 'time'"),
        (A.to_dataset(), "the tangent of a DataArray is one, and no Dataset"),
        (A.data, "the tangent of a DataArray is a DataArray, a Tangent or a dict, not a ndarray"),
    ):
        with pytest.raises(cr.TangentError, match=pattern):
            pullback(bad)
        with pytest.raises(cr.TangentError, match=pattern):
            cr.jvp(lambda a: 2 * a, (A,), (bad,))


def test_a_coordinate_cannot_be_traced():
    def f(x):
        return A.assign_coords(height=("time", x))

    for run in (
        lambda: cr.jvp(f, (np.ones(12),), (np.ones(12),)),
        lambda: cr.vjp(f, np.ones(12)),
    ):
        with pytest.raises(cr.LostDerivativeError, match=r"coordinate 'height' .* holds a traced"):
            run()


@pytest.mark.parametrize("transform", [cr.jacobian, cr.jacfwd, cr.jacrev, cr.hessian])
def test_jacobians_are_of_data(transform):
    def f(a):
        return (a**2).sum() if transform is cr.hessian else a**2

    with pytest.raises(cr.TangentError, match=r"write f of the data, .*\(x.data\)"):
        transform(f)(A)


def test_arrays_without_protocols_inside_are_refused():
    jax = pytest.importorskip("jax")
    a = xr.DataArray(np.ones(2)).copy(data=np.ones(2))
    a.variable._data = jax.numpy.ones(2)
    with pytest.raises(cr.LostDerivativeError, match=r"interop.jax.import_\(f\)"):
        cr.grad(lambda a: 1.0)(a)


def test_chainrules_does_not_import_xarray():
    code = "import chainrules, sys; assert not {'xarray', 'dask'} & set(sys.modules)"
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("transform", ["jacfwd", "jacrev", "jacobian"])
def test_an_array_that_xarray_writes_a_variable_into_before_any_was_met(transform):
    code = f"""
import numpy as np, xarray as xr, chainrules as cr
def f(x):
    a = xr.DataArray(np.reshape(x, (2, 2)), dims=("t", "s"), coords=dict(t=[0, 1], s=[1, 2]))
    return a.stack(z=("t", "s")).unstack("z").data
np.testing.assert_array_equal(np.eye(4).reshape(2, 2, 4), cr.{transform}(f)(np.arange(4.0)))
"""
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def test_what_is_advised_where_xarray_needs_plain_numbers_is_right():
    def steps(w):
        return xr.DataArray(w * np.arange(1.0, 4.0), dims="t", coords={"t": [0.0, 1.0, 2.0]})

    for refused in (lambda a: float(a.sum()), lambda a: a.interp(t=[0.5]).sum()):
        with pytest.raises(cr.LostDerivativeError, match=r"a\.data, and go on with NumPy's"):
            cr.grad(lambda w, f=refused: f(steps(w)))(2.0)
    assert cr.grad(lambda w: np.sum(steps(w).data))(2.0) == 6.0
    assert cr.grad(lambda w: np.interp(0.5, [0.0, 1.0, 2.0], steps(w).data))(2.0) == 1.5


TIMES = xr.DataArray(np.arange(6.0) ** 2, dims="time", coords={"time": np.arange(6.0)})
BETWEEN = {
    "linear": lambda t: (t.interp(time=[1.5, 2.25]) ** 2).sum(),
    "nearest": lambda t: (t.interp(time=[1.4], method="nearest") ** 2).sum(),
    "cubic": lambda t: (t.interp(time=[1.5], method="cubic") ** 2).sum(),
    "like": lambda t: (t.interp_like(t.isel(time=slice(0, 3))) ** 2).sum(),
    "at a point": lambda t: t.interp(time=3.75) ** 2,
}


@pytest.mark.parametrize("name", BETWEEN)
def test_interpolation_at_plain_points_where_its_module_is_adopted(name):
    f = BETWEEN[name]
    with pytest.raises(cr.LostDerivativeError, match=r'cr\.adopt\("xarray\.core\.missing"\)'):
        cr.grad(f)(TIMES)
    expected = np.stack([slope_of(f, (TIMES,), (e,), 1e-5) for e in np.eye(6)])
    for adopted in ("xarray.core.missing", "xarray"):
        with cr.adopt(adopted):
            gradient = cr.grad(f)(TIMES)
            _, pushed = cr.jvp(f, (TIMES,), (TIMES,))
        np.testing.assert_allclose(gradient.values, expected, 1e-6, 1e-7)
        np.testing.assert_allclose(pushed.values, np.sum(expected * TIMES.values), 1e-6)


@pytest.mark.parametrize("name", sorted({"interp", *sorted(PROGRAMS)[::4]}))
def test_programs_where_all_of_xarray_is_adopted(name):
    rows = {"lat": 2} if name in WHOLE else {"time": 6}
    slope = along(plain(name), A.data, V)
    with cr.adopt("xarray"), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        for a in (A, A.chunk(rows)):
            gradient = cr.grad(lambda a: loss(name, a))(a)
            np.testing.assert_allclose((gradient * V).sum(), slope, rtol=1e-5, atol=1e-6)
        y, ydot = cr.jvp(PROGRAMS[name], (A,), (A.copy(data=V),))
    for part in (y, ydot):  # nothing of the run is left in coordinates
        for coordinate in part.coords.values():
            assert not isinstance(coordinate.variable._data, cr.rules.Traced)
