"""Random functions of plain NumPy that make arrays, hand them about, and write into them."""

PREAMBLE = """
import numpy as np

A = np.array([[1.0, 2.0], [3.0, 0.5]])


class Box:
    pass


KEPT = []


def fill(z, t):
    z[0] = t * 2


def same(z):
    return z


def fresh(z):
    return z * 2.0


def part(z):
    return z[:1]


def keep(z):
    KEPT.append(z)
    return z
"""
NAMES = ["a", "b", "c"]
ARRAYS = """
2.0 * A|A + 1|A.copy()|(A > 1) * 1.0|(A > 1).astype(float)|A.astype(int) * 1.0|A @ A|A[[0, 1]]
np.add(A, 1.0)|np.meshgrid(A[0], A[1])[0]|A[A > 0.7].reshape(1, 3)[:, :2]|next(iter([A - 1]))
[q for q in [A * 2.0, A + 3]][0]|keep(A * 3)|box.v|several[-1]
{z} * 1.5|{z}|{z}[:1]|{z}.T|np.sin({z})|-{z}|same({z})|fresh({z})|part(fresh({z}))|keep({z})
np.asarray({z})|np.atleast_2d({z})|{z}.copy()|np.array({z})|{z}.ravel().reshape({z}.shape)
({z} if {z}.sum() > 1 else A * 0.5)|np.broadcast_to({z}[:1], (2, 2)) * 1.0|({z} * 2).T
"""
PLACES = ["0", "-1", ":", "0, 0", ":, 0", "...", ":1"]
VALUES = ["t", "t * 2", "t + 1.0", "3.0", "t * t", "np.sin(t)"]
OPERATORS = ["+=", "-=", "*=", "/="]
STATEMENTS = """
{n} = {y}|{n} = {y}|{n} = {y}|{m}, {n} = {y}, {x}|box.v = {y}|several.append({y})
{z}[{i}] = {v}|{z} {o} {v}|{z}[{i}] {o} {v}|fill({z}, t)|box.v[{i}] = {v}|several[-1][{i}] {o} {v}
for row in {z}: row *= t|np.add({z}, {v}, out={z})|for _ in range(2): {z}[{i}] = {v}
"""


def text_of(draws):
    """Return a module with a function ``f(t)``, of draws as ``random.Random`` makes them."""
    arrays = ARRAYS.strip().replace("\n", "|").split("|")
    statements = STATEMENTS.strip().replace("\n", "|").split("|")
    bound, lines = ["a"], []
    for _ in range(draws.randint(2, 8)):
        z, n, m = draws.choice(bound), *draws.sample(NAMES, 2)
        given = {
            "z": z, "n": n, "m": m, "i": draws.choice(PLACES), "v": draws.choice(VALUES),
            "o": draws.choice(OPERATORS), "y": draws.choice(arrays).format(z=z),
            "x": draws.choice(arrays).format(z=z),
        }  # fmt: skip
        form = draws.choice(statements)
        lines.append(form.format(**given))
        bound += [given[name] for name in "nm" if f"{{{name}}}" in form]
    total = " + ".join(f"np.sum(np.sin({z}) * {k + 1}.3)" for k, z in enumerate(sorted({*bound})))
    body = [
        "KEPT.clear()", "box = Box()", "box.v = A * 1.0", "several = [A + 0.5]", "a = A * 1.0",
        *lines,
        f"return {total} + np.sum(box.v * 0.3) + sum(np.sum(q * q) for q in [*several, *KEPT])",
    ]  # fmt: skip
    return PREAMBLE + "\n\ndef f(t):\n" + "".join(f"    {line}\n" for line in body)
