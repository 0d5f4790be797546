"""Errors that name what asked for a plain number, and the remedy that fits."""

import math
import re

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.linalg
from scipy import stats

import chainrules as cr
from chainrules.testing import check_grad

ADOPT = f'cr.adopt("{__name__.partition(".")[0]}")'


def store(x):
    b = np.zeros(3)
    i = 0
    b[i + 1] = x
    return b


PROGRAMS = {
    "math": (lambda x: math.cos(x), ["math.cos(x) needs", "write np.cos; or", ADOPT]),
    "another name": (lambda x: math.atan2(x, 1), ["math.atan2(x, 1) needs", "write np.arctan2"]),
    "store": (store, ["`b[i + 1] = ...` needs", "np.zeros(n, like=x)", ADOPT]),
    "float": (lambda x: float(x), ["float(x) needs", "leave it as it is", ADOPT]),
    "complex": (lambda x: complex(x, 1).real, ["complex(x, 1) needs", ADOPT]),
    "array": (lambda x: np.array([x, 1.0], float), ["np.array([x, 1.0], float) needs", "np.stack"]),
    "percent": (
        lambda x: "%f" % x,  # noqa: UP031 - what users write
        ["needs a plain number", "f'{x:f}'"],
    ),
    "numpy has it": (
        lambda x: scipy.linalg.solve(np.eye(2) * x, np.ones(2)),
        ["scipy.linalg.solve", "write np.linalg.solve", ADOPT],
    ),
    "adopted has it": (lambda x: scipy.linalg.expm(np.eye(2) * x), ["expm", ADOPT]),
    "a method": (lambda x: stats.johnsonsu.logpdf(x, 1, 1), ["logpdf"]),
}
if np.lib.NumpyVersion(scipy.__version__) >= "1.16.0":  # before, it looks at the numbers first
    PROGRAMS["a rule"] = (
        lambda x: scipy.cluster.vq.whiten(np.eye(2) * x),
        ["whiten = cr.primitive(scipy.cluster.vq.whiten)", "@cr.rrule.register(whiten)"],
    )


@pytest.mark.filterwarnings("ignore:Calling expm with arguments of dtype=object")
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("transform", [cr.grad, cr.jacfwd])
def test_error_names_the_thing(name, transform):
    f, parts = PROGRAMS[name]
    with pytest.raises(cr.LostDerivativeError) as caught:
        transform(f)(1.0)
    for part in (*parts, "in test_asked.py:"):
        assert part in str(caught.value)


def pandas_programs():
    pandas = pytest.importorskip("pandas")
    s = pandas.Series([1.0, 2.0])

    def smoothed(x):
        return (s * x).ewm(alpha=1.0).mean().sum()

    return smoothed, lambda x: np.sum(s.to_numpy() * x)


def polars_programs():
    polars = pytest.importorskip("polars")
    s = polars.Series([1.0, 2.0])
    return lambda x: (s * x[0]).sum() + x[1], lambda x: np.sum(s.to_numpy() * x[0]) + x[1]


def xarray_programs():
    xarray = pytest.importorskip("xarray")

    def labelled(x):
        return xarray.DataArray(x, dims="i", coords={"i": [0.0, 1.0]})

    def between(x):
        return np.interp(0.5, [0.0, 1.0], labelled(x).data)

    return lambda x: labelled(x).interp(i=0.5).data, between


def matplotlib_programs():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    def drawn(of):
        return lambda x: (pyplot.plot(of(x)), pyplot.close(), np.sum(x))[-1]

    return drawn(lambda x: x), drawn(cr.value)


@pytest.mark.parametrize(
    ("package", "programs", "slope"),
    [
        ("s.to_numpy()", pandas_programs, [1.0, 2.0]),
        ("df['a'].to_numpy()", polars_programs, [3.0, 1.0]),
        ("a.data", xarray_programs, [0.5, 0.5]),
        ("cr.value(x)", matplotlib_programs, [1.0, 1.0]),
    ],
)
def test_what_is_advised_in_place_of_the_adoption_of_a_package(package, programs, slope):
    f, remedied = programs()
    with pytest.raises(cr.LostDerivativeError) as caught:
        cr.grad(f)(np.array([3.0, 5.0]))
    assert package in str(caught.value)
    assert 'cr.adopt("xarray")' not in str(caught.value)
    assert not re.search(r"^  write cr.adopt", str(caught.value), re.M)
    np.testing.assert_array_equal(slope, cr.grad(remedied)(np.array([3.0, 5.0])))


SKLEARN = """
from sklearn.metrics import mean_squared_error
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
def f(x):
    scaled = StandardScaler().fit_transform(x[:, None])[:, 0]
    return scaled @ x**2 + mean_squared_error(x, x**3) + np.sum(rbf_kernel(x[:, None]))
"""
STATSMODELS = """
from statsmodels.robust.scale import mad
from statsmodels.tsa.stattools import acf
def f(x):
    return mad(x) + acf(np.concatenate([x, x * x]))[1]
"""


@pytest.mark.parametrize(("package", "text"), [("sklearn", SKLEARN), ("statsmodels", STATSMODELS)])
def test_the_adoption_of_a_package_that_is_advised(package, text):
    pytest.importorskip(package)
    names = {"np": np}
    exec(text, names)
    f, x = names["f"], np.array([1.0, 2.0, 3.5])
    with pytest.raises(cr.LostDerivativeError):
        cr.grad(f)(x)
    with cr.adopt(package):
        check_grad(f, x)


def test_a_remedy_that_was_taken_is_not_repeated():
    names = {"__name__": "adopted", "np": np}
    with cr.adopt() as here:
        assert here is not None
        with pytest.raises(cr.LostDerivativeError) as caught:
            cr.grad(lambda x: hidden(x))(1.0)
    assert "cr.adopt" not in str(caught.value)
    assert names["np"] is np


def hidden(x):
    import math as mathematics

    return mathematics.cos(x)


def test_where_there_is_no_source_all_remedies_are_named():
    names = {"math": math}
    exec("def f(x):\n    return math.cos(x)\n", names)
    with pytest.raises(cr.LostDerivativeError, match=r"np.sin\(x\) instead of math.sin\(x\)"):
        cr.grad(names["f"])(1.0)
