"""``interop.jax.export``: functions of NumPy code under the transformations of JAX."""

import concurrent.futures
import logging
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from cases_of_jax import OURS, THEIRS, transformations
from differences import slope_of

import chainrules as cr
from chainrules.interop.jax import export

jnp = jax.numpy


pytestmark = pytest.mark.usefixtures("x64")


@pytest.fixture
def quiet():
    """JAX logs errors of callbacks besides raising them."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def assert_same(expected, found, tolerance=1e-9):
    """Compare structure, dtypes and numbers."""
    assert jax.tree.structure(expected) == jax.tree.structure(found)
    for e, f in zip(jax.tree.leaves(expected), jax.tree.leaves(found)):
        assert e.dtype == f.dtype
        if e.dtype != jax.dtypes.float0:
            np.testing.assert_allclose(e, f, rtol=tolerance, atol=tolerance)


NAMES = list(transformations())


TWINS = list(OURS)


@pytest.mark.parametrize(("name", "twin"), [(n, TWINS[i % 3]) for i, n in enumerate(NAMES)])
def test_transformations(name, twin):
    apply = transformations()[name]
    assert_same(apply(THEIRS[twin]), apply(export(OURS[twin])))


@pytest.mark.parametrize("name", NAMES[::3])
def test_transformations_in_32_bits(name):
    with jax.enable_x64(False):
        apply = transformations()[name]
        expected, found = apply(THEIRS["smooth"]), apply(export(OURS["smooth"]))
        assert {np.dtype(np.float32)} == {x.dtype for x in jax.tree.leaves(found)}
        assert_same(expected, found, 2e-4)


def test_against_finite_differences():
    x, v, h = np.array([0.3, 0.5, 1.2]), np.array([1.0, -2.0, 0.5]), 1e-5
    g = jax.jit(jax.grad(export(OURS["mixed"])))
    plain = OURS["mixed"]
    assert slope_of(plain, (x,), (v,), h) == pytest.approx(float(g(x) @ v), rel=1e-8)
    product = jax.jvp(g, (x,), (v,))[1]
    np.testing.assert_allclose(slope_of(g, (x,), (v,), h), product, rtol=1e-7)


# ---- arguments and results -----------------------------------------------------------------------


def network(np):
    def loss(p, batch):
        h = np.tanh(batch["x"] @ p["w"] + p["b"])
        return np.mean((np.sum(h, axis=1) - batch["y"]) ** 2), {"h": h, "none": None}

    return loss


def data():
    numbers = np.random.default_rng(0)
    p = {"w": jnp.asarray(numbers.normal(size=(4, 3))), "b": jnp.zeros(3)}
    return p, {"x": jnp.asarray(numbers.normal(size=(7, 4))), "y": jnp.arange(7.0)}


@pytest.mark.parametrize(
    "apply",
    [
        lambda g, p, b: jax.jit(jax.value_and_grad(g, has_aux=True))(p, b),
        lambda g, p, b: jax.jvp(jax.grad(lambda p: g(p, b)[0]), (p,), (p,))[1],
        lambda g, p, b: jax.jit(jax.hessian(lambda p: g(p, b)[0]))(p),
        lambda g, p, b: jax.vmap(lambda y: jax.grad(lambda p: g(p, b | {"y": y})[0])(p))(
            jnp.stack([b["y"], -b["y"]])
        ),
    ],
)
def test_pytrees(apply):
    assert_same(apply(network(jnp), *data()), apply(export(network(np)), *data()))


def test_integers_and_float0():
    def taken(x, i):
        return x[i] * 2.0, i + 1

    x, i = jnp.arange(5.0) * 0.1, jnp.array([1, 3, 3])
    dots = x, np.zeros(3, jax.dtypes.float0)
    g = export(taken)
    for apply in (
        lambda g: g(x, i),
        lambda g: jax.grad(lambda x: g(x, i)[0].sum())(x),
        lambda g: jax.jvp(g, (x, i), dots),
        lambda g: jax.jit(lambda x, i: jax.jvp(g, (x, i), dots))(x, i),
        lambda g: jax.grad(lambda x, i: g(x, i)[0].sum(), (0, 1), allow_int=True)(x, i),
        lambda g: jax.vmap(jax.grad(lambda x, i: g(x, i)[0]), (None, 0))(x, i),
    ):
        assert_same(apply(taken), apply(g))


@pytest.mark.parametrize(
    "apply",
    [
        lambda g, z: jax.vjp(g, z)[1](z * (1 + 1j)),
        lambda g, z: jax.jvp(g, (z,), (z * 1j,)),
        lambda g, z: jax.vjp(lambda z: jax.vjp(g, z)[1](z * (1 + 1j))[0], z)[1](z * 1j),
        lambda g, z: jax.jvp(jax.grad(lambda z: jnp.sum(jnp.abs(g(z)) ** 2)), (z,), (z * 1j,)),
        lambda g, z: jax.linear_transpose(jax.vjp(g, z)[1], z)((z,)),
        lambda g, z: jax.jit(jax.vmap(jax.grad(lambda z: jnp.real(g(z)).sum())))(
            jnp.stack([z, 1 / z])
        ),
        lambda g, z: jax.grad(lambda z: g(z).sum(), holomorphic=True)(z),
    ],
)
def test_complex(apply):
    def ours(z):
        return np.conj(z) * z**2 + np.sin(z)

    def theirs(z):
        return jnp.conj(z) * z**2 + jnp.sin(z)

    z = jnp.array([0.3 + 0.4j, 1 - 0.5j])
    assert_same(apply(theirs, z), apply(export(ours), z))


def test_complex_to_real():
    def energy(np):
        return lambda z: np.sum(np.abs(z) ** 2 * np.real(z))

    z = jnp.array([0.3 + 0.4j, 1 - 0.5j])
    for apply in (
        lambda g: jax.grad(g)(z),
        lambda g: jax.jvp(jax.grad(g), (z,), (z * 1j,)),
        lambda g: jax.vjp(jax.grad(g), z)[1](z * (1 + 1j)),
    ):
        assert_same(apply(energy(jnp)), apply(export(energy(np))))


def test_settings_are_handed_on():
    def power(x, mode, *, scale=1.0):
        return np.sum(x) ** {"square": 2, "cube": 3}[mode] * scale

    g = jax.jit(jax.grad(lambda x: export(power)(x, "cube", scale=2.0)))
    np.testing.assert_allclose(6.0 * 9 * np.ones(2), g(jnp.array([1.0, 2.0])))


def test_no_items():
    g = export(lambda x: np.sum(x**2))
    empty = jnp.zeros((0, 3))
    assert (0,) == jax.vmap(g)(empty).shape
    assert (0, 3) == jax.jit(jax.vmap(jax.grad(g)))(empty).shape
    assert (0, 3, 3) == jax.vmap(jax.hessian(g))(empty).shape


def test_control_flow_on_values():
    def root(a):
        x = 1.0
        while abs(cr.value(x * x - a)) > 1e-13:
            x = x - (x * x - a) / (2 * x)
        return x

    x = jnp.array([2.0, 9.0])
    expected = 0.5 / np.sqrt(x)
    np.testing.assert_allclose(expected, jax.jit(jax.vmap(jax.grad(export(root))))(x))


# ---- rules ---------------------------------------------------------------------------------------


def cubes():
    """Cubes with only an rrule, with only an frule, and with rules and no primitive."""

    @cr.primitive
    def pulled(x):
        return x**3

    @cr.rrule.register(pulled)
    def pulled_rrule(pulled, x):
        def pulled_pullback(ybar):
            return cr.NoTangent(), 3 * x**2 * ybar

        return pulled(x), pulled_pullback

    @cr.primitive
    def pushed(x):
        return x**3

    @cr.frule.register(pushed)
    def pushed_frule(tangents, pushed, x):
        return pushed(x), 3 * x**2 * tangents[1]

    def bare(x):
        raise AssertionError("its rule was not asked")

    cr.scalar_rule(bare, lambda y, x: 3 * x**2)
    return pulled, pushed


@pytest.mark.parametrize("which", [0, 1])
def test_rules_in_one_direction(which):
    g = export(cubes()[which])
    x = jnp.array([0.5, 2.0])
    for apply in (
        lambda g: jax.grad(lambda x: g(x).sum())(x),
        lambda g: jax.jvp(g, (x,), (x,)),
        lambda g: jax.jit(jax.hessian(lambda x: g(x).sum()))(x),
    ):
        assert_same(apply(lambda x: x**3), apply(g))


def test_rules_of_a_function_that_is_no_primitive():
    def cube(x):
        return x**3

    cr.scalar_rule(cube, lambda y, x: 100 * x)
    assert 200.0 == jax.jit(jax.grad(export(cube)))(2.0)


def test_in_our_own_transforms_it_is_the_function():
    g = export(OURS["smooth"])
    x = np.array([0.3, 0.5, 1.2])
    found = cr.hessian(g)(x)
    assert type(found) is np.ndarray
    np.testing.assert_allclose(jax.hessian(THEIRS["smooth"])(x), found)


# ---- memory and threads --------------------------------------------------------------------------


@pytest.mark.parametrize("jit", [False, True])
def test_a_function_may_write_to_what_it_is_given(jit):
    # A buffer of compiled code can be written to: an array of JAX changed from 0 to 1.
    def increased(x):
        x += 1.0
        return np.sum(x**2)

    g = export(increased)
    x = jnp.zeros(3)
    assert 3.0 == (jax.jit(g) if jit else g)(x)
    grad = jax.grad(g)
    np.testing.assert_array_equal(2 * np.ones(3), (jax.jit(grad) if jit else grad)(x))
    np.testing.assert_array_equal(np.zeros(3), x)


@pytest.mark.parametrize("jit", [False, True])
def test_a_function_may_keep_what_it_is_given(jit):
    # A buffer of compiled code is gone after the call: what was kept turned to other numbers.
    kept = []

    def keeping(x):
        kept.append(x)
        return np.sum(x**2)

    g = export(keeping, result=lambda x: jax.ShapeDtypeStruct((), x.dtype))
    f = jax.jit(lambda x: g(x * 1.0)) if jit else (lambda x: g(x * 1.0))
    for i in range(6):
        f(jnp.arange(5.0) + 100 * i).block_until_ready()
    first = next(x for x in kept if type(x) is np.ndarray)
    np.testing.assert_array_equal(np.arange(5.0), first)


def test_a_function_may_write_to_what_it_returned():
    held = np.zeros(64)

    def counted(x):
        held[:] += x
        return held

    g = export(counted)
    first = g(jnp.ones(64))
    g(jnp.ones(64))
    np.testing.assert_array_equal(np.ones(64), first)


def test_threads():
    ours, theirs = jax.jit(jax.grad(export(OURS["mixed"]))), jax.jit(jax.grad(THEIRS["mixed"]))
    points = [jnp.asarray(np.random.default_rng(i).random(50)) for i in range(20)]

    def gradient(x):
        with jax.enable_x64(True):  # each thread has its own
            return ours(x)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(gradient, points * 5))
    for x, gradient in zip(points * 5, found):
        np.testing.assert_allclose(theirs(x), gradient, rtol=1e-9)


def test_first_calls_from_many_threads():
    # The same function, before anything is known of it.
    for _ in range(5):
        g = export(OURS["smooth"])
        start = threading.Barrier(6)

        def call(i, g=g, start=start):
            start.wait()
            return jax.grad(g)(jnp.full(3, 1.0 + i))

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            found = list(pool.map(call, range(6)))
        for i, gradient in enumerate(found):
            np.testing.assert_allclose(
                jax.grad(THEIRS["smooth"])(jnp.full(3, 1.0 + i)), gradient, rtol=1e-5
            )  # other threads are in 32 bits


def test_one_call_a_batch():
    threads, sizes = [], []

    def counting(x):
        threads.append(threading.get_ident())
        sizes.append(np.shape(x))
        return np.sum(x**2)

    g = jax.jit(jax.vmap(jax.grad(export(counting))))
    text = g.lower(jnp.ones((100, 3))).as_text()
    assert 1 == text.count("stablehlo.custom_call")
    del sizes[:]
    np.testing.assert_array_equal(2 * np.ones((100, 3)), g(jnp.ones((100, 3))))
    assert [(3,)] == sizes  # of all items at once


def test_a_gradient_alone_evaluates_once():
    calls = []

    def counting(x):
        calls.append(1)
        return np.sum(x**2)

    gradient = jax.jit(jax.grad(export(counting)))
    gradient(jnp.ones(3))
    del calls[:]
    jax.block_until_ready(gradient(jnp.ones(3)))
    assert 1 == len(calls)


def test_many_cotangents_evaluate_once():
    calls = []

    def counting(x):
        calls.append(1)
        return np.sin(x) * np.cumsum(x)

    jacobian = jax.jit(jax.jacrev(export(counting)))
    x = jnp.linspace(0.1, 1.0, 7)
    expected = jax.jacrev(lambda x: jnp.sin(x) * jnp.cumsum(x))(x)
    assert_same(expected, jax.block_until_ready(jacobian(x)))
    del calls[:]
    jax.block_until_ready(jacobian(x))
    assert 1 == len(calls)


# ---- shapes --------------------------------------------------------------------------------------


def picky(x):
    if np.any(cr.value(x) < 100):
        raise ValueError("x must be at least 100")
    return np.log(x)


def test_a_function_that_cannot_be_called_anywhere():
    x = jnp.array([100.0, 200.0])
    np.testing.assert_allclose(np.log(x), export(picky)(x))
    np.testing.assert_allclose(1 / x, jax.grad(lambda x: export(picky)(x).sum())(x))
    with pytest.raises(TypeError, match=r"picky cannot be called.*at least 100\n.*result="):
        jax.jit(export(picky))(x)
    told = export(picky, result=lambda x: x)
    np.testing.assert_allclose(1 / x, jax.jit(jax.grad(lambda x: told(x).sum()))(x))


def test_a_result_that_is_wider_than_it_was_told():
    def widened(x):
        return x * np.linspace(1.0, 2.0, 3)  # float64, of float32 too

    with jax.enable_x64(False):
        told, asked = export(widened, result=lambda x: x), export(widened)
        for g in (told, jax.jit(told), asked, jax.jit(asked)):
            assert jnp.float32 == g(jnp.ones(3)).dtype
            gradient = jax.grad(lambda x, g=g: g(x).sum())(jnp.ones(3))
            assert_same(jnp.array([1.0, 1.5, 2.0]), gradient, 1e-6)


def test_a_result_that_is_no_shape():
    with pytest.raises(TypeError, match=r"result of picky returned int\.\n.*ShapeDtypeStruct"):
        export(picky, result=lambda x: 3)(jnp.array([100.0]))


def test_shapes_that_depend_on_values(quiet):
    g = export(lambda x: x[x > 0.4])
    assert (1,) == g(jnp.array([0.0, 1.0])).shape
    with pytest.raises(TypeError, match=r"float64\[2\], and float64\[1\] for other numbers"):
        g(jnp.array([1.0, 1.0]))
    with pytest.raises(jax.errors.JaxRuntimeError, match="have one shape and dtype, whatever"):
        jax.block_until_ready(jax.jit(g)(jnp.array([1.0, 1.0])))


# ---- errors --------------------------------------------------------------------------------------


def test_an_error_of_the_function_keeps_its_text(quiet):
    g = export(picky, result=lambda x: x)
    with pytest.raises(ValueError, match="x must be at least 100"):
        g(jnp.array([1.0]))
    with pytest.raises(jax.errors.JaxRuntimeError, match="ValueError: x must be at least 100"):
        jax.block_until_ready(jax.jit(g)(jnp.array([1.0])))


def test_our_errors_keep_their_text(quiet):
    def lossy(x):
        return np.array([float(p) for p in x])

    x = jnp.array([1.0, 2.0])
    lossless = export(lossy)
    np.testing.assert_array_equal(x, lossless(x))
    total = lambda x: lossless(x).sum()  # noqa: E731
    with pytest.raises(cr.LostDerivativeError, match=r"float\(.*needs a plain number"):
        jax.grad(total)(x)
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"LostDerivativeError: float\("):
        jax.block_until_ready(jax.jit(jax.grad(total))(x))


def test_a_function_that_computes_with_jax(quiet):
    g = export(lambda x: jnp.sum(jnp.sin(x)))
    x = jnp.array([1.0, 2.0])
    assert np.sum(np.sin(x)) == pytest.approx(float(g(x)))
    with pytest.raises(cr.LostDerivativeError):
        jax.grad(g)(x)
    with pytest.raises(jax.errors.JaxRuntimeError, match="LostDerivativeError"):
        jax.block_until_ready(jax.jit(jax.grad(g))(x))


def test_a_captured_value_of_jax_is_refused():
    x = jnp.ones(2)
    for transform in (jax.grad, jax.jit, lambda f: lambda x: jax.vmap(f)(jnp.stack([x]))):
        with pytest.raises(TypeError, match=r"was not given as an argument.*\n.*pass it"):
            transform(lambda w: export(lambda v: np.sum(w * np.sin(v)))(x))(x)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: export(3), "export takes a function, not int"),
        (lambda: export(lambda x: "a")(1.0), "returned str"),
        (lambda: export(lambda x, s: x)(1.0, {1}), "was given a set"),
        (lambda: export(np.sin)(jnp.ones(2, jnp.bfloat16)), "dtype bfloat16"),
        (lambda: export(np.sin)(jax.random.key(0)), "dtype key"),
    ],
)
def test_what_is_refused(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_the_transpose_of_the_function_itself():
    with pytest.raises(NotImplementedError, match=r"cannot know that it is linear.*\n.*linearize"):
        jax.linear_transpose(export(lambda x: 2 * x), 1.0)(1.0)


def test_the_way_of_other_devices():
    # There is none here: what they run, on the CPU.
    from chainrules.interop.flat import FlatFunction, Pull
    from chainrules.interop.jax.primitive import _lowered

    flat = FlatFunction(OURS["mixed"], lambda xs: (xs, {}), jax.tree.flatten)
    x = jnp.array([0.3, 0.5, 1.2])
    (y,) = jax.jit(lambda x: _lowered(x, f=flat))(x)
    (gradient,) = jax.jit(lambda x: _lowered(x, jnp.ones(()), f=Pull(flat, (0,), (0,))))(x)
    assert_same(jax.value_and_grad(THEIRS["mixed"])(x), (y, gradient))


def test_derivatives_are_equal_by_function_and_arguments():
    # JAX keeps what it compiled by these; two that are equal are compiled once.
    from chainrules.interop.flat import Pull, Push

    assert Pull(np.sin, (0,), (0,)) == Pull(np.sin, (0,), (0,))
    for other in (Pull(np.cos, (0,), (0,)), Pull(np.sin, (1,), (0,)), Push(np.sin, (0,), (0,))):
        assert Pull(np.sin, (0,), (0,)) != other


ONE_PROCESSOR = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import jax, jax.numpy as jnp, numpy as np
from chainrules.interop.jax import export, import_

inner = import_(lambda v: jnp.sum(jnp.tanh(v * jnp.sum(v)) * jnp.sin(v)))
for n in (4, 100_000):
    jax.block_until_ready(jax.jit(jax.grad(export(inner)))(jnp.linspace(0, 1, n)))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux has it")
def test_jax_in_a_function_on_one_processor():
    # A function that compiled code waits for, and that waits for compiled code.
    subprocess.run([sys.executable, "-P", "-c", ONE_PROCESSOR], check=True, timeout=600)


def test_nothing_of_jax_is_imported_with_chainrules():
    script = "import sys, chainrules, chainrules.interop; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-P", "-c", script], check=True)
