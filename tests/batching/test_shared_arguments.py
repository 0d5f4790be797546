"""Arguments that all items share: what a function writes into them no other item sees."""

import numpy as np
import pytest

import chainrules as cr

XS = np.array([1.0, 2.0, 1.0, 3.0])
COUNTS = np.array([1.0, 2.0, 3.0])


def counting(a, w):
    """Items that go unlike ways write unlike often."""
    while a > 0.5:
        a = a - 1.0
        w[0] += 1.0
    return w[0] + a


def always(a, w):
    w[0] += 1.0
    w[1:] *= 2.0
    return np.sum(w) * a


def stored(a, w):
    w[0] = a if np.ndim(a) == 0 else 0.0
    return np.sum(w)


FUNCTIONS = {"unlike ways": counting, "every item": always, "a batched number": stored}


def looped(f, xs, w):
    return np.stack([f(a, w.copy()) for a in xs])


@pytest.mark.filterwarnings("ignore::chainrules.errors.BatchWarning")
@pytest.mark.parametrize("ways", [2, 16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_item_has_them_as_given(name, ways):
    f, w = FUNCTIONS[name], COUNTS.copy()
    batched = cr.vmap(f, in_axes=(0, None), ways=ways)
    np.testing.assert_array_equal(batched(XS, w), looped(f, XS, w))
    in_container = cr.vmap(lambda a, held: f(a, held["w"][0]), in_axes=(0, None), ways=ways)
    np.testing.assert_array_equal(in_container(XS, {"w": (w,)}), looped(f, XS, w))
    np.testing.assert_array_equal(w, COUNTS)


@pytest.mark.filterwarnings("ignore::chainrules.errors.BatchWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    f, w = FUNCTIONS[name], COUNTS.copy()

    def batched(xs, w):
        return np.sum(cr.vmap(f, in_axes=(0, None))(xs, w) * XS**2)

    def loop(xs, w):
        return np.sum(looped(f, xs, w) * XS**2)

    y, slope = cr.value_and_grad(batched, 1)(XS, w)
    expected, expected_slope = cr.value_and_grad(loop, 1)(XS, w)
    np.testing.assert_allclose(y, expected)
    np.testing.assert_allclose(slope, expected_slope)
    if f is not stored:  # which drops the derivative of what is stored, and is refused
        y, slope = cr.value_and_grad(batched)(XS, w)
        np.testing.assert_allclose(y, expected)
        np.testing.assert_allclose(slope, cr.grad(loop)(XS, w))
    np.testing.assert_array_equal(w, COUNTS)


def test_an_array_given_twice_is_one():
    def both(a, v, w):
        v[0] += a
        return w[0] * a

    w = np.ones(2)
    # A batched number does not fit into the array: each item goes its own way.
    y = cr.vmap(both, in_axes=(0, None, None))(XS, w, w)
    np.testing.assert_array_equal(y, (1 + XS) * XS)
    np.testing.assert_array_equal(w, np.ones(2))


def test_what_cannot_be_written_to_is_refused():
    w = COUNTS.copy()
    w.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        cr.vmap(always, in_axes=(0, None))(XS, w)


def test_large_ones_are_not_copied():
    w = np.ones(1000)
    seen = []
    cr.vmap(lambda a, w: (seen.append(w), a * w[0])[1], in_axes=(0, None))(XS, w)
    assert all(np.shares_memory(x, w) for x in seen)
    assert w.flags.writeable
