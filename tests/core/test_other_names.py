"""Names that people bring along from other libraries: each answer says what to write here."""

import subprocess
import sys

import numpy as np
import pytest

import chainrules as cr

X = np.array([0.5, 1.5])


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("jit", "cr.compile(f)"),
        ("custom_vjp", "@cr.primitive, and register its rule with @cr.rrule.register(f)"),
        ("custom_jvp", "@cr.primitive, and register its rule with @cr.frule.register(f)"),
        ("Function", "@cr.rrule.register(f)"),
        ("elementwise_grad", "cr.grad(lambda x: np.sum(f(x)))"),
        ("hessian_vector_product", "cr.hvp(f, (x,), (v,))"),
        ("make_vjp", "y, pullback = cr.vjp(f, x)"),
        ("tree_map", "params - 0.1 * gradient"),
        ("cond", "if, for and while"),
        ("holomorphic_grad", "cr.jacobian(f)"),
        ("tensor", "NumPy's arrays"),
    ],
)
def test_names_of_other_libraries(name, instead):
    assert not hasattr(cr, name)
    assert name not in dir(cr)
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'") as caught:
        getattr(cr, name)
    assert instead in str(caught.value)


def test_a_name_of_nobody_is_an_ordinary_error():
    with pytest.raises(AttributeError, match=r"^module 'chainrules' has no attribute 'nothing'$"):
        cr.nothing  # noqa: B018


def test_numpy_and_testing_are_there_without_an_import():
    program = "import chainrules as cr; print(cr.numpy.sin(0.0), cr.testing.check_grad.__name__)"
    run = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
    assert ("0.0 check_grad\n", "") == (run.stdout, run.stderr)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("detach", r"write cr\.stop_gradient\(x\)"),
        ("at", r"write x\[i\] = v"),
        ("requires_grad", r"cr\.grad\(f, argnums="),
        ("backward", r"write cr\.grad\(f\)\(x\)"),
        ("clone", r"write x\.copy\(\)"),
        ("unsqueeze", r"np\.expand_dims"),
    ],
)
@pytest.mark.parametrize("x", [1.5, X], ids=["float", "array"])
def test_attributes_of_other_libraries(name, instead, x):
    for run in (cr.grad, lambda f: lambda x: cr.jvp(f, (x,), (x,))):
        with pytest.raises(AttributeError, match=rf"(?s)has no attribute '{name}'.*{instead}"):
            run(lambda x: getattr(x, name))(x)
        assert run(lambda x: np.sum(x * hasattr(x, name)))(x) is not None


@pytest.mark.parametrize(
    "transform",
    [cr.grad, cr.value_and_grad, cr.jacfwd, cr.jacrev, cr.jacobian, cr.hessian, cr.wirtinger],
)
def test_argnum_is_answered_with_argnums(transform):
    message = (
        rf"{transform.__name__} has no argument 'argnum'; did you mean 'argnums'(?s:.*)argnums=1"
    )
    with pytest.raises(TypeError, match=message):
        transform(np.sum, argnum=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        transform(np.sum, nothing=1)
