"""Programs on a DataArray ``a`` with the dimensions time, lat and lon, each with one number."""

import numpy as np
import xarray as xr

rng = np.random.default_rng(0)
A = xr.DataArray(
    rng.uniform(0.5, 1.5, (12, 4, 3)),
    dims=("time", "lat", "lon"),
    coords={
        "time": np.arange(12),
        "lat": [-60.0, -20.0, 20.0, 60.0],
        "lon": [0.0, 120.0, 240.0],
        "month": ("time", np.arange(12) % 4),
    },
    name="t2m",
    attrs={"units": "K"},
)
WEIGHTS = np.cos(np.deg2rad(A.lat))


def written(a):
    b = a.copy()
    b.loc[{"lat": 20.0}] = 0.0
    return b


def by_month(a):
    a["month"].load()  # xarray groups by what is in memory
    return a.groupby("month")


def anomalies(a):
    return by_month(a) - by_month(a).mean("time")


def fitted(a):
    return a.isel(lat=0, lon=0).polyfit("time", 1).polyfit_coefficients


def lengths(a):
    return xr.apply_ufunc(
        lambda v: np.linalg.norm(v, axis=-1), a, input_core_dims=[["lon"]], dask="allowed"
    )


def of_dataset(a):
    d = xr.Dataset({"t": a, "p": 2 * a**2})
    return (d.t * d.p).mean("time") + d.mean("time").p


PROGRAMS = {
    "square": lambda a: a,
    "weighted mean": lambda a: a.weighted(WEIGHTS).mean(("lat", "lon")),
    "weighted sum": lambda a: a.weighted(WEIGHTS).sum(("lat", "lon")),
    "sel nearest": lambda a: a.sel(lat=10, method="nearest"),
    "sel slice": lambda a: a.sel(lat=slice(-30, 30)),
    "isel slice": lambda a: a.isel(time=slice(2, 9)) ** 2,
    "isel list": lambda a: a.isel(time=[0, 3, 3]) ** 2,
    "vectorised indexing": lambda a: a.isel(
        lat=xr.DataArray([0, 1, 1], dims="p"), lon=xr.DataArray([0, 2, 2], dims="p")
    ),
    "groupby anomaly": anomalies,
    "groupby anomaly by map": lambda a: by_month(a).map(lambda g: g - g.mean("time")),
    "groupby mean": lambda a: by_month(a).mean(),
    "groupby sum": lambda a: by_month(a).sum(),
    "groupby bins": lambda a: a.groupby_bins("time", [-1, 4, 8, 12]).mean(),
    "rolling mean": lambda a: a.rolling(time=3).mean().dropna("time"),
    "rolling construct": lambda a: a.rolling(time=3).construct("w").isel(time=slice(2, None)),
    "coarsen": lambda a: a.coarsen(time=4).mean(),
    "diff": lambda a: a.diff("time"),
    "shift": lambda a: (a - a.shift(time=1)).isel(time=slice(1, None)),
    "roll": lambda a: a.roll(lon=1) * a,
    "interp": lambda a: a.interp(lat=5.0),
    "where": lambda a: a.where(A > 1, 0.0),
    "where nan": lambda a: a.where(A > 1),
    "mean": lambda a: a.mean("lon"),
    "std": lambda a: a.std("time"),
    "var": lambda a: a.var("time", ddof=1),
    "max": lambda a: a.max("time"),
    "prod": lambda a: a.prod("time"),
    "median": lambda a: a.median("lat"),
    "dot": lambda a: xr.dot(a, WEIGHTS, dim="lat"),
    "concat": lambda a: xr.concat([a, 2 * a**2], "time"),
    "stack": lambda a: a.stack(z=("lat", "lon")).isel(z=3),
    "unstack": lambda a: a.stack(z=("lat", "lon")).unstack("z") ** 2,
    "transpose": lambda a: a.transpose("lon", ...)[0],
    "apply_ufunc": lambda a: xr.apply_ufunc(lambda v: np.tanh(v), a, dask="allowed"),
    "apply_ufunc core": lengths,
    "differentiate": lambda a: a.differentiate("time"),
    "integrate": lambda a: a.integrate("lat"),
    "polyfit": fitted,
    "cumsum": lambda a: a.cumsum("time"),
    "quantile": lambda a: a.quantile(0.3, "time"),
    "broadcast": lambda a: (a - a.mean("time")) * WEIGHTS,
    "fillna": lambda a: a.fillna(0.0),
    "clip": lambda a: a.clip(0.8, 1.2),
    "expand and squeeze": lambda a: a.expand_dims("m").squeeze(),
    "pad": lambda a: a.pad(time=1, constant_values=0.0),
    "pad nan": lambda a: a.pad(time=1),
    "exp": lambda a: np.exp(-a),
    "corr": lambda a: xr.corr(a, A**2, dim="time"),
    "written": written,
    "sortby": lambda a: a.sortby("lat", ascending=False).isel(lat=0),
    "rename and swap": lambda a: a.rename(lat="y").isel(y=1),
    "to_dataset": of_dataset,
    "map_blocks-free pipe": lambda a: a.pipe(lambda b: b / b.sum("lon")),
}


def loss(name, a):
    """The program's numbers, squared and added up."""
    return (PROGRAMS[name](a) ** 2).sum()
