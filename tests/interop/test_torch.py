"""``interop.torch``: functions of NumPy code in PyTorch, and functions of PyTorch in NumPy code."""

import math

import numpy as np
import pytest
from our_transforms import OF_COMPLEX, OURS, X, Y, twin

torch = pytest.importorskip("torch")

import chainrules as cr
from chainrules.interop.torch import export, import_
from chainrules.testing import check_grad, test_frule, test_rrule

func = torch.func
# What torch says of itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture(autouse=True)
def in_64_bits():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def arrays(tree):
    leaves = torch.utils._pytree.tree_leaves(tree)
    return [x.detach().resolve_conj().numpy() if isinstance(x, torch.Tensor) else x for x in leaves]


def assert_same(expected, found, rtol=1e-9):
    expected, found = (torch.utils._pytree.tree_leaves(x) for x in (expected, found))
    assert len(expected) == len(found)
    for e, f in zip(expected, found):
        e, f = (
            x.detach().resolve_conj().numpy() if isinstance(x, torch.Tensor) else x for x in (e, f)
        )
        assert np.result_type(e) == np.result_type(f)
        np.testing.assert_allclose(e, f, rtol=rtol, atol=1e-12)


def ours(x):
    return np.sum(np.sin(x) * x**2)


def theirs(x):
    return torch.sum(torch.sin(x) * x**2)


def x():
    return torch.tensor([0.3, 0.5, 1.2])


def rows():
    return torch.stack([x(), 2 * x()])


def backward(g):
    v = x().requires_grad_()
    g(v).backward()
    return v.grad


def repeated(g, times):
    v = x().requires_grad_()
    y = g(v)
    for _ in range(times):
        (y,) = torch.autograd.grad(torch.sum(y**2), v, create_graph=True)
    return y


def dual(g):
    with torch.autograd.forward_ad.dual_level():
        y = g(torch.autograd.forward_ad.make_dual(x(), x()))
        return torch.autograd.forward_ad.unpack_dual(y).tangent


def recomputed(g):
    v = x().requires_grad_()
    torch.utils.checkpoint.checkpoint(g, v, use_reentrant=False).backward()
    return v.grad


TRANSFORMS = {
    "call": lambda g: g(x()),
    "backward": backward,
    "twice": lambda g: repeated(g, 2),
    "three times": lambda g: repeated(g, 3),
    "forward AD": dual,
    "checkpoint": recomputed,
    "grad": lambda g: func.grad(g)(x()),
    "vjp": lambda g: func.vjp(g, x())[1](torch.tensor(2.0)),
    "jvp": lambda g: func.jvp(g, (x(),), (x(),)),
    "hvp": lambda g: func.jvp(func.grad(g), (x(),), (x(),)),
    "forward over reverse": lambda g: func.hessian(g)(x()),
    "reverse over reverse": lambda g: func.jacrev(func.jacrev(g))(x()),
    "reverse over forward": lambda g: func.jacrev(func.jacfwd(g))(x()),
    "forward over forward": lambda g: func.jacfwd(func.jacfwd(g))(x()),
    "third": lambda g: func.jacfwd(func.hessian(g))(x()),
    "third, reverse": lambda g: func.jacrev(func.jacrev(func.jacrev(g)))(x()),
    "vmap": lambda g: func.vmap(g)(rows()),
    "vmap along another axis": lambda g: func.vmap(g, in_dims=1)(rows()),
    "vmap(vmap)": lambda g: func.vmap(func.vmap(g))(torch.stack([rows(), rows() + 1])),
    "vmap(grad)": lambda g: func.vmap(func.grad(g))(rows()),
    "grad(vmap)": lambda g: func.grad(lambda r: func.vmap(g)(r).square().sum())(rows()),
    "vmap(hessian)": lambda g: func.vmap(func.hessian(g))(rows()),
    "functional.hessian": lambda g: torch.autograd.functional.hessian(g, x()),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transformations(name):
    apply = TRANSFORMS[name]
    assert_same(apply(theirs), apply(export(ours)))


def test_gradcheck():
    g = export(lambda a, b: (np.tanh(a) @ b, np.sum(a) * b))
    numbers = torch.Generator().manual_seed(0)
    a = torch.randn(3, 3, generator=numbers, requires_grad=True)
    b = torch.randn(3, generator=numbers, requires_grad=True)
    assert torch.autograd.gradcheck(g, (a, b), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(g, (a, b), check_fwd_over_rev=True, check_rev_over_rev=True)


def test_gradcheck_of_complex_numbers():
    g = export(lambda z: np.conj(z) * z**2)
    z = torch.tensor([0.3 + 0.4j, 1 - 0.5j], requires_grad=True)
    assert torch.autograd.gradcheck(g, (z,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(g, (z,), check_fwd_over_rev=True)


def test_arguments_and_results():
    def net(p, x, act, *, scale):
        h = x @ p["w"] + p["b"]
        return {"y": np.tanh(h) * scale if act == "tanh" else h, "n": [np.argmax(h, axis=1)]}

    w = torch.linspace(-1, 1, 12).reshape(4, 3).requires_grad_()
    data = torch.arange(8.0).reshape(2, 4) / 8
    found = export(net)({"w": w, "b": torch.zeros(3)}, data, "tanh", scale=2.0)
    assert torch.int64 == found["n"][0].dtype
    (gradient,) = torch.autograd.grad(found["y"].square().sum(), w)
    (expected,) = torch.autograd.grad((2 * torch.tanh(data @ w)).square().sum(), w)
    assert_same(expected, gradient)


def test_float32():
    gradient = func.grad(export(ours))(x().float())
    assert torch.float32 == gradient.dtype
    assert_same(func.grad(theirs)(x().float()), gradient, 1e-5)


def test_results_that_are_arguments():
    assert_same(torch.ones(3), func.grad(lambda x: export(lambda x: x)(x).sum())(x()))
    assert_same(
        torch.tensor([0.0, 0.0, 2.4]),
        func.grad(lambda x: export(lambda x: x[::-1])(x)[0] ** 2)(x()),
    )


def test_a_function_may_write_to_what_it_is_given():
    def increased(x):
        x += 1.0
        return np.sum(x**2)

    v = torch.zeros(3, requires_grad=True)
    y = export(increased)(v)
    y.backward()
    assert 3.0 == y.item()
    assert_same(torch.zeros(3), v)
    assert_same(2 * torch.ones(3), v.grad)


def test_a_tensor_that_is_written_to_afterwards():
    w = x().requires_grad_() * 1.0
    y = export(ours)(w)
    w.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_an_optimiser():
    q = torch.zeros(2, requires_grad=True)
    optimiser = torch.optim.LBFGS([q], line_search_fn="strong_wolfe", max_iter=100)
    rosenbrock = export(lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)

    def closure():
        optimiser.zero_grad()
        loss = rosenbrock(q)
        loss.backward()
        return loss

    for _ in range(5):
        optimiser.step(closure)
    np.testing.assert_allclose(np.ones(2), q.detach().numpy(), rtol=1e-4)


def test_in_our_own_transforms_it_is_the_function():
    np.testing.assert_allclose(
        np.cos(x().numpy()), cr.grad(export(lambda x: np.sum(np.sin(x))))(x().numpy())
    )


@pytest.mark.parametrize(
    "record",
    [
        lambda g: func.linearize(g, x()),
        lambda g: torch.fx.experimental.proxy_tensor.make_fx(g)(x()),
        lambda g: torch.jit.trace(g, (x(),)),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_records_operations_is_refused(record):
    # linearize and make_fx kept NumPy's numbers as constants: 0 instead of 3.74.
    with pytest.raises(TypeError, match="ours computes in NumPy, which torch cannot record"):
        record(export(ours))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: export(3), "export takes a function, not int"),
        (lambda: export(ours)(x().bfloat16()), "bfloat16 on cpu is none that NumPy"),
        (lambda: export(ours)(torch.zeros(3, device="meta")), "on meta is none that NumPy"),
        (lambda: export(lambda x: "a")(x()), "returned str"),
        (lambda: _batched_grads(), "torch.func.jacrev"),
    ],
)
def test_what_is_refused(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def _batched_grads():
    v = x().requires_grad_()
    y = export(lambda x: x**2)(v)
    return torch.autograd.grad(y, v, torch.eye(3), is_grads_batched=True)


def test_a_captured_tensor_that_is_differentiated_is_refused():
    w = x().requires_grad_()
    for f in (lambda v: w * np.sin(v), lambda v: np.sin(v) * w, lambda v: np.sum(w * v)):
        with pytest.raises((TypeError, RuntimeError)):
            export(f)(x())


def test_rules_are_asked():
    def bare(x):
        return x**3

    cr.scalar_rule(bare, lambda y, x: 100 * x)
    assert 200.0 == func.grad(export(bare))(torch.tensor(2.0))


# ---- import --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OURS)
def test_imported_functions(name):
    apply = OURS[name]
    rtol = 1e-6 if name == "float32" else 1e-9
    assert_same(apply(twin(np)), apply(import_(twin(torch))), rtol)


def test_by_differences():
    f = import_(lambda x, y: torch.sin(x) * torch.exp(y))
    test_rrule(f, X, Y, rrule_f=cr.rrule_via_ad)
    test_frule(f, X, Y, frule_f=cr.frule_via_ad)
    check_grad(lambda x: np.sum(f(x * x, f(Y, x))), X)


@pytest.mark.parametrize("apply", OF_COMPLEX)
def test_imported_complex(apply):
    z = np.array([0.3 + 0.4j, 1 - 0.2j])
    f = import_(lambda z: torch.conj(z) * z**2)
    assert_same(apply(lambda z: np.conj(z) * z**2, z), apply(f, z))


def test_integers_settings_and_unused_arguments():
    taken = import_(lambda x, i, dim, mode: (torch.sum(x[i] ** 3, dim), torch.argmax(x)))
    i = np.array([0, 0, 1])
    gradient = cr.grad(lambda x: taken(x, i, 0, "any")[0])(X)
    np.testing.assert_allclose([6 * 0.1**2, 3 * 0.4**2], gradient)
    np.testing.assert_array_equal(
        np.zeros(2), cr.grad(lambda x: np.sum(import_(lambda x, y: y)(x, Y)))(X)
    )
    np.testing.assert_array_equal(
        np.zeros((2, 2)), cr.hessian(lambda x: np.sum(import_(lambda x: 2 * x)(x)))(X)
    )
    for call in (
        lambda f: cr.grad(f)(3),
        lambda f: cr.jvp(f, (3,), (1.0,)),
        lambda f: cr.grad(lambda n: np.sum(f(n)))(np.arange(3)),
    ):
        with pytest.raises(cr.MissingDerivativeError, match="integers have no derivative"):
            call(import_(lambda n: n**2.0))


def test_a_module():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    f = import_(net)
    check_grad(lambda x: np.sum(f(x) ** 2), X)
    expected = func.jvp(func.grad(lambda x: net(x).sum()), (torch.tensor(X),), (torch.tensor(Y),))
    assert_same(expected[1], torch.tensor(cr.hvp(lambda x: np.sum(f(x)), (X,), (Y,))))
    assert all(p.grad is None for p in net.parameters())


class Cube(torch.autograd.Function):  # type: ignore[name-defined]
    """Of the older kind: no setup_context, no jvp."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, ybar):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * ybar


class OnceCube(Cube):
    backward = staticmethod(torch.autograd.function.once_differentiable(Cube.backward))


def test_a_function_of_the_older_kind():
    f = import_(Cube.apply)
    assert (8.0, 12.0) == cr.jvp(f, (2.0,), (1.0,))
    assert 12.0 == cr.grad(f)(2.0) == cr.hessian(f)(2.0) == cr.jacfwd(cr.jacfwd(f))(2.0)
    assert 6.0 == cr.jacfwd(cr.hessian(f))(2.0) == cr.jacrev(cr.jacrev(cr.jacrev(f)))(2.0)


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f: cr.hessian(f)(2.0),
        lambda f: cr.jvp(f, (2.0,), (1.0,)),
        lambda f: cr.jacrev(cr.jacrev(f))(2.0),
        lambda f: cr.jacfwd(cr.jacfwd(f))(2.0),
    ],
)
def test_a_function_that_is_once_differentiable(derivative):
    # Second derivatives and tangents were 0.
    f = import_(OnceCube.apply)
    assert 12.0 == cr.grad(f)(2.0)
    with pytest.raises(cr.MissingDerivativeError, match="once_differentiable"):
        derivative(f)


def test_an_operator_with_a_backward_only():
    # Its forward mode in torch is 0, without a word.
    schema = "(Tensor x) -> Tensor"

    @torch.library.custom_op("chainrules_tests::cube", mutates_args=(), schema=schema)
    def cube(x):
        return torch.from_numpy(np.array(x.detach().numpy() ** 3))

    def backward(ctx, ybar):
        return 3 * ctx.saved_tensors[0] ** 2 * ybar

    def setup(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    cube.register_autograd(backward, setup_context=setup)
    f = import_(cube)
    np.testing.assert_allclose(3 * X**2, cr.jvp(f, (X,), (np.ones(2),))[1])
    np.testing.assert_allclose(6 * X, cr.hvp(lambda x: np.sum(f(x)), (X,), (np.ones(2),)))


def test_an_array_that_is_written_to_afterwards():
    f = import_(lambda x: torch.sum(x**3))
    x = X.copy()
    _, pullback = cr.vjp(f, x)
    x[:] = 7.0
    np.testing.assert_allclose(3 * X**2, pullback(1.0)[0])


def test_results_are_read_only():
    y = import_(torch.exp)(X)
    with pytest.raises(ValueError, match="read-only"):
        y += 1


def test_there_and_back():
    f = import_(export(lambda x: np.sum(np.sin(x) * x)))
    np.testing.assert_allclose(np.diag(2 * np.cos(X) - X * np.sin(X)), cr.hessian(f)(X))
    g = export(import_(lambda x: torch.sum(torch.sin(x) * x)))
    expected = torch.tensor(np.diag(2 * np.cos(X) - X * np.sin(X)))
    assert_same(expected, func.hessian(g)(torch.tensor(X)))


@pytest.mark.parametrize("w", [2.0, X])
@pytest.mark.parametrize(
    "captured",
    [
        lambda w: lambda x: w * torch.sin(x),
        lambda w: lambda x: torch.sin(x) * w,
        lambda w: lambda x: torch.as_tensor(w) * x,
        lambda w: lambda x: w,
    ],
)
def test_a_captured_traced_value_is_refused(captured, w):
    for derivative in (
        lambda: cr.grad(lambda w: np.sum(import_(captured(w))(Y)))(w),
        lambda: cr.jvp(lambda w: np.sum(import_(captured(w))(Y)), (w,), (w,)),
    ):
        with pytest.raises((cr.LostDerivativeError, TypeError)):
            derivative()


@pytest.mark.parametrize(
    "transform",
    [
        lambda f, x: cr.grad(f)(x),
        lambda f, x: cr.jvp(f, (x,), (x,)),
        lambda f, x: cr.vjp(f, x),
        lambda f, x: cr.hessian(f)(x),
    ],
)
def test_tensors_are_refused_by_name(transform):
    # jvp and vjp took them for constants.
    with pytest.raises(cr.LostDerivativeError, match=r"torch.Tensor.*\n.*interop.torch.import_"):
        transform(lambda x: np.sum(x * x), torch.tensor(X))


def test_nothing_of_torch_is_imported_with_chainrules():
    import subprocess
    import sys

    script = "import sys, chainrules, chainrules.interop; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-P", "-c", script], check=True)


def test_numbers():
    f = import_(lambda x: x * torch.sin(x))
    assert math.sin(0.3) + 0.3 * math.cos(0.3) == pytest.approx(cr.grad(f)(0.3))
    assert isinstance(f(0.3), np.float64)
    two = cr.grad(lambda x: np.sum(f(np.array([x, x]))))(0.3)
    assert 2 * (math.sin(0.3) + 0.3 * math.cos(0.3)) == pytest.approx(two)


def test_inference_mode_is_left():
    f = import_(lambda x: torch.sum(x**2))
    x = np.ones(2)
    with torch.inference_mode():
        assert cr.grad(f)(x).tolist() == [2.0, 2.0]
        assert cr.jvp(f, (x,), (x,))[1] == 4.0
        _, pullback = cr.vjp(f, x)
        np.testing.assert_array_equal(cr.hessian(f)(x), 2 * np.eye(2))
    assert pullback(1.0)[0].tolist() == [2.0, 2.0]
