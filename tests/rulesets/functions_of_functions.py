"""Functions of functions, each beside what it stands for: NumPy's, Python's, and comprehensions.

``test_functions_of_functions`` loads this file twice, as it stands and adopted.
"""

import functools
import heapq
import itertools
import math
import operator
import statistics

import numpy as np

W = np.array([0.7, -0.4, 1.2])


def soft(a, b):
    return a * b + np.sin(a)


CASES: dict = {}


def case(plain):
    def add(f):
        CASES[f.__name__] = (f, plain)
        return f

    return add


@case(lambda w: np.sum(np.sin(w) * w[0] * w))
def vectorize_closure(w):
    return np.sum(np.vectorize(lambda x: np.sin(x) * w[0])(w) * w)


@case(lambda w: np.sum(w**2 * w[1]))
def vectorize_otypes(w):
    return np.sum(np.vectorize(lambda x: x * x * w[1], otypes=[float])(w))


@case(lambda w: np.sum(np.outer(w, w) ** 2 * w))
def vectorize_signature(w):
    return np.sum(np.vectorize(lambda r: r * r * w, signature="(n)->(n)")(np.outer(w, w)))


@case(lambda w: np.sum(np.arange(3.0) * w[1] + w[0]))
def vectorize_constants(w):
    return np.sum(np.vectorize(lambda x: x * w[1] + w[0])(np.arange(3.0)))


@case(lambda w: np.sum(np.arange(3.0) * w[1] + w[0]))
def vectorize_ints(w):
    return np.sum(np.vectorize(lambda k: k * w[1] + w[0])(np.arange(3)))


@case(lambda w: np.sum(w[[0, 1, 2]] ** 2))
def vectorize_index(w):
    return np.sum(np.vectorize(lambda k: w[k] ** 2)(np.arange(3)))


@case(lambda w: np.sum(np.sin(w) * w[0]))
def vectorize_decorator(w):
    @np.vectorize
    def f(x):
        return np.sin(x) * w[0]

    return np.sum(f(w))


@case(lambda w: np.sum(w * w + w[0]))
def vectorize_excluded(w):
    return np.sum(np.vectorize(lambda x, p, k=1: x * x + p[0] * k, excluded=["p", 1])(w, w, k=1))


@case(lambda w: np.sum(w * w) + np.sum(np.cos(w)))
def vectorize_two(w):
    a, b = np.vectorize(lambda x: (x * x, np.cos(x)))(w)
    return np.sum(a) + np.sum(b)


@case(lambda w: np.sum(np.sin(w) * w))
def frompyfunc(w):
    return np.sum(np.frompyfunc(lambda x, y: np.sin(x) * y, 2, 1)(w, w))


@case(lambda w: np.sum(w[0] * np.arange(3.0)))
def frompyfunc_closure(w):
    return np.sum(np.frompyfunc(lambda x: x * w[0], 1, 1)(np.arange(3.0)))


@case(lambda w: w[0] * w[1] * w[2])
def frompyfunc_reduce(w):
    return np.frompyfunc(lambda x, y: x * y, 2, 1).reduce(w)


@case(lambda w: np.sum(np.cumsum(np.outer(w, w), axis=1) * w[0]))
def apply_along_axis(w):
    return np.sum(np.apply_along_axis(lambda r: np.cumsum(r) * w[0], 1, np.outer(w, w)))


@case(lambda w: np.sum(np.sum(np.outer(w, w), axis=0) ** 2 * w[0]))
def apply_along_axis0(w):
    return np.sum(np.apply_along_axis(lambda r: np.sum(r) ** 2 * w[0], 0, np.outer(w, w)))


@case(lambda w: np.sum(np.arange(6.0).reshape(2, 3).sum(1) * w[0]))
def apply_along_axis_plain(w):
    return np.sum(np.apply_along_axis(lambda r: np.sum(r) * w[0], 1, np.arange(6.0).reshape(2, 3)))


@case(lambda w: np.sum(np.multiply.outer(w, np.outer(w, w)), axis=(0, 2)).sum() ** 2)
def apply_over_axes(w):
    return np.sum(np.apply_over_axes(np.sum, np.multiply.outer(w, np.outer(w, w)), [0, 2])) ** 2


@case(lambda w: np.sum(np.sum(np.outer(w, w) * 1.0, axis=0) * w[0]))
def apply_over_axes_lambda(w):
    return np.sum(
        np.apply_over_axes(
            lambda a, axis: np.sum(a, axis=axis, keepdims=True) * w[0], np.outer(w, w), [0]
        )
    )


@case(lambda w: np.sum(np.where(w < 0, w**2 * w[0], np.sin(w))))
def piecewise(w):
    return np.sum(np.piecewise(w, [w < 0, w >= 0], [lambda x: x**2 * w[0], np.sin]))


@case(lambda w: np.sum(np.where(np.arange(3.0) < 1, w[0], np.arange(3.0) * w[1])))
def piecewise_plain(w):
    return np.sum(np.piecewise(np.arange(3.0), [np.arange(3.0) < 1], [w[0], lambda x: x * w[1]]))


@case(lambda w: sum((i + 2 * j) * w[0] * w[1] + i for i in range(2) for j in range(3)))
def fromfunction(w):
    return np.sum(np.fromfunction(lambda i, j: (i + 2 * j) * w[0] * w[1] + i, (2, 3)))


@case(lambda w: np.sum(w[[0, 1, 2]] * np.arange(3) * w))
def fromfunction_int(w):
    return np.sum(np.fromfunction(lambda i: w[i] * i, (3,), dtype=int) * w)


@case(lambda w: np.sum(w**2) + w[0])
def fromiter(w):
    return np.sum(np.fromiter((x * x for x in w), float)) + w[0]


@case(lambda w: np.sum(w**2) + w[0])
def fromiter_count(w):
    return np.sum(np.fromiter((x * x for x in w), dtype=np.float64, count=3)) + w[0]


@case(lambda w: np.sum(np.sin(w)) * w[0])
def fromiter_map(w):
    return np.sum(np.fromiter(map(np.sin, w), float)) * w[0]


def red(w):
    c = w[0]
    for x in w[1:]:
        c = soft(c, x) * w[0]
    return c


@case(red)
def reduce_closure(w):
    return functools.reduce(lambda a, b: soft(a, b) * w[0], w)


@case(lambda w: w[0] * w[1] * w[2])
def reduce_operator(w):
    return functools.reduce(operator.mul, list(w))


@case(lambda w: w[0] * w[1] * w[2] * w[0])
def reduce_initial(w):
    return functools.reduce(operator.mul, w, w[0])


@case(lambda w: functools.reduce(lambda d, x: d + x * x, list(w), 0.0))
def reduce_dict(w):
    return functools.reduce(lambda d, x: {"s": d["s"] + x * x}, w, {"s": 0.0})["s"]


@case(lambda w: w[0] * 6)
def reduce_plain_items(w):
    return functools.reduce(lambda c, k: c * k, [1, 2, 3], w[0])


@case(lambda w: w[0] * np.sum(w))
def reduce_closure_plain(w):
    return functools.reduce(lambda c, k: c + w[k] * w[0], range(3), 0.0)


@case(lambda w: np.sum(np.cumsum(w) ** 2))
def accumulate(w):
    return sum(c * c for c in itertools.accumulate(w))


@case(lambda w: np.sum(np.cumprod(w) * w[0]))
def accumulate_func(w):
    return sum(c * w[0] for c in itertools.accumulate(w, operator.mul))


@case(lambda w: w[0] + (w[0] + w[0] * 1) + (w[0] + w[0] * 1 + w[0] * 2))
def accumulate_initial(w):
    return sum(itertools.accumulate([1.0, 2.0], lambda c, x: c + x * w[0], initial=w[0]))


@case(lambda w: np.max(np.cumsum(w)) + 0)
def accumulate_max(w):
    return max(itertools.accumulate(w))


@case(lambda w: np.sum(w**2))
def sum_gen(w):
    return sum(x * x for x in w)


@case(lambda w: np.sum(w**2) + w[0])
def sum_start(w):
    return sum((x * x for x in w), start=w[0])


@case(lambda w: np.sum(w**2))
def sum_arrays(w):
    return np.sum(sum([w * w, w * 0.0]))


@case(lambda w: np.sum(w))
def sum_array(w):
    return sum(w)


@case(lambda w: w[1] * w[0])
def min_key(w):
    return min(w, key=lambda x: x * w[0]) * w[0]


@case(lambda w: w[2] * w[0])
def max_plain(w):
    return max(w) * w[0]


@case(lambda w: w[2] * w[0])
def max_args(w):
    return max(w[0], w[2], 0.0) * w[0]


@case(lambda w: w[1] ** 2 * w[0])
def min_key_abs(w):
    return min(list(w), key=abs) ** 2 * w[0]


@case(lambda w: w[0] * 1.0)
def max_default(w):
    return max([], default=w[0]) * 1.0


@case(lambda w: w[1] * 1 + w[0] * 2 + w[2] * 3)
def sorted_plain(w):
    return sum(k * x for k, x in enumerate(sorted(w), 1))


@case(lambda w: w[1] * 3 + w[0] * 2 + w[2] * 1)
def sorted_key(w):
    return sum(k * x for k, x in enumerate(sorted(w, key=lambda x: -x * w[0]), 1))


@case(lambda w: w[1] * 3 + w[0] * 2 + w[2] * 1)
def sorted_reverse(w):
    return sum(k * x for k, x in enumerate(sorted(w, reverse=True), 1))


@case(lambda w: w[1] * 1 + w[0] * 2 + w[2] * 3)
def list_sort(w):
    items = list(w)
    items.sort(key=lambda x: x)
    return sum(k * x for k, x in enumerate(items, 1))


@case(lambda w: np.sum(w**2) * w[0])
def comprehension(w):
    return np.sum(np.array([x * x for x in w])) * w[0]


@case(lambda w: np.sum(w**2 * w[0]))
def dict_comprehension(w):
    d = {k: x * w[0] for k, x in enumerate(w)}
    return sum(d[k] * w[k] for k in d)


@case(lambda w: w[0] ** 2 + w[2] ** 2)
def filtered(w):
    return sum(x * x for x in filter(lambda x: x > 0, w))


@case(lambda w: np.sum(w * np.sin(w)))
def map_two(w):
    return sum(map(lambda a, b: a * np.sin(b), w, w))


@case(lambda w: np.sum(w[1:] * w[:-1]))
def pairwise(w):
    return sum(a * b for a, b in itertools.pairwise(w))


@case(lambda w: np.sum(np.outer(w, w)))
def product(w):
    return sum(a * b for a, b in itertools.product(w, w))


@case(lambda w: np.sum(w**2))
def starmap(w):
    return sum(map(operator.mul, w, w))


@case(lambda w: np.sum(w))
def chain(w):
    return sum(itertools.chain(w[:1], w[1:]))


@case(lambda w: w[0] + w[2])
def compress(w):
    return sum(itertools.compress(w, [1, 0, 1]))


@case(lambda w: w[1] ** 2)
def groupby(w):
    return sum(sum(g) ** 2 for k, g in itertools.groupby(sorted(w), key=lambda x: x < 0) if k)


@case(lambda w: np.sum(w * 3.0))
def partials(w):
    return sum(functools.partial(operator.mul, x)(3.0) for x in w)


def gen(w):
    s = 0.0
    for x in w:
        s = s + x * w[0]
        yield s


@case(lambda w: np.sum(np.cumsum(w * w[0]) ** 2))
def generator(w):
    return sum(s**2 for s in gen(w))


@case(lambda w: np.sum(w) * w[0])
def math_fsum(w):
    return math.fsum(w) * w[0]


@case(lambda w: w[0] * w[1] * w[2])
def np_ufunc_reduce(w):
    return np.multiply.reduce(w)


@case(lambda w: np.sum(np.where(w > 0, w * w, -w)))
def select(w):
    return np.sum(np.select([w > 0, w <= 0], [w * w, -w]))


@case(lambda w: np.sum(w**2))
def flat(w):
    return sum(x * x for x in w.flat)


@case(lambda w: np.sum(w**2 * np.arange(3)))
def enumerated(w):
    return sum(x * x * i[0] for i, x in np.ndenumerate(w))


@case(lambda w: w[0] ** 2 + w[2])
def next_and_reversed(w):
    return next(x for x in w if x > 0) ** 2 + next(iter(reversed(w)))


@case(lambda w: w[2] + w[0])
def largest(w):
    return sum(heapq.nlargest(2, w))


@case(lambda w: np.sum(w) / 3)
def mean_of_statistics(w):
    return statistics.fmean(w)
