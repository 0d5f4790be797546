"""Every function and method of NumPy with random options, as NumPy itself lists them."""

import functools
import inspect

import numpy as np
from fuzz_values import Scope, inputs
from hypothesis import strategies as st

# They read or write files, print, or change settings of the process.
LEFT_OUT = [
    "base",
    "save",
    "savez",
    "savez_compressed",
    "savetxt",
    "load",
    "loadtxt",
    "genfromtxt",
    "fromfile",
    "fromregex",
    "memmap",
    "test",
    "info",
    "show_config",
    "show_runtime",
    "seterr",
    "seterrcall",
    "setbufsize",
    "set_printoptions",
    "printoptions",
    "get_include",
    "get_printoptions",
    "errstate",
    "empty",
    "empty_like",
    "array2string",
    "array_repr",
    "array_str",
    "source",
    "lookfor",
    "busday_count",
    "busday_offset",
    "datetime_data",
    "frompyfunc",
    "from_dlpack",
    "resize",
    "geterrcall",
    "geterr",
    "getbufsize",
    "tofile",
    "dump",
    "dumps",
    "setflags",
    "setfield",
    "resize",
    "byteswap",
    "newbyteorder",
    "tobytes",
    "tostring",
    "view",
    "getfield",
]
SPACES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft}
OPTIONS = {
    "axis": ["0", "-1", "1", "None", "(0, 1)", "(-1,)"],
    "axes": ["(0, 1)", "(1, 0)", "None", "0", "1", "[-1]"],
    "keepdims": ["True"],
    "k": ["-1", "1", "2"],
    "offset": ["-1", "1"],
    "n": ["1", "2", "3", "5"],
    "s": ["(2, 3)"],
    "order": ["'C'", "'F'", "'A'", "'K'"],
    "repeats": ["2", "[2]"],
    "shift": ["1", "-2"],
    "ddof": ["1"],
    "correction": ["0", "1"],
    "mode": [
        "'wrap'",
        "'clip'",
        "'full'",
        "'same'",
        "'reflect'",
        "'edge'",
        "'constant'",
        "'reduced'",
    ],
    "q": ["0.3", "[0.2, 0.7]", "40.0"],
    "indices": ["[0, -1, 0]", "0", "[0]", "np.array([[0, 0]])"],
    "axis1": ["0", "1", "-1"],
    "axis2": ["0", "1", "-1"],
    "source": ["0", "-1", "[0, 1]"],
    "destination": ["-1", "0", "[1, 0]"],
    "start": ["0", "1"],
    "reps": ["2", "(2, 1)", "(1, 2, 1)"],
    "indices_or_sections": ["1", "2", "[1]"],
    "out": ["np.ones({x}.shape), where={x} > 0.9", "np.zeros({x}.shape)"],
    "where": ["{x} > 0.9", "np.array([True])", "{x}.T > 0.8"],
    "initial": ["0.5"],
    "include_initial": ["True"],
    "prepend": ["0.5"],
    "append": ["1.5"],
    "norm": ["'ortho'", "'forward'"],
    "ord": ["2", "1", "3", "'fro'", "np.inf", "-np.inf"],
    "shape": ["(-1,)", "{x}.shape", "(2, *{x}.shape)", "(1, -1)"],
    "pad_width": ["1", "((1, 0),)", "2"],
    "edge_order": ["1"],
    "method": ["'linear'", "'lower'", "'midpoint'"],
    "dtype": ["np.float64", "np.float32", "complex", "object"],
    "rowvar": ["False"],
    "indexing": ["'ij'"],
    "sparse": ["True"],
    "obj": ["0", "[0]", "slice(0, 1)"],
    "condition": ["{x} > 0.9", "[True]"],
    "decimals": ["1"],
    "dx": ["0.5"],
    "m": ["1", "2"],
    "return_counts": ["True"],
    "offset_": ["1"],
    "UPLO": ["'U'"],
    "full_matrices": ["False"],
    "compute_uv": ["False"],
    "copy": ["False", "True", "None"],
}
SECOND = ["{y}", "{x}", "{x}.T", "0", "1", "2", "[0]", "[0, -1]", "0.4", "{y}[0]", "{y}.T"]
ON_METHODS = ["axis", "keepdims", "where", "initial", "dtype", "order", "offset", "k"]
SHAPES = [
    (),
    (1,),
    (2,),
    (3,),
    (4,),
    (2, 2),
    (2, 3),
    (3, 3),
    (4, 4),
    (3, 2, 2),
    (1, 3),
    (0,),
    (0, 3),
    (3, 0),
]


@functools.cache
def functions():
    """Pairs of the text of a function and the options it takes."""
    found = []
    for space, module in SPACES.items():
        for name in sorted(dir(module)):
            function = getattr(module, name)
            if name.startswith("_") or name in LEFT_OUT or isinstance(function, type):
                continue
            if isinstance(function, np.ufunc):
                found.append((f"{space}.{name}", ("dtype", "out")))
                if function.nin == 2 and function.nout == 1:
                    found.append((f"{space}.{name}.outer", ("dtype",)))
                    if name in ("power", "arctan2"):
                        continue  # NumPy folds them wrongly, by machine code for many at once
                    for method in ("reduce", "accumulate"):
                        options = ("axis", "keepdims", "initial", "where", "dtype")
                        found.append((f"{space}.{name}.{method}", options))
                    found.append((f"{space}.{name}.reduceat", ("axis", "indices")))
            elif callable(function):
                found.append((f"{space}.{name}", parameters(function)))
    return found


def parameters(function):
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


@functools.cache
def methods():
    return [n for n in dir(np.ndarray) if not n.startswith("_") and n not in LEFT_OUT]


@st.composite
def options(draw, names, x, needed=()):
    chosen = [n for n in names if n in OPTIONS and (n in needed or draw(st.integers(0, 3)) == 0)]
    values = [draw(st.sampled_from(OPTIONS[n])).format(x=x) for n in chosen]
    return [f"{n}={value}" for n, value in zip(chosen, values)]


@st.composite
def calls(draw, x="x", y="y"):
    if draw(st.integers(0, 4)) == 0:
        name = draw(st.sampled_from(methods()))
        if draw(st.integers(0, 6)) == 0:
            return f"{x}.{name}"
        # What clip leaves out is memory that nobody has written to.
        known = [n for n in ON_METHODS if (name, n) != ("clip", "where")]
        words = draw(options(known, x))
        if draw(st.integers(0, 2)) == 0:
            words.insert(0, draw(st.sampled_from(SECOND)).format(x=x, y=y))
        return f"{x}.{name}({', '.join(words)})"
    name, known = draw(st.sampled_from(functions()))
    first = draw(
        st.sampled_from(
            ["{x}", "{x}", "{x}", "{x}", "[{x}, {y}]", "[{x}, {x}]", "({x}, {x} * 2.0)"]
        )
    )
    # Of a list of numbers NumPy takes the imaginary part as that of an object array: whole zeros,
    # and the count of those that are not 0, a norm, is whole as well.
    # The deviation of equal ones is by NumPy's own steps, which divide 0 by 0.
    plain = ("np.imag", "np.linalg.norm", "np.std", "np.nanstd")
    words = [("{x}" if name in plain else first).format(x=x, y=y)]
    if not name.endswith((".reduce", ".accumulate")):
        for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2]))):
            words.append(draw(st.sampled_from(SECOND)).format(x=x, y=y))
    needed = [
        n for n in known[1:3] if n in ("q", "shift", "repeats", "indices", "axis", "pad_width")
    ]
    return f"{name}({', '.join(words + draw(options(known, x, needed[: 2 - len(words)])))})"


@st.composite
def programs(draw):
    """A call, its result as it is, squared, or a view of it that is written to."""
    layouts = ["C", "C", "C", "F", "strided", "float32", "complex"]
    given = [("x", draw(inputs(SHAPES, layouts)))]
    if draw(st.integers(0, 2)) == 0:
        given.append(("y", draw(inputs(SHAPES, layouts[:-1]))))
    scope = Scope(given)
    y = given[-1][0]
    for _ in range(12):
        call = draw(calls("x", y))
        if fits(scope, call):
            break
    else:
        call = "x * 1.0"
    scope.body.append(f"a = {call}")
    ends = ["a", "a", "a * a", "np.sum(a * a)"]
    if draw(st.integers(0, 3)) == 0:
        scope.body.append(
            draw(
                st.sampled_from(
                    ["a.reshape(-1)[:1] = 2.0", "a[...] *= 2.0", "a.T[:1] += 1.0", "x[...] = 0.5"]
                )
            )
        )
        ends.append("np.sum(a) * np.sum(x)")
    result = draw(st.sampled_from(ends))
    return scope.program(result)


def fits(scope, call):
    """Say whether the call gives numbers: a float or complex array that is not large."""
    if "cumulative" in call and "object" in call:
        return False  # NumPy reads objects that are not there, and the process ends
    with np.errstate(all="ignore"):
        value = scope.evaluate(call)
    if isinstance(value, tuple | list) and value and call.count("[") < 9:
        return False
    if not isinstance(value, np.ndarray | np.inexact | float | complex):
        return False
    return np.asarray(value).dtype.kind in "fc" and np.size(value) <= 40
