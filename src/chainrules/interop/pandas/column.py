"""Extension array of pandas around a traced array: a column of a table, as pandas computes with it.

``pd.Series(Column(x))`` is a Series whose derivatives are those of ``x``. Its dtype counts as one
of floats. What looks at numbers (comparisons, sorting, grouping by them) sees plain ones.
"""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype, ExtensionScalarOpsMixin
from pandas.api.indexers import check_array_indexer

from ...rules import array_of, innermost, shape_of, value
from ...rules.refusals.table import refusal
from ...rules.shapes import OBJECT
from ...rules.tracing.level import Traced
from .reductions import accumulated, by_group, reduced

NAN = float("nan")


class ColumnDtype(ExtensionDtype):
    """Dtype of the columns that hold a traced array."""

    name = "traced"
    type: Any = float
    kind = "f"
    itemsize = 8  # which pandas 3.0 asks for
    na_value = NAN
    _is_numeric = True

    @classmethod
    def construct_array_type(cls) -> "type[Column]":
        return Column

    def _get_common_dtype(self, dtypes: list) -> "ColumnDtype | None":
        numeric = all(
            isinstance(d, ColumnDtype) or getattr(d, "kind", "") in "fiub" for d in dtypes
        )
        return self if numeric else None


class Column(ExtensionArray, ExtensionScalarOpsMixin):
    """Column that holds an array of one axis, traced or plain.

    Parameters
    ----------
    x : array_like
        Numbers, of which some may be traced.

    Examples
    --------
    >>> import pandas as pd
    >>> import chainrules as cr
    >>> from chainrules.interop.pandas import Column
    >>> cr.grad(lambda x: (pd.Series(Column(x)).diff() ** 2).sum())(np.array([1.0, 3.0, 4.0]))
    array([-4.,  2.,  2.])
    """

    __array_priority__ = 2000

    def __init__(self, x: Any) -> None:
        self.x: Any = x if isinstance(x, Traced) else array_of(x)
        ndim = len(shape_of(self.x))
        if ndim != 1:
            raise ValueError(f"a column has one axis, and this array has {ndim}.")

    # ---- what pandas asks of each extension array ----

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> Self:
        if isinstance(scalars, Column):
            return scalars.copy() if copy else scalars
        if not isinstance(scalars, Traced | np.ndarray):
            scalars = [NAN if x is pd.NA or x is None else x for x in scalars]
        x = array_of(np.asarray(scalars, object).tolist() if _is_of_objects(scalars) else scalars)
        return cls(x if np.size(x) else np.zeros(0))

    @classmethod
    def _from_factorized(cls, values: Any, original: Any) -> Self:
        return cls(values)

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[Self]) -> Self:
        return cls(np.concatenate([column.x for column in to_concat]))

    @property
    def dtype(self) -> ColumnDtype:
        return ColumnDtype()

    @property
    def nbytes(self) -> int:
        return self.x.nbytes

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, item: Any) -> Any:
        item = check_array_indexer(self, item)
        y = self.x[item]
        return y if np.ndim(y) == 0 else type(self)(y)

    def __setitem__(self, key: Any, v: Any) -> None:
        v = v.x if isinstance(v, Column) else v
        level = innermost((v,))
        if level is not None and not isinstance(self.x, Traced):
            self.x = level.constant(np.array(self.x, float))
        self.x[check_array_indexer(self, key)] = NAN if v is pd.NA else v

    def isna(self) -> np.ndarray:
        return np.isnan(value(self.x))

    def copy(self) -> Self:
        return type(self)(np.copy(self.x))

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Self:
        indices = np.asarray(indices, np.intp)
        if not allow_fill:
            return type(self)(self.x[indices])
        if np.any(indices < -1):
            raise ValueError("a position in take is -1 or more, where a number is filled in.")
        fill = NAN if fill_value is None or fill_value is pd.NA else fill_value
        y = self.x[np.maximum(indices, 0)] if len(self) else np.full(len(indices), NAN)
        return type(self)(np.where(indices < 0, fill, y) if np.any(indices < 0) else y)

    def map(self, mapper: Any, na_action: Any = None) -> Any:
        y = super().map(mapper, na_action)  # of pandas 3.0 objects, even where they are numbers
        return self._cast_pointwise_result(y) if isinstance(y, np.ndarray) else y

    # ---- numbers out ----

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if not isinstance(self.x, Traced):
            return np.array(self.x, dtype, copy=copy)
        return self.x.__array__(dtype, copy)  # type: ignore[attr-defined]

    def to_numpy(self, dtype: Any = None, copy: bool = False, na_value: Any = NAN) -> Any:
        """Return the array in the column, which is a traced one."""
        x = np.copy(self.x) if copy else self.x
        return x if dtype is None or np.dtype(dtype) == x.dtype else x.astype(dtype)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        dtype = pd.api.types.pandas_dtype(dtype)
        if isinstance(dtype, ColumnDtype):
            return self.copy() if copy else self
        if isinstance(dtype, np.dtype) and dtype.kind == "f":
            return type(self)(self.x.astype(dtype))
        if isinstance(dtype, np.dtype) and dtype.kind in "iub":
            return value(self.x).astype(dtype)
        return np.asarray(self, dtype=object) if dtype is OBJECT else super().astype(dtype, copy)

    def _values_for_argsort(self) -> np.ndarray:
        return value(self.x)

    def _values_for_factorize(self) -> tuple[np.ndarray, Any]:
        return value(self.x), NAN

    def unique(self) -> Self:
        """Return each number once, in the order in which they come."""
        _, first = np.unique(value(self.x), return_index=True)
        return type(self)(self.x[np.sort(first)])

    # ---- numbers of numbers ----

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, pd.Series | pd.DataFrame | pd.Index) for x in inputs):
            return NotImplemented
        if kwargs.get("out") is not None:
            raise refusal("write into a column", f=ufunc.__name__)
        return as_columns(getattr(ufunc, method)(*map(array_in, inputs), **kwargs))

    def __array_function__(self, f: Callable, types: Any, args: tuple, kwargs: dict) -> Any:
        return f(*map(_arrays_in, args), **{name: _arrays_in(x) for name, x in kwargs.items()})

    @classmethod
    def _create_method(
        cls, op: Callable, coerce_to_dtype: bool = True, result_dtype: Any = None
    ) -> Callable:
        def operate(self: Column, other: Any) -> Any:
            if isinstance(other, pd.Series | pd.DataFrame | pd.Index | Traced):
                return NotImplemented
            compares = not coerce_to_dtype
            a, b = self.x, array_in(other)
            with np.errstate(all="ignore"):  # as pandas does
                return op(value(a), value(b)) if compares else as_columns(op(a, b))

        return operate

    def __neg__(self) -> Self:
        return type(self)(-self.x)

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return type(self)(np.abs(self.x))

    def round(self, decimals: int = 0, *args: Any, **kwargs: Any) -> Self:
        """Return the numbers rounded."""
        return type(self)(np.round(self.x, decimals))

    def _reduce(
        self, name: str, *, skipna: bool = True, keepdims: bool = False, **kwargs: Any
    ) -> Any:
        y = reduced(name, self.x, skipna, **kwargs)
        return type(self)(array_of([y])) if keepdims else y

    def _accumulate(self, name: str, *, skipna: bool = True, **kwargs: Any) -> Self:
        return type(self)(accumulated(name, self.x, skipna))

    def _quantile(self, qs: np.ndarray, interpolation: str) -> Self:
        present = self.x[~self.isna()]
        if np.size(present) == 0:
            return type(self)(np.full(len(qs), NAN))
        method: Any = interpolation
        return type(self)(np.quantile(present, qs, method=method))

    def _groupby_op(self, *, how: str, ngroups: int, ids: np.ndarray, **kwargs: Any) -> Self:
        return type(self)(by_group(how, self.x, ids, ngroups, **kwargs))

    def interpolate(self, **options: Any) -> Self:
        """Refuse to fill in what is missing between numbers."""
        raise refusal("statistic of a column", name="interpolate")

    def _formatter(self, boxed: bool = False) -> Callable[[Any], str]:
        return lambda x: str(value(x))


Column._add_arithmetic_ops()
Column._add_comparison_ops()


def _is_of_objects(x: Any) -> bool:
    return not isinstance(x, Traced) and getattr(x, "dtype", None) is OBJECT


def array_in(x: Any) -> Any:
    """Return the array in a column; anything else as it is."""
    return x.x if isinstance(x, Column) else x


def _arrays_in(x: Any) -> Any:
    return type(x)(map(array_in, x)) if type(x) in (list, tuple) else array_in(x)


def as_columns(y: Any) -> Any:
    """Return a traced array of one axis as a column, and other results as they are."""
    if isinstance(y, tuple):
        return tuple(map(as_columns, y))
    return Column(y) if isinstance(y, Traced) and len(shape_of(y)) == 1 else y
