"""The libraries that are measured, each called as its users call it at its fastest.

A peer turns a function and its arguments into a program: a call without arguments that computes
one derivative. Its inputs are made beforehand. A function is written once for all of them, over
a namespace of array functions: ``function_in(namespace)``.
"""

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from table import AUTOGRAD, JAX, JAX_JIT, OURS, PYTORCH

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

    def run(self, f: Function, args: tuple) -> Program:
        """Return the program that calls ``f`` with these arguments."""
        given = tuple(map(self.array, args))
        return lambda: f(*given)

    def program(self, kind: str, f: Function, args: tuple, **options: Any) -> Program:
        return self.run(self.of[kind](f, **options), args)


class JaxPeer(Peer):
    def __init__(self, name: str, jax: Any, of: dict[str, Function]) -> None:
        super().__init__(name, jax.numpy, of)
        self.jax = jax

    def array(self, x: Any) -> Any:
        return self.jax.numpy.asarray(x)

    def run(self, f: Function, args: tuple) -> Program:
        given = tuple(map(self.array, args))
        compiled = self.jax.jit(f) if self.name == JAX_JIT else f
        return lambda: self.jax.block_until_ready(compiled(*given))


class TorchPeer(Peer):
    def __init__(self, name: str, torch: Any, of: dict[str, Function]) -> None:
        super().__init__(name, torch, of)
        self.torch = torch

    def array(self, x: Any) -> Any:
        return self.torch.tensor(x, dtype=self.torch.float64 if isinstance(x, float) else None)

    def program(self, kind: str, f: Function, args: tuple, **options: Any) -> Program:
        # Where its engine can be called directly, that is faster than torch.func.
        if kind not in ("gradient", "jvp", "hvp"):
            return super().program(kind, f, args, **options)
        return getattr(self, kind)(f, *map(self.array, args), **options)

    def gradient(self, f: Function, *args: Any, argnums: tuple[int, ...]) -> Program:
        inputs = [args[i].requires_grad_() for i in argnums]

        def program() -> tuple:
            y = f(*args)
            return y.detach(), self.torch.autograd.grad(y, inputs)

        return program

    def jvp(self, f: Function, x: Any, xdot: Any) -> Program:
        forward_ad = self.torch.autograd.forward_ad

        def program() -> tuple:
            with forward_ad.dual_level():
                return tuple(forward_ad.unpack_dual(f(forward_ad.make_dual(x, xdot))))

        return program

    def hvp(self, f: Function, x: Any, xdot: Any) -> Program:
        x.requires_grad_()

        def program() -> Any:
            (gradient,) = self.torch.autograd.grad(f(x), x, create_graph=True)
            return self.torch.autograd.grad(gradient, x, xdot)[0]

        return program


# ---- the peers that are installed ----


@functools.cache
def peers() -> dict[str, Peer]:
    found = [_chainrules(), _autograd(), *_jax(), _torch()]
    return {peer.name: peer for peer in found if peer is not None}


def programs(
    kind: str,
    function_in: Callable[..., Function],
    *args: Any,
    data: tuple = (),
    in_jit: Callable[..., Function] | None = None,
    **options: Any,
) -> dict[str, Program]:
    """Build the program of each peer for one derivative of one function.

    ``function_in`` gets the namespace and the ``data``, as arrays of the peer. ``in_jit`` is the
    function as it is written for JAX's compiler, where a Python loop would take too long to
    compile.
    """
    built = {}
    for name, peer in peers().items():
        written = in_jit if in_jit is not None and name == JAX_JIT else function_in
        f = written(peer.namespace, *map(peer.array, data))
        built[name] = peer.program(kind, f, args, **options)
    return built


def gradients(
    function_in: Callable[[ModuleType], Function], *args: Any, argnums: tuple = (0,), **kw: Any
) -> dict[str, Program]:
    """Build each peer's program for the value and the gradient."""
    return programs("gradient", function_in, *args, argnums=argnums, **kw)


def _over_pairs(jvp: Function) -> dict[str, Function]:
    """Wrap the jvp that chainrules, JAX and PyTorch share the signature of."""
    return {"jvp": lambda f: lambda x, xdot: jvp(f, (x,), (xdot,))}


def _chainrules() -> Peer:
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
    return Peer(OURS, np, of | _over_pairs(cr.jvp))


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
    return [JaxPeer(name, jax, of | _over_pairs(jax.jvp)) for name in (JAX, JAX_JIT)]


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
