"""``import_``: a function of JAX inside programs of NumPy code."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...config import ExchangeError, user_line
from ...rules import healed, name_of
from ...rules.rulesets.functions.foreign import Foreign, parts
from ...rules.tracing.funnel import as_imported
from .arguments import Held, building, kind_of, refuse_held
from .derivatives import is_inexact, jvp_of_moving, pull, pulled, pushed, vjp_of_moving


def import_(f: Callable, *, jit: bool = True) -> Callable:
    """Return the function ``f`` of JAX as one of NumPy code, with JAX's derivatives as its rules.

    It is evaluated and differentiated by JAX, to every order, wherever our transforms meet it.

    Parameters
    ----------
    f : callable
        Takes and returns numbers and arrays, also in tuples, lists, dicts and what else JAX knows
        as a pytree. Other arguments (text, functions) are handed on; they must be hashable. It is
        a function of its arguments alone, as JAX wants it.
    jit : bool, optional
        Whether JAX compiles it, once for each structure, shape and dtype of the arguments; without
        it ``f`` may branch on numbers, and each derivative takes about a millisecond.

    Returns
    -------
    callable
        With the arguments of ``f``; it gives NumPy's arrays, which show the memory of JAX's and
        are read-only. Where JAX itself calls it, it is ``f``.

    Raises
    ------
    TypeError
        If an argument or a result is no number or array that both libraries know.
    MissingDerivativeError
        If an integer argument is differentiated: JAX has no derivatives in integers.

    Notes
    -----
    JAX computes in 32 bits unless ``jax_enable_x64`` is set: results and derivatives then are of 32
    bits, whatever is put in. A function with a ``custom_vjp`` has forward mode here, which is the
    transpose of its pullback. Import a function once: what is compiled is kept for that one.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> import numpy as np
    >>> import chainrules as cr
    >>> from chainrules.interop.jax import import_
    >>> norm = import_(lambda x: jnp.sqrt(jnp.sum(x**2)))
    >>> cr.grad(lambda x: norm(np.sin(x)) ** 2)(np.array([0.0, np.pi / 4])).round(4)
    array([0., 1.])
    """
    if not callable(f):
        raise ExchangeError(f"import_ takes a function, not {type(f).__name__}.")
    known: dict[tuple, Imported] = {}

    @functools.wraps(f, updated=())
    def imported(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree.flatten((args, kwargs))
        leaves = [_taken(x) for x in leaves]
        if any(isinstance(x, jax.core.Tracer) for x in leaves):
            return f(*args, **kwargs)
        kinds = tuple(map(kind_of, leaves))
        try:
            function = known.get((tree, kinds))
        except TypeError:
            refuse_held(f, kinds)
            raise
        if function is None:
            refuse_held(f, kinds)
            function = known.setdefault((tree, kinds), Imported(f, jit, building(tree, kinds)))
        y = function.foreign(*[x for x, kind in zip(leaves, kinds) if type(kind) is not Held])
        return jax.tree.unflatten(function.structure, parts(y))

    return as_imported(imported)


def _taken(x: Any) -> Any:
    """Return ``x`` as NumPy has it: an array of JAX, or one of traced numbers, as an array."""
    if type(x) is np.ndarray:
        return healed(x) if x.dtype == object else x
    return np.asarray(x) if isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer) else x


class Imported:
    """``f`` as a function of arrays to a tuple of arrays, for one signature: what JAX traces."""

    __slots__ = ("__weakref__", "build", "f", "foreign", "structure")

    def __init__(self, f: Callable, jit: bool, build: Callable) -> None:
        self.f, self.build = f, build
        self.foreign = foreign_of(name_of(f), self, jit)
        self.structure: Any = None  # until JAX has traced it

    def __call__(self, *xs: Any) -> tuple:
        args, kwargs = self.build(xs)
        ys, structure = jax.tree.flatten(self.f(*args, **kwargs))
        ys = [jnp.asarray(y) for y in ys]
        if self.structure is None:
            self.structure = structure
        elif self.structure != structure:
            raise ExchangeError(
                f"{name_of(self.f)} returned {structure}, and {self.structure} for other numbers "
                f"of the same shapes and dtypes, in {user_line()}.\n"
                "  let its result have one structure, whatever the values are"
            )
        for y in ys:
            if np.dtype(y.dtype).kind not in "fciub":
                raise ExchangeError(
                    f"{name_of(self.f)} returned an array of dtype {y.dtype}, which NumPy does not "
                    f"know, in {user_line()}.\n  return y.astype(jnp.float32)"
                )
        return tuple(ys)


def foreign_of(name: str, g: Callable, jit: bool) -> Foreign:
    """Return the foreign function of ``g``, which JAX traces, from arrays to a tuple of arrays."""
    compiled = jax.jit if jit else _with_arrays
    run = compiled(g)
    forward = compiled(lambda *xs: vjp_of_moving(g, xs))
    # A pullback of JAX is a pytree, so that compiled code takes and returns it, residuals and all.
    backward = jax.jit(pull) if jit else pull
    both = compiled(lambda xs, dots: jvp_of_moving(g, xs, dots))

    def vjp(*xs: Any) -> tuple[Any, Callable]:
        # Until it is ready, JAX may read from NumPy's arrays, to which the user may write then.
        ys, pullback = jax.block_until_ready(forward(*xs))
        dtypes = [y.dtype for y in ys if is_inexact(y)]

        def pullback_of_numpy(*bars: Any) -> tuple:
            fitting = [
                bar if getattr(bar, "dtype", None) == dtype else np.asarray(bar, dtype)
                for bar, dtype in zip(bars, dtypes, strict=True)
            ]
            return as_numpy(backward(pullback, tuple(fitting)))

        return one_or_all(as_numpy(ys)), pullback_of_numpy

    def jvp(xs: tuple, dots: tuple) -> tuple[Any, tuple]:
        ys, ydots = both(xs, dots)
        return one_or_all(as_numpy(ys)), as_numpy(ydots)

    return Foreign(
        name,
        run=lambda *xs: one_or_all(as_numpy(run(*xs))),
        vjp=vjp,
        jvp=jvp,
        push=lambda n: foreign_of(f"the pushforward of {name}", pushed(g, n), jit),
        pull=lambda n: foreign_of(f"the pullback of {name}", pulled(g, n), jit),
    )


def _with_arrays(g: Callable) -> Callable:
    """Return ``g`` for arrays of JAX, as compiled functions have them."""
    return lambda *args: g(*jax.tree.map(jnp.asarray, args))


def as_numpy(ys: tuple) -> tuple:
    """Return arrays that show the memory of JAX's, and numbers."""
    found = map(np.asarray, ys)
    return tuple([y[()] if y.ndim == 0 else y for y in found])


def one_or_all(ys: tuple) -> Any:
    """Return one result by itself: most often there is one, and a tape is quicker with it."""
    return ys[0] if len(ys) == 1 else ys
