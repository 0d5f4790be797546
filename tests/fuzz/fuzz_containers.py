"""Arguments that are containers, which the function reads, changes, adds to and takes from."""

import collections
import copy
import dataclasses

import numpy as np
from fuzz_oracle import CHECKS, Failure, Refused, attempt, expect
from fuzz_program import Program
from fuzz_settings import table
from hypothesis import strategies as st

import chainrules as cr

SETUP = """\
import collections, dataclasses, types, itertools
@dataclasses.dataclass
class Pair:
    u: object
    v: object
class Point(collections.namedtuple("Point", "u v")):
    pass
class Plain:
    def __init__(self, u, v):
        self.u, self.v = u, v"""
LEAVES = [
    "1.5",
    "np.array([0.3, 0.9])",
    "np.array(0.7)",
    "np.array([[0.5, 1.2]], np.float64)",
    "2.5",
]
OTHERS = [
    "None",
    "'name'",
    "True",
    "[]",
    "()",
    "{}",
    "np.arange(2)",
]  # whole numbers are constants in fields
KINDS = """
{{"u": {u}, "v": {v}}}|[{u}, {v}]|({u}, {v})|Pair({u}, {v})|Point({u}, {v})|Plain({u}, {v})
[{{"a": {u}}}, ({v},)]
collections.OrderedDict(u={u}, v={v})|collections.Counter(u=3.0, v=2)|collections.deque([{u}, {v}])
types.SimpleNamespace(u={u}, v={v})|collections.defaultdict(float, u={u}, v={v})
{{"u": {u}, 7: {v}, "w": [{v}, {u}]}}
Pair({{"a": {u}}}, [{v}])|types.MappingProxyType({{"u": {u}, "v": {v}}})
collections.ChainMap({{"u": {u}}}, {{"v": {v}}})
collections.UserDict(u={u}, v={v})|collections.UserList([{u}, {v}])|{{k: {u} for k in range(20)}}
{{"u": [[[[[{u}]]]]], "v": {v}}}
"""
CHANGES = """
p["v"].append(1.0)|p["v"].append(total(p["u"]))|p[1].append(1.0)|p[1]["k"] = 1.0
p["v"]["k"] = p["u"]|p["v"].update(z=2.0)|p.v.append(2.0)|p.v["k"] = 1.0
p["log"] = 1.0|p["new"] = total(p)|p.append(1.0)|p.append(total(p))|p["u"] = p["u"] * 2.0
p["u"] *= 2.0|p.pop()|p.pop("v")
p[0] = p[0] * 2.0|p[0] *= 2.0|p.u = p.u * 3.0|p.u *= 3.0|p.insert(0, 2.0)|p["log"] = [total(p)]
p.update(z=1.0)|p.clear()
p.v.append(total(p.u))|p["w"].append(p["u"])|p.extra = total(p.u)
p.extend([p[0], 1.0])|p.setdefault("k", 2.0)
del p["u"]|del p[0]|p.reverse()|p["v"] = p["u"]|p["u"], p["v"] = p["v"], p["u"]|p.count = 3
p += [2.0]
p = p + p|p = p * 2|p = type(p)(p)|p = dict(p)|p = list(p)
p = __import__("copy").deepcopy(p)|p = __import__("copy").copy(p)
p = dataclasses.replace(p, u=p.v)|p = p._replace(u=p.v)|p = p.copy()|p = +p
"""
RESULTS = [
    "total(p)",
    "total(p) ** 2",
    "total(p) * len(p)",
    "total([p, p])",
    "sum(np.sum(v * v) for v in p.values())",
    "total(vars(p))",
    "np.sum(p['u'] ** 2.0)",
    "np.sum(p[0] ** 2.0)",
    "np.sum(p.u * p.u)",
]
TOTAL = """\
def total(p):
    if isinstance(p, (str, bool, type(None))):
        return 0.0
    if hasattr(p, "items"):
        return sum([total(v) for v in p.values()], 0.0)
    if isinstance(p, (list, tuple, collections.deque, collections.UserList)):
        return sum([total(v) for v in p], 0.0)
    if isinstance(p, (Pair, Plain, types.SimpleNamespace)):
        return total(list(vars(p).values()))
    return np.sum(p * p) * 1.0"""


@st.composite
def programs(draw):
    leaf = st.sampled_from([*LEAVES, *LEAVES, *OTHERS])
    kind = draw(st.sampled_from(table(KINDS)))
    made = kind.format(u=draw(st.sampled_from(LEAVES)), v=draw(leaf))
    program = Program((("p", made),), (), "", (SETUP, TOTAL), "container")
    fits = [dataclasses.replace(program, result=result) for result in RESULTS]
    program = draw(st.sampled_from([p for p in fits if value_at(p) is not None] or fits[:1]))
    for _ in range(draw(st.integers(0, 3))):
        some = draw(st.lists(st.sampled_from(table(CHANGES)), min_size=9, max_size=9))
        longer = [dataclasses.replace(program, body=(*program.body, change)) for change in some]
        program = draw(st.sampled_from([p for p in longer if value_at(p) is not None] or [program]))
    return program


# ---- leaves -------------------------------------------------------------------------------------


def fields_of(p):
    return p.keys() if hasattr(p, "keys") else ()


def children(p):
    """Pairs of a setter and a child, for each part that may be moved."""
    if isinstance(p, np.ndarray | float | int | complex | str | None):
        return []
    if hasattr(p, "items"):
        return [(k, v) for k, v in p.items()]
    if isinstance(p, tuple | list) or hasattr(p, "append"):
        return list(enumerate(p))
    if isinstance(p, cr.Tangent):
        return [(k, p[k]) for k in fields_of(p)]
    return list(vars(p).items()) if hasattr(p, "__dict__") else []


def leaves(p, path=()):
    """Pairs of path and number or array of floats, in the order of the container."""
    if isinstance(p, bool):
        return
    if isinstance(p, float | int) or (isinstance(p, np.ndarray) and p.dtype.kind in "fi"):
        yield path, p
    else:
        for key, child in children(p):
            yield from leaves(child, (*path, key))


def at(p, path):
    """The part of a derivative at a path: by key, by index or by field."""
    for key in path:
        p = held(p, key)
        try:
            p = p[key]
        except (TypeError, KeyError, IndexError, AttributeError):
            p = getattr(p, key)
    return p


def held(p, key):
    """Return the place of the parts in the derivative of a container around another one."""
    cls = getattr(p, "primal_type", None)
    if cls in (collections.UserDict, collections.UserList):
        return p.data
    return next(m for m in p.maps if key in m) if cls is collections.ChainMap else p


def replaced(p, path, value):
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(p, collections.ChainMap):  # it writes into the first map
        owner = next(m for m in p.maps if key in m)
        owner[key] = replaced(owner[key], rest, value)
        return p
    if isinstance(p, tuple):
        parts = [replaced(c, rest, value) if k == key else c for k, c in enumerate(p)]
        return type(p)(*parts) if hasattr(p, "_fields") else tuple(parts)
    if hasattr(p, "__setitem__"):
        p[key] = replaced(p[key], rest, value)
    elif hasattr(p, "__dict__"):
        setattr(p, key, replaced(getattr(p, key), rest, value))
    else:
        raise ArithmeticError  # a container that cannot be written to
    return p


def value_at(program, path=None, k=0, step=0.0):
    """NumPy's value with one coordinate moved; None if it raises or is not one number."""
    try:
        f, (p,) = program.build()
        if path is not None:
            leaf = np.array(at(p, path), dtype=float)
            leaf.reshape(-1)[k] += step
            p = replaced(p, path, leaf if isinstance(at(p, path), np.ndarray) else float(leaf))
        y = f(p)
    except Exception:
        return None
    return float(y) if np.ndim(y) == 0 and isinstance(y, float | np.floating | np.ndarray) else None


def slopes(program):
    (p,) = program.build()[1]
    found = {}
    for path, leaf in leaves(p):
        ends = [
            [value_at(program, path, k, h) for h in (1e-6, -1e-6)] for k in range(np.size(leaf))
        ]
        if any(end is None for pair in ends for end in pair):
            return None
        found[path] = np.array([(a - b) / 2e-6 for a, b in ends]).reshape(np.shape(leaf))
    return found


def container(program):
    if value_at(program) is None:
        return
    expected = slopes(program)
    if expected is None:
        return
    for label, mode in MODES.items():
        try:
            attempt(label, lambda: mode(program, expected))  # noqa: B023
        except Refused:
            pass
        except Failure as failure:
            yield failure


def traced_leaves(p, depth=0):
    if type(p).__module__.startswith("chainrules") and not isinstance(p, cr.Tangent):
        return True
    return depth < 6 and any(traced_leaves(child, depth + 1) for _, child in children(p))


def by_grad(program, expected):
    f, (p,) = program.build()
    gradient = cr.grad(f)(p)
    if traced_leaves(p):
        raise Failure("grad leaves traced values in the caller's container")
    for path, slope in expected.items():
        try:
            ours = at(gradient, path)
        except (AttributeError, KeyError, IndexError, TypeError) as error:
            detail = f"{type(gradient).__name__} at {path}: {error}"
            raise Failure("grad of a container has another structure", detail) from error
        if np.shape(ours) != np.shape(slope):
            raise Failure("grad of a container has another shape", f"{path}: {ours!r:.60}")
        expect("grad of a container", slope, ours, 1e-4)


def by_map(program, expected):
    f, (p,) = program.build()
    if len(list(map(cr.grad(f), [p, copy.deepcopy(p)]))) != 2:
        raise Failure("map of grad ends early")


def by_iteration(program, expected):
    """Iterate over what is handed back, to an end."""
    f, (p,) = program.build()
    waiting = [cr.grad(f)(p)]
    for _ in range(50):
        if not waiting:
            return
        part = waiting.pop()
        if isinstance(part, np.ndarray | float | str):
            continue
        try:
            parts = iter(part.values() if hasattr(part, "values") else part)
        except TypeError:
            continue
        for count, child in enumerate(parts):
            waiting.append(child)
            if count > 100:
                raise Failure("iterating over a part of a gradient never ends", repr(part)[:60])


def by_jvp(program, expected):
    f, (p,) = program.build()
    pdot = copy.deepcopy(p)
    for path, leaf in leaves(p):
        pdot = replaced(pdot, path, np.ones(np.shape(leaf)) if np.ndim(leaf) else 1.0)
    ydot = cr.jvp(f, (p,), (pdot,))[1]
    total = sum(np.sum(slope) for slope in expected.values())
    expect("jvp of a container", total, ydot, 1e-4)


MODES = {
    "grad of a container": by_grad,
    "map of grad": by_map,
    "a gradient": by_iteration,
    "jvp of a container": by_jvp,
}
CHECKS["container"] = container
