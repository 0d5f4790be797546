"""``interop.jax.import_``: functions of JAX under our transforms."""

import concurrent.futures

import numpy as np
import pytest
from our_transforms import OF_COMPLEX, OURS, X, Y, twin

jax = pytest.importorskip("jax")

from differences import jacobian_of

import chainrules as cr
from chainrules.interop.jax import export, import_
from chainrules.testing import NoRuleError, check_grad, test_frule, test_rrule

jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("x64")
JIT = pytest.mark.parametrize("jit", [True, False], ids=["jit", "eager"])


def assert_same(expected, found, rtol=1e-10):
    assert jax.tree.structure(expected) == jax.tree.structure(found)
    for e, f in zip(jax.tree.leaves(expected), jax.tree.leaves(found)):
        assert np.result_type(e) == np.result_type(f)
        np.testing.assert_allclose(e, f, rtol=rtol, atol=1e-12)


SLOW = {"ffr", "frr", "rff", "rfr", "rrf", "rrr", "frf", "scan", "map", "a block of directions"}


# Without jit JAX traces each derivative anew, which takes a second.
@pytest.mark.parametrize(
    ("name", "jit"),
    [(name, True) for name in OURS] + [(name, False) for name in OURS if name not in SLOW],
)
def test_transforms(name, jit):
    apply = OURS[name]
    rtol = 1e-5 if name == "float32" else 1e-10
    assert_same(apply(twin(np)), apply(import_(twin(jnp), jit=jit)), rtol)


def test_by_differences():
    f = import_(lambda x, y: jnp.sin(x) * jnp.exp(y))
    for test in (test_rrule, test_frule):
        via_ad = (
            {"rrule_f": cr.rrule_via_ad} if test is test_rrule else {"frule_f": cr.frule_via_ad}
        )
        test(f, X, Y, **via_ad)
    check_grad(lambda x: np.sum(f(x * x, f(Y, x))), X)


def test_in_32_bits():
    f = import_(lambda x: jnp.sum(x**3))
    with jax.enable_x64(False):
        y, gradient = cr.value_and_grad(f)(X)
        assert np.float32 == y.dtype
        # Of the dtype of what is differentiated, as everywhere.
        assert np.float64 == gradient.dtype
        np.testing.assert_allclose(3 * X**2, gradient, rtol=1e-6)
        np.testing.assert_allclose(np.diag(6 * X), cr.hessian(f)(X), rtol=1e-6)
    np.testing.assert_allclose(3 * X**2, cr.grad(f)(X), rtol=1e-14)


# ---- complex, integers, settings -----------------------------------------------------------------


@JIT
@pytest.mark.parametrize(
    "apply",
    [*OF_COMPLEX, lambda f, z: cr.grad(lambda x: np.sum(np.abs(f(x + 1j)) ** 2))(np.real(z))],
)
def test_complex(apply, jit):
    z = np.array([0.3 + 0.4j, 1 - 0.2j])
    theirs = import_(lambda z: jnp.conj(z) * z**2, jit=jit)
    assert_same(apply(lambda z: np.conj(z) * z**2, z), apply(theirs, z))


@JIT
def test_integers_are_handed_on(jit):
    taken = import_(lambda x, i: (x[i] ** 3, jnp.argmax(x), i + 1), jit=jit)
    i = np.array([0, 0, 1])
    np.testing.assert_allclose(
        [6 * 0.1**2, 3 * 0.4**2], cr.grad(lambda x: np.sum(taken(x, i)[0]))(X)
    )
    np.testing.assert_allclose(
        [12 * 0.1, 6 * 0.4], cr.hvp(lambda x: np.sum(taken(x, i)[0]), (X,), (np.ones(2),))
    )
    (_, at, more), dots = cr.jvp(taken, (X, i), (X, cr.ZeroTangent()))
    assert (1, [1, 1, 2]) == (at, more.tolist())
    assert 0.0 == dots[1]
    np.testing.assert_array_equal(np.zeros(3), dots[2])
    chosen = cr.grad(lambda x: x[import_(jnp.argmax, jit=jit)(x)] ** 2)(X)
    np.testing.assert_allclose([0.0, 0.8], chosen)


@pytest.mark.parametrize(
    "call",
    [
        lambda f: cr.grad(f)(3, 2.0),
        lambda f: cr.grad(f)(np.int64(3), 2.0),
        lambda f: cr.jvp(f, (3, 2.0), (1.0, 0.0)),
        lambda f: cr.grad(lambda d: f(d["n"], d["x"]))({"n": 3, "x": 2.0}),
        lambda f: cr.grad(lambda n: np.sum(f(n, 2.0)))(np.arange(3)),
        lambda f: cr.hessian(lambda n: f(n, 2.0))(3),
    ],
)
def test_a_derivative_in_an_integer_is_refused(call):
    # It was 0: JAX knows none.
    with pytest.raises(cr.MissingDerivativeError, match=r"takes int.*number 0.*\n.*as a float"):
        call(import_(lambda n, x: n**2.0 * x))


@JIT
def test_settings(jit):
    def scaled(x, mode, *, factor=1.0):
        return {"up": x * factor, "down": x / factor}[mode]

    f = import_(scaled, jit=jit)
    assert 3.0 == cr.grad(f)(2.0, "up", factor=3.0)
    assert 0.25 == cr.grad(f)(2.0, "down", factor=4.0)
    assert -2.0 / 16 == cr.grad(lambda s: f(2.0, "down", factor=s))(4.0)
    assert () == import_(lambda x: (), jit=jit)(X)
    assert import_(lambda x: None, jit=jit)(X) is None


@JIT
def test_numbers_of_every_kind(jit):
    f = import_(lambda x: x * jnp.sin(x), jit=jit)
    expected = np.sin(0.3) + 0.3 * np.cos(0.3)
    for x in (0.3, np.float64(0.3), np.array(0.3), np.array([[0.3]])):
        assert expected == pytest.approx(float(np.squeeze(cr.grad(lambda x: np.sum(f(x)))(x))))
    assert isinstance(f(0.3), np.float64)
    # What NumPy makes of traced numbers: an array of objects.
    gradient = cr.grad(lambda x: np.sum(f(np.array([x, x]))))(0.3)
    assert 2 * expected == pytest.approx(gradient)
    assert 0.3 * np.sin(0.3) == pytest.approx(float(f(jnp.asarray(0.3))))


# ---- what JAX can and cannot differentiate -------------------------------------------------------


@jax.custom_vjp
def cube(x):
    return x**3


cube.defvjp(lambda x: (x**3, x), lambda x, ybar: (3 * x**2 * ybar,))


@JIT
@pytest.mark.parametrize(
    "g", [cube, lambda x: jax.jit(cube)(x), lambda x: jax.lax.cond(x > 0, cube, cube, x)]
)
def test_a_custom_vjp_has_forward_mode(jit, g):
    f = import_(g, jit=jit)
    assert (8.0, 12.0) == cr.jvp(f, (2.0,), (1.0,))
    assert 12.0 == cr.hessian(f)(2.0)
    assert 12.0 == cr.jacfwd(cr.jacfwd(f))(2.0)
    assert 12.0 == cr.jacrev(cr.jacrev(f))(2.0)
    assert 12.0 == cr.jacrev(cr.jacfwd(f))(2.0)


@JIT
def test_a_while_loop_has_forward_mode_only(jit):
    def powers(x):
        return jax.lax.while_loop(lambda c: c < 10, lambda c: c * x, x)

    f = import_(powers, jit=jit)
    assert (16.0, 32.0) == cr.jvp(f, (2.0,), (1.0,))
    assert 48.0 == cr.jacfwd(cr.jacfwd(f))(2.0)
    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work"):
        cr.grad(f)(2.0)


def test_branches_on_numbers_need_no_jit():
    def branching(x):
        return x**2 if x > 1 else {"other": x}["other"]

    f = import_(branching, jit=False)
    assert (4.0, 1.0) == (cr.grad(f)(2.0), cr.grad(f)(0.5))
    assert (4.0, 1.0) == (cr.jvp(f, (2.0,), (1.0,))[1], cr.jvp(f, (0.5,), (1.0,))[1])
    with pytest.raises(jax.errors.TracerBoolConversionError):
        import_(branching)(2.0)


# ---- memory, threads, nests ----------------------------------------------------------------------


def aligned(n, offset):
    """Return an array that JAX may use without a copy, or may not."""
    memory = np.zeros(n * 8 + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    return memory[start : start + n * 8].view(float)


@pytest.mark.parametrize("offset", [0, 8])
@pytest.mark.parametrize("n", [5, 10**5])
def test_an_array_that_is_written_to_afterwards(n, offset):
    f = import_(lambda x: (x, jnp.sum(x**3)))
    x = aligned(n, offset)
    for _ in range(10):
        x[:] = 1.0
        same, _ = f(x)
        y, pullback = cr.vjp(lambda x: f(x)[1], x)
        x[:] = 2.0
        assert n == pytest.approx(y)
        np.testing.assert_array_equal(np.ones(n), same)
        np.testing.assert_allclose(3 * np.ones(n), pullback(1.0)[0])


def test_results_show_the_memory_of_jax():
    y = import_(jnp.sin)(X)
    assert not y.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        y += 1


def test_gradients_may_be_written_to():
    gradient = cr.grad(lambda x: np.sum(import_(jnp.sin)(x)))(X)
    gradient += 1
    np.testing.assert_allclose(np.cos(X) + 1, gradient)


def test_threads():
    f = import_(lambda x: jnp.sum(x**3))

    def gradient(i):
        return cr.grad(f)(np.full(4, 1.0 + i))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for i, found in enumerate(pool.map(gradient, range(200))):
            np.testing.assert_allclose(np.full(4, 3 * (1.0 + i) ** 2), found, rtol=1e-5)


def test_there_and_back():
    ours = import_(export(lambda x: np.sum(np.sin(x) * x)))
    np.testing.assert_allclose(np.diag(2 * np.cos(X) - X * np.sin(X)), cr.hessian(ours)(X))
    theirs = export(import_(lambda x: jnp.sum(jnp.sin(x) * x)))
    found = jax.jit(jax.hessian(theirs))(jnp.asarray(X))
    np.testing.assert_allclose(np.diag(2 * np.cos(X) - X * np.sin(X)), found)
    # JAX in our map in JAX
    rows = jnp.stack([X, Y])
    mapped = export(lambda r: cr.map(import_(lambda x: jnp.sum(jnp.sin(x))), r))
    np.testing.assert_allclose(np.cos(rows), jax.jit(jax.grad(lambda r: mapped(r).sum()))(rows))


def test_jax_calls_an_imported_function():
    f = import_(lambda x: jnp.sum(x**2))
    np.testing.assert_allclose(2 * X, jax.jit(jax.grad(f))(X))


# ---- refused -------------------------------------------------------------------------------------


class Model:
    def __init__(self, w):
        self.w = w


@JIT
@pytest.mark.parametrize(
    "captured",
    [lambda w: lambda x: w * jnp.sin(x), lambda w: lambda x: jnp.sin(x) * w, lambda w: lambda x: w],
)
@pytest.mark.parametrize("w", [2.0, X])
def test_a_captured_traced_value_is_refused(captured, w, jit):
    with pytest.raises(cr.LostDerivativeError):
        cr.grad(lambda w: np.sum(import_(captured(w), jit=jit)(Y)))(w)
    with pytest.raises(cr.LostDerivativeError):
        cr.jvp(lambda w: np.sum(import_(captured(w), jit=jit)(Y)), (w,), (w,))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: import_(3), "import_ takes a function, not int"),
        (lambda: import_(lambda x, s: x)(X, {1}), "was given a set"),
        (lambda: import_(lambda x: x.astype(jnp.bfloat16))(X), r"dtype bfloat16.*\n.*float32"),
        (lambda: import_(jnp.sin)(jnp.ones(2, jnp.bfloat16)), "no array of numbers that both"),
        (lambda: import_(jnp.sin)(np.array(["a"])), "no array of numbers that both"),
        (
            lambda: cr.grad(lambda w: np.sum(import_(lambda x, m: m.w * x)(X, Model(w))))(X),
            r"Model with numbers that are differentiated.*\n.*register_dataclass",
        ),
    ],
)
def test_what_is_refused(call, text):
    with pytest.raises(TypeError, match=text):
        call()


J = np.arange(9.0).reshape(3, 3)
W = np.array([0.1, 0.4, 0.7])


@pytest.mark.parametrize(
    "transform",
    [
        lambda f, x: cr.grad(f)(x),
        lambda f, x: cr.jvp(f, (x,), (x,)),
        lambda f, x: cr.vjp(f, x),
        lambda f, x: cr.linearize(f, x),
        lambda f, x: cr.hvp(f, (x,), (x,)),
        lambda f, x: cr.hessian(f)(x),
        lambda f, x: cr.jacobian(f)(x),
        lambda f, x: cr.grad(lambda d: f(d["x"]))({"x": x}),
    ],
)
def test_arrays_of_jax_are_refused_by_name(transform):
    # Slices and reshapes of them lost the gradient.
    with pytest.raises(
        cr.LostDerivativeError, match=r"ArrayImpl.*\n.*np.asarray.*interop.jax.import_"
    ):
        transform(lambda x: np.sum(x[1:] ** 2), jnp.asarray(W))


@pytest.mark.parametrize(
    "f",
    [
        lambda w: np.sum((jnp.asarray(J) @ w) ** 2),
        lambda w: np.sum((w @ jnp.asarray(J)) ** 2),
        lambda w: np.sum(jnp.asarray(J) * w),
        lambda w: np.sum(w + jnp.asarray(J)),
        lambda w: jnp.sum(jnp.sin(w)),
        lambda w: jnp.sum(jnp.stack([w[0], w[1]])),
        lambda w: jnp.asarray(J).at[0].set(w).sum(),
        lambda w: jax.jit(jnp.sum)(w),
        lambda w: np.sum(np.asarray(jax.grad(lambda v: jnp.sum(v**3))(w))),
        lambda w: np.dot(jnp.asarray(W), w),
        lambda w: np.interp(0.5, jnp.asarray(W), w),
    ],
)
def test_traced_values_beside_arrays_of_jax_are_right_or_refused(f):
    def plain(w):
        return float(np.asarray(f(w)))

    expected = jacobian_of(plain, W)
    for derivative in (
        lambda: cr.grad(f)(W),
        lambda: np.array([cr.jvp(f, (W,), (e,))[1] for e in np.eye(3)]),
    ):
        try:
            found = derivative()
        except cr.LostDerivativeError:
            continue
        np.testing.assert_allclose(expected, found, rtol=1e-6, atol=1e-8)


def test_the_kit_checks_an_imported_function():
    f = import_(lambda x, k: jnp.sin(x) * x * k)
    test_rrule(f, X, 2.0)
    test_frule(f, X, 2.0)
    with pytest.raises(NoRuleError):  # it is another function, which has no rule
        test_rrule(cr.primitive(lambda x: f(x, 2.0)), X)
