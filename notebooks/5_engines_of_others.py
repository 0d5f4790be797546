# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Engines of others: JAX, PyTorch and autograd behind one rule
#
# A rule for a function of functions asks for derivatives through the configuration that it is
# handed ([notebook 3](3_map_and_reduce_that_call_back.ipynb)). It knows of neither dual numbers
# nor tapes. So it should serve engines that do not know of it: those of JAX, PyTorch and
# autograd. Each becomes a configuration of some twenty lines here, and the library's rules of
# `map` and `reduce`, and a rule written here, differentiate through all three.
#
# The notebook needs JAX and autograd. What is about PyTorch runs where that is installed.

# %%
import autograd
import autograd.numpy as anp
import jax
import jax.numpy as jnp
import numpy as np

import chainrules as cr
from chainrules.rules import as_structured

jax.config.update("jax_enable_x64", True)

# %% [markdown]
# ## JAX
#
# An engine first asks whether somebody has a rule, and differentiates by itself where there is
# none. `jax.jvp` is `frule_via_ad` and `jax.vjp` is `rrule_via_ad`, but for two things. A rule may
# hand over a symbolic zero, of which `as_structured` makes an array; and results leave as arrays
# of NumPy, so that the rule, which is NumPy code, may do with them what it likes.


# %%
class JaxConfig(cr.RuleConfig, cr.HasForwardsMode, cr.HasReverseMode):
    def frule_via_ad(self, tangents, f, *args):
        answer = cr.frule(self, tangents, f, *args)
        if answer is not None:
            return answer
        dots = tuple(as_structured(x, xdot) for x, xdot in zip(args, tangents[1:]))
        y, ydot = jax.jvp(f, args, dots)
        return np.asarray(y), np.asarray(ydot)

    def rrule_via_ad(self, f, *args):
        answer = cr.rrule(self, f, *args)
        if answer is not None:
            return answer
        y, pullback = jax.vjp(f, *args)

        def jax_pullback(ybar):
            xbars = pullback(jnp.asarray(ybar, y.dtype))
            return cr.NoTangent(), *map(np.asarray, xbars)

        return np.asarray(y), jax_pullback


# %% [markdown]
# The energy of a chain of springs, written for JAX. Our rule of `map` applies it to each row of an
# array, and calls back into `jax.vjp` for each.


# %%
def energy(xp):
    return lambda row: xp.sum((row[1:] - row[:-1]) ** 2) + xp.sum(xp.cos(row))


no = cr.NoTangent()
rows = np.linspace(-1.0, 1.0, 12).reshape(3, 4) ** 3
weights = np.array([1.0, -2.0, 0.5])

y, pullback = cr.rrule_via_ad(JaxConfig(), cr.map, energy(jnp), rows)
_, _, rows_bar = pullback(weights)

# What our own engines make of the same, written for NumPy.
expected_y, expected = cr.vjp(lambda rows: cr.map(energy(np), rows), rows)
expected_bar = expected(weights)[0]

assert np.allclose(expected_y, y)
assert np.allclose(expected_bar, rows_bar)
print(cr.which(cr.rrule, JaxConfig(), cr.map, energy(jnp), rows))

# %% [markdown]
# Forwards it is `jax.jvp`, for the same function:

# %%
y, ydot = cr.frule_via_ad(JaxConfig(), (no, no, rows_bar), cr.map, energy(jnp), rows)

assert np.allclose(np.sum(weights * ydot), np.sum(rows_bar**2))
ydot

# %% [markdown]
# ## autograd
#
# autograd's forward mode has fewer rules than its reverse mode, so its configuration promises the
# one only. That is what traits are for: a rule that asks for the other does not exist for it.


# %%
class AutogradConfig(cr.RuleConfig, cr.NoForwardsMode, cr.HasReverseMode):
    def rrule_via_ad(self, f, *args):
        answer = cr.rrule(self, f, *args)
        if answer is not None:
            return answer
        pullback, y = autograd.make_vjp(f, tuple(range(len(args))))(*args)
        return y, lambda ybar: (cr.NoTangent(), *pullback(ybar))


y, pullback = cr.rrule_via_ad(AutogradConfig(), cr.map, energy(anp), rows)

assert np.allclose(expected_y, y)
assert np.allclose(expected_bar, pullback(weights)[2])

# %% [markdown]
# Of numbers in a row our library has two rules of `map`. One pushes a slope through each call and
# keeps no pullback; it asks for both modes. JAX is given that one, autograd the other:

# %%
xs = np.array([0.3, 0.7, 1.1])


def bump(xp):
    return lambda x: xp.exp(-x * x) * xp.sin(3 * x)


for config, xp in ((JaxConfig(), jnp), (AutogradConfig(), anp)):
    print(cr.which(cr.rrule, config, cr.map, bump(xp), xs))
    _, pullback = cr.rrule_via_ad(config, cr.map, bump(xp), xs)
    slopes = cr.grad(lambda xs: np.sum(cr.map(bump(np), xs)))(xs)
    assert np.allclose(slopes, pullback(np.ones(3))[2])

assert "map_numbers_rrule" in cr.which(cr.rrule, JaxConfig(), cr.map, bump(jnp), xs)
assert cr.frule(AutogradConfig(), (no, no, xs), cr.map, bump(anp), xs) is None

# %% [markdown]
# ## PyTorch
#
# `torch.func` has the same two functions; what crosses the border are tensors. (The next cell does
# something where PyTorch is installed. The output in this notebook is from such a machine; where
# the notebook is checked with every change, PyTorch is not installed.)

# %%
try:
    import torch
except ModuleNotFoundError:
    torch = None


class TorchConfig(cr.RuleConfig, cr.HasForwardsMode, cr.HasReverseMode):
    def frule_via_ad(self, tangents, f, *args):
        answer = cr.frule(self, tangents, f, *args)
        if answer is not None:
            return answer
        dots = [as_structured(x, xdot) for x, xdot in zip(args, tangents[1:])]
        y, ydot = torch.func.jvp(f, tuple(map(torch.tensor, args)), tuple(map(torch.tensor, dots)))
        return y.numpy(), ydot.numpy()

    def rrule_via_ad(self, f, *args):
        answer = cr.rrule(self, f, *args)
        if answer is not None:
            return answer
        y, pullback = torch.func.vjp(f, *map(torch.tensor, args))

        def torch_pullback(ybar):
            xbars = pullback(torch.tensor(ybar, dtype=y.dtype))
            return cr.NoTangent(), *(xbar.numpy() for xbar in xbars)

        return y.detach().numpy(), torch_pullback


if torch is not None:
    y, pullback = cr.rrule_via_ad(TorchConfig(), cr.map, energy(torch), rows)
    assert np.allclose(expected_y, y)
    assert np.allclose(expected_bar, pullback(weights)[2])
    _, slopes = cr.frule_via_ad(TorchConfig(), (no, no, rows_bar), cr.map, energy(torch), rows)
    assert np.allclose(ydot, slopes)
    print("PyTorch", torch.__version__.partition("+")[0], "agrees")

# %% [markdown]
# ## Loops that carry something
#
# `reduce` calls a step again and again, with what the last one returned. In its rule the
# cotangent of the carried value goes back through the pullbacks of the steps, last to first,
# whoever made them.


# %%
def step(xp):
    return lambda carry, x: 0.9 * carry + xp.tanh(carry * x)


engines = [(JaxConfig(), jnp), (AutogradConfig(), anp)]
if torch is not None:
    engines.append((TorchConfig(), torch))

expected_xsbar = cr.grad(lambda xs: cr.reduce(step(np), xs, 0.5))(xs)
for config, xp in engines:
    y, pullback = cr.rrule_via_ad(config, cr.reduce, step(xp), xs, 0.5)
    _, _, xsbar, _ = pullback(1.0)
    assert np.allclose(expected_xsbar, xsbar)
expected_xsbar

# %% [markdown]
# ## A rule of one's own
#
# The mean of $f$ over a cloud of points around $x$: written once, for whoever differentiates $f$.


# %%
@cr.primitive
def blurred(f, x, offsets):
    return np.mean([f(x + offset) for offset in offsets], axis=0)


@cr.rrule.register(blurred)
def blurred_rrule(config: cr.HasReverseMode, blurred, f, x, offsets):
    ys, pullbacks = zip(*[cr.rrule_via_ad(config, f, x + offset) for offset in offsets])

    def blurred_pullback(ybar):
        xbars = [pullback(ybar / len(offsets))[1] for pullback in pullbacks]
        return no, no, sum(xbars), no

    return np.mean(ys, axis=0), blurred_pullback


offsets = 0.1 * np.random.default_rng(0).normal(size=(5, 4))
expected = cr.grad(lambda x: blurred(energy(np), x, offsets))(rows[0])
for config, xp in engines:
    _, pullback = cr.rrule_via_ad(config, blurred, energy(xp), rows[0], offsets)
    assert np.allclose(expected, pullback(1.0)[2])
expected

# %% [markdown]
# ## Two engines in one program
#
# Every transform takes `config=`. The tape follows the NumPy code around `map`, and hands the
# configuration to the rule of `map`, which asks JAX for what is inside.


# %%
def loss(rows, energy):
    energies = cr.map(energy, rows / np.sqrt(np.mean(rows**2)))
    return np.sum(energies**2)


mixed = cr.grad(loss, config=JaxConfig())(rows, energy(jnp))

assert np.allclose(cr.grad(loss)(rows, energy(np)), mixed)
mixed.round(3)

# %% [markdown]
# ## What this is good for, and what not
#
# It shows that a rule which calls back knows nothing of the engine. As a bridge it is a poor one:
# what it gives is first derivatives, and each call starts the other library anew. A second
# derivative is an error, since JAX is handed a traced value of ours, which it does not know:

# %%
try:
    cr.hessian(loss, config=JaxConfig())(rows, energy(jnp))
except TypeError as error:
    print(type(error).__name__, "of", "JAX" if "JAX" in str(error) else error)
else:
    raise RuntimeError("JAX differentiated a value of ours")

# %% [markdown]
# A bridge is `chainrules.interop.jax.import_`: compiled once, with rules for every mode and order.

# %%
from chainrules.interop.jax import import_

imported = import_(energy(jnp))

assert np.allclose(mixed, cr.grad(loss)(rows, imported))
assert np.allclose(
    cr.hvp(lambda rows: loss(rows, energy(np)), (rows,), (rows,)),
    cr.hvp(lambda rows: loss(rows, imported), (rows,), (rows,)),
)
