"""Programs on tables of pandas, with three parameters ``x``, and on tables themselves."""

import warnings

import numpy as np
import pandas as pd

DAYS = pd.date_range("2024-01-01", periods=8, freq="6h")
DF = pd.DataFrame(
    {
        "a": [1.0, 2.5, 3.0, 0.5, 1.5, 2.0, 4.0, 0.7],
        "b": [0.5, 1.5, 2.5, 1.0, 2.0, 0.1, 0.3, 0.9],
        "n": [1, 2, 3, 1, 2, 3, 1, 2],
        "k": list("uvuvuwwu"),
    },
    index=DAYS,
)
GAPS = DF.a.where(DF.a < 3.5)
OTHER = pd.DataFrame({"k": ["u", "v", "z"], "rate": [0.3, 0.9, 0.1]})
TIMES = pd.Index([0.0, 0.5, 2.0], name="t")


def with_matrix(x):
    df = DF.iloc[:3].copy()
    df[["p", "q"]] = np.stack([x, x * x], axis=1)
    return df


def model(x):
    return DF["a"] * x[0] + x[1]


def assigned(x):
    df = DF.copy()
    df["c"] = np.exp(-x[0] * df["a"]) * x[1]
    df["d"] = df["c"] - df["b"]
    return df


def written(x):
    s = model(x)
    s.iloc[1] = x[2]
    s.loc[s > 2.0] = 2.0 * x[0]
    return s


def accumulated_loss(x):
    total = 0.0
    for _, row in assigned(x)[["c", "d"]].iterrows():
        total = total + row["c"] * row["d"]
    return total


def concatenated(x):
    return pd.concat([model(x), DF.b, model(x) ** 2])


def logistic(x):
    p = 1.0 / (1.0 + np.exp(-(DF.a * x[0] - x[1])))
    y = DF.k == "u"
    return -(np.log(p[y]).sum() + np.log(1.0 - p[~y]).sum())


def frames_beside(x):
    two = DF[["a", "b"]]
    return (x[0] * two - (two + 1.0) ** x[1]).abs().sum().sum()


def grouped_statistics(x):
    groups = assigned(x).groupby("k")["d"]
    return groups.agg(["var", "min", "max", "median"]).fillna(0.0).sum().sum()


def anomalies(x):
    d = assigned(x)["d"]
    return d - assigned(x).groupby("k")["d"].transform("mean")


def ends_of_groups(x):
    groups = assigned(x).groupby("n")["d"]
    return (groups.first() * groups.last()).sum()


def tables_joined(x):
    left = assigned(x).reset_index(drop=True)
    both = left.merge(OTHER, on="k", how="left")
    return (both["c"] * both["rate"].fillna(x[2])).sum()


OF_PARAMETERS = {
    "line": lambda x: ((DF["a"] * x[0] + x[1] - DF["b"]) ** 2).mean(),
    "number first": lambda x: (x[0] * DF.a - x[1] / (1.0 + DF.b)).sum(),
    "integers": lambda x: (DF.n * x[0] ** DF.n).sum(),
    "array beside": lambda x: (DF.a[:3] * x - x / DF.b[:3]).std(),
    "array first": lambda x: (x * DF.a.iloc[:3] + x @ DF.b.to_numpy()[:3]).sum(),
    "methods": lambda x: DF.a.mul(x[0]).add(x[1]).rsub(DF.b).div(2.0).pow(2).sum(),
    "exp": lambda x: np.exp(-x[0] * DF.a).sum() + np.log1p(DF.a * x[1] ** 2).mean(),
    "powers": lambda x: (DF.a ** x[0] + x[1] ** DF.b).sum(),
    "remainder": lambda x: ((DF.a * x[0]) % 0.7 + (DF.a * x[0]) // 0.7 * x[1]).sum(),
    "statistics": lambda x: model(x).var() + model(x).sem() * model(x).median() + model(x).prod(),
    "extremes": lambda x: model(x).max() * 2.0 - model(x).min() + model(x).quantile(0.3),
    "shape": lambda x: (model(x) ** 3).skew() + (model(x) ** 3).kurt(),
    "gaps": lambda x: ((GAPS * x[0] - x[1]) ** 2).mean() + (GAPS * x[1]).sum(),
    "filled": lambda x: (GAPS * x[0]).fillna(x[1]).sum() + (GAPS * x[0]).ffill().sum(),
    "dropped": lambda x: (GAPS * x[0]).dropna().pow(2).sum(),
    "shifts": lambda x: model(x).diff().pow(2).sum() + model(x).shift(1).mul(DF.b).sum(),
    "cumulative": lambda x: model(x).cumsum().sum() + (1.0 + 0.1 * model(x)).cumprod().iloc[-1],
    "changes": lambda x: model(x).pct_change().abs().sum(),
    "written": lambda x: (written(x) * DF.b).sum(),
    "where": lambda x: model(x).where(DF.a > 1.0, x[2] * DF.b).sum()
     + model(x).mask(DF.a > 1.0, x[2]).sum(),
    "clip": lambda x: model(x).clip(1.0, 2.2).sum() + model(x).clip(lower=x[2]).sum(),
    "frame": lambda x: (DF[["a", "b"]] * x[0] + x[1]).mean().sum(),
    "frame by columns": lambda x: ((DF[["a", "b", "n"]] * x) ** 2).sum(axis=1).mean(),
    "frame product": lambda x: ((DF[["a", "b", "n"]] @ x - 1.0) ** 2).sum(),
    "frame of frames": frames_beside,
    "columns": lambda x: (assigned(x)["d"] ** 2).sum(),
    "corners": lambda x: assigned(x).loc[DF.a > 1.0, ["c", "d"]].to_numpy().sum(),
    "assign": lambda x: DF.assign(c=lambda d: d.a * x[0]).eval("c + b").pow(2).sum(),
    "group sums": lambda x: (assigned(x).groupby("k")["d"].sum() ** 2).sum(),
    "group means": lambda x: (assigned(x).groupby("k")[["c", "d"]].mean() ** 2).sum().sum(),
    "group statistics": grouped_statistics,
    "group transform": lambda x: (anomalies(x) ** 2).sum(),
    "group cumsum": lambda x: (assigned(x).groupby("k")["d"].cumsum() * DF.b).sum(),
    "group apply": lambda x: assigned(x).groupby("k")["d"].apply(lambda d: (d**2).sum()).sum(),
    "group first": ends_of_groups,
    "group std": lambda x: assigned(x).groupby("n")["d"].std().sum(),
    "resample": lambda x: (model(x).resample("D").mean() ** 2).sum(),
    "resample sum": lambda x: (assigned(x)[["c", "d"]].resample("D").sum() ** 2).sum().sum(),
    "merge": tables_joined,
    "map of keys": lambda x: (model(x) * DF.k.map({"u": 0.3, "v": 0.9, "w": 0.1})).sum(),
    "concat": lambda x: (concatenated(x) ** 2).sum(),
    "align": lambda x: (model(x).iloc[:5] * DF.a.iloc[3:]).sum(),
    "reindex": lambda x: model(x).reindex(DAYS[::-1], fill_value=0.0).mul(DF.b.to_numpy()).sum(),
    "sort": lambda x: (model(x).sort_values().to_numpy() * np.arange(8.0)).sum(),
    "apply rows": lambda x: assigned(x)[["c", "d"]].apply(lambda r: r["c"] * r["d"], axis=1).sum(),
    "apply columns": lambda x: assigned(x)[["c", "d"]].apply(lambda c: (c**2).sum()).sum(),
    "apply entries": lambda x: model(x).apply(lambda t: t**2).sum() + model(x).map(np.sin).sum(),
    "rows": accumulated_loss,
    "logistic": logistic,
    "to numpy": lambda x: np.sum(model(x).to_numpy() ** 2) + np.sum(model(x).values * DF.b.values),
    "numpy": lambda x: np.sum(model(x)) + np.mean(model(x) ** 2) + np.dot(model(x), DF.b) * x[0],
    "interp": lambda x: np.interp(x, DF.n.sort_values() * 1.0, DF.b).sum(),
    "maximum": lambda x: np.maximum(DF.a * x[0], DF.b).sum() + np.maximum(DF.a, x[1]).sum(),
    "numpy where": lambda x: np.sum(np.where(DF.a > 1.0, DF.a * x[0], x[1])),
    "index": lambda x: np.exp(-x[0] * TIMES).to_numpy().sum() + (TIMES * x[1]).to_numpy().sum(),
    "index of times": lambda x: (pd.Series(1.0, index=TIMES) * np.exp(-x[0] * TIMES)).sum(),
    "correlation": lambda x: model(x).pow(2).corr(DF.b) + model(x).cov(DF.b),
    "stack": lambda x: assigned(x)[["c", "d"]].stack().sum()
     + assigned(x)[["c", "d"]].T.sum().sum(),
    "pivot": lambda x: assigned(x).pivot_table(index="k", values="d", aggfunc="mean")["d"].sum(),
    "melt": lambda x: assigned(x)[["c", "d"]].melt()["value"].pow(2).sum(),
    "item": lambda x: model(x).iloc[2] * model(x).loc[DAYS[3]] + model(x).tolist()[0],
    "dot": lambda x: model(x).dot(DF.b) + model(x) @ DF.a,
    "argmax": lambda x: model(x)[model(x).idxmax()] * 3.0 + model(x).iloc[model(x).argmin()],
    "rank": lambda x: (model(x).rank() * x[0]).sum(),
    "series of an array": lambda x: (pd.Series(x).diff() ** 2).sum(),
    "column of an array": lambda x: DF.iloc[:3].assign(c=x)["c"].mul(DF.b.iloc[1:4]).sum(),
    "columns of series": lambda x: (pd.DataFrame({"p": pd.Series(x), "q": x[0]}).sum() ** 2).sum(),
    "columns of arrays": lambda x: (pd.DataFrame({"p": x, "q": x**2}, index=list("abc")).T
     @ x).sum(),
    "array of a column": lambda x: pd.DataFrame({"p": x * 2.0, "k": list("uvu")}).groupby("k")["p"]
     .mean().pow(2).sum(),
    "matrix of columns": lambda x: (with_matrix(x)["p"] * with_matrix(x)["q"]).sum(),
    "matrix": lambda x: pd.DataFrame(np.outer(x, x)).sum().sum(),
    "series of numbers": lambda x: (pd.Series([x[0], 2.0, x[1] * x[2]]) ** 2).sum(),
    "series of a dict": lambda x: pd.Series({"p": x[0], "q": x[1]}).mul(2.0).sum(),
    "between": lambda x: model(x)[model(x).between(1.0, 2.5)].sum(),
    "astype": lambda x: model(x).astype(float).sum() + model(x).astype("float64").mean(),
    "rename": lambda x: model(x).rename("y").to_frame().rename(columns={"y": "z"})["z"].sum(),
    "drop duplicates": lambda x: model(x).drop_duplicates().sum(),
    "query": lambda x: assigned(x).query("a > 1")["c"].sum(),
    "iteration": lambda x: sum(t * b for t, b in zip(model(x), DF.b, strict=True)),
    "itertuples": lambda x: sum(row.c * row.b for row in assigned(x).itertuples()),
}  # fmt: skip
OF_TABLES = {
    "squares": lambda df: (df["a"] ** 2 * df["b"]).sum(),
    "numpy": lambda df: np.sum(np.exp(df["a"]) * df["b"]),
    "means": lambda df: (df[["a", "b"]].mean() ** 2).sum(),
    "groups": lambda df: (df.groupby("k")["a"].mean() ** 2).sum(),
    "rows": lambda df: (df.iloc[2:5]["a"] * df["b"].iloc[3]).sum(),
    "values": lambda df: np.sum(df[["a", "b"]].values ** 3),
}
# Of which pandas computes the values in compiled code, and what says so.
REFUSED = {
    "rolling": lambda x: model(x).rolling(3).mean().sum(),
    "ewm": lambda x: model(x).ewm(span=3).mean().sum(),
    "expanding": lambda x: model(x).expanding().mean().sum(),
    "interpolate": lambda x: (GAPS * x[0]).interpolate().sum(),
    "cummax": lambda x: model(x).cummax().sum(),
    "nlargest": lambda x: model(x).nlargest(2).sum(),
    "in place": lambda x: DF.a.copy().__iadd__(x[0]).sum(),
}


def quiet(f, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(*args)
