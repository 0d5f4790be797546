"""xarray's DataArray, Dataset and Variable: containers whose data is differentiated.

Dimensions, coordinates, names and attributes are constants, and kept. Derivatives are DataArrays
and Datasets, too. xarray is not imported here: who has one of its objects has imported it.
"""

import importlib
from typing import Any

from ...config import LostDerivativeError, TangentError, user_line
from ..annotations import Tangentlike, Value
from ..known_classes import Children, Form, built_in, late, registered
from ..shapes import dtype_of, shape_of
from ..tangents.filled import zero_tangent
from ..tangents.structural import NO_TANGENT, AbstractZero
from ..tracing.level import Traced
from .registration import Shell


def register_xarray() -> None:
    """Let xarray's classes be containers."""
    xarray = importlib.import_module("xarray")
    for cls, find, replace in (
        (xarray.Variable, _data, _with_data),
        (xarray.DataArray, _data, _with_data),
        (xarray.Dataset, _variables, _with_variables),
    ):
        registered[cls] = _children_by(find, replace)
        built_in[cls] = Form(_derivative_by(replace), _fitting)


late["xarray"] = register_xarray


def _children_by(find: Any, replace: Any) -> Any:
    def children_of(x: Value) -> Children:
        parts = find(x)
        keys, values = tuple(parts), tuple(parts.values())

        def rebuilt(made: list) -> Any:
            if made and all(v is None for v in made):
                return Shell(type(x), keys)  # for a projector, which is not to keep x
            y = replace(x, dict(zip(keys, made, strict=True)))
            found = find(y)
            for key, v in zip(keys, made, strict=True):
                if isinstance(v, Traced) and found.get(key) is not v:
                    raise LostDerivativeError(
                        f"xarray does not keep a traced number as the data of a "
                        f"{type(x).__name__}, in {user_line()}.\n  give it an array"
                    )
            return y

        return Children(keys, values, rebuilt)

    return children_of


def _data(x: Value) -> dict:
    _refuse_coordinates(x)
    return {"data": x.data} if _holds_numbers(x) else {}


def _with_data(x: Value, values: dict) -> Any:
    return x.copy(deep=False, data=values["data"]) if values else x


def _variables(x: Value) -> dict:
    _refuse_coordinates(x)
    return {name: x[name].data for name in x.data_vars if _holds_numbers(x[name])}


def _with_variables(x: Value, values: dict) -> Any:
    others = {name: x[name].data for name in x.data_vars if name not in values}
    return x.copy(deep=False, data={**values, **others}) if values else x


def _holds_numbers(x: Value) -> bool:
    return x.dtype.kind in "fciuO"  # objects may be traced numbers


def _refuse_coordinates(x: Value) -> None:
    for name, coordinate in getattr(x, "coords", {}).items():
        if isinstance(coordinate.variable._data, Traced):
            raise LostDerivativeError(
                f"the coordinate {name!r} of a {type(x).__name__} holds a traced array, in "
                f"{user_line()}, and coordinates are constants.\n"
                f"  make it a variable: ds.reset_coords({name!r}), or drop it"
            )


def _derivative_by(replace: Any) -> Any:
    def build(x: Value, keys: tuple, values: list) -> Any:
        """Return the derivative of ``x``, without the variables that have none."""
        parts = dict(zip(keys, values, strict=True))
        moving = {key: v for key, v in parts.items() if v is not NO_TANGENT}
        if not moving:
            return NO_TANGENT
        if hasattr(x, "data_vars"):
            x = x[list(moving)]
        own = registered[type(x)](x)
        for key, part in zip(own.keys, own.values, strict=True):
            v = moving[key]
            if isinstance(v, AbstractZero):
                moving[key] = zero_tangent(part)
            elif dtype_of(v) is None or shape_of(v) != shape_of(part):
                raise TangentError(
                    f"the derivative of a {type(x).__name__} has the shape of its data, "
                    f"{shape_of(part)}, and this has {shape_of(v)}.\n"
                    "  write f of the data: cr.jacobian(lambda data: f(x.copy(data=data)))(x.data)"
                )
        return replace(x, moving)

    return build


def _fitting(x: Value, t: Tangentlike) -> dict:
    """Return the data of ``t``, a tangent of ``x`` that has its dimensions and coordinates."""
    own = registered[type(t)](t)
    if type(x) is not Shell:
        _refuse_unlike(x, t)
    return dict(zip(own.keys, own.values, strict=True))


def _refuse_unlike(x: Value, t: Tangentlike) -> None:
    name = type(x).__name__
    if type(t) is not type(x):
        raise TangentError(f"the tangent of a {name} is one, and no {type(t).__name__}.")
    variables = x.data_vars if hasattr(x, "data_vars") else {None: x}
    for key, variable in variables.items():
        if key is None or key in t:
            given = t if key is None else t[key]
            if given.dims != variable.dims:
                raise TangentError(
                    f"a tangent has the dimensions {given.dims}, and the {name} that it belongs to "
                    f"{variable.dims}.\n  write t.transpose{variable.dims}"
                )
    for dim, index in getattr(x, "indexes", {}).items():
        if dim in t.indexes and not index.equals(t.indexes[dim]):
            raise TangentError(
                f"a tangent has other coordinates along {dim!r} than the {name} that it belongs "
                "to.\n  write t.reindex_like(x)"
            )
