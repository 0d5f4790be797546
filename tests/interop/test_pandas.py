"""pandas' tables as containers of columns: as constants, arguments and results."""

import warnings

import numpy as np
import pytest

pd = pytest.importorskip("pandas", minversion="3.0")

import programs_of_pandas as programs
from differences import jacobian_of
from programs_of_pandas import DF, OF_PARAMETERS, OF_TABLES, REFUSED, quiet

import chainrules as cr
from chainrules.interop.pandas import Column, register_pandas
from chainrules.rules.known_classes import tables

pytestmark = pytest.mark.filterwarnings("ignore")
X = np.array([0.6, 0.35, 1.2])


@pytest.mark.parametrize("name", OF_PARAMETERS)
def test_programs_on_tables(name):
    f = OF_PARAMETERS[name]
    expected, value = jacobian_of(f, X), f(X)
    y, slopes = cr.value_and_grad(f)(X)
    assert y == pytest.approx(value)
    np.testing.assert_allclose(expected, slopes, rtol=1e-5, atol=1e-7)
    y, ydot = cr.jvp(f, (X,), (np.array([1.0, 0.5, -0.3]),))
    assert y == pytest.approx(value)
    assert ydot == pytest.approx(slopes @ [1.0, 0.5, -0.3])


@pytest.mark.parametrize("name", list(OF_PARAMETERS)[::3])
def test_second_derivatives_of_programs_on_tables(name):
    f = OF_PARAMETERS[name]
    np.testing.assert_allclose(jacobian_of(cr.grad(f), X), cr.hessian(f)(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", REFUSED)
def test_programs_that_are_refused_say_what_to_write(name):
    quiet(REFUSED[name], X)  # of plain numbers it runs
    with pytest.raises(cr.LostDerivativeError, match=r"write|take the numbers"):
        cr.grad(REFUSED[name])(X)
    assert cr.grad(lambda x: x @ x)(X) == pytest.approx(2.0 * X)  # and no state is left


@pytest.mark.parametrize("name", OF_TABLES)
def test_gradients_in_tables_are_tables(name):
    f, frame = OF_TABLES[name], DF.drop(columns="n")
    slopes = cr.grad(f)(frame)
    assert type(slopes) is pd.DataFrame
    assert list(slopes.columns) == ["a", "b"]
    assert slopes.index.equals(frame.index)
    for column in slopes:
        for k in range(len(frame)):

            def moved(t, column=column, k=k):
                df = frame.copy()
                df.iloc[k, df.columns.get_loc(column)] += t
                return f(df)

            assert slopes[column].iloc[k] == pytest.approx((moved(1e-6) - moved(-1e-6)) / 2e-6)
    _, ydot = cr.jvp(f, (frame,), (frame[["a", "b"]] * 2.0,))
    assert ydot == pytest.approx(2.0 * (slopes * frame[["a", "b"]]).sum().sum())


def test_series_as_arguments_and_results():
    s = pd.Series([1.0, 2.0, 3.0], index=list("pqr"), name="s")
    slopes = cr.grad(lambda s: (s**3).sum())(s)
    pd.testing.assert_series_equal(slopes, 3.0 * s**2)
    y, pullback = cr.vjp(lambda x: x[0] * s + x[1], X[:2])
    assert type(y) is pd.Series
    pd.testing.assert_series_equal(y, X[0] * s + X[1])
    np.testing.assert_allclose(pullback(s)[0], [14.0, 6.0])
    y, ydot = cr.jvp(lambda t: pd.DataFrame({"a": s * t, "b": s}), (2.0,), (1.0,))
    pd.testing.assert_frame_equal(y, pd.DataFrame({"a": s * 2.0, "b": s}))
    np.testing.assert_allclose(ydot["a"], s)
    np.testing.assert_allclose(ydot["b"], 0.0)


@pytest.mark.parametrize("held", [lambda i: i, lambda i: {"i": i}, lambda i: (i, 2.0)])
def test_an_index_as_an_argument(held):
    def f(given):
        i = given["i"] if isinstance(given, dict) else given[0] if type(given) is tuple else given
        return np.sum(i.to_numpy() ** 3) + (i * 2.0).to_numpy()[0]

    index = pd.Index([1.0, 2.0, 4.0], name="t")
    for transform in (cr.grad, cr.jacfwd, cr.jacrev):
        gradient = transform(f)(held(index))
        found = cr.flatten(gradient)[0][:3]
        np.testing.assert_allclose(found, [5.0, 12.0, 48.0])
    _, pull = cr.vjp(lambda i: i.to_numpy() * 3, index)
    np.testing.assert_array_equal(pull(np.ones(3))[0].values, np.full(3, 3.0))


def test_a_dict_of_tables_and_numbers():
    given = {"s": DF.a, "t": 2.0}
    slopes = cr.grad(lambda p: (p["s"] * p["t"]).sum())(given)
    np.testing.assert_allclose(slopes["s"], 2.0)
    assert slopes["t"] == pytest.approx(DF.a.sum())


def test_duplicate_names_and_numbers_of_other_dtypes():
    frame = pd.concat([DF[["a", "b"]], DF[["a"]].astype(np.float32)], axis=1)
    slopes = cr.grad(lambda df: (df.iloc[:, 0] * df.iloc[:, 2] ** 2).sum())(frame)
    np.testing.assert_allclose(slopes.iloc[:, 2], 2.0 * DF.a**2, rtol=1e-6)
    assert slopes.dtypes.tolist() == [np.float64, np.float64, np.float32]


def test_tangents_that_do_not_fit_are_refused():
    s = DF.a
    with pytest.raises(cr.TangentError, match="another index"):
        cr.jvp(lambda s: s.sum(), (s,), (s.reset_index(drop=True),))
    with pytest.raises(cr.TangentError, match="tangent of a Series"):
        cr.jvp(lambda s: s.sum(), (s,), (DF[["a"]],))


def test_shapes_that_a_table_has_not_are_refused():
    for f in (lambda x: (DF.a * x).sum(), lambda x: (DF.a.iloc[:1] * x).sum()):
        with pytest.raises(ValueError, match="shape"):
            cr.grad(f)(X)


def test_arrays_that_a_table_cannot_keep_are_refused():
    with pytest.raises(cr.LostDerivativeError, match="assign what it returns"):
        cr.grad(lambda x: np.exp(Column(x), out=Column(x)).sum())(X)


def test_arrays_that_a_table_may_share_are_not_written_into():
    def sharing(x, series, frame):
        y = 2.0 * x
        s = pd.DataFrame({"a": y})["a"] if frame else pd.Series(y, copy=False)
        if series:
            s.iloc[0] = 5.0
        else:
            y[0] = 5.0
        return (s**2).sum() + y.sum()

    for series in (True, False):
        for frame in (True, False):
            with pytest.raises(cr.MutationError, match="write into a copy"):
                cr.grad(sharing)(X, series, frame)

    def apart(x):
        df = pd.DataFrame({"a": 2.0 * x, "b": x}).copy()
        df.loc[0, "b"] = 5.0
        return (df["a"] * df["b"]).sum()

    np.testing.assert_allclose(cr.grad(apart)(X), [10.0, *(4.0 * X[1:])])


def test_empty_columns():
    none = DF.a.iloc[:0]
    assert cr.grad(lambda t: (none * t).sum())(2.0) == 0.0
    assert np.isnan(cr.jvp(lambda t: (none * t).mean() + t, (2.0,), (1.0,))[0])


def test_a_column_is_what_pandas_asks_of_an_extension_array():
    column = Column(np.array([1.0, np.nan, 3.0]))
    assert column.isna().tolist() == [False, True, False]
    assert column.take([0, -1], allow_fill=True).isna().tolist() == [False, True]
    assert pd.Series(column).dtype == "traced"
    assert column.astype(np.float64).dtype == "traced"
    assert np.asarray(column, dtype=float)[2] == 3.0
    with pytest.raises(ValueError, match="one axis"):
        Column(np.eye(2))
    with pytest.raises(ValueError, match="-1"):
        column.take([-2], allow_fill=True)


def test_pandas_itself_is_not_changed():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = (DF.a * 2.0).dtype
        cr.grad(OF_PARAMETERS["line"])(X)
        assert (DF.a * 2.0).dtype == before
    assert programs.model(X).dtype == np.float64
    assert pd.Series(X).dtype == np.float64


@pytest.mark.parametrize("name", ["line", "group means", "merge", "numpy"])
def test_programs_on_tables_in_nests(name):
    f = OF_PARAMETERS[name]
    np.testing.assert_allclose(
        cr.jacfwd(cr.grad(f))(X), cr.jacrev(cr.jacfwd(f))(X), rtol=1e-9, atol=1e-9
    )
    rows = np.stack([X, X * 1.1])
    np.testing.assert_allclose(
        [cr.grad(f)(x) for x in rows], [cr.grad(lambda x: f(x) * 1.0)(x) for x in rows]
    )


@pytest.mark.parametrize("name", ["line", "gaps", "group means", "merge", "frame product"])
def test_compiled_and_in_batches(name):
    """A table that is captured keeps a gradient from being recorded: it runs as it always did."""
    f = OF_PARAMETERS[name]
    compiled = cr.compile(cr.grad(f))
    rows = np.stack([X, X * 1.1])
    for x in rows:
        np.testing.assert_allclose(compiled(x), cr.grad(f)(x))
    np.testing.assert_allclose(cr.vmap(f)(rows), [f(x) for x in rows])
    np.testing.assert_allclose(cr.vmap(cr.grad(f))(rows), [cr.grad(f)(x) for x in rows])


def test_older_pandas_is_refused_in_words(monkeypatch):
    for cls in (pd.Series, pd.Index, pd.DataFrame):
        cr.grad(lambda x: np.sum(x) + len(DF))(X)
        monkeypatch.setitem(tables, cls, tables.get(cls))  # put back at the end
    register_pandas(supported=False)
    for f in (lambda x: (DF.a * x[0]).sum(), lambda x: (x[0] - DF[["a"]]).sum().sum()):
        with pytest.raises(cr.LostDerivativeError, match="take the numbers out"):
            cr.grad(f)(X)
    np.testing.assert_allclose(cr.grad(lambda x: np.dot(x, DF.a.iloc[:3]))(X), DF.a.iloc[:3])


DAYS = pd.Series(
    [1.0, 3.0, 2.0, 5.0, 4.0, 6.5], index=pd.date_range("2020-01-01", periods=6), name="a"
)
GAPS = DAYS.where(DAYS != 2.0)
BESIDE = pd.DataFrame({"a": DAYS, "b": DAYS.to_numpy()[::-1], "g": list("xyxyxy")})
SQUARES = pd.Series([0.3, 1.2, 0.8, 2.2, 1.1, 0.4], DAYS.index)
WINDOWS = {
    "sum": lambda x: ((DAYS * x[0]).rolling(3).sum() ** 2).sum(),
    "mean": lambda x: (DAYS * x[0] + x[1]).rolling(2).mean().sum(),
    "var": lambda x: (DAYS * x[0] + x[1] * DAYS**2).rolling(3).var(ddof=0).sum(),
    "std": lambda x: (DAYS * x[0] + x[1] * DAYS**2).rolling(3).std().sum(),
    "max": lambda x: ((DAYS * x[0]).rolling(3).max() ** 2).sum(),
    "min": lambda x: (DAYS * x[0] + x[1]).rolling(3).min().sum(),
    "median": lambda x: ((DAYS * x[0]) ** 2).rolling(3).median().sum(),
    "skew": lambda x: ((DAYS * x[0]) ** 2 + x[1] * DAYS).rolling(4).skew().sum(),
    "kurt": lambda x: ((DAYS * x[0]) ** 2 + x[1] * DAYS).rolling(5).kurt().sum(),
    "expanding": lambda x: ((DAYS * x[0]) ** 2).expanding().mean().sum(),
    "least count": lambda x: ((GAPS * x[0]) ** 2).rolling(3, min_periods=1).mean().sum(),
    "by time": lambda x: ((DAYS * x[0]) ** 2).rolling("3D").mean().sum(),
    "centred": lambda x: ((DAYS * x[0]) ** 2).rolling(3, center=True).mean().sum(),
    "of a frame": lambda x: (BESIDE[["a", "b"]] * x[0]).rolling(2).mean().sum().sum(),
    "of groups": lambda x: BESIDE.assign(a=DAYS * x[0]).groupby("g")["a"].rolling(2).mean().sum(),
    "quantile": lambda x: ((DAYS * x[0]) ** 2).rolling(3).quantile(0.3).sum(),
    "quantile, lower": lambda x: (
        ((GAPS * x[0]) ** 2 + x[1]).rolling(3, min_periods=1).quantile(0.4, "lower").sum()
    ),
    "corr": lambda x: (DAYS * x[0] + x[1] * DAYS**2).rolling(3).corr(SQUARES + x[1]).sum(),
    "cov": lambda x: ((DAYS * x[0]) ** 2).rolling(4).cov(SQUARES * x[1], ddof=0).sum(),
    "cov of gaps": lambda x: (
        ((GAPS * x[0]) ** 2).expanding(2).cov(GAPS * x[1] + SQUARES.to_numpy()).sum()
    ),
    "cov of a frame": lambda x: ((BESIDE[["a", "b"]] * x[0]) ** 2).expanding(3).cov().sum().sum(),
    "rank": lambda x: ((DAYS * x[0]).rolling(3).rank() * DAYS * x[1]).sum(),
    "nunique": lambda x: ((DAYS * x[0]).rolling(3).nunique() * DAYS * x[1]).sum(),
    "ewm, var": lambda x: ((DAYS * x[0]) ** 2 + x[1] * SQUARES).ewm(span=3).var().sum(),
    "ewm, std": lambda x: ((DAYS * x[0]) ** 2).ewm(com=2, adjust=False).std().sum(),
    "ewm, var with bias": lambda x: ((GAPS * x[0]) ** 2).ewm(com=2).var(bias=True).sum(),
    "ewm, var, gaps left out": lambda x: (
        ((GAPS * x[0]) ** 2 + x[1]).ewm(com=2, ignore_na=True, adjust=False).var().sum()
    ),
    "ewm, corr": lambda x: ((DAYS * x[0]) ** 2 + x[1] * DAYS).ewm(com=2).corr(SQUARES).sum(),
    "ewm, cov": lambda x: ((DAYS * x[0]) ** 2).ewm(com=2).cov(SQUARES * x[1]).sum(),
    "ewm": lambda x: ((DAYS * x[0]) ** 2).ewm(alpha=0.3).mean().sum(),
    "ewm, not adjusted": lambda x: ((GAPS * x[0]) ** 2).ewm(alpha=0.3, adjust=False).mean().sum(),
    "ewm, regular": lambda x: ((GAPS * x[0]) ** 2).ewm(span=3, adjust=False).mean().sum(),
    "ewm, gaps left out": lambda x: ((GAPS * x[0]) ** 2).ewm(com=2, ignore_na=True).mean().sum(),
    "ewm, sum": lambda x: ((DAYS * x[0]) ** 2).ewm(com=2).sum().sum(),
    "ewm, by time": lambda x: (
        ((DAYS * x[0]) ** 2).ewm(halflife="2D", times=DAYS.index).mean().sum()
    ),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_where_their_module_is_adopted(name):
    f, x = WINDOWS[name], np.array([1.5, 0.5])
    with pytest.raises(cr.LostDerivativeError, match=r"cr\.adopt\(.pandas\.core\.window.\)"):
        cr.grad(f)(x)
    with cr.adopt("pandas.core.window"):
        y, gradient = cr.value_and_grad(f)(x)
        forward = cr.jacfwd(f)(x)
    assert y == f(x)
    expected = jacobian_of(f, x)
    np.testing.assert_allclose(gradient, expected, 1e-6, 1e-7)
    np.testing.assert_allclose(forward, gradient, 1e-12, 1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (DAYS * x[0]).rolling(3).apply(lambda v: (v**2).sum()).sum(),
        lambda x: (DAYS * x[0]).rolling(3, win_type="hamming").mean().sum(),
        lambda x: BESIDE.assign(a=DAYS * x[0]).groupby("g")["a"].quantile(0.3).sum(),
        lambda x: BESIDE.assign(a=DAYS * x[0]).groupby("g")[["a", "b"]].corr().sum().sum(),
        lambda x: BESIDE.assign(a=DAYS * x[0]).groupby("g")["a"].rank().sum(),
    ],
)
def test_other_windows_are_refused_in_words(f):
    f(np.array([1.5, 0.5]))
    with cr.adopt("pandas.core.window"), pytest.raises(cr.LostDerivativeError):
        cr.grad(f)(np.array([1.5, 0.5]))


def test_correlations_of_windows_to_second_order():
    def f(x):
        windows = (DAYS * x + SQUARES * x**3).rolling(3)
        return (
            windows.corr(SQUARES).sum() + windows.cov(DAYS * x).sum() + windows.quantile(0.3).sum()
        )

    with cr.adopt("pandas.core.window"):
        bend = cr.hvp(f, (1.5,), (1.0,))
        slopes = [cr.grad(f)(1.5 + h) for h in (1e-5, -1e-5)]
    assert bend == pytest.approx((slopes[0] - slopes[1]) / 2e-5, rel=1e-6)


def test_a_gradient_in_what_windows_are_made_of():
    with cr.adopt("pandas.core.window"):
        gradient = cr.grad(lambda s: (s.rolling(2).mean() ** 2).sum())(DAYS)
    np.testing.assert_allclose(gradient, [2.0, 4.5, 6.0, 8.0, 9.75, 5.25])
