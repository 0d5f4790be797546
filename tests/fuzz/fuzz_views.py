"""Programs of views, writes and reads."""

import numpy as np
from fuzz_indices import indices
from fuzz_settings import table
from fuzz_values import Scope, inputs, literals
from hypothesis import strategies as st

ELEMENTWISE = """
{x} * 0.7|{x} + 0.0|-{x}|{x} - 1.0|+{x}|np.sin({x})|np.tanh({x})|{x} * {x}|{x} ** 2|np.arctan({x})
{x} / (2.5 + {x} * {x})|{x} * {y}|{x} + {y}|np.where({x}.real > 0.9, np.sin({x}), {x} * {x})
np.float32(2) * {x}
np.exp(-{x})|np.square({x})|np.array([1.5]) * {x}|np.multiply({x}, True)|np.ones(3) * {x}
"""
VIEWS = """
{x}.T|np.transpose({x})|{x}.reshape(-1)|np.reshape({x}, (-1, 1))|{x}.reshape(-1, order="F")
{x}.ravel()
np.ravel({x})|{x}.ravel("K")|{x}.swapaxes(0, -1)|{x}.real|np.real({x})|{x}.imag|np.imag({x})
np.diagonal({x})|{x}.diagonal()|np.diag({x})|np.asarray({x})|np.ascontiguousarray({x})
np.asfortranarray({x})
np.require({x}, requirements="C")|np.array({x}, copy=None)|np.atleast_1d({x})|np.atleast_2d({x})
{x}.conj()|{x}.conjugate()|np.conj({x})|np.lib.stride_tricks.sliding_window_view({x}, 2, axis=-1)
np.lib.stride_tricks.sliding_window_view({x}, {x}.shape)
np.split({x}, 2)[0]|np.split({x}, [1], axis=-1)[-1]|np.array_split({x}, 2)[1]
np.broadcast_to({x}, (2, *{x}.shape))
np.broadcast_arrays({x}, {y})[0]|np.squeeze({x})|{x}.squeeze()|np.expand_dims({x}, 0)
np.moveaxis({x}, 0, -1)
np.flip({x})|np.flipud({x})|np.fliplr({x})|np.rot90({x})|{x}.view()|np.nan_to_num({x}, copy=False)
{x}.astype(float, copy=False)|{x}.astype({x}.dtype, copy=False)|list({x})[0]|np.unstack({x})[-1]
{x}[()]
np.permute_dims({x})|np.matrix_transpose({x})|{x}.mT|np.rollaxis({x}, -1)|np.real_if_close({x})
np.meshgrid({x}, {x}, copy=False)[0]|next({x}.flat)|{x}.item(0)|np.trim_zeros({x})
np.asanyarray({x})
np.asarray_chkfinite({x})|np.vsplit({x}, 2)[0]|np.tril({x})|np.triu({x}, 1)
max({x}.reshape(-1), key=float)|np.einsum("i...->...i", {x})|np.einsum("...", {x})
"""
COPIES = """
{x}.copy()|{x}.copy(order="F")|{x}.copy(order="K")|np.copy({x})|np.copy({x}, order="C")
{x}.flatten()|{x}.T.copy()
np.array({x})|np.array({x}, order="F")|{x}.astype(float)|np.roll({x}, 1)
np.concatenate([{x}, {x}])|np.stack([{x}, {y}])
np.stack([{x}, {x}], axis=-1)|np.choose(0, [{x}, {y}])|np.take({x}, [0, -1], axis=0)|np.sort({x})
np.gradient({x}, axis=0)
np.cumsum({x}, axis=0)|np.tile({x}, 2)|np.outer({x}, {x})|{x} @ {x}
np.zeros_like({x})
np.ones_like({x}) * {x}|np.full({x}.shape, {x})|np.repeat({x}, 2)|np.delete({x}, 0, axis=0)
np.clip({x}, -5.0, 5.0)
np.quantile({x}, [0.2, 0.6], axis=0)|np.asarray([{x}, {x} * 1j]).imag|np.asarray({x} * 1j).imag
np.vectorize(lambda t: t * t)({x})
np.piecewise({x}, [{x} > 0.9], [lambda t: t * t, lambda t: 2 * t])
np.choose(np.array([0, 1]), [{x}, {y}])|np.select([{x} > 0.9], [{x} * {x}], {x})

np.full_like({x}, 2.0) * {x}|np.fmax({x}, {y} - 9.0)|np.einsum("...i->...", {x})
"""
REDUCTIONS = """
np.sum({x})|np.mean({x})|np.sum({x}, axis=0)|{x}.max()|np.trace({x})|{x}.sum(-1)
np.mean({x}, axis=0, keepdims=True)
np.add.reduce({x}, axis=0)|np.prod({x})|np.linalg.norm({x})|np.multiply.reduce({x})
np.vdot({x}, {x})|np.var({x})
"""
HANDED_OUT = "cr.value({x})|cr.stop_gradient({x})"
OURS = """
cr.checkpoint(lambda t: np.sin(t) * {y})({x})|cr.checkpoint(lambda t: t * t)({x})
cr.map(lambda t: t * np.sum({y}), {x})
cr.reduce(lambda p, q: p + q, {x})|cr.map(lambda t: t * 2.0, {x})
cr.reduce(lambda p, q: p * q, {x})
cr.accumulate(lambda p, q: p + q, {x})|cr.array([{x}, {y}])|cr.checkpoint(lambda t: t + {y})({x})
cr.jvp(lambda t: np.sin(t) * {y}, ({x},), ({x},))[1]|cr.grad(lambda t: np.sum(t * t * {y}))({x})
cr.linearize(lambda t: np.tanh(t), np.asarray({x}))[1](np.asarray({x}))
cr.vjp(lambda t: t * {y}, {x})[1]({x})[0]
cr.value_and_grad(lambda t, s: np.sum(t * t) * np.sum(s), argnums=1)({y}, {x})[1]
cr.vjp(lambda t: np.sum(t) * {y}, {x})[1]({y})[0]|cr.jacobian(lambda t: t * np.sum({y}))({x})
cr.jvp(lambda t: np.sum(t) * np.ones_like(t), ({x},), ({y},))[1]
cr.hvp(lambda t: np.sum(t) * np.sum(t * {y}), ({x},), ({x},))
cr.hessian(lambda t: np.sum(t) ** 2)({x})|cr.jacrev(lambda t: np.sum(t))({x})
cr.linearize(lambda t: t + np.sum(t), {x})[1]({x})
"""
WRITES = """
{x}[{i}] = {v}|{x}[{i}] = {v}|{x}[{i}] *= 1.5|{x}[{i}] += {y}|{x}[{i}] = {y}[{i}]|{x} *= 1.5
{x} += {y}|{x} -= 0.1|{x}[...] = {y}
np.put({x}, [0], {v})|np.copyto({x}, {y})|np.copyto({x}, {y}, where={x}.real > 0.9)
np.add.at({x}, ([0],), {v})
np.put_along_axis({x}, np.argsort({x}.real, axis=0)[:1], {v}, axis=0)
np.put_along_axis({x}, np.zeros((1,) * {x}.ndim, int), {v}, axis=0)
{x}.fill({v})|{x}.flat[0] = {v}|{x}.flat = {v}|np.fill_diagonal({x}, {v})
np.place({x}, {x} > 0.9, [{v}])
np.putmask({x}, {x} > 0.9, {v})|{x}.sort()|np.random.default_rng(0).shuffle({x})
np.multiply({x}, {y}, out={x})
np.add({x}, 1.0, out={x})|{x}.real = {v}|{x}.real[...] = {v}|{x}.imag[...] = {v}
np.negative({x}, out={x}, where={x}.real > 0.9)
{x}.T[{i}] = {v}|{x}.reshape(-1)[0] = {v}|{x}.ravel()[0] = {v}|{x}[None][...] = {v}
np.asarray({x})[...] = {v}|np.add.at(np.asarray({x}), ([0],), 1.5)
np.negative.at(np.asarray({x}), ([0],))|np.multiply.at(np.ravel(np.asarray({x})), [0], 1.5)
np.subtract.at({x}, ([0],), {y})|{x}[::-1] = {x}.copy()|{x}[:1], {x}[1:] = {v}, {y}
np.clip({x}, 0.5, 1.0, out={x})
np.cumsum({x}, axis=0, out={x})|{x}[{i}], keep = {v}, {x}[{i}]|{x}.partition(0)
np.real({x})[...] = {v}|{x}.put([0], {v})
"""


# What most programs are made of; the rest of the tables is met once in a while.
PLAIN = """
{x} * 0.7|{x} + 0.0|-{x}|{x} - 1.0|{x} * {x}|np.sin({x})|{x} * {y}|{x}.T|{x}.reshape(-1)
{x}.ravel()|{x}[...]|{x}[0]|{x}[:1]
{x}.copy()|{x}[::-1]|{x}.T.reshape(-1)|{x}.T + 0.0|({x} * {x}).reshape(-1)|np.tanh({x}).T
{x}[None]|{x}[-1:]|{x}[..., 0]
"""
PLAIN_WRITES = """
{x}[{i}] = {v}|{x}[{i}] *= 1.5|{x}[{i}] += {y}|{x} *= 1.5|{x} += {y}|{x}[0] = {v}|{x}[[0]] = {v}
{x}[:1] *= 3.0|{x}[...] = {v}
{x}.reshape(-1)[0] = {v}|{x}.T[0] = {v}|{x} -= 0.1
"""


NEW = [*table(ELEMENTWISE), *table(VIEWS), *table(VIEWS), *table(COPIES)]
RARE = [*table(REDUCTIONS), *table(HANDED_OUT), *table(HANDED_OUT), *table(OURS)]
WRITTEN = table(WRITES)


@st.composite
def expressions(draw, scope, names):
    """An expression in one variable or two, at times a view of a new value."""
    x, y = draw(st.sampled_from(names)), draw(st.sampled_from(scope.names))
    kind = draw(st.integers(0, 9))
    if kind < 2 and np.ndim(scope[x]):
        basic = draw(st.integers(0, 3)) > 0
        return f"{x}[{draw(indices(np.shape(scope[x]), basic=basic))}]"
    pool = table(PLAIN) if kind < 6 else RARE if kind == 9 else NEW
    return draw(st.sampled_from(pool)).format(x=x, y=y)


@st.composite
def written(draw, scope):
    """A line that writes into an array, or through a view of it."""
    x = draw(st.sampled_from(scope.arrays() or scope.names))
    y = draw(st.sampled_from(scope.names))
    v = draw(st.sampled_from(["0.0", "1.46", "-0.08", f"np.sum({y})", y]))
    if v == y and np.size(scope[x]) == np.size(scope[y]) == 1:
        v = "1.46"  # arrays of objects that hold themselves end the process, in plain NumPy too
    line = draw(st.sampled_from(table(PLAIN_WRITES) if draw(st.booleans()) else WRITTEN))
    i = draw(indices(np.shape(scope[x]), basic=draw(st.booleans()))) if "{i}" in line else ""
    return line.format(x=x, y=y, v=v, i=i)


@st.composite
def results(draw, scope):
    """A sum over several variables, so that each meets its cotangent, or one of them."""
    if draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(scope.names)) + draw(st.sampled_from([" * 1.0", " ** 2", ""]))
    if draw(st.integers(0, 3)) == 0:
        chosen = draw(st.lists(st.sampled_from(scope.names), min_size=1, max_size=3))
        return "np.concatenate([" + ", ".join(f"np.ravel({n})" for n in chosen) + "])"
    terms = []
    for name in draw(st.lists(st.sampled_from(scope.names), min_size=1, max_size=4)):
        name = name + draw(st.sampled_from(["", "", ".T"] if name in scope.arrays() else [""]))
        weights = draw(literals(np.shape(scope.evaluate(name))))
        terms.append(
            draw(
                st.sampled_from(
                    [
                        f"np.sum({name} * {name})",
                        f"np.sum({name} * {weights})",
                        f"np.sum({name} * {weights})",
                        f"np.mean({name}) ** 2",
                    ]
                )
            )
        )
    return " + ".join(terms)


@st.composite
def programs(draw):
    given = [("x", draw(inputs()))]
    kind = draw(st.integers(0, 15))
    if kind < 5:
        given.append(("y", "x" if kind == 0 else draw(inputs())))
    scope = Scope(given)
    for _ in range(draw(st.integers(2, 9))):
        if draw(st.integers(0, 2)):
            name = scope.fresh()
            # What was made last is used most: chains are longer then.
            names = scope.names if draw(st.booleans()) else scope.names[-2:]
            scope.add(f"{name} = {draw(expressions(scope, names))}", name)
        else:
            scope.add(draw(written(scope)))
    return scope.program(draw(results(scope)), check="agree" if kind else "value")
