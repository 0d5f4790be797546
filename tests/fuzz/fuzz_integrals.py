"""Integrals and initial value problems of random smooth functions, with parameters in any place.

SciPy's numbers jump by a part of its tolerances where a parameter makes it take another step, so
these are small.
"""

from fuzz_program import Program
from fuzz_settings import table
from hypothesis import strategies as st

SETUP = (
    "from chainrules.scipy import integrate",
    "class Model:\n    def __init__(self, a, b):\n        self.a, self.b = a, b\n"
    "    def f(self, t):\n        return self.a * np.sin(t) + self.b * t * t",
)
# Smooth functions of t, with numbers a and b.
TERMS = """
{a} * t|np.exp(-{a} * t)|np.sin({a} * t + {b})|{a} * {b} * t * t|np.cos(t) * {a} ** 2
{b} / (2.0 + t)|np.exp(-{a} * {a} * t * t)|{a} + {b}|np.sqrt(1.5 + np.sin({a} * t))
np.tanh({b} * t) * {a}|t ** 3 * {b}
"""
# Right-hand sides of two states u and v.
RATES = """
-{a} * u + {b} * v|{a} * u * (1.0 - 0.1 * u) - 0.2 * u * v|np.sin({a} * t) - 0.3 * u|{b} * np.cos(v)
-0.5 * v + {a} * {b} * t|v * np.exp(-0.1 * {a} * t)|-{a} * u * abs({b})|0.1 * u * v - {b} * v
"""
METHODS = ("RK45", "RK45", "DOP853", "Radau", "LSODA", "BDF", "odeint", "odeint")


@st.composite
def programs(draw):
    numbers = [round(draw(st.floats(0.3, 1.6)), 2) for _ in range(3)]
    # Each parameter is an entry of x, a product, or a constant.
    given_as = ("x[0]", "x[1]", "x[2]", "x[0] * x[1]", "0.7", "np.sum(x)")
    a, b = (draw(st.sampled_from(given_as)) for _ in range(2))
    body = [f"a, b = {a}, {b}"]
    maker = draw(st.sampled_from([quad, vector, initial_value, initial_value]))
    result = maker(draw, body)
    if draw(st.integers(0, 3)) == 0:
        result = f"np.sin({result}) * x[2]"
    return Program((("x", f"np.array({numbers})"),), tuple(body), result, SETUP)


def term(draw, a="a", b="b"):
    picked = [draw(st.sampled_from(table(TERMS))) for _ in range(draw(st.integers(1, 2)))]
    return " + ".join(entry.format(a=a, b=b) for entry in picked)


def limits(draw):
    return draw(st.sampled_from(["0.0, 1.0", "0.0, x[1]", "x[0], 2.0", "1.2, 0.1 * b", "a, a * b"]))


def quad(draw, body):
    ways = ["closure", "args", "dict", "object", "default", "infinite", "kept", "written"]
    way = draw(st.sampled_from(ways))
    span = limits(draw)
    if way == "closure":
        return f"integrate.quad(lambda t: {term(draw)}, {span})[0]"
    if way == "args":
        return f"integrate.quad(lambda t, a, b: {term(draw)}, {span}, args=(b, a))[0]"
    if way == "dict":
        body.append("p = {'a': [a, 2.0], 'b': b}")
        f = term(draw, "p['a'][0]", "p['b']")
        return f"integrate.quad(lambda t, p: {f}, {span}, (p,))[0]"
    if way == "object":
        return f"integrate.quad(Model(a, b).f, {span})[0]"
    if way == "default":
        return f"integrate.quad(lambda t, a=a * b: {term(draw)}, {span})[0]"
    if way in ("kept", "written"):  # left behind: the last node's, which is right, or an error
        make, leave = ("[]", "append(y)") if way == "kept" else ("np.ones(2) * a", "fill(y)")
        body += [f"kept = {make}", "def f(t):", f"    y = {term(draw)}", f"    kept.{leave}"]
        body.append("    return y")
        # Where the limits stand still: of nodes that move with them what is kept is plain.
        return "integrate.quad(f, 0.0, 1.2)[0] + kept[-1]"
    f = f"np.exp(-(1 + a * a) * t) * ({term(draw)})"
    return f"integrate.quad(lambda t: {f}, 0.2 * b, np.inf)[0]"


def vector(draw, body):
    f = f"np.stack([{term(draw)}, {term(draw)}])"
    if draw(st.booleans()):
        return f"integrate.quad_vec(lambda t: {f}, {limits(draw)})[0]"
    n = draw(st.sampled_from([2, 3, 4, 5, 8, 9]))
    names = ["trapezoid", "simpson", "cumulative_trapezoid", "cumulative_simpson"]
    names += ["romb"] * (n in (2, 3, 5, 9))
    name = draw(st.sampled_from(names))
    body.append(f"t = np.linspace(0.1, x[1], {n})")
    at = "dx=t[1] - t[0]" if name == "romb" or draw(st.booleans()) else "x=t - 0.1 * t * t"
    # Widths are positive where x[1] is above 0.3 or so; others are refused by SciPy.
    return f"integrate.{name}({f}, {at})"


def initial_value(draw, body):
    rates = [draw(st.sampled_from(table(RATES))).format(a="a", b="b") for _ in range(2)]
    method = draw(st.sampled_from(METHODS))
    tolerance = 1e-7 if method in ("Radau", "BDF") else 1e-10
    tight = f"rtol={tolerance}, atol={tolerance}"
    start = draw(st.sampled_from(["[1.0, 0.5]", "[x[0], b]", "x[:2]"]))
    end = draw(st.sampled_from(["0.4", "0.5 * x[2]", "0.2 + 0.1 * a"]))
    by_args = draw(st.booleans())
    extra = ", a, b" if by_args else ""
    args = ", args=(a, b)" if by_args else ""
    made = draw(st.sampled_from(["[{}, {}]", "np.array([{}, {}])", "np.stack([{}, {}])"]))
    order = "y, t" if method == "odeint" else "t, y"
    body += [f"def rhs({order}{extra}):", "    u, v = y", f"    return {made.format(*rates)}"]
    if method == "odeint":
        times = f"np.linspace(0.0, {end}, 3)"
        return f"integrate.odeint(rhs, {start}, {times}{args}, {tight})"
    call = f"integrate.solve_ivp(rhs, (0.0, {end}), {start}, {method!r}{args}, {tight}"
    way = draw(st.sampled_from(["end", "times", "dense"]))
    if way == "end":
        return f"{call}).y[:, -1]"
    if way == "times":
        return f"{call}, t_eval=np.linspace(0.0, 0.9, 3) * ({end})).y"
    return f"{call}, dense_output=True).sol(0.3 * ({end}))"
