"""Integers and truths of Python's in a batch compute what a loop does: without end, and weakly."""

import itertools
import operator
import warnings

import numpy as np
import pytest

import chainrules as cr

VALUES = {
    "int8": np.array([1, 2, -3, 100], np.int8),
    "uint8": np.array([1, 2, 3, 200], np.uint8),
    "integers": np.array([3, 1, 2, 5]),
    "no item fits": np.array([2**63, 1, 2, 3], np.uint64),
    "large": np.array([2**62, 2**53 + 1, -(2**62), 7]),
    "the least": np.array([-(2**63), 2**63 - 1, 0, 1]),
    "truths": np.array([True, False, True, True]),
    "zeros": np.array([0, 1, 2, 0]),
    "float32": np.array([0.1, 2.0, -1.0, 3.0], np.float32),
    "complex": np.array([1j, 2.0, 3.0, 1 + 1j]),
}
BINARY = {
    f.__name__: f
    for f in (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
        operator.pow, operator.lshift, operator.rshift, operator.and_, operator.or_, operator.xor,
        operator.lt, operator.ge, operator.eq, divmod, max,
    )
}  # fmt: skip
WITHOUT_END = {"no item fits", "large", "the least"}  # of which Python's powers never end


def answer(compute):
    """Return what is computed, or the class of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compute()
        except Exception as error:
            return type(error)


def looped(f, *xs):
    results = [f(*items) for items in zip(*xs)]
    if type(results[0]) is tuple:
        return tuple(np.stack(column) for column in zip(*results))
    return np.stack(results)


def check(f, *xs):
    ours, right = answer(lambda: cr.vmap(f)(*xs)), answer(lambda: looped(f, *xs))
    if isinstance(right, type):
        assert ours is right
        return
    for a, b in zip(ours, right) if type(right) is tuple else [(ours, right)]:
        assert a.dtype == b.dtype
        if b.dtype.kind == "c":  # whose powers are rounded otherwise
            np.testing.assert_allclose(a, b, rtol=1e-12)
        else:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", BINARY)
def test_operators_beside_each_other_and_beside_numpys(name):
    operate = BINARY[name]
    for (of_x, x), (of_z, z) in itertools.product(VALUES.items(), VALUES.items()):
        if name in ("pow", "lshift") and not WITHOUT_END.isdisjoint((of_x, of_z)):
            continue
        check(lambda x, z: operate(x.item(), z.item()), x, z)
        check(lambda x, z: operate(x.item(), z), x, z)
        check(lambda x, z: operate(x, z.item()), x, z)


@pytest.mark.parametrize("name", BINARY)
def test_operators_beside_literals(name):
    operate = BINARY[name]
    for of_x, x in VALUES.items():
        check(lambda x: operate(x.item(), 3), x)
        check(lambda x: operate(x.item(), 0.5), x)
        check(lambda x: operate(True, x.item()), x)
        if name not in ("pow", "lshift") or of_x not in WITHOUT_END:
            check(lambda x: operate(2, x.item()), x)
        if name not in ("max", "divmod"):
            check(lambda x: operate(np.array([1, 2], np.int8), x.item()), x)


def test_floats_beside_integers_that_are_none():
    x = np.array([2.0**53, 1.0, 2.0**53 + 2])
    for operate in BINARY.values():
        if operate not in (operator.lshift, operator.rshift):
            check(lambda x, f=operate: f(x.item(), 2**53 + 1), x)
            check(lambda x, f=operate: f(2**53 + 1, x.item()), x)


@pytest.mark.parametrize("operate", [operator.neg, operator.pos, operator.invert, abs, float])
def test_operators_of_one_number(operate):
    for x in VALUES.values():
        check(lambda x: operate(x.item()), x)


def test_integers_that_leave_int64_go_one_after_another():
    with pytest.warns(cr.BatchWarning, match="too large for NumPy"):
        y = cr.vmap(lambda k: k.item() ** 40 % 1_000_007)(np.array([2, 3, 5, 7]))
    np.testing.assert_array_equal(y, [k**40 % 1_000_007 for k in (2, 3, 5, 7)])
    with pytest.raises(cr.BatchError, match="too large"):
        cr.vmap(lambda k: k.item() * 10**10 * 10**10, ways=1)(np.array([2, 3]))
