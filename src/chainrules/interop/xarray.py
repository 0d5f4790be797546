"""xarray's DataArray, Dataset and Variable: containers whose data is differentiated.

``cr.grad(lambda t: (t**2).sum())(temperatures)`` is a DataArray with the coordinates of
``temperatures``.

Dimensions, coordinates, names and attributes are constants, and kept. Derivatives are DataArrays
and Datasets, too. xarray is not imported here: who has one of its objects has imported it.
"""

import importlib
from typing import Any

from ..config import TangentError
from ..rules.annotations import Tangentlike, Value
from ..rules.engines.buffers import handed_out, settled
from ..rules.engines.registration import children_by
from ..rules.known_classes import Form, Shell, built_in, registered, rests
from ..rules.refusals.table import refusal
from ..rules.shapes import dtype_of, shape_of
from ..rules.tangents.filled import zero_tangent
from ..rules.tangents.zeros import NO_TANGENT, AbstractZero
from ..rules.tracing.level import Traced


def register_xarray() -> None:
    """Let xarray's classes be containers."""
    xarray = importlib.import_module("xarray")
    for cls in (xarray.Variable, xarray.DataArray, xarray.Dataset):
        registered[cls] = children_by(_parts, _with_parts)
        rests[cls] = _rest
        built_in[cls] = Form(_derivative, _fitting)


def _variables(x: Value) -> Any:
    """Return what has data in ``x``, by name: the variables of a Dataset, or ``x`` itself."""
    return x.data_vars if hasattr(x, "data_vars") else {"data": x}


def _rest(x: Any) -> tuple:
    """Return dimensions, names and attributes, the coordinates, and data that is no number."""
    parts, coordinates = _parts(x), getattr(x, "coords", {})
    told = [
        (name, v.dims, v.attrs, None if name in parts else v.values, v.dtype)
        for name, v in (*_variables(x).items(), *coordinates.items())
    ]
    return tuple(told), tuple(coordinates), getattr(x, "name", None), x.attrs


def _parts(x: Value) -> dict:
    """Return the data of ``x`` that are numbers; objects may be traced ones."""
    _refuse_coordinates(x)
    return {name: v.data for name, v in _variables(x).items() if v.dtype.kind in "fciuO"}


def _replaced(x: Any, values: dict) -> Any:
    if not values:
        return x
    data = {name: values.get(name, v.data) for name, v in _variables(x).items()}
    y = x.copy(deep=False, data=data if hasattr(x, "data_vars") else data["data"])
    for coordinate in getattr(y, "coords", {}).values():
        variable = coordinate.variable
        if isinstance(variable._data, Traced):  # a buffer, where xarray is adopted
            variable._data = handed_out(variable._data)
    return y


def _with_parts(x: Value, values: dict) -> Any:
    """Return ``x`` with other data, if xarray keeps what is traced."""
    y = _replaced(x, values)
    found = _parts(y)
    for key, v in values.items():
        if isinstance(v, Traced) and found.get(key) is not v:
            raise refusal("data that a copy drops", cls=type(x).__name__)
    return y


def _refuse_coordinates(x: Value) -> None:
    for name, coordinate in getattr(x, "coords", {}).items():
        if isinstance(settled(coordinate.variable._data), Traced):
            raise refusal("traced coordinate", name=name, cls=type(x).__name__)


def _derivative(x: Any, keys: tuple, values: list) -> Any:
    """Return the derivative of ``x``, without the variables that have none."""
    parts = dict(zip(keys, values, strict=True))
    moving = {key: v for key, v in parts.items() if v is not NO_TANGENT}
    if not moving:
        return NO_TANGENT
    if hasattr(x, "data_vars"):
        x = x[list(moving)]
    for key, part in _parts(x).items():
        v = moving[key]
        if isinstance(v, AbstractZero):
            moving[key] = zero_tangent(part)
        elif dtype_of(v) is None or shape_of(v) != shape_of(part):
            raise TangentError(
                f"the derivative of a {type(x).__name__} has the shape of its data, "
                f"{shape_of(part)}, and this has {shape_of(v)}.\n"
                "  write f of the data, cr.jacobian(lambda data: f(x.copy(data=data)))(x.data), or "
                "let it return data, lambda x: f(x).data"
            )
    return _replaced(x, moving)


def _fitting(x: Value, t: Tangentlike) -> dict:
    """Return the data of ``t``, a tangent of ``x`` that has its dimensions and coordinates."""
    if type(x) is not Shell:
        _refuse_unlike(x, t)
    return _parts(t)


def _refuse_unlike(x: Any, t: Any) -> None:
    name = type(x).__name__
    if type(t) is not type(x):
        raise TangentError(f"the tangent of a {name} is one, and no {type(t).__name__}.")
    given = _variables(t)
    for key, variable in _variables(x).items():
        if key in given and given[key].dims != variable.dims:
            raise TangentError(
                f"a tangent has the dimensions {given[key].dims}, and the {name} that it belongs "
                f"to {variable.dims}.\n  write t.transpose{variable.dims}"
            )
    for dim, index in getattr(x, "indexes", {}).items():
        if dim in t.indexes and not index.equals(t.indexes[dim]):
            raise TangentError(
                f"a tangent has other coordinates along {dim!r} than the {name} that it belongs "
                "to.\n  write t.reindex_like(x)"
            )
