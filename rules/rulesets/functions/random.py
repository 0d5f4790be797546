"""Samples of ``np.random`` as functions of their parameters, along the path.

The random numbers that a sample is made of do not depend on its parameters: drawn once more from
where the generator stood, without parameters, they give the sample by a formula, and its slope.
"""

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ....config import LostDerivativeError, user_line
from ... import StandIn, TracedArray, buffer, innermost, value, with_values


def shifted(noise, loc=0.0, scale=1.0):
    return loc + scale * noise


def scaled(noise, scale=1.0):
    return scale * noise


def between(noise, low=0.0, high=1.0):
    return low + (high - low) * noise


def lognormal(noise, mean=0.0, sigma=1.0):
    return np.exp(mean + sigma * noise)


def weibull(noise, a):
    return noise ** (1 / a)


def pareto(noise, a):
    return np.expm1(noise / a)


def power(noise, a):
    return (-np.expm1(-noise)) ** (1 / a)


# By the method that draws with parameters: the one that draws without, and the formula.
SAMPLES: dict[str, tuple[str, Callable]] = {
    "normal": ("standard_normal", shifted),
    "laplace": ("laplace", shifted),
    "logistic": ("logistic", shifted),
    "gumbel": ("gumbel", shifted),
    "uniform": ("random", between),
    "exponential": ("standard_exponential", scaled),
    "rayleigh": ("rayleigh", scaled),
    "lognormal": ("standard_normal", lognormal),
    "weibull": ("standard_exponential", weibull),
    "pareto": ("standard_exponential", pareto),
    "power": ("standard_exponential", power),
}


PLAIN = frozenset({float, int, tuple, np.float64, np.ndarray})


def seeing(name: str, draw: Callable) -> Callable:
    """Return ``draw(generator, ...)``, a method of this name, which sees traced parameters."""
    without, formula = SAMPLES[name]
    *_, last = inspect.signature(formula).parameters.values()
    named = inspect.Parameter("size", last.kind, default=None)
    parameters = list(inspect.signature(formula).parameters.values())[1:]
    signature = inspect.Signature([*parameters, named])

    @functools.wraps(draw)
    def drawn(generator: Any, *args: Any, **kwargs: Any) -> Any:
        for x in args:
            if type(x) not in PLAIN:
                break
        else:
            if not kwargs:  # so it is nearly always: at once
                return buffer(draw(generator, *args))
        if innermost((*args, *kwargs.values())) is None:
            return buffer(draw(generator, *args, **kwargs))
        given = signature.bind(*args, **kwargs).arguments
        given.pop("size", None)
        twin = copy.deepcopy(generator)
        own = draw(generator, *value(args), **value(kwargs))
        y = formula(getattr(twin, without)(size=np.shape(own) or None), **given)
        if not np.allclose(value(y), own, rtol=1e-6, atol=1e-12, equal_nan=True):
            raise LostDerivativeError(
                f"{name} drew other numbers when it drew once more, in {user_line()}.\n"
                "  is the generator used by another thread meanwhile? give each its own"
            )
        return with_values(y, own)

    return drawn


# Methods that have no such parameters; the arrays that they make may be written to all the same.
DRAWN = (
    "rand", "randn", "random", "random_sample", "standard_normal", "standard_exponential",
    "standard_gamma", "standard_t", "standard_cauchy", "beta", "gamma", "chisquare", "choice",
)  # fmt: skip
# Methods that put the entries of an array in another order.
ORDERS = ("permutation", "permuted", "shuffle")


def filled(draw: Callable) -> Callable:
    """Return ``draw``, of which the arrays take traced values."""

    @functools.wraps(draw)
    def drawn(*args: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out")
        if out is None:
            return buffer(draw(*args, **kwargs))
        if innermost((out,)) is None:
            return draw(*args, **kwargs)
        out[...] = draw(*args, **{"size": np.shape(out)} | kwargs | {"out": None})
        return out

    return drawn


def ordering(name: str, draw: Callable) -> Callable:
    """Return ``draw(generator, x, ...)``, which orders the places of the entries of ``x``.

    Which numbers the entries are plays no part in how NumPy orders them.
    """

    @functools.wraps(draw)
    def drawn(generator: Any, x: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        given = kwargs if out is None else {**kwargs, "out": out}
        if not isinstance(x, TracedArray) and not isinstance(out, TracedArray):
            y = draw(generator, x, *args, **given)
            return y if name == "shuffle" or out is not None else buffer(y)
        numbers = np.arange(np.size(x)).reshape(np.shape(x))
        ordered = draw(generator, numbers, *args, **kwargs)
        places = numbers if name == "shuffle" else ordered
        y = np.take(np.ravel(x), places)
        target = x if name == "shuffle" else out
        if target is None:
            return y
        target[...] = y
        return None if name == "shuffle" else out

    return drawn


def _class(cls: type) -> Any:
    methods: dict = {name: seeing(name, getattr(cls, name)) for name in SAMPLES}
    methods |= {name: filled(getattr(cls, name)) for name in DRAWN if hasattr(cls, name)}
    methods |= {name: ordering(name, getattr(cls, name)) for name in ORDERS if hasattr(cls, name)}
    methods |= {"original": cls, "__doc__": cls.__doc__, "__module__": "chainrules.numpy.random"}
    return StandIn(cls.__name__, (cls,), methods)


Generator, RandomState = _class(np.random.Generator), _class(np.random.RandomState)


@functools.wraps(np.random.default_rng)
def default_rng(seed: Any = None) -> Any:
    return seen(np.random.default_rng(seed))


def seen(generator: Any) -> Any:
    """Return a generator that draws from the same stream, and sees traced parameters."""
    plain = type(generator) is np.random.Generator
    return Generator(generator.bit_generator) if plain else generator


def of_the_module(name: str, see: Callable) -> Callable:
    """Return a function of ``np.random``, which draws from one state for the whole process."""
    draw = getattr(np.random, name)
    drawn = see(name, lambda state, *args, **kwargs: draw(*args, **kwargs))

    @functools.wraps(draw)
    def draws(*args: Any, **kwargs: Any) -> Any:
        return drawn(draw.__self__, *args, **kwargs)

    return draws


INSTEAD: dict[str, Any] = {name: of_the_module(name, seeing) for name in SAMPLES}
INSTEAD |= {name: of_the_module(name, ordering) for name in ORDERS if hasattr(np.random, name)}
INSTEAD |= {name: filled(getattr(np.random, name)) for name in DRAWN if hasattr(np.random, name)}
INSTEAD |= {"Generator": Generator, "RandomState": RandomState, "default_rng": default_rng}
REFUSED: dict[str, tuple[str, str]] = {}
