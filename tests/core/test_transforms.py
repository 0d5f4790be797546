"""The transforms at their surface: values, structures, shapes, dtypes."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
from differences import jacobian_of

import chainrules as cr
from chainrules.rules.linear.program import LinearProgram

X = np.array([0.5, -1.5, 2.0])


def square_sum(x):
    return np.sum(x * x)


class Pair(NamedTuple):
    a: object
    b: object


@dataclasses.dataclass(frozen=True)
class Model:
    w: object
    b: float
    name: str = "model"
    frozen: bool = True


class Plain:
    def __init__(self, w):
        self.w = w


def test_jvp_gives_value_and_tangent():
    y, ydot = cr.jvp(square_sum, (X,), (np.array([1.0, 0.0, 0.0]),))
    assert y == square_sum(X)
    assert ydot == 1.0


def test_vjp_pullback_may_be_called_many_times():
    y, pullback = cr.vjp(lambda a, x: a @ x, np.eye(3), X)
    first = pullback(np.array([1.0, 0.0, 0.0]))
    second = pullback(np.array([1.0, 0.0, 0.0]))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(first[0], np.outer([1.0, 0.0, 0.0], X))
    np.testing.assert_array_equal(y, X)


def test_results_of_a_pullback_are_the_callers_own():
    ybar = np.ones(3)
    _, pullback = cr.vjp(lambda a, b: a + b, X, X)
    abar, bbar = pullback(ybar)
    abar[0] = 7.0
    assert bbar[0] == 1.0
    assert ybar[0] == 1.0
    assert pullback(ybar)[0][0] == 1.0


def test_gradient_of_a_broadcast_is_writable():
    gradient = cr.grad(np.sum)(X)
    gradient[0] = 5.0
    np.testing.assert_array_equal(gradient, [5.0, 1.0, 1.0])


def test_identity_returns_the_same_object_and_a_copy_of_the_seed():
    y, pullback = cr.vjp(lambda x: x, X)
    assert y is X
    seed = np.ones(3)
    assert pullback(seed)[0] is not seed


def test_grad_with_argnums_and_keywords():
    def f(a, b, scale=1.0):
        return scale * a * b

    assert cr.grad(f)(2.0, 3.0, scale=10.0) == 30.0
    assert cr.grad(f, argnums=1)(2.0, 3.0) == 2.0
    assert cr.grad(f, argnums=-1)(2.0, 3.0) == 2.0
    assert cr.grad(f, argnums=(1, 0))(2.0, 3.0) == (2.0, 3.0)
    assert cr.grad(f, argnums=1)(2.0, b=3.0) == 2.0


def test_arguments_that_are_not_chosen_stay_plain():
    def f(x, n):
        assert type(n) is int
        return x**n

    assert cr.grad(f)(3.0, 2) == pytest.approx(6.0)


def test_value_and_grad_with_aux():
    (y, aux), gradient = cr.value_and_grad(lambda x: (square_sum(x), {"x": 2 * x}), has_aux=True)(X)
    assert y == square_sum(X)
    assert type(aux["x"]) is np.ndarray
    np.testing.assert_array_equal(aux["x"], 2 * X)
    np.testing.assert_allclose(gradient, 2 * X)
    gradient, aux = cr.grad(lambda x: (square_sum(x), "note"), has_aux=True)(X)
    assert aux == "note"


def test_an_output_that_does_not_depend_on_the_input_has_real_zeros():
    np.testing.assert_array_equal(cr.grad(lambda x: 3.0)(X), np.zeros(3))
    _, ydot = cr.jvp(lambda x: np.ones(2), (X,), (X,))
    np.testing.assert_array_equal(ydot, np.zeros(2))
    np.testing.assert_array_equal(cr.jacobian(lambda x: np.ones(2))(X), np.zeros((2, 3)))


def test_containers_come_back_as_what_they_are():
    def f(tree):
        return tree["a"] * np.sum(tree["b"][0]) + tree["b"][1].a

    tree = {"a": 2.0, "b": [X, Pair(1.0, "text")], "n": None, "flag": True}
    gradient = cr.grad(f)(tree)
    assert list(gradient) == ["a", "b", "n", "flag"]
    assert gradient["a"] == np.sum(X)
    np.testing.assert_array_equal(gradient["b"][0], [2.0, 2.0, 2.0])
    assert type(gradient["b"][1]) is Pair
    assert gradient["b"][1].a == 1.0
    for what in (gradient["b"][1].b, gradient["n"], gradient["flag"]):
        assert what == cr.NoTangent()


def test_a_dataclass_gives_a_tangent_of_all_its_fields():
    model = Model(X, 2.0)
    gradient = cr.grad(lambda m: np.sum(m.w) * m.b)(model)
    assert isinstance(gradient, cr.Tangent)
    np.testing.assert_array_equal(gradient.w, [2.0, 2.0, 2.0])
    assert gradient.b == np.sum(X)
    assert gradient.name == cr.NoTangent()
    moved = model + gradient
    assert type(moved) is Model
    np.testing.assert_array_equal(moved.w, X + 2.0)


def test_a_plain_object_is_a_container_too():
    thing = Plain(X)
    gradient = cr.grad(lambda t: square_sum(t.w))(thing)
    np.testing.assert_array_equal(gradient.w, 2 * X)
    assert thing.w is X


def test_jvp_of_containers():
    _, ydot = cr.jvp(lambda t: {"s": t[0] * t[1], "k": "text"}, ((2.0, X),), ((1.0, np.zeros(3)),))
    np.testing.assert_array_equal(ydot["s"], X)
    assert ydot["k"] == cr.NoTangent()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_real_dtypes_stay(dtype):
    x = X.astype(dtype)
    assert cr.grad(square_sum)(x).dtype == dtype
    y, ydot = cr.jvp(lambda x: np.sin(x) * 2.0, (x,), (x,))
    assert y.dtype == ydot.dtype == dtype
    assert cr.jacobian(lambda x: x * x)(x).dtype == dtype


def test_gradients_of_floats_are_floats_where_the_function_keeps_them():
    for x in (3.0, np.float64(3.0)):
        assert type(cr.grad(lambda x: x * x)(x)) is type(x)
        assert type(cr.vjp(lambda x: x * x, x)[1](1.0)[0]) is type(x)
        assert type(cr.jvp(lambda x: x * x, (x,), (1.0,))[1]) is type(x)
    assert type(cr.grad(lambda x: x)(3.0)) is float


def test_integers_count_as_float64():
    assert cr.grad(lambda x: x * x)(3) == 6.0
    gradient = cr.grad(square_sum)(np.arange(3))
    assert gradient.dtype == np.float64
    np.testing.assert_array_equal(gradient, [0.0, 2.0, 4.0])
    y, ydot = cr.jvp(lambda x: x * x, (3,), (1.0,))
    assert (y, ydot) == (9, 6.0)
    assert type(y) is int


def test_complex_gradients_point_uphill():
    z = np.array([1.0 + 2.0j, -0.5j])
    np.testing.assert_allclose(cr.grad(lambda z: np.sum(np.abs(z) ** 2))(z), 2 * z)


def test_a_real_input_never_gets_a_complex_gradient():
    gradient = cr.grad(lambda x: np.sum(np.real(np.exp(1j * x))))(X)
    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, -np.sin(X))


def test_holomorphic_jacobians_agree_in_both_modes():
    z = np.array([0.5 + 1.0j, -1.0 + 0.25j])
    expected = np.diag(2 * z)
    np.testing.assert_allclose(cr.jacfwd(lambda z: z * z)(z), expected)
    np.testing.assert_allclose(cr.jacrev(lambda z: z * z)(z), expected)


def test_jacobians_of_complex_outputs_of_real_inputs():
    for transform in (cr.jacfwd, cr.jacrev, cr.jacobian):
        np.testing.assert_allclose(
            transform(lambda x: np.exp(1j * x))(X), np.diag(1j * np.exp(1j * X))
        )


def test_jacobian_shapes():
    a = np.arange(6.0).reshape(2, 3)
    assert cr.jacobian(lambda a: a @ X)(a).shape == (2, 2, 3)
    assert cr.jacfwd(lambda a: a * a)(a).shape == (2, 3, 2, 3)
    by_argument = cr.jacrev(lambda a, x: a @ x, argnums=(0, 1))(a, X)
    assert [block.shape for block in by_argument] == [(2, 2, 3), (2, 3)]
    assert cr.jacobian(lambda x: x[:0])(X).shape == (0, 3)
    assert cr.jacobian(lambda x: x)(np.zeros(0)).shape == (0, 0)


def test_jacobian_picks_the_cheaper_mode():
    """Counted are the calls of a linear function and of its transpose: one for each direction."""
    calls = []

    @cr.primitive
    def repeated(x, n=1):
        calls.append("forward")
        return np.resize(x, n)

    @cr.linear_rule(repeated)
    def repeated_transpose(ybar, space, n=1):
        calls.append("reverse")
        return repeated(np.sum(np.reshape(ybar, (-1, space.shape[0])), axis=0), n=space.shape[0])

    def count(transform, x, n):
        calls.clear()
        y = transform(lambda x: repeated(np.sin(x), n=n))(x)
        assert (n, len(x)) == y.shape
        return len(calls)

    few, many = np.ones(2), np.ones(40)
    assert count(cr.jacrev, few, 80) > 80 > 10 > count(cr.jacfwd, few, 80)
    assert 10 > count(cr.jacobian, few, 80)
    # Many inputs and few outputs: the sum of many, so that the transpose spreads few.
    calls.clear()
    total = cr.jacobian(lambda x: np.sum(repeated(x, n=80)))(many)
    assert total.shape == (40,)
    assert len(calls) < 10
    calls.clear()
    cr.jacfwd(lambda x: np.sum(repeated(x, n=80)))(many)
    assert len(calls) > 40


def test_jacobian_of_containers():
    jac = cr.jacobian(lambda t: {"y": t["a"] * t["b"]})({"a": X, "b": 2.0})
    np.testing.assert_array_equal(jac["y"]["a"], 2.0 * np.eye(3))
    np.testing.assert_array_equal(jac["y"]["b"], X)


def test_hessian_and_hvp():
    def f(x):
        return x[0] ** 2 * x[1] + np.sin(x[2])

    hessian = cr.hessian(f)(X)
    expected = [[2 * X[1], 2 * X[0], 0.0], [2 * X[0], 0.0, 0.0], [0.0, 0.0, -np.sin(X[2])]]
    np.testing.assert_allclose(hessian, expected)
    v = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(cr.hvp(f, (X,), (v,)), hessian @ v)
    first, second = cr.hvp(lambda a, b: a * b * b, (2.0, 3.0), (1.0, 0.0))
    assert (first, second) == (0.0, 6.0)
    blocks = cr.hessian(lambda a, b: a * b * b, argnums=(0, 1))(2.0, 3.0)
    assert blocks == ((0.0, 6.0), (6.0, 4.0))


def test_linearize_evaluates_the_function_once():
    calls = []

    def f(x, s):
        calls.append(1)
        return np.sin(x) * s, "text"

    (y, _), pushforward = cr.linearize(f, X, 2.0)
    tangents = (np.ones(3), 0.5)
    np.testing.assert_allclose(y, 2 * np.sin(X))
    for _ in range(2):
        ydot, note = pushforward(*tangents)
        np.testing.assert_allclose(ydot, cr.jvp(f, (X, 2.0), tangents)[1][0])
        assert note == cr.NoTangent()
    assert len(calls) == 2 + 1  # one for linearize, two for the jvps


def test_linearize_with_zero_tangent_and_traced_tangent():
    _, pushforward = cr.linearize(lambda x: x * x * x, 2.0)
    assert pushforward(cr.ZeroTangent()) == 0.0
    assert cr.grad(lambda t: pushforward(t) * t)(3.0) == pytest.approx(2 * 12.0 * 3.0)


def test_results_of_a_pushforward_share_no_memory():
    _, pushforward = cr.linearize(lambda x: (x, x, x.reshape(-1)), X)
    for block in (False, True):
        xdot = np.ones((2, 3)) if block else np.ones(3)
        a, b, c = pushforward(xdot, block=block)
        a[0], b[0] = 5.0, 6.0
        np.testing.assert_array_equal(xdot, 1.0)
        np.testing.assert_array_equal(c, 1.0)
        assert not np.shares_memory(a, b)


def test_a_pushforward_goes_by_the_result_as_it_was():
    y, pushforward = cr.linearize(lambda x: [x, {"a": 2.0 * x}], 3.0)
    y.append(1.0)
    y[1].clear()
    assert [1.0, {"a": 2.0}] == pushforward(1.0)


def test_a_block_has_the_dtype_of_one_direction():
    x = np.ones(3, np.float32)
    for f in (np.sum, np.sin, lambda x: np.float64(2) * x, lambda x: x[0], lambda x: 1.0):
        _, pushforward = cr.linearize(f, x)
        one, block = pushforward(x), pushforward(np.stack([x, x]), block=True)
        assert np.asarray(one).dtype == block.dtype
        np.testing.assert_array_equal(block[1], one)


def test_a_block_of_no_directions():
    _, pushforward = cr.linearize(lambda x, z: x * z, X, 2.0)
    assert (0, 3) == pushforward(np.ones((0, 3)), np.ones(0), block=True).shape
    with pytest.raises(cr.TangentError, match=r"has shape \(2,\); a block .* shape \(0,\)"):
        pushforward(np.ones((0, 3)), np.ones(2), block=True)


@pytest.mark.parametrize("zero", [cr.ZeroTangent(), cr.NoTangent()])
def test_a_linear_program_has_no_steps_with_zeros(zero):
    program = LinearProgram()
    for x in (program.input(X), program.input(1.0)):
        count = len(program.steps)
        assert (zero, zero) == (x * zero, zero * x)
        assert all(y is x for y in (x + zero, zero + x, x - zero))
        assert count == len(program.steps)


@pytest.mark.parametrize("transform", [cr.jacfwd, cr.jacrev, cr.jacobian])
def test_jacobians_of_what_is_empty_are_empty(transform):
    empty = np.zeros(0)
    for f, shape in [
        (lambda x: np.clip([x, x], 0, 1), (2, 0, 0)),
        (lambda x: np.stack([x, x]), (2, 0, 0)),
        (lambda x: 1.0, (0,)),
    ]:
        assert shape == transform(f)(empty).shape
    assert (0, 3) == transform(lambda x: x[:0] * 2.0)(X).shape
    np.testing.assert_array_equal(np.zeros((2, 3)), transform(lambda x: np.ones(2))(X))


def test_array_sees_traced_values():
    jac = cr.jacobian(lambda x: cr.array([[x[0], 1.0], [x[1] * x[0], x[2]]]))(X)
    assert jac.shape == (2, 2, 3)
    np.testing.assert_array_equal(jac[1, 0], [X[1], X[0], 0.0])
    np.testing.assert_array_equal(cr.array([1, 2]), np.array([1, 2]))


def test_stop_gradient_and_value():
    assert cr.grad(lambda x: x * cr.stop_gradient(x))(3.0) == 3.0
    assert cr.grad(cr.grad(lambda x: x * x * cr.stop_gradient(x)))(3.0) == 6.0
    kept = []
    cr.grad(lambda x: kept.append(cr.value({"x": x})) or x)(3.0)
    assert kept == [{"x": 3.0}]


def test_control_flow_is_pythons_own():
    def f(x):
        total = 0.0
        while total < 5.0:
            total = total + x * x
        try:
            if x > 0:
                raise ValueError
        except ValueError:
            total = total * 2.0
        return total

    assert cr.grad(f)(2.0) == pytest.approx(2 * 2 * 2 * 2.0)


def test_isinstance_says_what_the_user_expects():
    def f(x):
        assert isinstance(x, np.ndarray)
        assert isinstance(x[0], float)
        assert isinstance(np.sum(x), np.floating)
        assert not isinstance(x, list)
        return np.sum(x)

    cr.grad(f)(X)
    cr.jvp(f, (X,), (X,))


def test_attributes_and_text_of_a_traced_array():
    def f(x):
        assert (x.shape, x.ndim, x.size, len(x)) == ((2, 3), 2, 6, 2)
        assert x.dtype == np.float64
        assert str(x) == f"traced({cr.value(x)})"
        assert repr(x) == str(x)
        assert f"{x[0, 1]:.1f}" == "traced(1.0)"
        assert np.argmax(x) == 5
        assert (x > 2.0).dtype == bool
        return np.trace(x @ x.T) + x.trace() + x.T[0].sum()

    a = np.arange(6.0).reshape(2, 3)
    expected = 2 * a + np.eye(2, 3)
    expected[:, 0] += 1.0
    np.testing.assert_allclose(cr.grad(f)(a), expected)


def test_argnums_by_name():
    def f(w, x, *, scale=1.0):
        return scale * w * w * x

    assert cr.grad(f, argnums="x")(2.0, 3.0) == 4.0
    assert cr.grad(f, argnums=("x", "w"))(2.0, 3.0, scale=2.0) == (8.0, 24.0)
    assert cr.grad(f, argnums="x")(w=2.0, x=3.0) == 4.0
    assert cr.hessian(f, argnums="w")(2.0, 3.0) == 6.0
    with pytest.raises(TypeError, match="no argument 'scales'"):
        cr.grad(f, argnums="scales")(2.0, 3.0)


def test_flatten_and_back():
    tree = {"w": np.ones((2, 2)), "b": [3, Pair(1.0 + 2.0j, "text")], "m": Model(X, 0.5)}
    vector, unflatten = cr.flatten(tree)
    assert vector.dtype == np.float64
    np.testing.assert_array_equal(vector, [1, 1, 1, 1, 3, 1, 2, *X, 0.5])
    again = unflatten(2 * vector)
    assert again["b"][1] == Pair(2.0 + 4.0j, "text")
    assert type(again["m"]) is Model
    np.testing.assert_array_equal(again["m"].w, 2 * X)

    def loss(vector):
        tree = unflatten(vector)
        return np.sum(tree["w"]) * tree["b"][0] + np.abs(tree["b"][1].a) ** 2 + tree["m"].b

    gradient = cr.grad(loss)(vector)
    np.testing.assert_allclose(gradient, [3, 3, 3, 3, 4, 2, 4, 0, 0, 0, 1])
    with pytest.raises(ValueError, match="a vector of length 11"):
        unflatten(vector[1:])


def test_wirtinger_derivatives():
    z = np.array([1.0 + 2.0j, -0.5j])
    df_dz, df_dzbar = cr.wirtinger(lambda z: z * z * np.conj(z))(z)
    np.testing.assert_allclose(df_dz, np.diag(2 * z * np.conj(z)))
    np.testing.assert_allclose(df_dzbar, np.diag(z * z))
    df_dz, df_dzbar = cr.wirtinger(np.exp)(0.3 + 1.0j)
    np.testing.assert_allclose((df_dz, df_dzbar), (np.exp(0.3 + 1.0j), 0.0))
    with pytest.raises(TypeError, match="needs a complex argument"):
        cr.wirtinger(np.exp)(1.0)
    df_dz, df_dzbar = cr.wirtinger(lambda z: {"a": z * np.conj(z), "b": [np.real(z)]})(1.0 + 2.0j)
    assert ({"a": 1 - 2j, "b": [0.5]}, {"a": 1 + 2j, "b": [0.5]}) == (df_dz, df_dzbar)


def test_slopes_are_infinite_where_floats_of_python_raise():
    def slope(x):
        return cr.jvp(lambda x: 2.0 + x**0.5, (x,), (1.0,))[1]

    with np.errstate(divide="ignore"):
        assert (np.inf, -np.inf) == (slope(0.0), cr.jvp(slope, (0.0,), (1.0,))[1])


def test_the_derivative_of_a_gradient_that_is_a_tangent():
    # It was taken for a leaf, and its derivative lost.
    def loss(model):
        return np.sum(model.w**2) * model.b

    model = Model(X, 2.0)
    direction = cr.Tangent(Model, w=np.ones(3), b=0.5)
    product = cr.hvp(loss, (model,), (direction,))
    assert isinstance(product, cr.Tangent)
    np.testing.assert_allclose(product.w, 2 * 2.0 * np.ones(3) + 2 * X * 0.5)
    assert product.b == pytest.approx(np.sum(2 * X))
    hessian = cr.hessian(loss)(model)
    np.testing.assert_allclose(hessian.w.w, 4.0 * np.eye(3))
    np.testing.assert_allclose(hessian.w.b, 2 * X)
    np.testing.assert_allclose(hessian.b.w, 2 * X)
    _, pullback = cr.vjp(cr.grad(loss), model)
    np.testing.assert_allclose(pullback(direction)[0].w, product.w)


def test_creation_functions_with_like():
    def f(x):
        parts = [np.full(3, 2.0, like=x), np.ones(3, like=x), np.full(3, x[0], like=x)]
        for k, part in enumerate(parts):
            part[k] = x[k] * x[0]
        return np.stack(parts)

    expected = jacobian_of(f, X)
    for transform in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(transform(f)(X), expected, atol=1e-8)


def test_an_error_of_the_users_own_keeps_its_context():
    def f(x):
        try:
            raise KeyError("first")
        except KeyError:
            raise ValueError("second")  # noqa: B904 - the implicit context is the point

    for run in (lambda: cr.grad(f)(1.0), lambda: cr.jvp(f, (1.0,), (1.0,))):
        with pytest.raises(ValueError, match="second") as caught:
            run()
        assert isinstance(caught.value.__context__, KeyError)
        assert not caught.value.__suppress_context__


# ---- a config of one's own -------------------------------------------------------------------


class Noted:
    """A trait."""


class NotedForward(cr.ForwardConfig, Noted):
    pass


class NotedReverse(cr.ReverseConfig, Noted):
    pass


TRANSFORMS = {
    "jvp": lambda f, x: cr.jvp(f, (x,), (np.ones_like(x),), config=NotedForward()),
    "linearize": lambda f, x: cr.linearize(f, x, config=NotedForward()),
    "jacfwd": lambda f, x: cr.jacfwd(f, config=NotedForward())(x),
    "sparse jacfwd": lambda f, x: cr.jacfwd(f, sparse=True, config=NotedForward())(x),
    "sparsity": lambda f, x: cr.sparsity(f, x, config=NotedForward()),
    "wirtinger": lambda f, x: cr.wirtinger(f, config=NotedForward())(x * (1 + 0j)),
    "vjp": lambda f, x: cr.vjp(f, x, config=NotedReverse()),
    "grad": lambda f, x: cr.grad(f, config=NotedReverse())(x),
    "value_and_grad": lambda f, x: cr.value_and_grad(f, config=NotedReverse())(x),
    "jacrev": lambda f, x: cr.jacrev(f, config=NotedReverse())(x),
    "jacobian": lambda f, x: cr.jacobian(f, config=NotedReverse())(x),
    "hessian": lambda f, x: cr.hessian(f, config=NotedReverse())(x),
    "hvp": lambda f, x: cr.hvp(f, (x,), (x,), config=NotedReverse()),
    "hvp of a block": lambda f, x: cr.hvp(f, (x,), (x[None],), block=True, config=NotedReverse()),
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("n", [1, 3])
def test_every_transform_hands_its_config_to_the_rules(name, n):
    asked = []

    @cr.primitive
    def total(x):
        return np.sum(x * x)

    @cr.frule.register(total)
    def total_frule(config: Noted, tangents, total, x):
        asked.append(config)
        return total(x), np.sum(2 * x * tangents[1])

    @cr.rrule.register(total)
    def total_rrule(config: Noted, total, x):
        asked.append(config)
        return total(x), lambda ybar: (cr.NoTangent(), 2 * x * ybar)

    x = np.arange(1.0, 1.0 + n)
    TRANSFORMS[name](lambda x: 3.0 * total(x), x)
    assert asked
    assert all(isinstance(config, Noted) for config in asked)
