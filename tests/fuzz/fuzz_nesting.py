"""Derivatives inside of derivatives, three deep, in all mixes, of small smooth functions."""

from fuzz_program import Program
from fuzz_values import literals
from hypothesis import strategies as st

BODIES = """
np.sin({t}) * {c}|{t} * {t} * {c}|np.tanh({t} * {c})|np.sum({t} * {c}) * {t}|{t}[::-1] * {c}
{t}[..., [1, 0]] ** 2 * {c}
np.exp(-{t}) * {c}|np.cumsum({t}) * {c}|{t} @ {t} * {c}|np.roll({t}, 1) * {t} * {c}
np.outer({t}, {c}).sum(0)
cr.map(lambda u: u * np.sum({c}), {t})|cr.map(lambda u: u * np.sum({t}), {t}) * {c}
np.where({t} > 0.9, {t} ** 2, {t} ** 3) * {c}
cr.checkpoint(lambda u: np.sin(u) * {c})({t})|cr.reduce(lambda p, q: p * q, {t}) * {c}
np.stack([{t}, {c}])[0] * {t}
{t} + 0.0 * {c}|np.asarray({t}) * {c}|cr.scan(lambda s, u: (s * u, s + u), 1.0, {t})[1] * {c}
"""
STEPS = """
cr.jvp(lambda {u}: {inner}, ({t},), ({v},))[1]
cr.vjp(lambda {u}: {inner}, {t})[1]({v})[0]
cr.linearize(lambda {u}: {inner}, {t})[1]({v})
cr.grad(lambda {u}: np.sum({inner} * {v}))({t})
cr.hvp(lambda {u}: np.sum({inner} ** 2), ({t},), ({v},))
cr.jacfwd(lambda {u}: {inner})({t}) @ {v}
cr.jacrev(lambda {u}: {inner})({t}) @ {v}
cr.jacobian(lambda {u}: {inner})({t}).T @ {v}
cr.hessian(lambda {u}: np.sum({inner} ** 2))({t}) @ {v}
cr.value_and_grad(lambda {u}: np.sum({inner} * {v}))({t})[1]
cr.linearize(lambda {u}: {inner}, {t})[1](np.stack([{v}, {t}]), block=True)[1]
cr.hvp(lambda {u}: np.sum({inner} ** 2), ({t},), (np.stack([{v}, {t}]),), block=True)[0]
cr.checkpoint(lambda {u}: {inner})({t}) * {v}
cr.jvp(lambda {u}: {inner}, (np.asarray({t}),), ({t},))[1]
"""
NAMES = "xtuvw"


@st.composite
def nested(draw, depth, level=0):
    """An expression in the variables of this level and of those around it."""
    t = NAMES[level]
    # A captured variable of an outer level is where perturbations would be confused.
    outer = st.sampled_from([*NAMES[: level + 1], "c"])
    if depth == 0:
        bodies = [b for line in BODIES.split("\n") for b in line.split("|") if b]
        return "(" + draw(st.sampled_from(bodies)).format(t=t, c=draw(outer)) + ")"
    inner = draw(nested(depth - 1, level + 1))
    step = draw(st.sampled_from(STEPS.strip().split("\n")))
    words = step.format(u=NAMES[level + 1], inner=inner, t=t, v=draw(outer))
    return f"({words} * 0.5)"


@st.composite
def programs(draw):
    point, constant = draw(literals((2,))), draw(literals((2,)))
    expression = draw(nested(draw(st.sampled_from([1, 1, 2]))))
    result = draw(st.sampled_from(["{}", "np.sum({})", "np.sum({} * x)"])).format(expression)
    return Program((("x", f"np.array({point})"),), (), result, (f"c = np.array({constant})",))
