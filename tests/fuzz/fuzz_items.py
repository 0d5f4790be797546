"""Programs of single numbers with branches and loops, compiled over a batch, beside a loop.

In value, tangent, gradient and Hessian of each item, and in the gradient of their sum.
"""

import warnings

import fuzz_oracle
import numpy as np
from fuzz_program import Program
from hypothesis import strategies as st

import chainrules as cr

INPUTS = (
    ("x", "np.array([0.3, 1.7, -0.9, 0.31, 2.4])"),
    ("p", "np.array([[0.5, 1.1], [1.6, 0.2], [-0.4, 0.9], [0.7, 0.7], [-1.2, 0.1]])"),
    ("n", "np.array([0, 3, 1, 2, 5])"),
    ("w", "np.array([0.8, -0.6])"),
)
AXES = (0, 0, 0, None)
NUMBERS = ["x", "y", "z", "p[0]", "p[1]", "w[0]", "w[1]", "0.7", "np.sum(p * w)"]
EXPRESSIONS = [
    "{a} * {b}", "{a} + {b}", "{a} - 0.5 * {b}", "np.sin({a})", "np.tanh({a} + {b})",
    "{a} / (1.5 + {b} ** 2)", "max({a}, {b})", "min({a}, {b})", "abs({a}) + 0.1", "{a} ** 2",
    "np.exp(-({a} ** 2))", "np.where({a} > {b}, {a}, 0.3 * {b})", "np.sqrt(1.0 + {a} * {a})",
    "n * {a}", "np.sum(np.stack([{a}, {b}]) * p)", "0.4", "np.maximum({a}, 0.2)",
]  # fmt: skip
CONDITIONS = [
    "{a} > {b}", "{a} < 0.5", "{a} > 0 and {b} < 1", "not {a} > {b} or {a} > 2", "n > 2",
    "0.2 < {a} < 1.1", "np.all(p > {a})", "{a} <= {b}",
]  # fmt: skip
ENDS = ["y", "y * z", "y + w[0] * x", "np.sin(y) * p", "(y, z * p[1])", '{{"y": y, "n": n}}']


@st.composite
def expressions(draw, of=EXPRESSIONS):
    a, b = (draw(st.sampled_from(NUMBERS)) for _ in range(2))
    return draw(st.sampled_from(of)).format(a=a, b=b)


@st.composite
def statements(draw, depth=0):
    kinds = ["number"] * 4 + ["if", "if", "while", "loop", "carry", "scan", "return"]
    kind = draw(st.sampled_from(kinds if depth < 2 else kinds[:4]))
    name = draw(st.sampled_from(["y", "z"]))
    if kind == "number":
        return [f"{name} = {draw(expressions())}"]
    if kind == "return":
        return [f"if {draw(expressions(CONDITIONS))}:", f"    return {draw(st.sampled_from(ENDS))}"]
    if kind == "if":
        made = [f"if {draw(expressions(CONDITIONS))}:"]
        made += ["    " + line for line in draw(statements(depth + 1))]
        if draw(st.booleans()):
            made += ["else:", *["    " + line for line in draw(statements(depth + 1))]]
        return made
    inner = draw(expressions())
    if kind == "while":
        return [f"while abs({name}) > 0.4:", f"    {name} = 0.5 * {name} + 0.1 * np.sin({inner})"]
    if kind == "loop":
        step = f"0.5 * c + 0.1 * np.sin({inner})"
        bent = f"({step} if c > 0.8 else 0.6 * c)" if draw(st.booleans()) else step
        return [f"{name} = cr.while_loop(lambda c: abs(c) > 0.4, lambda c: {bent}, {name})"]
    if kind == "scan":
        bent = f"(0.9 * c + t, {inner}) if c > {draw(st.sampled_from(NUMBERS))} else (c - t, c * t)"
        rows = draw(st.sampled_from(["T", "T * p[1]", "T[::-1]"]))
        return [f"y, ts = cr.scan(lambda c, t: {bent}, {name}, {rows})", "z = np.sum(ts) * 0.1"]
    step = f"lambda c: (0.5 * c[0], c[1] + c[0] * np.sin({inner}))"
    return [f"y, z = cr.while_loop(lambda c: abs(c[0]) > 0.3, {step}, (y, z))"]


@st.composite
def programs(draw):
    blocks = draw(st.lists(statements(), min_size=1, max_size=4))
    body = ["y, z = 1.0 * x, x * p[0]", *[line for block in blocks for line in block]]
    end = draw(st.sampled_from(ENDS[:4]))
    return Program(INPUTS, tuple(body), end, ("T = np.linspace(-0.3, 0.4, 33)",), check="items")


def of_item(name):
    def total(f):
        return lambda x, p, n, w: sum(np.sum(part) for part in floats(f(x, p, n, w)))

    return {
        "value": lambda f: f,
        "gradient": lambda f: cr.grad(total(f), (0, 1, 3)),
        "tangent": lambda f: (
            lambda x, p, n, w: cr.jvp(
                lambda x, p, w: total(f)(x, p, n, w), (x, p, w), (1.0, np.cos(p), w)
            )[1]
        ),
        "Hessian": lambda f: cr.hessian(total(f), 1),
    }[name]


def floats(y):
    leaves = y.values() if isinstance(y, dict) else y if isinstance(y, tuple) else (y,)
    return [leaf for leaf in leaves if not isinstance(leaf, int | np.integer)]


def flat(y):
    return list(y.values()) if isinstance(y, dict) else list(y) if isinstance(y, tuple) else [y]


def looped(f, x, p, n, w):
    rows = [flat(f(*item, w)) for item in zip(x, p, n, strict=True)]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def points(given):
    x, p, n, w = given
    return [(x, p, n, w), (x + 0.37, p - 0.11, n, w), (1.3 - x, p * 0.9, n[::-1].copy(), 1.1 * w)]


def items(program):
    """Compare a compiled batch with a loop over its items, at several points."""
    try:
        f, given = program.build()
        right = [looped(f, *point) for point in points(given)]
    except Exception:
        return  # results of different structures, or an error of its own
    if not all(np.all(np.isfinite(column)) for columns in right for column in columns):
        return
    for name in ("value", "tangent", "gradient", "Hessian", "gradient of the sum", "compiled"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compared(name, f, given)
        except fuzz_oracle.Refused:
            pass
        except fuzz_oracle.Failure as failure:
            yield failure


def compared(name, f, given):
    batch = {
        "gradient of the sum": lambda: cr.compile(cr.grad(sum_over(f), (0, 1))),
        "compiled": lambda: cr.vmap(cr.compile(f), AXES),
    }.get(name, lambda: cr.compile(cr.vmap(of_item(name)(f), AXES)))()
    alone = {"gradient of the sum": "gradient", "compiled": "value"}.get(name, name)
    for point in points(given):
        right = looped(of_item(alone)(f), *point)[: 2 if name == "gradient of the sum" else None]
        ours = flat(fuzz_oracle.attempt(name, lambda point=point: batch(*point)))
        for expected, found in zip(right, ours, strict=True):
            if np.asarray(found).dtype != expected.dtype:
                raise fuzz_oracle.Failure(f"{name}: another dtype", f"{np.asarray(found).dtype}")
            fuzz_oracle.expect(f"items: {name}", expected, found, 1e-8)


def sum_over(f):
    def total(x, p, n, w):
        y = cr.vmap(f, AXES)(x, p, n, w)
        return sum(np.sum(part) for part in flat(y) if part.dtype.kind == "f")

    return total


fuzz_oracle.CHECKS["items"] = items
