"""pandas' Series, DataFrame and Index: containers of columns, which traced values compute with.

``((df["a"] * x[0] + x[1] - df["b"]) ** 2).mean()`` has a gradient in ``x``. What an operator makes
of a column and a traced value is a column that holds a traced array (``column.py``). The index and
columns of other kinds are constants; derivatives are Series and DataFrames, too.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ...config import ArgumentValueError, TangentError
from ...rules.annotations import Tangentlike, Value
from ...rules.engines.buffers import plain_copy
from ...rules.engines.registration import children_by
from ...rules.known_classes import Form, Shell, Table, built_in, registered, rests, tables
from ...rules.refusals.table import refusal
from ...rules.shapes import dtype_of, shape_of
from ...rules.tangents.filled import zero_tangent
from ...rules.tangents.zeros import NO_TANGENT, AbstractZero
from ...rules.tracing.level import Traced
from ...rules.tracing.object_arrays import healed, holds_traced
from ...rules.tracing.views import root_of
from ...rules.tracing.writing import hand_out
from .column import Column, array_in

__all__ = ["Column"]


OLDEST = 3  # before that, pandas looks for missing numbers in objects in another way
IS_SUPPORTED = int(pd.__version__.partition(".")[0]) >= OLDEST


def register_pandas(supported: bool = IS_SUPPORTED) -> None:
    """Let pandas' classes be containers, and traced values compute with them."""
    if not supported:
        for cls in (pd.Series, pd.Index, pd.DataFrame):
            tables[cls] = Table(_refuse, lambda x: x.to_numpy())
        return
    for cls in (pd.Series, pd.DataFrame):
        registered[cls] = children_by(_parts, _with_parts)
        built_in[cls] = Form(_derivative, _fitting)
    registered[pd.Index] = children_by(_parts, _with_parts)
    registered[Column] = children_by(lambda c: {"x": c.x}, lambda _, parts: Column(parts["x"]))
    for cls in (pd.Series, pd.DataFrame, pd.Index):
        rests[cls] = _rest
    for cls in (pd.Series, pd.Index, Column, pd.DataFrame):
        tables[cls] = Table(_operate, _array)


def kept(x: Any) -> Any:
    """Return what a constructor of pandas keeps of a traced array: a column, or None of a matrix.

    It would take the array for one of NumPy's, and compute with it in compiled code.
    """
    return Column(np.copy(x)) if np.ndim(x) == 1 and IS_SUPPORTED else None


def kept_by_index(x: Any) -> Any:
    """Return what an Index keeps of a traced array, which as a buffer may hold plain numbers."""
    y = plain_copy(x)  # into which pandas writes nothing
    return kept(x) if y is None else y


def kept_uncopied(x: Any) -> Any:
    """Return what a table keeps of a traced array that it may share: so no write into either.

    Of those in a dict pandas makes copies, but it asks for them before it says so.
    """
    y, root = kept_by_index(x), root_of(x)[0]
    if isinstance(y, Column):
        hand_out(y.x, root)
    hand_out(root, y.x if isinstance(y, Column) else y)
    return y


def kind_of_column(x: Any) -> Any:
    """Return the word by which pandas asks a traced vector for its column, as it asks a Series."""
    return "series" if np.ndim(x) == 1 and IS_SUPPORTED else None


# ---- columns --------------------------------------------------------------------------------


def _is_of_numbers(column: Any) -> bool:
    if isinstance(column, Column):
        return True
    if type(column) is not np.ndarray:
        return False
    return column.dtype.kind in "fciu" or (column.dtype == object and holds_traced(column))


def _columns(x: Any) -> list:
    """Return the arrays of pandas' or NumPy's in a table, one for each of its columns."""
    parts = [x] if not isinstance(x, pd.DataFrame) else [x.iloc[:, k] for k in range(x.shape[1])]
    return [part._values for part in parts]


def _keys(x: Any) -> list:
    if not isinstance(x, pd.DataFrame):
        return ["values"]
    return list(x.columns) if x.columns.is_unique else list(enumerate(x.columns))


def _parts(x: Any) -> dict:
    """Return the columns of numbers, by their names."""
    if isinstance(x, pd.RangeIndex | pd.MultiIndex):
        return {}  # of which the numbers would have to be made
    columns = zip(_keys(x), _columns(x), strict=True)
    return {key: array_in(column) for key, column in columns if _is_of_numbers(column)}


def _rest(x: Any) -> tuple:
    """Return the labels, attributes and dtypes of a table, and its columns of other kinds."""
    if isinstance(x, pd.Index):
        held = x.name, *_labels(x)[:2], getattr(x, "freq", None)
        return (*held, None if _parts(x) else _labels(x)[2])
    columns = _columns(x)
    others = [np.asarray(column) for column in columns if not _is_of_numbers(column)]
    names = _labels(x.columns) if isinstance(x, pd.DataFrame) else x.name
    dtypes = tuple([column.dtype for column in columns])
    return _labels(x.index), names, x.attrs, dtypes, tuple(others)


def _labels(index: pd.Index) -> tuple:
    return type(index), (tuple(index.names), index.dtype), index.to_numpy()


def _with_parts(x: Any, parts: dict) -> Any:
    """Return a table like ``x`` with other columns."""
    if not parts:
        return x
    made = [
        _as_column(parts[key]) if key in parts else column
        for key, column in zip(_keys(x), _columns(x), strict=True)
    ]
    if isinstance(x, pd.Index):
        return pd.Index(made[0], name=x.name, copy=False)  # a copy would be another value
    if not isinstance(x, pd.DataFrame):
        return x._constructor(made[0], index=x.index, name=x.name, copy=False).__finalize__(x)
    y = x._constructor(dict(enumerate(made)), index=x.index, copy=False)
    y.columns = x.columns
    return y.__finalize__(x)


def _as_column(v: Any) -> Any:
    return Column(v) if isinstance(v, Traced) else v


def _array(x: Any) -> Any:
    """Return what NumPy's functions see of a table: a plain array, or a traced one."""
    if isinstance(x, Column):
        return x.x
    columns = [array_in(column) for column in _columns(x)]
    if not any(isinstance(column, Traced) or _is_of_objects(column) for column in columns):
        return x.to_numpy()
    columns = [healed(column) for column in columns]
    return np.stack(columns, axis=1) if isinstance(x, pd.DataFrame) else columns[0]


def _is_of_objects(column: Any) -> bool:
    return type(column) is np.ndarray and column.dtype == object and holds_traced(column)


# ---- operators ------------------------------------------------------------------------------


def _operate(operation: Callable, a: Any, b: Any) -> Any:
    """Return ``operation(a, b)`` of a table and a traced value, as a table."""
    table = b if isinstance(a, Traced) else a
    with np.errstate(all="ignore"):  # as pandas does
        y = operation(_numbers(a), _numbers(b))
    if np.shape(y) == np.shape(table):
        return _like(table, y)
    if operation.__name__ != "matmul":
        raise ArgumentValueError(
            f"{operation.__name__} of a {type(table).__name__} of shape {np.shape(table)} and an "
            f"array that makes {np.shape(y)} of it: a table keeps its rows and columns.\n"
            "  take the numbers out, df.to_numpy(), to broadcast as NumPy does"
        )
    return _product(a, b, y)


def _refuse(operation: Callable, a: Any, b: Any) -> Any:
    table = b if isinstance(a, Traced) else a
    raise refusal("older pandas", cls=type(table).__name__, oldest=OLDEST, found=pd.__version__)


def _numbers(x: Any) -> Any:
    return x if isinstance(x, Traced) else _array(x)


def _like(table: Any, y: Any) -> Any:
    """Return the array ``y`` as a table with the index and the names of ``table``."""
    if isinstance(table, Column):
        return Column(y) if isinstance(y, Traced) else y
    if isinstance(table, pd.Index):
        return pd.Index(_as_column(y), name=table.name, copy=False)
    if not isinstance(table, pd.DataFrame):
        return table._constructor(_as_column(y), index=table.index, name=table.name, copy=False)
    columns = {k: _as_column(y[:, k]) for k in range(table.shape[1])}
    made = table._constructor(columns, index=table.index, copy=False)
    made.columns = table.columns
    return made


def _product(a: Any, b: Any, y: Any) -> Any:
    """Return a product of matrices with the labels of the axis that a DataFrame gives it."""
    labels = a.index if isinstance(a, pd.DataFrame) else getattr(b, "columns", None)
    if labels is None or np.ndim(y) != 1:
        return y
    return pd.Series(_as_column(y), index=labels, copy=False)


# ---- derivatives ----------------------------------------------------------------------------


def _derivative(x: Any, keys: tuple, values: list) -> Any:
    """Return the derivative of ``x``, without the columns that have none."""
    given = zip(keys, values, strict=True)
    moving = {key: v for key, v in given if v is not NO_TANGENT}
    if not moving:
        return NO_TANGENT
    for key, part in _parts(x).items():
        v = moving.get(key)
        if isinstance(v, AbstractZero):
            moving[key] = zero_tangent(part)
        elif v is not None and (dtype_of(v) is None or shape_of(v) != shape_of(part)):
            raise TangentError(
                f"the derivative of a {type(x).__name__} has a number for each of its rows, and "
                f"this has the shape {shape_of(v)}.\n"
                "  write f of the numbers: cr.jacobian(f)(s.to_numpy())"
            )
    if isinstance(x, pd.DataFrame):
        x = x.iloc[:, [k for k, key in enumerate(_keys(x)) if key in moving]]
    return _with_parts(x, moving)


def _fitting(x: Value, t: Tangentlike) -> dict:
    """Return the columns of ``t``, a tangent of ``x`` that has its index and its names."""
    if type(x) is not Shell:
        _refuse_unlike(x, t)
    return _parts(t)


def _refuse_unlike(x: Any, t: Any) -> None:
    name = type(x).__name__
    if type(t) is not type(x):
        raise TangentError(f"the tangent of a {name} is one, and no {type(t).__name__}.")
    if not x.index.equals(t.index):
        raise TangentError(
            f"a tangent has another index than the {name} that it belongs to.\n"
            "  write t.reindex_like(x)"
        )
