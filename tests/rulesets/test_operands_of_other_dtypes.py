"""Plain operands of integers and of narrow floats, beside which NumPy computes in double precision.

Derivatives are those beside the same numbers as float64: of ``np.uint8`` the logarithm is a
float16, and one less than 0 is 255.
"""

import functools
import itertools
import warnings

import numpy as np
import pytest
from test_every_rule import CASES, FIXED, WRITERS, is_number, kind_of, name_of
from test_operands_written_to import derivatives_of, total

import chainrules as cr

INTEGERS = np.uint8, np.int8, np.uint64, np.int64


def converted(x, dtype):
    """Return operands as small numbers of ``dtype``; tuples of integers are shapes and axes."""
    if isinstance(x, float | np.floating):
        return dtype(min(6, abs(round(float(2 * x))))) if np.isfinite(x) else x
    if isinstance(x, np.ndarray) and x.dtype.kind in "fiu":
        return np.clip(np.abs(np.round(2 * x)), 0, 6).astype(dtype)
    return x


def as_floats(x):
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        return x.astype(float)
    return float(x) if isinstance(x, np.integer) else x


def drawn(f):
    """Yield functions of one argument, beside integers and beside floats, and where to ask them.

    Functions for which the two are not the same are left out: of integers, of lengths.
    """
    for given, options in CASES[f]:
        for i, x in enumerate(given):
            if not is_number(x) or kind_of(x) not in "fc" or i in FIXED.get(f, ()):
                continue
            if np.asarray(x).dtype.itemsize < 8:
                continue  # whose own precision is less

            def program(t, args, options=options, i=i):
                return total(f(*args[:i], t, *args[i + 1 :], **options))

            of_floats = None
            # Two of them: all four meet each argument of hundreds of functions.
            for dtype in INTEGERS[(i + len(name_of(f))) % 2 :: 2]:
                args = [part if k == i else converted(part, dtype) for k, part in enumerate(given)]
                if all(new is old for new, old in zip(args, given, strict=True)):
                    continue
                of_integers = functools.partial(program, args=args)
                # These are of the same numbers, whichever integers they were.
                of_floats = of_floats or functools.partial(program, args=[*map(as_floats, args)])
                try:
                    pair = of_integers(x), of_floats(x)
                except Exception:  # whatever the library refuses
                    continue
                if np.allclose(*pair, rtol=1e-12, equal_nan=True):
                    yield of_integers, of_floats, x


@pytest.mark.parametrize("f", [pytest.param(f, id=name_of(f)) for f in CASES if f not in WRITERS])
def test_integers_beside_it_are_as_precise_as_floats(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = {}
        for of_integers, of_floats, x in itertools.islice(drawn(f), 4):
            try:
                y = cr.vjp(of_integers, x)[0]
            except cr.ChainRulesError:
                continue  # a method of a plain array, of a traced number
            np.testing.assert_allclose(y, of_integers(x), rtol=1e-10)
            if of_floats not in expected:
                expected[of_floats] = list(derivatives_of(of_floats, x))
            for want, got in zip(expected[of_floats], derivatives_of(of_integers, x), strict=True):
                if not isinstance(want, str) and np.all(np.isfinite(want)):
                    np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9)


OPERATIONS = {
    "x / c": lambda x, c: x / c,
    "c / x": lambda x, c: c / x,
    "x ** c": lambda x, c: x**c,
    "c ** x": lambda x, c: c**x,
    "hypot": np.hypot,
    "arctan2": np.arctan2,
    "logaddexp": np.logaddexp,
    "product": lambda x, c: x * c,
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    "dtype", [np.float32, np.float16, np.uint8, np.int16, np.uint64, bool, np.complex64]
)
def test_operators_beside_narrow_numbers(operation, dtype):
    c = np.array([1.3, 3.7, 2.1]).astype(dtype)
    if operation in ("hypot", "arctan2", "logaddexp") and np.iscomplexobj(c):
        pytest.skip("a function of real numbers")
    wide = c.astype(complex if np.iscomplexobj(c) else float)
    x, v = np.array([1.2, 0.7, 2.0]), np.array([1.0, -0.5, 0.25])

    def results(c):
        def f(x):
            return np.sum(np.real(OPERATIONS[operation](x, c)))

        yield cr.grad(f)(x)
        yield cr.jvp(f, (x,), (v,))[1]
        yield cr.jacfwd(f)(x)
        yield cr.hvp(f, (x,), (v,))
        yield cr.grad(lambda x: cr.jvp(f, (x,), (v,))[1])(x)
        yield cr.grad(lambda s: f(s * x))(1.0)

    for got, want in zip(results(c), results(wide), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)


def test_truths_are_joined_with_numbers():
    def f(x):
        return np.sum(np.concatenate([x, np.array([True, False]), x * x]) * np.arange(6.0))

    np.testing.assert_array_equal(cr.grad(f)(np.array([1.0, 3.0])), [8.0, 31.0])
    np.testing.assert_array_equal(cr.grad(lambda x: np.sum(np.append(x, True)))(np.ones(2)), 1.0)
