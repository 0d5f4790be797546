"""Values as they lie in memory: the cases of each rule, in other layouts, dtypes and containers.

``test_every_rule`` looks at three orders of memory. Here the arrays of a case become others, at
random and always the same: what a traced call gives has the type, dtype, shape and order of memory
of what NumPy gives, and is read-only or a view where that is.
"""

import itertools
import random

import numpy as np
import pytest
from quietly import quietly
from test_every_rule import (
    CASES,
    NO_ARRAYS,
    READ_ONLY,
    THROUGH,
    WRITERS,
    Case,
    appearance,
    leaves_of,
    name_of,
    of_dtypes,
    quiet,
    replaced,
)

import chainrules as cr

COUNT = 3  # of each case
LAYOUTS = {
    "C": lambda x: np.array(x, order="C"),
    "F": lambda x: np.array(x, order="F"),
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    "backwards": lambda x: np.flip(np.ascontiguousarray(np.flip(x))),
    "axes moved": lambda x: (
        np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0) if x.ndim > 1 else x
    ),
    "rows apart": lambda x: np.repeat(x, 2, axis=0)[::2] if x.ndim else x,
    "one more axis": lambda x: x[..., None],
    "one more axis in front": lambda x: x[None],
    "one entry": lambda x: x[tuple(slice(0, 1) for _ in x.shape)],
    "no entry": lambda x: x[..., :0] if x.ndim else x,
    "one row": lambda x: x[:1] if x.ndim else x,
    "column": lambda x: np.asfortranarray(x)[..., :1] if x.ndim else x,
    "float32": lambda x: x.astype(np.float32) if x.dtype.kind == "f" else x,
    "complex64": lambda x: x.astype(np.complex64),
    "complex": lambda x: x * (1 + 0.5j),
    "rows of a list": lambda x: list(x) if x.ndim else x,
    "a number": lambda x: x.reshape(-1)[0] if x.size else x,
    "no axes": lambda x: x.reshape(-1)[:1].reshape(()) if x.size else x,
}
# Of lists NumPy makes arrays of objects, on which it computes by other ways.
OF_OBJECTS = ("a traced float", "'float' object has no attribute", "division by zero")
# Series in numbers in place of arrays; histograms of complex numbers.
LEFT_OUT = ("roots", "polyval2d", "polygrid2d", "histogram", "polyint", "ndarray.fill")


def is_looked_at(f):
    """NumPy's functions and ufuncs; SciPy's C code ends the process on odd arguments."""
    name = name_of(f)
    left_out = name.endswith(LEFT_OUT) or getattr(f, "__name__", "") in NO_ARRAYS
    return (name.startswith("numpy.") or isinstance(f, np.ufunc)) and not left_out


def laid_out(x, names):
    for name in names:
        if isinstance(x, np.ndarray):
            x = LAYOUTS[name](x)
    return x


def variants(f, seed, count):
    """Yield cases of ``f``, and numbers for them: some of the arrays laid out anew."""
    rng = random.Random(seed)
    for args, kwargs in of_dtypes(f):
        case = Case(f, args, kwargs)
        arrays = [k for k, x in enumerate(case.numbers) if isinstance(x, np.ndarray)]
        for _ in range(0 if case.integers else count * bool(arrays)):
            chosen = [rng.choices(list(LAYOUTS), k=rng.choice((1, 1, 2))) for _ in arrays]
            if rng.random() < 0.5:
                chosen = chosen[:1] * len(arrays)
            names = dict(zip(arrays, chosen, strict=True))
            yield (
                case,
                [laid_out(x, names.get(k, ())) for k, x in enumerate(case.numbers)],
                (names, kwargs),
            )


def appearances(case, numbers):
    args = replaced(case.args, case.numbers, numbers)
    if case.f in WRITERS:
        args = (args[0] * 1, *args[1:])
        case.f(*args, **case.kwargs)
        ys = [args[0]]
    else:
        ys = leaves_of(case.f(*args, **case.kwargs))
    return [appearance(y, [x for x in numbers if isinstance(x, np.ndarray)]) for y in ys]


def differences(f, seed=0, count=COUNT):
    """Yield what looks otherwise under a trace: where, what, as NumPy has it, as we have it."""
    for (case, numbers, how), mode in itertools.product(variants(f, seed, count), THROUGH):
        try:
            expected = appearances(case, numbers)
        except Exception:  # NumPy's own
            continue
        found = []

        def look(*xs, found=found, case=case):
            found.extend(appearances(case, list(xs)))
            return 0.0

        try:
            THROUGH[mode](look, tuple(numbers))
        except cr.ChainRulesError:
            continue
        except Exception as error:
            if not str(error).startswith(OF_OBJECTS):
                yield mode, how, type(error).__name__, str(error)
        for seen, ours in zip(expected, found) if len(expected) == len(found) else ():
            of_none = seen["type"] is not np.ndarray or 0 in seen.get("shape", (0,))
            left_out = {"WRITEABLE"} if f in READ_ONLY else set()
            left_out |= {"axes", "C_CONTIGUOUS", "F_CONTIGUOUS"} if of_none else set()
            left_out |= {"type"} if ours["type"] is int else set()  # the sum of no objects
            for name in seen.keys() - left_out:
                if seen[name] != ours.get(name):
                    yield mode, how, name, seen[name], ours.get(name)


@pytest.mark.parametrize("f", [pytest.param(f, id=name_of(f)) for f in CASES if is_looked_at(f)])
@quiet
def test_results_lie_as_numpys_do(f):
    assert [] == list(differences(f))


FOUND = {
    "quantile of columns": lambda x: np.quantile(x[..., None], [0.2, 0.7], axis=-1),
    "quantile of several": lambda x: np.quantile(x[None], [[0.2, 0.7]], axis=0),
    "percentile": lambda x: np.percentile(x[None], [20, 70], axis=0, keepdims=True),
    "nanquantile": lambda x: np.nanquantile(x[:, None], [0.2, 0.7], axis=-1),
    "sort_complex of float32": lambda x: np.sort_complex(x.astype(np.float32)),
    "intersect1d of two dtypes": lambda x: np.intersect1d(x.astype(np.float32), x + 0j),
    "intersect1d of a number": lambda x: np.intersect1d(x[0], x),
    "histogram of float32 weights": lambda x: np.histogram(
        x, 2, weights=(x + 1).astype(np.float32)
    )[0],
    "density of float32": lambda x: np.histogram(
        x.astype(np.float32), 2, (0, 4), True, x.astype(np.float32)
    )[0],
    "histogram of nothing": lambda x: np.histogram(x[:0], 2, (0, 1), weights=x[:0])[0],
    "histogramdd of nothing": lambda x: np.histogramdd(x[:0, None], 2, [(0, 1)])[0],
    "correlate backwards": lambda x: np.correlate(x[:1], x),
    "cumulative_prod of nothing": lambda x: np.cumulative_prod(x[:0], include_initial=True),
    "norm of nothing": lambda x: np.linalg.norm(x[:0], np.inf) + np.zeros(1),
    "matrix norm of nothing": lambda x: np.linalg.norm(x[:0, None], 2) + np.zeros(1),
    "emath.power of float32": lambda x: np.emath.power(-x.astype(np.float32), 0.5),
    "real_if_close of a number": lambda x: np.real_if_close(x[0] + 1j),
    "real_if_close of a real number": lambda x: np.real_if_close(x[0]),
    "broadcast_arrays of a list": lambda x: np.broadcast_arrays([x, x], x)[0],
    "hypot of a list": lambda x: np.hypot(x, [x[0], x[1], x[2], 1.0]),
    "put of nothing": lambda x: (np.put(x * 1.0, [99], x[:0]), x)[1],  # type: ignore
}


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("mode", THROUGH)
def test_found_at_random(name, mode):
    f, x, found = FOUND[name], np.array([3.0, 1.0, 2.0, 4.0]), []

    def look(x):
        y = f(x)
        found.extend([appearance(y, [x]), cr.value(y)])
        return 0.0

    with quietly():
        expected = f(x)
        THROUGH[mode](look, (x,))
    assert appearance(expected, [x]) == found[0]
    np.testing.assert_array_equal(expected, found[1])


def test_lists_of_traced_numbers_are_matrices():
    def f(x):
        return np.sum(np.linalg.solve([[x[0], 1.0], [2.0, x[1]]], x))

    x = np.array([3.0, 4.0])
    expected = np.sum(np.linalg.solve(np.array([[3.0, 1.0], [2.0, 4.0]]), x))
    y, ydot = cr.jvp(f, (x,), (x,))
    np.testing.assert_allclose(expected, y)
    np.testing.assert_allclose(cr.grad(f)(x) @ x, ydot)


def test_numbers_of_two_precisions_in_a_list_are_refused():
    def f(x, y):
        return np.max([x, y])

    x, y = np.ones(2, np.float32), np.zeros(2)
    with pytest.raises(cr.LostDerivativeError) as error:
        cr.vjp(f, x, y)
    line = f.__code__.co_firstlineno + 1
    assert str(error.value).startswith(
        "NumPy compares traced numbers of float32 and float64 in a list one by one, in "
        f"test_layouts.py:{line}, and would not give the result the dtype of both.\n  "
    )
    assert "give it np.stack([x, y]) or cr.array([x, y]) in place of the list" in str(error.value)
    stacked = cr.vjp(lambda x, y: np.max(np.stack([x, y])), x, y)[0]
    assert stacked.dtype == np.max(cr.array([x, y])).dtype == np.float64
    assert cr.vjp(lambda x, y: max(x[0], y[0]), x, y)[0].dtype == np.float32
