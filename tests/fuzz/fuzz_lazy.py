"""Programs on arrays of dask, beside the same programs on NumPy's."""

import functools
import importlib.util

import numpy as np
from fuzz_oracle import CHECKS, Failure, Refused, attempt, expect
from fuzz_program import Program
from fuzz_settings import table
from fuzz_values import literals
from hypothesis import strategies as st

import chainrules as cr

EXPRESSIONS = """
{a} * {b}|{a} + {b}|{a} - 0.5 * {b}|{a} / (2.0 + {b} ** 2)|np.sin({a})|np.exp(-{a})|np.tanh({a})
np.sqrt({a} ** 2 + 1.0)|np.where({a} > 0.9, {a} ** 2, {b})|np.maximum({a}, {b})
np.clip({a}, 0.4, 1.2)
{a}.T|{a}[::-1]|{a}[1:]|{a}[..., 0]|{a}[:, None] * {b}[None]|{a}.reshape(-1)|{a}.ravel()
np.sum({a}, axis={k})|np.mean({a}, axis={k}, keepdims=True)|np.max({a}, axis={k})|{a}.sum(axis={k})
np.prod({a}, axis={k})|np.std({a}, axis={k})|np.var({a}, axis={k})|np.cumsum({a}, axis={k})
np.concatenate([{a}, {b}], axis={k})|np.stack([{a}, {b}])|np.transpose({a})|np.dot({a}, {b})
{a} @ {b}|np.tensordot({a}, {b}, 1)|np.diff({a}, axis={k})|np.roll({a}, 1, axis={k})|np.flip({a}, 0)
np.broadcast_to({a}, (2, *{a}.shape))|np.expand_dims({a}, 0)|np.squeeze({a})
np.repeat({a}, 2, axis={k})
np.einsum("...i,...i->...", {a}, {b})|np.swapaxes({a}, 0, -1)|np.moveaxis({a}, 0, -1)
np.abs({a} - 0.8)
{a} * np.sum({b})|np.linalg.norm({a})|np.outer({a}, {b})|{a}.astype(float)|np.min({a}) * {b}
np.take({a}, [0, -1], axis={k})|{a}[[0, -1]]|np.pad({a}, 1)|np.tile({a}, 2)|np.log1p({a} ** 2)|-{a}
np.vstack([{a}, {b}])|np.average({a}, axis={k})|np.trace({a})|np.diagonal({a})
np.cumprod({a}, axis={k})
np.hypot({a}, {b})|np.nansum({a}, axis={k})|np.ptp({a}, axis={k})|np.tril({a})|np.power({a}, 3)
"""


@st.composite
def programs(draw):
    shape = draw(st.sampled_from([(4,), (4,), (2, 3), (3, 2), (3, 3)]))
    chunks = tuple(draw(st.integers(1, n)) for n in shape)
    given = [("x", f"np.array({draw(literals(shape))})")]
    body, names = [], ["x"]
    if draw(st.booleans()):
        given.append(("y", f"np.array({draw(literals(shape))})"))
        names.append("y")
    for name in "abcde"[: draw(st.integers(1, 5))]:
        words = draw(st.sampled_from(table(EXPRESSIONS)))
        a, b = (draw(st.sampled_from(names[-3:])) for _ in range(2))
        body.append(f"{name} = {words.format(a=a, b=b, k=draw(st.sampled_from(['0', '-1'])))}")
        names.append(name)
    weights = draw(st.sampled_from(["{0} ** 2", "np.sin({0})", "{0}"])).format(names[-1])
    result = f"np.sum({weights}) + 0.3 * np.mean(x ** 2)"
    return Program(tuple(given), tuple(body), result, (f"chunks = {chunks}",), "lazy")


def on_dask(program):
    import dask.array as da

    f, inputs = program.build()
    chunks = eval(program.setup[0].partition("=")[2])
    return f, [da.from_array(x, chunks=chunks) for x in inputs]


def computed(x):
    return np.asarray(x.compute() if hasattr(x, "compute") else x)


def value_and_gradients(program, f, inputs):
    y, xbars = cr.value_and_grad(f, argnums=tuple(range(len(inputs))))(*inputs)
    return [computed(y), *map(computed, xbars)]


def along(program, f, inputs):
    return [computed(part) for part in cr.jvp(f, tuple(inputs), tuple(inputs))]


def linearized(program, f, inputs):
    return [computed(cr.linearize(f, *inputs)[1](*inputs))]


def curved(program, f, inputs):
    products = cr.hvp(f, tuple(inputs), tuple(inputs))
    return [*map(computed, products if isinstance(products, tuple) else (products,))]


MODES = {"grad": value_and_gradients, "jvp": along, "linearize": linearized, "hvp": curved}


def lazy(program):
    """Each mode on dask gives what it gives on NumPy, where dask itself runs the program."""
    if importlib.util.find_spec("dask") is None:
        return
    import dask

    with dask.config.set(scheduler="synchronous"):
        try:
            f, inputs = program.build()
            expected = f(*inputs)
            f, lazily = on_dask(program)
            if not np.allclose(computed(f(*lazily)), expected, rtol=1e-9):
                return
        except Exception:
            return
        for name, mode in MODES.items():
            try:
                f, inputs = program.build()
                right = attempt(f"{name} on NumPy", functools.partial(mode, program, f, inputs))
                f, lazily = on_dask(program)
                found = attempt(f"{name} on dask", functools.partial(mode, program, f, lazily))
                for a, b in zip(right, found, strict=True):
                    expect(f"{name} on dask", a, b, 1e-8)
            except Refused:
                pass
            except Failure as failure:
                yield failure


CHECKS["lazy"] = lazy
