"""Random loops, compiled, beside the same loops run by Python: values and derivatives, moved."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loop_transforms import TRANSFORMS

import chainrules as cr
from chainrules.compiling.loops.native_loop import NativeLoop

pytest.importorskip("llvmlite")

NUMBERS = [
    "{a} * 0.9", "{a} + 0.05 * {b}", "np.sin({a})", "np.tanh({a} * {b})", "{a} - 0.1 * {a} ** 2",
    "p[0] * {a}", "{a} + 0.1 * np.cos(p[1] + {b})", "np.sqrt(1.0 + {a} * {a})", "0.5 * ({a} + {b})",
    "{a} / (2.0 + {b} * {b})", "np.exp(-{a} * {a})", "max({a}, 0.3 * {b})", "abs({a})",
    "({a} if {a} > {b} else 0.7 * {b})", "np.where({a} > 0.2, 0.8 * {a}, {b})", "rate * {a}",
    "np.maximum({a}, p[2])", "{a} / (1 + 2 * {k})", "0.5 * {a} + {k} * 1e-3", "1.0",
]  # fmt: skip
ARRAYS = [
    "{v} * 0.9", "np.sin({v}) + 0.1 * {a}", "{v}[::-1] * 0.8", "np.roll({v}, 1) * p[0]",
    "A @ {v}", "{v} - 0.05 * {v} ** 2", "np.tanh({v} * p)", "np.where({v} > 0.1, {v}, 0.5 * {v})",
    "np.concatenate([{v}[1:], {v}[:1]]) * 0.9", "0.7 * {v} + 0.1 * np.sum({v})",
]  # fmt: skip
OF_ARRAYS = ["np.sum({v})", "{v}[0]", "{v} @ {v} * 0.1", "np.max({v})"]
ENDS = ["end[0] + end[1]", "np.sum(end[2])", "end[1] * end[2][1]", "0.0"]
A = np.array([[0.5, 0.2, 0.0], [-0.1, 0.6, 0.1], [0.0, 0.3, 0.4]])
rate = 0.97


@st.composite
def programs(draw):
    """Return the text of ``f(p)``, a loop over numbers, an array and a count."""
    deep = draw(st.integers(1, 3))
    names = {"a": "x", "b": "y", "v": "v", "k": draw(st.sampled_from(["k", "n"]))}

    def number():
        text = draw(st.sampled_from(NUMBERS + OF_ARRAYS))
        for _ in range(deep - 1):
            inner = draw(st.sampled_from(NUMBERS)).format(**names)
            text = text.replace("{a}", f"({inner})", 1)
        return text.format(**names)

    array = draw(st.sampled_from(ARRAYS)).format(**names)
    kind = draw(st.sampled_from(["scan", "range", "loop", "while"]))
    rows = draw(st.sampled_from(["np.linspace(-1.0, 1.0, 40)", "np.outer(W, p)"]))
    row = {"scan": "row" if "linspace" in rows else "row[0] + row[2]"}.get(kind, "0.1")
    lines = [
        "def f(p):",
        "    def step(carry, row):",
        "        x, y, v, n = carry",
        f"        k = {'row' if kind == 'range' else 'n'}",
        f"        z = {number()}",
        f"        w = {number()} + 0.05 * ({row})",
        f"        return (z, w, {array}, n + 1), (z * w, v)",
        f"    start = ({draw(st.sampled_from(['p[0]', '0.3', '0.0']))}, p[1], p * 1.0, 0)",
    ]
    if kind in ("scan", "range"):
        lines.append(
            f"    end, (s, vs) = cr.scan(step, start, {'range(40)' if kind == 'range' else rows})"
        )
        end = "np.sum(s) + vs[-1, 0] + vs[5] @ p"
    elif kind == "loop":
        lines.append("    end = cr.loop(37, lambda c: step(c, 0.1)[0], start)")
        end = "0.0"
    else:
        least = draw(st.sampled_from(["0.2", "-9.0", "0.5"]))
        lines.append(f"    on = lambda c: c[3] < 80 and (c[3] < 3 or np.sum(c[2]) > {least})")
        lines.append("    end = cr.while_loop(on, lambda c: step(c, 0.1)[0], start)")
        end = "0.01 * end[3]"
    chosen = draw(
        st.sampled_from(["end[0] + end[1]", "np.sum(end[2])", "end[1] * end[2][1]", "0.0"])
    )
    lines.append(f"    return {chosen} + {end}")
    return "\n".join(lines)


W = np.linspace(0.2, 0.4, 40)
POINTS = [np.array([0.4, -0.3, 0.6]), np.array([0.5, 0.2, -0.4]), np.array([-0.7, 0.9, 0.1])]


def close(found, expected):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    beyond = ~np.isfinite(found) & ~np.isfinite(expected)  # rounding decides between inf and NaN
    found, expected = found[~beyond], expected[~beyond]
    scale = max(1.0, np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * scale)


def check(text, transform):
    names = {"np": np, "cr": cr, "A": A, "W": W, "rate": rate}
    exec(compile(text, "<loop>", "exec"), names)
    g = TRANSFORMS[transform](names["f"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = cr.compile(g)
        for p in (*POINTS, *POINTS):
            close(compiled(p), g(p))


@pytest.mark.parametrize("transform", [name for name in TRANSFORMS if name != "third"])
@settings(max_examples=3)
@given(text=programs())
def test_random_loops(transform, text):
    check(text, transform)


def test_they_are_native(monkeypatch):
    ran = []
    run = NativeLoop._run
    monkeypatch.setattr(NativeLoop, "_run", lambda self, *xs: ran.append(1) or run(self, *xs))
    check("def f(p):\n    return cr.loop(50, lambda x: np.sin(x) * p[0] + p[1], p[2])", "grad")
    assert ran
