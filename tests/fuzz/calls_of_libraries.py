"""Calls of NumPy's and SciPy's own tests, differentiated: ``calls_of_libraries.py scipy.signal``.

Others chose the arguments: empty arrays, lists, seldom used options, large numbers. Of each call
the value, ``jvp`` against differences, ``vjp`` against ``jvp``, ``vmap`` and ``compile`` are asked,
and what differs is printed with the call. A refusal is no finding; an error of NumPy's is one.
With ``--order 2`` the second derivative along two directions is asked, by all ways of nesting.
"""

import argparse
import collections
import copy
import importlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import chainrules as cr

LONGEST = 25  # seconds for a call
STEPS = 1e-4, 1e-5, 1e-6
NUMBERS = float | complex | np.float32 | np.float64 | np.complex64 | np.complex128


class LateError(BaseException):
    pass


def recorded(library):
    """Return the calls that the library's own tests make, by the names of the functions."""
    with tempfile.TemporaryDirectory() as room:
        file = Path(room, "calls")
        environment = {**os.environ, "RECORDED_CALLS": str(file), "PYTHONPATH": os.pathsep.join(
            [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])}  # fmt: skip
        command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "recorded_calls",
                   "-p", "no:cacheprovider", "--continue-on-collection-errors",
                   "-m", "not slow and not xslow", "-W", "ignore", "--pyargs", library]  # fmt: skip
        subprocess.run(command, cwd=room, env=environment, stdout=subprocess.DEVNULL, check=False)
        return pickle.loads(file.read_bytes())


# ---- a call as a function of its floats ---------------------------------------------------------


def is_leaf(x):
    if type(x) is np.ndarray:
        return x.dtype.char in "fdFD"
    return isinstance(x, NUMBERS)


def flattened(x, leaves, depth=0):
    """Return the structure of ``x`` without its floats, which go into ``leaves``."""
    if is_leaf(x):
        leaves.append(x)
        return len(leaves) - 1
    if depth < 5 and type(x) in (list, tuple):
        return type(x), [flattened(part, leaves, depth + 1) for part in x]
    if depth < 5 and type(x) is dict:
        return dict, {name: flattened(part, leaves, depth + 1) for name, part in x.items()}
    return None, x


def rebuilt(structure, leaves):
    if isinstance(structure, int):
        return leaves[structure]
    cls, parts = structure
    if cls is None:
        return copy.deepcopy(parts)
    if cls is dict:
        return {name: rebuilt(part, leaves) for name, part in parts.items()}
    return cls(rebuilt(part, leaves) for part in parts)


def parts_of(y):
    """Return the arrays and numbers of a result in a list; other things are left out."""
    if isinstance(y, list | tuple):
        return [part for each in y for part in parts_of(each)]
    if isinstance(y, dict):
        return parts_of(list(y.values()))
    return [] if y is None or isinstance(y, str) else [y]


class Call:
    """One call: its floats, and the results of a function of them as a list."""

    def __init__(self, args, kwargs):
        self.leaves = []
        self.structure = flattened((list(args), kwargs), self.leaves)

    def of(self, f):
        def results(*leaves):
            args, kwargs = rebuilt(self.structure, leaves)
            return parts_of(f(*args, **kwargs))

        return results

    def at(self, f, leaves):
        return self.of(f)(*map(copy.copy, leaves))


# ---- what is asked ------------------------------------------------------------------------------


def is_float(x):
    return np.asarray(x).dtype.kind in "fc"


def differing(expected, found):
    """Return in what two lists of results differ, or nothing."""
    if len(expected) != len(found):
        return f"{len(found)} results for {len(expected)}"
    for x, y in zip(map(np.asarray, expected), map(np.asarray, found), strict=True):
        if (x.dtype, x.shape) != (y.dtype, y.shape):
            return f"{y.dtype}{y.shape} for {x.dtype}{x.shape}"
        if x.dtype.kind == "O":
            continue  # such as a dtype
        close = 1e-4 if x.dtype.itemsize <= 4 or x.dtype == np.complex64 else 1e-9
        size = np.max(np.abs(x[np.isfinite(x)]), initial=0) if is_float(x) else 0
        if not np.allclose(x, y, close, close * size, equal_nan=is_float(x)):
            return f"{y} for {x}"
    return ""


def wrong_derivatives(f, call, dots, values, ydots):
    """Yield the entries of derivatives that differ from differences, where these are precise."""

    def moved(t):
        wide = [np.asarray(x, np.result_type(x, float))[()] for x in call.leaves]
        return call.at(f, [x + t * d for x, d in zip(wide, dots, strict=True)])

    low = any(np.asarray(x).dtype.char in "fF" for x in (*call.leaves, *values))
    here = moved(0.0)
    around = [(moved(h), moved(-h), h) for h in STEPS]
    for k, y in enumerate(values):
        shapes = {np.shape(part[k]) for above, below, _ in around for part in (above, below, here)}
        if not is_float(y) or shapes != {np.shape(y)}:
            continue
        both = [(np.asarray(a[k]) - b[k]) / (2 * h) for a, b, h in around]
        right = (np.asarray(around[1][0][k]) - here[k]) / STEPS[1]
        left = (here[k] - np.asarray(around[1][1][k])) / STEPS[1]
        size = np.maximum(np.abs(both[1]), np.abs(ydots[k])) + 1e-3 * np.max(
            np.abs(both[1]), initial=0
        )
        rough = np.abs(both[1] - both[2]) + 1e-6 * np.abs(y)
        smooth = (np.abs(right - left) < 1e-2 * size) & (rough < 5e-2 * size)
        far = np.abs(ydots[k] - both[1]) > (3e-2 if low else 1e-5) * size + 10 * rough
        if np.any(wrong := smooth & far):
            yield f"result {k}: {np.asarray(ydots[k])[wrong][:2]} for {both[1][wrong][:2]}"


def findings(ours, plain, call):
    """Yield what is wrong with a call, each with the transform that shows it."""
    rng = np.random.default_rng(0)
    values = call.at(plain, call.leaves)
    if differing(values, call.at(plain, call.leaves)) or not any(map(is_float, values)):
        return  # random numbers, or none
    dots = [
        np.asarray(rng.normal(size=np.shape(x))).astype(np.asarray(x).dtype)[()]
        for x in call.leaves
    ]
    dots = [type(x)(d) if isinstance(x, float | complex) else d
            for x, d in zip(call.leaves, dots, strict=True)]  # fmt: skip
    g = call.of(ours)
    ys, ydots = cr.jvp(g, tuple(map(copy.copy, call.leaves)), tuple(dots))
    if said := differing(values, ys):
        yield "value", said
        return
    for said in wrong_derivatives(plain, call, dots, values, ydots):
        yield "jvp", said
    ys, pullback = cr.vjp(g, *map(copy.copy, call.leaves))
    bars = [np.ones_like(y) if is_float(y) else cr.zero_tangent(y) for y in ys]
    xbars = pullback(bars)
    pushed = sum(np.sum(np.real(d)) for y, d in zip(ys, ydots, strict=True) if is_float(y))
    terms = [np.real(np.conj(b) * d) if is_float(b) else 0.0
             for b, d in zip(xbars, dots, strict=True)]  # fmt: skip
    pulled, size = sum(map(np.sum, terms)), sum(np.sum(np.abs(t)) for t in terms)
    if np.isfinite(pushed + pulled) and abs(pushed - pulled) > 1e-3 * (size + abs(pushed) + 1e-3):
        yield "vjp", f"{pulled} for {pushed}"
    batched = cr.vmap(g)(*[np.stack([x, x]) for x in call.leaves])
    if said := differing(values, [y[1] for y in batched]):
        yield "vmap", said
    compiled = cr.compile(g)
    for _ in range(3):
        if said := differing(values, compiled(*map(copy.copy, call.leaves))):
            yield "compile", said
            return


# ---- second order -------------------------------------------------------------------------------


def in_a_row(xs):
    """Return the real and the imaginary parts of all numbers as one vector."""
    parts = [
        np.ravel(part) for x in xs for part in (np.real(x), np.imag(x))[: 1 + np.iscomplexobj(x)]
    ]
    return np.concatenate(parts).astype(float)


def out_of_a_row(row, xs):
    """Return numbers and arrays such as ``xs``, of the parts in a row; in double precision."""
    found, start = [], 0
    for x in xs:
        parts = []
        for _ in range(1 + np.iscomplexobj(x)):
            parts.append(np.reshape(row[start : start + np.size(x)], np.shape(x))[()])
            start += np.size(x)
        found.append(parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1])
    return found


def second_order(ours, plain, call):
    """Yield the ways of nesting whose second derivative differs from differences of the first."""
    rng = np.random.default_rng(0)
    values = call.at(plain, call.leaves)
    if differing(values, call.at(plain, call.leaves)) or not any(map(is_float, values)):
        return
    chosen = [np.isfinite(y) & (np.abs(y) < 1e100) if is_float(y) else None for y in values]
    weights = [rng.normal(size=2) / np.max(np.abs(y)[keep], initial=1e-300) if is_float(y) else None
               for y, keep in zip(values, chosen, strict=True)]  # fmt: skip

    def loss(row):
        total = 0.0
        for y, keep, w in zip(
            call.of(ours)(*out_of_a_row(row, call.leaves)), chosen, weights, strict=True
        ):
            if keep is not None:
                part = np.where(keep, y, 0.0) * w[0]
                total = (
                    total
                    + np.sum(np.real(part) * w[1] / w[0])
                    + np.sum(np.real(np.conj(part) * part))
                )
        return total

    x = in_a_row(call.leaves)
    u, v = np.where(np.isfinite(x), rng.normal(size=(2, x.size)), 0.0)
    gradient = cr.grad(loss)

    def along(x):
        return cr.jvp(loss, (x,), (u,))[1]

    def product(xbar):
        return np.sum(np.where(v == 0, 0.0, xbar) * v)

    here, around = along(x), [(along(x + h * v), along(x - h * v), h) for h in STEPS]
    bends = [abs(above + below - 2 * here) / h for above, below, h in around]
    both = [(above - below) / (2 * h) for above, below, h in around]
    size = max(abs(both[1]), abs(here), 1e-3)
    rough = abs(both[0] - both[1]) + abs(both[1] - both[2]) + 1e-6 * abs(here)
    if not (rough < 2e-2 * size and bends[2] < 0.5 * bends[0] + 1e-5 * size):
        return  # a kink, or noise
    ways = {
        "jvp of jvp": lambda: cr.jvp(along, (x,), (v,))[1],
        "jvp of grad": lambda: product(cr.jvp(gradient, (x,), (u,))[1]),
        "grad of jvp": lambda: product(cr.grad(along)(x)),
        "grad of grad": lambda: product(
            cr.grad(lambda x: np.sum(np.where(u == 0, 0.0, gradient(x)) * u))(x)
        ),
    }
    for way, second in ways.items():
        if not abs((found := second()) - both[1]) < 1e-4 * size + 10 * rough:
            yield way, f"{found} for {both[1]}"


def function_named(name, mirrored):
    module, _, word = name.rpartition(".")
    mirror = mirrored and module.startswith("scipy")
    return getattr(importlib.import_module(f"chainrules.{module}" if mirror else module), word)


def ask(name, args, kwargs, order=1):
    """Yield the findings of a call, an error that is not ours among them."""
    call = Call(args, kwargs)
    if not 0 < len(call.leaves) < 15 or sum(map(np.size, call.leaves)) > 3000:
        return
    try:
        call.at(function_named(name, False), call.leaves)
    except Exception:
        return  # a test that it raises
    try:
        search = findings if order == 1 else second_order
        yield from search(function_named(name, True), function_named(name, False), call)
    except cr.errors.ChainRulesError:
        return
    except Exception as error:
        yield "error", f"{type(error).__name__}: {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("library", help="with tests: numpy.linalg, scipy.signal ...")
    parser.add_argument("--only", default="", help="a part of the names of functions")
    parser.add_argument("--order", type=int, choices=(1, 2), default=1, help="of derivatives")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")

    def late(*_):
        raise LateError

    signal.signal(signal.SIGALRM, late)
    asked, found = 0, collections.Counter()
    for name, kept in sorted(recorded(given.library).items()):
        if given.only not in name or not name.startswith(given.library.partition(".")[0]):
            continue
        for k, call in enumerate(kept):
            asked += 1
            signal.alarm(LONGEST)
            try:
                for transform, said in ask(name, *pickle.loads(call), given.order):
                    found[name, transform] += 1
                    if found[name, transform] == 1:
                        print(f"{transform} of {name}, call {k}: {said[:200]}", flush=True)
            except LateError:
                print(f"{name}, call {k}: more than {LONGEST} s", flush=True)
            finally:
                signal.alarm(0)
    print(f"{asked} calls; {sum(found.values())} findings of {len(found)} kinds")


if __name__ == "__main__":
    main()
