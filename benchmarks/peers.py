"""The libraries that are measured, each called as its users call it at its fastest.

A peer makes a program of a derivative and its arguments: a call without arguments, whose inputs
are made beforehand. A function is written once for all of them, over a namespace of array
functions, ``function_in(namespace)``, and a derivative of it over the peer.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from table import AUTOGRAD, COMPILED, JAX, JAX_JIT, OURS, OWN_LOOP, PYTORCH

Function = Callable[..., Any]
Program = Callable[[], Any]


def optional(name: str) -> Any:
    """Import a peer, or return None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Peer:
    """A library whose derivatives are functions of functions; ``of`` maps their names to them.

    The names: ``gradient`` (value and gradient, with ``argnums``), ``grad``, ``jacfwd``,
    ``jacrev``, ``hessian``, ``jvp`` of (primal, tangent), ``hvp`` of (primal, tangent) and
    ``gradient_and_product``, which is the jvp of the gradient.
    """

    def __init__(self, name: str, namespace: Any, of: dict[str, Function]) -> None:
        self.name, self.namespace, self.of = name, namespace, of

    def array(self, x: Any) -> Any:
        return x

    def outermost(self, kind: str) -> Function:
        """Return the fastest way to this derivative, where it is inside of no other."""
        return self.of[kind]

    def compiled(self, f: Function) -> Function:
        """Return ``f`` as it is called: compiled, where that is the peer's way."""
        return f

    def waited(self, f: Function) -> Function:
        """Return ``f`` such that its result is there when it returns."""
        return f

    def call(self, f: Function, args: tuple) -> Program:
        """Return the program that calls ``f`` with these arguments."""
        given = tuple(map(self.array, args))
        return lambda: f(*given)


class CompiledPeer(Peer):
    def compiled(self, f: Function) -> Function:
        import chainrules as cr

        return cr.compile(f)


class JaxPeer(Peer):
    def __init__(self, name: str, jax: Any, of: dict[str, Function]) -> None:
        super().__init__(name, jax.numpy, of)
        self.jax = jax

    def array(self, x: Any) -> Any:
        return self.jax.numpy.asarray(x)

    def compiled(self, f: Function) -> Function:
        return f if self.name == JAX else self.jax.jit(f)

    def waited(self, f: Function) -> Function:
        return lambda *args: self.jax.block_until_ready(f(*args))

    def call(self, f: Function, args: tuple) -> Program:
        given = tuple(map(self.array, args))
        return lambda: self.jax.block_until_ready(f(*given))


class TorchPeer(Peer):
    def __init__(self, name: str, torch: Any, of: dict[str, Function]) -> None:
        super().__init__(name, torch, of)
        self.torch = torch

    def array(self, x: Any) -> Any:
        return self.torch.tensor(x, dtype=self.torch.float64 if isinstance(x, float) else None)

    def outermost(self, kind: str) -> Function:
        # Where its engine can be called directly, that is faster than torch.func.
        return getattr(self, kind) if kind in ("gradient", "jvp", "hvp") else self.of[kind]

    def gradient(self, f: Function, argnums: tuple[int, ...]) -> Function:
        grad = self.torch.autograd.grad

        def both(*args: Any) -> tuple:
            inputs = [args[i].requires_grad_() for i in argnums]
            y = f(*args)
            return y.detach(), grad(y, inputs)

        return both

    def jvp(self, f: Function) -> Function:
        forward_ad = self.torch.autograd.forward_ad

        def both(x: Any, xdot: Any) -> tuple:
            with forward_ad.dual_level():
                return tuple(forward_ad.unpack_dual(f(forward_ad.make_dual(x, xdot))))

        return both

    def hvp(self, f: Function) -> Function:
        grad = self.torch.autograd.grad

        def product(x: Any, xdot: Any) -> Any:
            x.requires_grad_()
            (slope,) = grad(f(x), x, create_graph=True)
            return grad(slope, x, xdot)[0]

        return product


# ---- what is computed of a function, in all libraries ----

Derived = Callable[[Peer], Function]


def gradient(function_in: Callable[[Any], Function], argnums: tuple[int, ...] = (0,)) -> Derived:
    """Return, of each peer, the value and the gradient."""
    return lambda peer: peer.outermost("gradient")(function_in(peer.namespace), argnums=argnums)


def derivative(kind: str, function_in: Callable[..., Function], *data: Any) -> Derived:
    """Return, of each peer, that derivative; ``function_in`` gets ``data`` as the peer's arrays."""
    return lambda peer: peer.outermost(kind)(function_in(peer.namespace, *map(peer.array, data)))


# ---- the peers that are installed ----


@functools.cache
def peers() -> dict[str, Peer]:
    found = [*_chainrules(), _autograd(), *_jax(), _torch()]
    return {peer.name: peer for peer in found if peer is not None}


def _over_pairs(jvp: Function) -> dict[str, Function]:
    """Wrap the jvp that chainrules, JAX and PyTorch share the signature of."""
    return {"jvp": lambda f: lambda x, xdot: jvp(f, (x,), (xdot,))}


def _chainrules() -> list[Peer]:
    import chainrules as cr

    of = {
        "gradient": cr.value_and_grad,
        "grad": cr.grad,
        "jacfwd": cr.jacfwd,
        "jacrev": cr.jacrev,
        "hessian": cr.hessian,
        "hvp": lambda f: lambda x, xdot: cr.hvp(f, (x,), (xdot,)),
        "gradient_and_product": lambda f: lambda x, xdot: cr.jvp(cr.grad(f), (x,), (xdot,)),
    }
    of |= _over_pairs(cr.jvp)
    return [Peer(OURS, np, of), CompiledPeer(COMPILED, np, of)]


def _autograd() -> Peer | None:
    if (autograd := optional("autograd")) is None:
        return None

    def jvp(f: Function) -> Function:
        return lambda x, xdot: autograd.make_jvp(f)(x)(xdot)

    def jacfwd(f: Function) -> Function:
        def jacobian(x: Any) -> Any:
            columns = [jvp(f)(x, unit)[1] for unit in np.eye(np.size(x))]
            return autograd.numpy.stack(columns, axis=-1)

        return jacobian

    def gradient_and_product(f: Function) -> Function:
        def both(x: Any, xdot: Any) -> tuple:
            product, gradient = autograd.make_hvp(f)(x)
            return gradient, product(xdot)

        return both

    of = {
        "gradient": lambda f, argnums: autograd.value_and_grad(f, argnums),
        "grad": autograd.grad,
        "jacfwd": jacfwd,
        "jacrev": autograd.jacobian,
        "hessian": autograd.hessian,
        "jvp": jvp,
        "hvp": autograd.hessian_vector_product,
        "gradient_and_product": gradient_and_product,
    }
    return Peer(AUTOGRAD, autograd.numpy, of)


def _jax() -> list[Peer]:
    if (jax := optional("jax")) is None:
        return []
    jax.config.update("jax_enable_x64", True)

    def gradient_and_product(f: Function) -> Function:
        return lambda x, xdot: jax.jvp(jax.grad(f), (x,), (xdot,))

    of = {
        "gradient": jax.value_and_grad,
        "grad": jax.grad,
        "jacfwd": jax.jacfwd,
        "jacrev": jax.jacrev,
        "hessian": jax.hessian,
        "hvp": lambda f: lambda x, xdot: gradient_and_product(f)(x, xdot)[1],
        "gradient_and_product": gradient_and_product,
    }
    return [JaxPeer(name, jax, of | _over_pairs(jax.jvp)) for name in (JAX, JAX_JIT, OWN_LOOP)]


def _torch() -> Peer | None:
    if (torch := optional("torch")) is None:
        return None
    func = torch.func
    of = {
        "grad": func.grad,
        "jacfwd": func.jacfwd,
        "jacrev": func.jacrev,
        "hessian": func.hessian,
        "gradient_and_product": lambda f: lambda x, xdot: func.jvp(func.grad(f), (x,), (xdot,)),
    }
    return TorchPeer(PYTORCH, torch, of | _over_pairs(func.jvp))
