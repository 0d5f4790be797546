"""The calls that ``calls.py`` measures: one function each, on twelve numbers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Call:
    """One call, written over NumPy's namespace and, at its best, in PyTorch.

    ``inputs`` are all differentiated. Of several ways to write it in PyTorch the cheapest counts;
    each takes the module. ``plain`` are arrays beside the inputs, which come after them.
    """

    name: str
    inputs: tuple
    numpy: Callable[[Any], Callable]
    torch: tuple[Callable[[Any], Callable], ...]
    plain: tuple = ()


def logsumexp(namespace: Any) -> Callable:
    """Return it as users write it, safe from overflow."""
    top_of = getattr(namespace, "amax" if namespace.__name__ == "torch" else "max")

    def f(x: Any) -> Any:
        top = top_of(x)
        return top + namespace.log(namespace.sum(namespace.exp(x - top)))

    return f


def calls() -> Iterator[Call]:
    rng = np.random.default_rng(0)
    x, w, m = rng.uniform(0.5, 1.5, 12), rng.uniform(0.5, 1.5, 12), rng.uniform(0.5, 1.5, (3, 4))
    yield from reductions(x, m)
    yield from products(x, w, m)
    yield from shapes(x, w, m)
    yield from reads(x, m)
    yield from choices(x, w, rng)
    yield from elementwise(x, w, m)
    yield from linear_algebra(rng)


def reductions(x: Any, m: Any) -> Iterator[Call]:
    yield Call(
        "np.sum(x)", (x,), lambda np: np.sum, (lambda torch: torch.sum, lambda _: lambda x: x.sum())
    )
    yield Call("x.sum()", (x,), lambda _: lambda x: x.sum(), (lambda _: lambda x: x.sum(),))
    for axis in (0, 1):
        yield Call(
            f"np.sum(m, axis={axis})",
            (m,),
            lambda np, axis=axis: lambda m: np.sum(m, axis=axis),
            (lambda _, axis=axis: lambda m: m.sum(axis),),
        )
    yield Call(
        "np.sum(m, axis=1, keepdims=True)",
        (m,),
        lambda np: lambda m: np.sum(m, axis=1, keepdims=True),
        (lambda _: lambda m: m.sum(1, keepdim=True),),
    )
    yield Call("np.mean(x)", (x,), lambda np: np.mean, (lambda torch: torch.mean,))
    yield Call(
        "np.mean(m, axis=0)",
        (m,),
        lambda np: lambda m: np.mean(m, axis=0),
        (lambda _: lambda m: m.mean(0),),
    )
    largest = (lambda torch: torch.max, lambda torch: torch.amax)
    yield Call("np.max(x)", (x,), lambda np: np.max, largest)
    yield Call(
        "np.max(m, axis=1)",
        (m,),
        lambda np: lambda m: np.max(m, axis=1),
        (lambda _: lambda m: m.amax(1), lambda _: lambda m: m.max(1)[0]),
    )
    yield Call("np.prod(x)", (x,), lambda np: np.prod, (lambda torch: torch.prod,))
    yield Call(
        "np.var(x)", (x,), lambda np: np.var, (lambda torch: lambda x: torch.var(x, correction=0),)
    )
    yield Call(
        "np.std(x)", (x,), lambda np: np.std, (lambda torch: lambda x: torch.std(x, correction=0),)
    )
    yield Call(
        "np.linalg.norm(x)",
        (x,),
        lambda np: np.linalg.norm,
        (lambda torch: torch.linalg.vector_norm, lambda torch: torch.linalg.norm),
    )
    yield Call("np.cumsum(x)", (x,), lambda np: np.cumsum, (lambda _: lambda x: x.cumsum(0),))
    yield Call(
        "logsumexp by hand",
        (x,),
        logsumexp,
        (logsumexp, lambda torch: lambda x: torch.logsumexp(x, 0)),
    )


def products(x: Any, w: Any, m: Any) -> Iterator[Call]:
    v = x[:4]
    at = lambda _: lambda a, b: a @ b  # noqa: E731
    beside = lambda _: lambda v, m: m @ v  # noqa: E731
    yield Call("np.dot(x, w)", (x, w), lambda np: np.dot, (lambda torch: torch.dot, at))
    yield Call("x @ w", (x, w), at, (lambda torch: torch.dot, at))
    yield Call("m @ b, both traced", (m, m.T + 0.1), at, (at, lambda torch: torch.mm))
    yield Call("m @ v, both traced", (m, v), at, (at, lambda torch: torch.mv))
    yield Call("m @ v, m plain", (v,), beside, (beside,), (m,))
    yield Call("np.matmul(m, b)", (m, m.T + 0.1), lambda np: np.matmul, (lambda torch: torch.mm,))
    for words, inputs in (("ij,jk->ik", (m, m.T + 0.1)), ("i,i->", (x, w)), ("ij->j", (m,))):
        einsum = lambda namespace, words=words: lambda *xs: namespace.einsum(words, *xs)  # noqa: E731
        yield Call(f"np.einsum({words!r})", inputs, einsum, (einsum,))
    yield Call("np.outer(v, u)", (v, x[4:7]), lambda np: np.outer, (lambda torch: torch.outer,))


def shapes(x: Any, w: Any, m: Any) -> Iterator[Call]:
    yield Call(
        "np.reshape(x, (3, 4))",
        (x,),
        lambda np: lambda x: np.reshape(x, (3, 4)),
        (lambda _: lambda x: x.reshape(3, 4), lambda _: lambda x: x.view(3, 4)),
    )
    reshape = lambda _: lambda x: x.reshape(3, 4)  # noqa: E731
    yield Call("x.reshape(3, 4)", (x,), reshape, (reshape, lambda _: lambda x: x.view(3, 4)))
    turned = lambda _: lambda m: m.T  # noqa: E731
    yield Call("m.T", (m,), turned, (turned, lambda _: lambda m: m.t()))
    yield Call(
        "np.transpose(m)", (m,), lambda np: np.transpose, (turned, lambda _: lambda m: m.t())
    )
    yield Call(
        "np.ravel(m)",
        (m,),
        lambda np: np.ravel,
        (lambda torch: torch.ravel, lambda _: lambda m: m.view(-1)),
    )
    yield Call(
        "x[:, None]", (x,), lambda _: lambda x: x[:, None], (lambda _: lambda x: x.unsqueeze(1),)
    )
    yield Call(
        "np.concatenate([x, w])",
        (x, w),
        lambda np: lambda x, w: np.concatenate([x, w]),
        (lambda torch: lambda x, w: torch.cat([x, w]),),
    )
    yield Call(
        "np.stack([x, w])",
        (x, w),
        lambda np: lambda x, w: np.stack([x, w]),
        (lambda torch: lambda x, w: torch.stack([x, w]),),
    )


def reads(x: Any, m: Any) -> Iterator[Call]:
    places, mask = [1, 4, 4, 7], x > 1.0
    at = np.array(places)
    for name, given, index in (
        ("x[3]", x, 3),
        ("m[1, 2]", m, (1, 2)),
        ("m[1]", m, 1),
        ("x[2:9]", x, slice(2, 9)),
        ("x[1:]", x, slice(1, None)),
        ("m[:, 1:3]", m, (slice(None), slice(1, 3))),
    ):
        read = lambda _, index=index: lambda x: x[index]  # noqa: E731
        yield Call(name, (given,), read, (read,))
    yield Call(
        "x[[1, 4, 4, 7]]",
        (x,),
        lambda _: lambda x, at: x[places],
        (lambda _: lambda x, at: x[at], lambda torch: lambda x, at: torch.index_select(x, 0, at)),
        (at,),
    )
    read = lambda _: lambda x, at: x[at]  # noqa: E731
    select = lambda torch: lambda x, at: torch.index_select(x, 0, at)  # noqa: E731
    yield Call("x[an array of integers]", (x,), read, (read, select), (at,))
    masked = lambda torch: lambda x, at: torch.masked_select(x, at)  # noqa: E731
    yield Call("x[an array of booleans]", (x,), read, (read, masked), (mask,))

    def floats(_: Any) -> Callable:
        def f(x: Any) -> Any:
            y = x[0]
            for i in range(1, 12):
                y = y * x[i]
            return y

        return f

    def iterated(_: Any) -> Callable:
        def f(x: Any) -> Any:
            y = 1.0
            for number in x:
                y = y * number
            return y

        return f

    def unbound(_: Any) -> Callable:
        def f(x: Any) -> Any:
            first, *rest = x.unbind()
            for number in rest:
                first = first * number
            return first

        return f

    yield Call("twelve floats x[i], multiplied", (x,), floats, (floats, unbound))
    yield Call("for number in x, multiplied", (x,), iterated, (iterated, unbound))
    yield Call(
        "np.stack of three floats of x",
        (x,),
        lambda np: lambda x: np.stack([x[0], x[4], x[8]]),
        (lambda torch: lambda x: torch.stack([x[0], x[4], x[8]]),),
    )


def choices(x: Any, w: Any, rng: Any) -> Iterator[Call]:
    chosen = rng.uniform(size=12) > 0.5
    where = lambda namespace: lambda x, w, chosen: namespace.where(chosen, x, w)  # noqa: E731
    yield Call("np.where(chosen, x, w)", (x, w), where, (where,), (chosen,))
    positive = lambda namespace: lambda x: namespace.where(x > 1.0, x, 0.0)  # noqa: E731
    yield Call("np.where(x > 1, x, 0.0)", (x,), positive, (positive,))
    yield Call("np.maximum(x, w)", (x, w), lambda np: np.maximum, (lambda torch: torch.maximum,))
    yield Call(
        "np.maximum(x, 1.0)",
        (x,),
        lambda np: lambda x: np.maximum(x, 1.0),
        (lambda torch: lambda x: torch.clamp(x, min=1.0),),
    )
    yield Call(
        "np.clip(x, 0.8, 1.2)",
        (x,),
        lambda np: lambda x: np.clip(x, 0.8, 1.2),
        (lambda torch: lambda x: torch.clamp(x, 0.8, 1.2),),
    )


def elementwise(x: Any, w: Any, m: Any) -> Iterator[Call]:
    times = lambda _: lambda a, b: a * b  # noqa: E731
    yield Call("x * w", (x, w), times, (times,))
    yield Call("np.exp(x)", (x,), lambda np: np.exp, (lambda torch: torch.exp,))
    yield Call("x ** 2", (x,), lambda _: lambda x: x**2, (lambda _: lambda x: x**2,))
    yield Call("m * row", (m, m[0] + 0.1), times, (times,))
    yield Call("m * column", (m, m[:, :1] + 0.1), times, (times,))
    yield Call("x * number", (x, 0.7), times, (times,))
    yield Call("row * column", (m[0], m[:, :1] + 0.1), times, (times,))
    yield Call(
        "np.logaddexp(x, w)", (x, w), lambda np: np.logaddexp, (lambda torch: torch.logaddexp,)
    )


def linear_algebra(rng: Any) -> Iterator[Call]:
    a, b = rng.normal(size=(3, 3)) + 3.0 * np.eye(3), rng.normal(size=3)
    yield Call(
        "np.linalg.solve(a, b)",
        (a, b),
        lambda np: np.linalg.solve,
        (lambda torch: torch.linalg.solve,),
    )
    yield Call(
        "np.linalg.det(a)", (a,), lambda np: np.linalg.det, (lambda torch: torch.linalg.det,)
    )
    yield Call(
        "np.linalg.inv(a)", (a,), lambda np: np.linalg.inv, (lambda torch: torch.linalg.inv,)
    )
