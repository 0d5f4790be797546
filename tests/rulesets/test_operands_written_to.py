"""Plain operands that the function writes into after a call: no derivative sees it.

Of each function with a rule one case has its other arguments, arrays and numbers as arrays of no
axes, overwritten after the call. The derivatives are those of a function that leaves them alone.
"""

import copy
import functools
import itertools
import warnings

import numpy as np
import pytest
from test_every_rule import CASES, FIXED, WRITERS, is_number, kind_of, name_of

import chainrules as cr


def arrays_in(x):
    if isinstance(x, np.ndarray):
        yield x
    elif isinstance(x, list | tuple | dict):
        for part in x.values() if isinstance(x, dict) else x:
            yield from arrays_in(part)


def overwrite(x):
    for array in arrays_in(x):
        if array.flags.writeable:
            array[...] = ~array if array.dtype.kind == "b" else 0 if array.dtype.kind in "iu" else 7


def without_axes(x):
    return np.array(x) if isinstance(x, float | np.floating) else x


def total(y):
    """Return a sum over all numbers of a result, each with a weight of its own."""
    if isinstance(y, list | tuple | dict):
        return sum(map(total, y.values() if isinstance(y, dict) else y))
    if not hasattr(y, "dtype") or kind_of(y) not in "fcO":
        return 0.0
    weights = np.cos(np.arange(1.0, np.size(y) + 1)).reshape(np.shape(y))
    return np.sum((np.real(y) + 0.5 * np.imag(y)) * weights)


def drawn(f):
    """Yield functions of one number or array, with and without a write, and where they are asked.

    What the function returns may itself show an operand, which is then another value: it is left
    out, and so is a case that takes no array in a number's place.
    """
    for given, options in CASES[f]:
        for i, x in enumerate(given):
            if not is_number(x) or kind_of(x) not in "fc" or i in FIXED.get(f, ()):
                continue
            args = [part if k == i else without_axes(part) for k, part in enumerate(given)]
            if not any(True for _ in arrays_in((args[:i], args[i + 1 :], options))):
                continue

            def program(t, writes, args=args, options=options, i=i):
                rest, names = copy.deepcopy((args, options))
                rest[i] = t
                y = f(*rest, **names)
                if writes:
                    overwrite([rest[:i], rest[i + 1 :], names])
                return total(y)

            try:
                same = np.array_equal(program(x, False), program(x, True), equal_nan=True)
            except (TypeError, ValueError, IndexError):
                continue
            if same:
                yield program, x


def derivatives_of(program, x):
    """Yield derivatives, or the name of the error that there is none."""
    xdot = np.cos(np.arange(np.size(x))).reshape(np.shape(x)).astype(np.asarray(x).dtype)
    v = xdot if isinstance(x, np.ndarray) else type(x)(xdot[()])
    transforms = (
        lambda: cr.jvp(program, (x,), (v,))[1],
        lambda: cr.grad(program)(x),
        lambda: cr.grad(lambda t: cr.jvp(program, (t,), (v,))[1])(x),
    )
    for transform in transforms:
        try:
            yield np.asarray(transform())
        except (cr.ChainRulesError, TypeError) as error:
            yield type(error).__name__


@pytest.mark.parametrize("f", [pytest.param(f, id=name_of(f)) for f in CASES if f not in WRITERS])
def test_a_write_after_the_call_changes_no_derivative(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for program, x in itertools.islice(drawn(f), 2):
            left = derivatives_of(functools.partial(program, writes=False), x)
            written = derivatives_of(functools.partial(program, writes=True), x)
            for want, got in zip(left, written, strict=True):
                if not isinstance(got, str) or got != "MutationError":
                    np.testing.assert_array_equal(got, want)


def test_a_condition_that_is_used_again():
    def f(x):
        chosen = np.array([True, False, True])
        y = np.where(chosen, x * x, 0.0)
        chosen[:] = ~chosen
        return np.sum(y + np.where(chosen, x, 0.0))

    x = np.array([0.5, 1.5, 2.0])
    want = [1.0, 1.0, 4.0]
    for transform in (cr.grad, cr.jacfwd, cr.jacrev, cr.jacobian):
        np.testing.assert_array_equal(transform(f)(x), want)
    np.testing.assert_array_equal(cr.hessian(f)(x), np.diag([2.0, 0.0, 2.0]))


def test_a_factor_of_no_axes_that_is_used_again():
    def f(x):
        factor = np.array(2.0)
        y = factor * x
        factor[...] = 5.0
        return y * x + factor * x

    assert cr.grad(f)(3.0) == 17.0
    assert cr.hvp(f, (3.0,), (1.0,)) == 4.0
