"""Abstract evaluation for JAX: shapes and dtypes of the results of a flat function."""

from typing import Any

import jax
import numpy as np
from jax.core import ShapedArray
from jax.sharding import PartitionSpec

from ...config import ExchangeError, user_line
from ..flat import FlatFunction, Pull, Push, Results, base_of


def canonical(dtype: Any) -> np.dtype:
    """Return the dtype that JAX has for it: of 32 bits, unless x64 is switched on."""
    return jax.dtypes.canonicalize_dtype(dtype)


def results(f: Any, avals: Any) -> list[ShapedArray]:
    """Return an abstract array for each result of ``f``.

    Raises
    ------
    TypeError
        If the function at the bottom was not called with such shapes before, and cannot be called
        at a point that is made up.
    """
    if isinstance(f, FlatFunction):
        known = results_of_flat(f, avals)
        return list(map(abstract, known.shapes, known.dtypes))
    if isinstance(f, Push):
        ys = results(f.f, avals[: len(avals) - len(f.argnums)])
        return [ys[k] for k in f.outs]
    if isinstance(f, Pull):
        return [ShapedArray(avals[i].shape, avals[i].dtype) for i in f.argnums]
    items = [
        ShapedArray(a.shape[1:], a.dtype) if batched else a
        for a, batched in zip(avals, f.batched, strict=True)
    ]
    return [ShapedArray((f.size, *y.shape), y.dtype) for y in results(f.f, items)]


def abstract(shape: tuple, dtype: Any) -> ShapedArray:
    return ShapedArray(shape, canonical(dtype))


def axes_of(avals: Any) -> frozenset:
    """Return the axes of a mesh that the arrays vary along, in ``shard_map``."""
    known = [getattr(a, "manual_axis_type", None) for a in avals]  # not in older ones
    return frozenset().union(*[axes.varying for axes in known if axes is not None])


def varying_like(ys: list[ShapedArray], avals: Any) -> list[ShapedArray]:
    """Return the results ``ys`` as varying along what the arguments vary along."""
    axes = axes_of(avals)
    like = next((a for a in avals if axes and a.manual_axis_type.varying == axes), None)
    if like is None:
        return ys

    def varying(y: ShapedArray) -> ShapedArray:
        sharding = like.sharding.update(spec=PartitionSpec(*[None] * y.ndim))
        return like.update(shape=y.shape, dtype=y.dtype, weak_type=False, sharding=sharding)

    return list(map(varying, ys))


def results_of_flat(flat: FlatFunction, avals: Any) -> Results:
    """Return what the user's function gives, from a call that there was, or one that is made up."""
    key = tuple([(tuple(a.shape), np.dtype(a.dtype)) for a in avals])
    if key not in flat.known:
        _probe(flat, key)
    return flat.known[key]


def _probe(flat: FlatFunction, key: tuple) -> None:
    """Call ``flat`` at some point of these shapes and dtypes; it notes what it gives."""
    numbers = np.random.default_rng(0)
    first: Exception | None = None
    for make in (lambda shape: numbers.uniform(0.25, 0.75, shape), np.ones, np.zeros):
        xs = [np.asarray(make(shape)).astype(dtype) for shape, dtype in key]
        try:
            # What is of JAX in it is computed, and is no part of what is being compiled.
            with np.errstate(all="ignore"), jax.ensure_compile_time_eval():
                flat(*[x[()] if x.ndim == 0 else x for x in xs])
        except LEAKED as error:
            raise captured(flat) from error
        except Exception as error:
            first = first or error
        else:
            return
    raise ExchangeError(
        f"JAX needs to know what {flat} returns before there are numbers, and {flat} cannot be "
        f"called with numbers that are made up, in {user_line()}: {first}\n"
        "  write export(f, result=lambda x: ...), which returns jax.ShapeDtypeStruct(shape, dtype) "
        "where f returns an array"
    ) from first


# What JAX raises where NumPy code meets a value that is being differentiated or compiled.
LEAKED = (jax.errors.UnexpectedTracerError, jax.errors.TracerArrayConversionError)


def captured(f: Any) -> TypeError:
    return TypeError(
        f"{base_of(f)} computes with a value of JAX that it was not given as an argument, and that "
        f"JAX differentiates, maps or compiles just now, in {user_line()}.\n"
        f"  pass it to {base_of(f)} as an argument"
    )
