"""Programs on labelled arrays of xarray: made inside, and given as arguments."""

import functools
import importlib.util

import numpy as np
from fuzz_oracle import CHECKS, Failure, Refused, attempt, expect
from fuzz_program import Program
from fuzz_settings import table
from fuzz_values import Scope, literals
from hypothesis import strategies as st

import chainrules as cr

SETUP = (
    "import xarray as xr",
    "C = dict(t=np.arange(4), i=[10, 20, 30], m=('t', [0, 1, 0, 1]))",
    "K = xr.DataArray([0.5, 1.0, 2.0], dims='i', coords={'i': [10, 20, 30]})",
)
EXPRESSIONS = """
{a} * {b}|{a} + {b}|{a} - {b}.mean("t")|{a} / (1.0 + {b} ** 2)|np.sin({a})|np.exp(-{a})|{a} * K
{a}.sel(i=20)|{a}.sel(i=[10, 30])|{a}.isel(t=slice(1, 3))|{a}.isel(t=0)
{a}.sel(i=12, method="nearest")
{a}.mean("t")|{a}.sum("i")|{a}.std("t")|{a}.var()|{a}.max("i")|{a}.prod("i")|{a}.mean()
{a}.diff("t")|{a}.shift(t=1, fill_value=0.0)|{a}.roll(t=1)|{a}.cumsum("t")|{a}.T
{a}.transpose("i", "t")
{a}.where({a} > 0.8, 0.3)|{a}.where({a} > 0.8).sum("t")|{a}.clip(0.4, 1.2)|{a}.fillna(0.5)
{a}.groupby("m").mean()|{a}.groupby("m").sum()|{a}.groupby("m") - {a}.groupby("m").mean()
{a}.weighted(K).mean("i")|{a}.dot({b})|xr.dot({a}, {b}, dim="t")|xr.concat([{a}, {b}], "t")
xr.where({a} > 0.8, {a}, {b})|{a}.rolling(t=2).mean().fillna(0.0)|{a}.coarsen(t=2).mean()
{a}.stack(z=("t", "i"))|{a}.expand_dims(k=2)|{a}.squeeze()|{a}.rename(t="u").rename(u="t")
{a}.copy()|{a}.astype(float)|{a}.assign_coords(i=[1, 2, 3])|{a}.broadcast_like({b})|abs({a} - 0.8)
{a}.differentiate("t")|{a}.integrate("t")|{a}.quantile(0.4, "t")|{a}.median("t")|{a}.interp(t=1.5)
xr.Dataset(dict(p={a}, q={b})).mean("t").p|{a}.to_dataset(name="v").v
{a}.pad(t=1, constant_values=0.0)
{a}.sortby("t", ascending=False)|{a}.isel(t=[0, 0, 2])|{a}.sel(t=slice(1, 2))|{a} @ {b}
xr.apply_ufunc(lambda v: v * 2.0 + v[..., :1], {a})|np.maximum({a}, {b})|{a}.loc[dict(i=20)]
{a}.polyfit("t", 1).polyfit_coefficients|{a}.reduce(np.sum, "t")|{a}.drop_vars("m")|{a} ** 2
"""
WRITES = """
{a}[0] = 0.3|{a}.loc[dict(i=20)] = s|{a}[dict(t=1)] = {b}.isel(t=0)|{a}.data[0] = s|{a}[:, 0] *= 2.0
{a}.values[0] = 0.5|{a} += 1.0|{a} *= {b}
"""


@st.composite
def programs(draw):
    scope = Scope([("x", f"np.array({draw(literals((4, 3)))})")], SETUP)
    labelled = draw(st.booleans())
    body = ["a = x" if labelled else "a = xr.DataArray(x, dims=('t', 'i'), coords=C)"]
    body += ["b = a.copy() * 0.5 + 0.2", "s = a.sum() * 0.1"]
    names = ["a", "b"]
    space = {**scope.space, "x": np.array(scope["x"])}
    import xarray

    if labelled:
        space["x"] = xarray.DataArray(space["x"], dims=("t", "i"), coords=space["C"])
    for line in body:
        exec(line, space)
    for name in "cdefgh"[: draw(st.integers(1, 5))]:
        a, b = (draw(st.sampled_from(names[-3:])) for _ in range(2))
        if draw(st.integers(0, 4)) == 0:
            line = draw(st.sampled_from(table(WRITES))).format(a=a, b=b)
        else:
            line = f"{name} = {draw(st.sampled_from(table(EXPRESSIONS))).format(a=a, b=b)}"
        try:
            exec(line, space)
        except Exception:
            continue
        body.append(line)
        if "=" in line and line.startswith(f"{name} "):
            names.append(name)
    result = f"(({names[-1]} * {draw(st.sampled_from(['1.0', names[-1]]))}).sum() + s)"
    made = "xr.DataArray({}, dims=('t', 'i'), coords=C)" if labelled else "{}"
    given = (("x", made.format(scope.given[0][1])),)
    check = "labels" if labelled else "labels inside"
    return Program(given, tuple(body), result + ("" if labelled else ".data"), SETUP, check)


def plain(program):
    """The value and the gradient by differences of plain xarray, or None at a kink."""

    def at(k, step):
        f, (x,) = program.build()
        data = x if isinstance(x, np.ndarray) else x.data
        data.flat[k] += step
        return float(f(x))

    y = at(0, 0.0)
    slopes = [[(at(k, h) - at(k, -h)) / (2 * h) for k in range(12)] for h in (1e-5, 3e-5)]
    smooth = np.allclose(*slopes, rtol=1e-5, atol=1e-5) and np.all(np.abs(slopes) < 1e4)
    return y, np.array(slopes[0]) if smooth else None


def flat(x):
    return np.asarray(number(x)).reshape(-1)


def by_grad(f, x):
    y, xbar = cr.value_and_grad(lambda x: number(f(x)))(x)
    if type(xbar) is not type(x):
        raise Failure("grad: the gradient is of another class", type(xbar).__name__)
    return y, flat(xbar)


def by_jvp(f, x):
    units = [like(x, row) for row in np.eye(12)]
    pairs = [cr.jvp(lambda x: number(f(x)), (x.copy(),), (u,)) for u in units]
    return pairs[0][0], np.array([float(ydot) for _, ydot in pairs])


def number(y):
    return y.data if type(y).__name__ == "DataArray" else y


def like(x, row):
    return row.reshape(4, 3) if isinstance(x, np.ndarray) else x.copy(data=row.reshape(4, 3))


def labels(program):
    if importlib.util.find_spec("xarray") is None:
        return
    try:
        y, slopes = plain(program)
    except Exception:
        return
    if not np.isfinite(y):
        return
    for label, mode in {"grad": by_grad, "jvp": by_jvp}.items():
        try:
            f, (x,) = program.build()
            there, found = attempt(label, functools.partial(mode, f, x))
            expect(f"{label}: the value", y, there, 1e-9)
            if slopes is not None:
                expect(label, slopes, found, 1e-5)
        except Refused:
            pass
        except Failure as failure:
            yield failure


CHECKS["labels"] = CHECKS["labels inside"] = labels
