"""Costs of a call that goes to another library and back: microseconds, best of many.

python benchmarks/interop.py jax torch
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import chainrules as cr


def f(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


def best(call: Callable[[], Any], seconds: float = 0.7) -> float:
    """Return the shortest time of a call, in microseconds."""
    for _ in range(3):
        call()  # compiles
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def with_jax(n: int) -> dict[str, Callable[[], Any]]:
    import jax
    import jax.numpy as jnp

    from chainrules.interop.jax import export, import_

    jax.config.update("jax_enable_x64", True)

    def theirs(x: Any) -> Any:
        return jnp.sum(jnp.sin(x) * x)

    numbers = np.linspace(0.0, 1.0, n)
    x = jnp.asarray(numbers)
    ours, imported = export(f), import_(theirs)

    def compiled(g: Callable) -> Callable[[], Any]:
        g = jax.jit(g)
        return lambda: jax.block_until_ready(g(x))

    rows = jnp.ones((1000, 5))
    batch = jax.jit(jax.vmap(jax.grad(ours)))
    return {
        "export, jit: call": compiled(ours),
        "export, jit: grad": compiled(jax.grad(ours)),
        "export, jit: value_and_grad": compiled(jax.value_and_grad(ours)),
        "export, jit: hvp": compiled(lambda x: jax.jvp(jax.grad(ours), (x,), (x,))[1]),
        "export, eager: call": lambda: jax.block_until_ready(ours(x)),
        "export, eager: grad": lambda: jax.block_until_ready(jax.grad(ours)(x)),
        "export, jit: vmap(grad), 1000 rows of 5": lambda: jax.block_until_ready(batch(rows)),
        "JAX alone, jit: grad": compiled(jax.grad(theirs)),
        "JAX alone, eager: grad": lambda: jax.block_until_ready(jax.grad(theirs)(x)),
        "import_: call": lambda: imported(numbers),
        "import_: cr.grad": lambda: cr.grad(imported)(numbers),
        "import_: cr.jvp": lambda: cr.jvp(imported, (numbers,), (numbers,)),
        "import_: cr.hvp": lambda: cr.hvp(imported, (numbers,), (numbers,)),
    }


def with_torch(n: int) -> dict[str, Callable[[], Any]]:
    import torch

    from chainrules.interop.torch import export, import_

    def theirs(x: Any) -> Any:
        return torch.sum(torch.sin(x) * x)

    numbers = np.linspace(0.0, 1.0, n)
    x = torch.tensor(numbers)
    ours, imported = export(f), import_(theirs)

    def backward(g: Callable) -> Callable[[], Any]:
        def call() -> None:
            v = x.detach().requires_grad_()
            g(v).backward()

        return call

    return {
        "export: call": lambda: ours(x),
        "export: backward": backward(ours),
        "torch alone: backward": backward(theirs),
        "import_: call": lambda: imported(numbers),
        "import_: cr.grad": lambda: cr.grad(imported)(numbers),
        "import_: cr.hvp": lambda: cr.hvp(imported, (numbers,), (numbers,)),
    }


def without(n: int) -> dict[str, Callable[[], Any]]:
    x = np.linspace(0.0, 1.0, n)
    gradient = cr.grad(f)
    return {
        "NumPy: call": lambda: f(x),
        "cr.grad": lambda: gradient(x),
        "cr.hvp": lambda: cr.hvp(f, (x,), (x,)),
    }


def main() -> None:
    libraries = {"jax": with_jax, "torch": with_torch}
    makers = [without, *[libraries[name] for name in sys.argv[1:] or ["jax"]]]
    for maker in makers:
        small, large = maker(3), maker(10**6)
        print(f"{maker.__name__.replace('_', ' '):45}{'n = 3':>12}{'n = 10^6':>12}")
        for name in small:
            print(f"{name:45}{best(small[name]):12.0f}{best(large[name]):12.0f}")


if __name__ == "__main__":
    main()
