"""Work that grew faster than the program: counted, not timed."""

import numpy as np
from counted_calls import calls_of

import chainrules as cr


class Key(str):
    compared = 0

    def __eq__(self, other):
        Key.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_comparisons_of_keys_grow_with_their_number():
    def comparisons(n):
        p = {Key(f"k{i}"): 1.0 for i in range(n)}
        Key.compared = 0
        cr.grad(lambda p: sum(v * v for v in p.values()))(p)
        return Key.compared

    assert comparisons(400) < 8 * max(comparisons(100), 100)


def test_calls_grow_with_the_number_of_views_that_are_written_to():
    def calls(n):
        def f(x):
            y = x * 1.0
            vs = [y[i : i + 1] for i in range(n)]
            for v in vs:
                v *= 2.0
            return np.sum(y)

        x = np.ones(n)
        return len(calls_of(lambda: cr.grad(f)(x)))

    assert calls(200) < 8 * calls(50)
