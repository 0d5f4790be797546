"""Arrays of libraries that speak neither of NumPy's protocols: refused by every transform."""

import importlib

import numpy as np
import pytest

import chainrules as cr

TRANSFORMS = {
    "grad": lambda f, x: cr.grad(f)(x),
    "value_and_grad": lambda f, x: cr.value_and_grad(f)(x),
    "jvp": lambda f, x: cr.jvp(f, (x,), (x,)),
    "vjp": cr.vjp,
    "linearize": cr.linearize,
    "jacfwd": lambda f, x: cr.jacfwd(f)(x),
    "jacrev": lambda f, x: cr.jacrev(f)(x),
    "jacobian": lambda f, x: cr.jacobian(f)(x),
    "hessian": lambda f, x: cr.hessian(f)(x),
    "hvp": lambda f, x: cr.hvp(f, (x,), (x,)),
}
LIBRARIES = {
    "jax.numpy": r"for a function of jax, chainrules.interop.jax.import_\(f\)",
    "torch": r"for a function of torch, chainrules.interop.torch.import_\(f\)",
    "array_api_strict": r"functions of JAX and PyTorch come in by import_\(f\)",
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_refused(library, transform):
    pytest.importorskip(library)
    x = importlib.import_module(library).asarray([1.0, 2.0])
    for given in (x, {"a": [x]}):
        with pytest.raises(cr.LostDerivativeError, match=LIBRARIES[library]) as caught:
            transform(lambda x: 1.0, given)
        assert "give NumPy's array instead: np.asarray(x)" in str(caught.value)


def test_as_a_tangent_it_is_converted():
    jax = pytest.importorskip("jax")
    _, ydot = cr.jvp(np.sin, (np.zeros(2),), (jax.numpy.ones(2),))
    np.testing.assert_array_equal([1.0, 1.0], ydot)
