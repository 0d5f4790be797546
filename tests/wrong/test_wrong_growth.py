"""Time that grew faster than the program."""

import numpy as np
from right_or_refused import same

import chainrules as cr


def test_time_grows_with_the_number_of_keys():
    import time

    def seconds(n):
        p = {f"k{i}": 1.0 for i in range(n)}
        t = time.perf_counter()
        cr.grad(lambda p: sum(v * v for v in p.values()))(p)
        return time.perf_counter() - t

    seconds(100)
    ours, right = seconds(16000) / seconds(4000) < 8, True
    same(right, ours)


def test_time_grows_with_the_number_of_views_that_are_written_to():
    import time

    def seconds(n):
        def f(x):
            y = x * 1.0
            vs = [y[i : i + 1] for i in range(n)]
            for v in vs:
                v *= 2.0
            return np.sum(y)

        t = time.perf_counter()
        cr.grad(f)(np.ones(n))
        return time.perf_counter() - t

    seconds(10)
    ours, right = seconds(200) / seconds(50) < 8, True
    same(right, ours)
