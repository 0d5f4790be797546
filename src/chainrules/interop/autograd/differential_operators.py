"""As ``autograd.differential_operators``: its names, arguments and results.

Those that pull cotangents back take ``convention=``: with ``"autograd"``, the default, a gradient
in complex numbers is df/dx - i df/dy; with ``"chainrules"`` it is the conjugate of that.
"""

import inspect
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ...config import ArgumentTypeError, ArgumentValueError
from ...forward import jacfwd, jvp
from ...reverse import jacobian as our_jacobian
from ...rules import describe, dtype_of, name_of, shape_of
from ...rules.rulesets.functions.checkpoint import checkpoint
from ...rules.tangents.zeros import ZeroTangent
from .convention import is_complex, noticing, of_numpy, ones_like, pulled, pushed
from .wrap_util import unary_to_nary

__all__ = [
    "checkpoint", "deriv", "elementwise_grad", "grad", "grad_and_aux", "grad_named", "hessian",
    "hessian_tensor_product", "hessian_vector_product", "holomorphic_grad", "jacobian",
    "make_ggnvp", "make_hvp", "make_jvp", "make_jvp_reversemode", "make_vjp", "multigrad_dict",
    "tensor_jacobian_product", "value_and_grad", "vector_jacobian_product",
]  # fmt: skip


@unary_to_nary
def make_vjp(fun: Callable, x: Any, convention: str = "autograd") -> tuple[Callable, Any]:
    """Return a function giving ``(vjp, y)``; ``vjp(ybar)`` is the cotangent of the argument.

    Examples
    --------
    >>> from chainrules.interop.autograd import make_vjp
    >>> vjp, y = make_vjp(np.sin)(0.0)
    >>> float(vjp(2.0))
    2.0
    """
    return pulled(fun, x, convention)


@unary_to_nary
def make_jvp(fun: Callable, x: Any) -> Callable:
    """Return a function giving ``jvp``, and ``jvp(xdot)`` is ``(y, ydot)``.

    Examples
    --------
    >>> from chainrules.interop.autograd import make_jvp
    >>> y, ydot = make_jvp(np.sin)(0.0)(2.0)
    >>> float(ydot)
    2.0
    """
    return lambda xdot: jvp(noticing(fun), (of_numpy(x),), (xdot,))


@unary_to_nary
def value_and_grad(fun: Callable, x: Any, convention: str = "autograd") -> tuple[Any, Any]:
    """Return a function giving the value of ``fun`` and its gradient.

    Examples
    --------
    >>> from chainrules.interop.autograd import value_and_grad
    >>> y, gradient = value_and_grad(lambda a, x: a * np.sum(x**2), 1)(3.0, np.ones(2))
    >>> gradient
    array([6., 6.])
    """
    return _value_and_grad("value_and_grad", fun, x, convention)


@unary_to_nary
def grad(fun: Callable, x: Any, convention: str = "autograd") -> Any:
    """Return a function giving the gradient of ``fun``, which returns one real number.

    Parameters
    ----------
    fun : callable
    argnum : int, or tuple of these, optional
        Which positional argument to differentiate.
    convention : {"autograd", "chainrules"}, optional
        Of complex arguments: df/dx - i df/dy, or df/dx + i df/dy.

    Raises
    ------
    TypeError
        If the output is not one real number, also in an array.

    Examples
    --------
    >>> from chainrules.interop.autograd import grad, numpy as np
    >>> grad(np.tanh)(0.0)
    np.float64(1.0)
    >>> grad(lambda z: np.abs(z) ** 2)(1 + 2j)
    np.complex128(2-4j)
    >>> grad(lambda z: np.abs(z) ** 2, convention="chainrules")(1 + 2j)
    np.complex128(2+4j)
    """
    return _value_and_grad("grad", fun, x, convention)[1]


def _value_and_grad(title: str, fun: Callable, x: Any, convention: str) -> tuple[Any, Any]:
    pullback, y = pulled(fun, x, convention)
    dtype = dtype_of(y)
    if dtype is None or dtype.kind not in "fiub" or np.prod(shape_of(y)) != 1:
        raise ArgumentTypeError(
            f"{title} only applies to real scalar-output functions, and {name_of(fun)} returned "
            f"{describe(y)}.\n  try jacobian, elementwise_grad or holomorphic_grad"
        )
    return y, pullback(ones_like(y))


@unary_to_nary
def elementwise_grad(fun: Callable, x: Any, convention: str = "autograd") -> Any:
    """Return a function giving the sum of the rows of the Jacobian: its diagonal, if that is all.

    Examples
    --------
    >>> from chainrules.interop.autograd import elementwise_grad, numpy as np
    >>> elementwise_grad(np.tanh)(np.zeros(2))
    array([1., 1.])
    """
    pullback, y = pulled(fun, x, convention)
    if is_complex(y):
        raise ArgumentTypeError(
            f"elementwise_grad only applies to real-output functions, and {name_of(fun)} returned "
            f"{describe(y)}.\n  take np.real or np.imag of it, or holomorphic_grad"
        )
    return pullback(ones_like(y))


@unary_to_nary
def deriv(fun: Callable, x: Any) -> Any:
    """Return a function giving the derivative along ones, in forward mode."""
    return jvp(noticing(fun), (of_numpy(x),), (ones_like(x),))[1]


@unary_to_nary
def jacobian(fun: Callable, x: Any, convention: str = "autograd") -> Any:
    """Return a function giving the Jacobian, of shape ``y.shape + x.shape``.

    Examples
    --------
    >>> from chainrules.interop.autograd import jacobian, numpy as np
    >>> jacobian(np.sin)(np.zeros(2))
    array([[1., 0.],
           [0., 1.]])
    """
    if not is_complex(x):
        return our_jacobian(noticing(fun))(of_numpy(x))
    pullback, y = pulled(fun, x, convention)
    if is_complex(y):
        raise ArgumentTypeError(
            f"jacobian is for real outputs of complex arguments, and {name_of(fun)} returned "
            f"{describe(y)}, whose real and imaginary parts have a Jacobian each.\n"
            "  take np.real and np.imag of it, or holomorphic_grad"
        )
    basis = np.reshape(np.eye(np.size(y)), (-1, *shape_of(y)))
    return np.reshape(np.stack([pullback(row) for row in basis]), shape_of(y) + shape_of(x))


@unary_to_nary
def holomorphic_grad(fun: Callable, x: Any) -> Any:
    """Return a function giving f'(z) of a holomorphic ``fun``.

    Examples
    --------
    >>> from chainrules.interop.autograd import holomorphic_grad
    >>> holomorphic_grad(lambda z: z**2)(1 + 2j)
    np.complex128(2+4j)
    """
    return grad(lambda x: np.real(fun(x)))(x)


def grad_named(fun: Callable, argname: str) -> Callable:
    """Return a function giving the gradient in the argument of this name."""
    names = list(inspect.signature(fun).parameters)
    if argname not in names:
        raise ArgumentValueError(
            f"{name_of(fun)} has no argument {argname!r}; it has {', '.join(names)}."
        )
    return grad(fun, names.index(argname))


@unary_to_nary
def hessian(fun: Callable, x: Any) -> Any:
    """Return a function giving the Hessian, of shape ``y.shape + x.shape + x.shape``.

    Examples
    --------
    >>> from chainrules.interop.autograd import hessian, numpy as np
    >>> hessian(lambda x: np.sum(x**3))(np.ones(2))
    array([[6., 0.],
           [0., 6.]])
    """
    if is_complex(x):
        raise ArgumentTypeError(
            f"hessian is for real arguments, and {name_of(fun)} was given {describe(x)}.\n"
            "  write make_hvp, for products with the Hessian in real and imaginary parts"
        )

    def slopes(x: Any) -> Any:
        pullback, y = pulled(fun, x)
        # The gradient is what a Jacobian of one row comes to.
        single = shape_of(y) == () and not is_complex(y)
        return pullback(ones_like(y)) if single else our_jacobian(fun)(x)

    return jacfwd(slopes)(of_numpy(x))


@unary_to_nary
def make_hvp(fun: Callable, x: Any) -> tuple[Callable, Any]:
    """Return a function giving ``(hvp, gradient)``; ``hvp(v)`` is the product with the Hessian."""
    return pushed(grad(fun), x)


def hessian_tensor_product(fun: Callable, argnum: Any = 0) -> Callable:
    """Return a function of ``(*args, tensor, **kwargs)`` giving the product with the Hessian.

    Examples
    --------
    >>> from chainrules.interop.autograd import hessian_vector_product, numpy as np
    >>> hessian_vector_product(lambda x: np.sum(x**3))(np.ones(2), np.ones(2))
    array([6., 6.])
    """

    def product(*args: Any, **kwargs: Any) -> Any:
        *args, tensor = args  # type: ignore[assignment]
        return make_jvp(grad(fun, argnum), argnum)(*args, **kwargs)(tensor)[1]

    return product


def tensor_jacobian_product(fun: Callable, argnum: Any = 0) -> Callable:
    """Return a function of ``(*args, tensor, **kwargs)`` giving the tensor times the Jacobian."""

    def dotted(*args: Any, **kwargs: Any) -> Any:
        *args, tensor = args  # type: ignore[assignment]
        return np.tensordot(tensor, fun(*args, **kwargs), np.ndim(tensor))

    return jacobian(dotted, argnum)


hessian_vector_product = hessian_tensor_product
vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Callable, x: Any) -> Callable:
    """Return a function giving the pushforward at a point; here it is recorded in forward mode."""
    return pushed(fun, x)[0]


def make_ggnvp(
    f: Callable, g: Callable = lambda x: np.sum(x**2, axis=-1) / 2, f_argnum: Any = 0
) -> Callable:
    """Return a function giving ``ggnvp(v)``: products with the generalized Gauss-Newton matrix."""

    @unary_to_nary
    def ggnvp_maker(f: Callable, x: Any) -> Callable:
        pull, y = pulled(f, x)
        push, _ = pushed(f, x)
        product, _ = pushed(grad(g), y)
        return lambda v: pull(product(push(v)))

    return ggnvp_maker(f, f_argnum)


@unary_to_nary
def grad_and_aux(fun: Callable, x: Any, convention: str = "autograd") -> tuple[Any, Any]:
    """Return a function giving the gradient of the first of two outputs, and the second."""
    pullback, (y, aux) = pulled(lambda x: tuple(fun(x)), x, convention)
    return pullback((ones_like(y), ZeroTangent())), aux


def multigrad_dict(fun: Callable) -> Callable:
    """Return a function giving the gradients in all arguments, in a dict by their names.

    Examples
    --------
    >>> from chainrules.interop.autograd import multigrad_dict
    >>> gradients = multigrad_dict(lambda a, b=2.0: a * b)(3.0)
    >>> {name: float(x) for name, x in gradients.items()}
    {'a': 2.0, 'b': 3.0}
    """
    signature = inspect.signature(fun)

    def gradients(*args: Any, **kwargs: Any) -> OrderedDict:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def of_names(given: dict) -> Any:
            call = inspect.BoundArguments(signature, OrderedDict(given))
            return fun(*call.args, **call.kwargs)

        return OrderedDict(grad(of_names)(dict(bound.arguments)))

    return gradients
