"""Exported functions in ``jax.shard_map``, which knows along what arrays vary."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from chainrules.interop.jax import export

jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("x64")


@pytest.mark.parametrize("jit", [jax.jit, lambda f: f], ids=["jit", "eager"])
@pytest.mark.parametrize("options", [{}, {"check_vma": False}], ids=["checked", "unchecked"])
def test_derivatives(options, jit):
    """Also where one argument is the same on all devices, whose cotangents are added up."""
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec
    specs = {"in_specs": (spec("i"), spec()), "out_specs": spec("i")}
    exported = export(lambda x, w: np.sin(x) * x * w)
    f = jit(jax.shard_map(exported, mesh=mesh, **specs, **options))
    x, w = jnp.arange(4.0), 2.0
    np.testing.assert_allclose(f(x, w), np.sin(x) * x * w)
    xbar, wbar = jax.grad(lambda x, w: jnp.sum(f(x, w)), (0, 1))(x, w)
    np.testing.assert_allclose(xbar, w * (np.sin(x) + x * np.cos(x)))
    np.testing.assert_allclose(wbar, np.sum(np.sin(x) * x))
    second = jax.hessian(lambda w: jnp.sum(f(x, w) * w))(w)
    np.testing.assert_allclose(second, 2 * np.sum(np.sin(x) * x))
    slope = jax.jvp(lambda x: f(x, w), (x,), (x,))[1]
    np.testing.assert_allclose(slope, x * w * (np.sin(x) + x * np.cos(x)))
