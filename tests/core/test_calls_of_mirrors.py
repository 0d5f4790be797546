"""Every mirror of NumPy, with each argument by position and by keyword, traced and plain."""

import importlib
import inspect

import numpy as np
import pytest

import chainrules as cr

pytestmark = pytest.mark.filterwarnings("ignore")
# What writes into its arguments or to files, what ends the process on some of these arguments, and
# text, which says of a traced array that it is one.
LEFT_OUT = """
array2string array_repr array_str
bincount copyto dstack empty empty_like fill_diagonal fromfile fromstring genfromtxt info load
loadtxt place printoptions put put_along_axis putmask save savetxt savez savez_compressed
set_printoptions setbufsize seterr seterrcall show_config show_runtime test
"""
A = np.array([[0.3, 0.7, 1.1], [0.9, 0.5, 0.2], [1.3, 0.1, 0.6]])
B = A.T * 0.8 + 0.1
V = np.array([0.4, 1.2, 0.9])
POINTS = [
    (A,), (V,), (0.6,), (A, B), (V, V + 0.3), (A, V), (0.5, 2.0), (0.5, 3.0, 0.4), ((2,), 0.7),
    (A, 1), ([V, V + 1],), (A, 0.2, 0.8), (A > 0.5, A, B), (V, [0.0, 1.0, 2.0], [1.0, 2.0, 0.5]),
    (A, [0], 1.5), (V, 2, 3),
]  # fmt: skip
OPTIONS = {
    "axis": [0, None], "dtype": [np.float32], "keepdims": [True], "order": ["F"], "k": [1],
    "n": [2], "ddof": [1], "mode": ["same"], "initial": [0.3], "where": [A > 0.4],
    "norm": ["ortho"], "ndmin": [3], "side": ["left"], "right": [9.0], "left": [-1.0],
    "indexing": ["ij"], "sparse": [True], "endpoint": [False], "num": [4], "step": [0.5],
    "stop": [3.0], "prepend": [0.2], "append": [0.2], "increasing": [True], "offset": [1],
    "UPLO": ["U"], "full_matrices": [False], "ord": [1], "decimals": [1], "fill_value": [2.5],
    "shape": [(2,)], "repeats": [2], "nan": [0.1], "dx": [0.3], "correction": [1], "s": [(2, 2)],
    "min": [0.3], "max": [0.9], "base": [3.0], "retstep": [True], "period": [2.0],
    "rowvar": [False],
}  # fmt: skip


def mirrors_of_numpy():
    for module in ("numpy", "numpy.linalg", "numpy.fft"):
        plain, shown = map(importlib.import_module, (module, f"chainrules.{module}"))
        for name in sorted(set(plain.__all__) - set(LEFT_OUT.split())):
            f = getattr(plain, name)
            if callable(f) and not isinstance(f, type) and tried(inspect.signature, f) is not None:
                yield pytest.param(f, getattr(shown, name), id=f"{module}.{name}")


def same(y, expected):
    if isinstance(expected, tuple | list):
        return len(y) == len(expected) and all(map(same, y, expected))
    y, expected = np.asarray(y), np.asarray(expected)
    close = np.allclose(y, expected, equal_nan=True) if y.dtype.kind in "fc" else None
    return y.dtype == expected.dtype and bool(np.all(y == expected) if close is None else close)


def tried(call, *args):
    """Return what ``call`` gives, or None where NumPy, or a refusal, gives nothing."""
    try:
        return call(*args)
    except Exception:
        return None


def forms(f, args, i):
    """Yield calls with ``args[i]`` by position and by keyword, and with each option in each way."""
    known = list(inspect.signature(f).parameters.values())
    placed = [p for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = [p.name for p in placed]
    n = len(args)

    def by_position(h, x, *rest, **options):
        return h(*args[:i], x, *args[i + 1 :], *rest, **options)

    yield "by position", by_position
    if n <= len(placed) and placed[i].kind is placed[i].POSITIONAL_OR_KEYWORD:
        rest = dict(zip(names[i + 1 :], args[i + 1 :], strict=False))
        yield f"{names[i]}=", lambda h, x: h(*args[:i], **{names[i]: x}, **rest)
    for p in known:
        if p.name in names[:n] or (isinstance(f, np.ufunc) and p.name == "where"):
            continue
        for option in OPTIONS.get(p.name, ()):
            given = {p.name: option}
            yield f"{given}", lambda h, x, given=given: by_position(h, x, **given)
            if p in placed:
                before = [q.default for q in placed[n : placed.index(p)]]
                if not any(d is p.empty or d is np._NoValue for d in before):
                    rest_of_them = (*before, option)
                    yield f"{given} by position", lambda h, x, r=rest_of_them: by_position(h, x, *r)


def is_moving(x):
    return isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")


MIRRORS = list(mirrors_of_numpy())


@pytest.mark.parametrize(("f", "mirror"), MIRRORS)
def test_arguments_by_position_and_by_keyword(f, mirror):
    for args in POINTS:
        if isinstance(f, np.ufunc) and len(args) > f.nin:
            continue
        for i in [i for i, x in enumerate(args) if is_moving(x)]:
            reference = None
            for form, call in forms(f, args, i):
                x = args[i]
                expected = tried(call, f, x)
                if expected is None:
                    continue
                assert same(call(mirror, x), expected), form
                xdot = np.cos(np.arange(np.size(x))).reshape(np.shape(x))[()]
                moved = tried(cr.jvp, lambda x, call=call: call(mirror, x), (x,), (xdot,))
                if form == "by position":
                    reference = moved
                elif form.endswith("="):
                    assert (moved is None) == (reference is None), form
                    assert moved is None or same(moved[1], reference[1]), form
                assert moved is None or same(moved[0], expected), form


def test_the_search_calls_what_it_means_to():
    called = [
        f for f, _ in (p.values for p in MIRRORS) if any(tried(f, *a) is not None for a in POINTS)
    ]
    assert len(called) > 0.75 * len(MIRRORS)
