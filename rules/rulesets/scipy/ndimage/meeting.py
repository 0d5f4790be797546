"""B-splines that are not zero at given coordinates of an image: their indices and their values.

Beyond the borders of an image its coefficients go on as a mode of SciPy's says. All arrays are
plain ones.
"""

import functools
import itertools
import math

import numpy as np


def mapped(x, n, mode):
    """Return the source of a coordinate beyond the borders, and the derivative of the source."""
    if mode in ("constant", "grid-constant", "nearest"):
        return x, np.ones_like(x)
    if n == 1:
        return np.zeros_like(x), np.where(x == 0, 1.0, 0.0)
    if mode == "wrap":
        turned = np.where(x < 0, x + (n - 1) * (np.trunc(-x / (n - 1)) + 1), x % (n - 1))
        return np.where((x < 0) | (x > n - 1), turned, x), np.ones_like(x)
    if mode == "grid-wrap":
        return np.where((x < 0) | (x > n - 1), x % n, x), np.ones_like(x)
    if mode == "mirror":
        turned = x % (2 * n - 2)
        back = np.where(x < 0, turned > n - 1, turned >= n)
        return np.where(back, 2 * n - 2 - turned, turned), np.where(back, -1.0, 1.0)
    turned = x % (2 * n)
    back = turned > n - 0.5
    return np.where(back, 2 * n - 1 - turned, turned), np.where(back, -1.0, 1.0)


def mapped_index(k, n, mode):
    """From where the coefficient of an index beyond the borders is taken; -1 from nowhere."""
    if mode == "grid-constant":
        return np.where((k < 0) | (k >= n), -1, k)
    if mode == "nearest":
        return np.clip(k, 0, n - 1)
    if n == 1:
        return np.zeros_like(k)
    if mode == "grid-wrap":
        return k % n
    if mode in ("reflect", "grid-mirror"):
        turned = k % (2 * n)
        return np.where(turned >= n, 2 * n - 1 - turned, turned)
    turned = k % (2 * n - 2)
    return np.where(turned >= n, 2 * n - 2 - turned, turned)


@functools.cache
def spline_pieces(order, times=0):
    """Coefficients of powers of u: what each of the splines that meet at a place is there.

    They are differentiated so many times. Each is a sum of truncated powers,
    ``(-1)**k C(n + 1, k) (u + a)**n / n!``; u is in [0, 1), or in [-1/2, 1/2) for an even order.
    """
    if times:
        pieces = spline_pieces(order, times - 1)
        return pieces[1:] * np.arange(1, len(pieces))[:, None]
    pieces = np.zeros((order + 1, order + 1))
    for tap, k in itertools.product(range(order + 1), range(order + 2)):
        a = order // 2 - tap + (order + 1) / 2 - k
        if a > -0.25:
            factor = (-1) ** k * math.comb(order + 1, k) / math.factorial(order)
            for power in range(order + 1):
                pieces[power, tap] += factor * math.comb(order, power) * a ** (order - power)
    pieces.flags.writeable = False
    return pieces


def powers_of(u, count):
    powers = np.ones((count, *u.shape))
    for k in range(1, count):
        np.multiply(powers[k - 1], u, out=powers[k])
    return powers


def places_along(x, n, order, mode):
    """Return the splines that meet at plain coordinates ``x``, and the distance to the first.

    In this order: that distance, its slope, the indices of the splines, (order + 1, places), and
    whether each of these lies inside of the image. The slope is None where it is 1, the last where
    all do.
    """

    def meeting_at(at):
        start = np.floor(at if order % 2 else at + 0.5)
        return at - start, start.astype(int) + (np.arange(order + 1) - order // 2)[:, None]

    distance, index = meeting_at(x)
    if order and x.size and index[0].min() >= 0 and index[-1].max() < n:
        return distance, None, index, None
    at, slope = mapped(x, n, mode)
    distance, index = meeting_at(at)
    index = mapped_index(index, n, mode)
    inside = index >= 0
    if mode == "constant":
        inside = inside & (x >= 0) & (x <= n - 1)
    return distance, slope, index, inside


class Meeting:
    """The splines that meet at coordinates: their indices in the flat image, and what they are.

    Shapes: ``coordinates``: (axes, ...); ``flat``: (order + 1, ..., places). The places are last,
    so that NumPy's loops are long.
    """

    def __init__(self, shape, coordinates, order, mode):
        self.order, self.shape = order, shape
        coordinates = np.asarray(coordinates, float)
        self.places = coordinates.shape[1:]
        each = coordinates.reshape(len(shape), -1)
        with np.errstate(invalid="ignore"):  # of coordinates that are no numbers
            self.found = [places_along(x, n, order, mode) for x, n in zip(each, shape)]
        self.powers = [powers_of(distance, order + 1) for distance, *_ in self.found]
        self.flat, stride = 0, 1
        for k in reversed(range(len(shape))):
            _, _, index, inside = self.found[k]
            index = index if inside is None else np.where(inside, index, 0)
            self.flat = self.flat + self.in_place(k, index * stride)
            stride *= shape[k]

    def in_place(self, k, x):
        """Give what there is for each spline along axis ``k`` an axis for those along each."""
        count, places = x.shape
        return x.reshape((*[count if j == k else 1 for j in range(len(self.shape))], places))

    def along(self, k, times):
        """The splines along axis ``k``, differentiated so many times in the coordinate."""
        _, slope, _, inside = self.found[k]
        pieces = spline_pieces(self.order, times)
        weights = pieces.T @ self.powers[k][: len(pieces)]
        if times % 2 and slope is not None:
            weights = weights * slope
        return self.in_place(k, weights if inside is None else np.where(inside, weights, 0.0))

    def weights(self, times):
        """The products of the splines, differentiated ``times[k]`` times along axis ``k``."""
        first, *others = [self.along(k, count) for k, count in enumerate(times)]
        return math.prod(others, start=first)

    def sums(self, c, each):
        """For all ``times`` of ``each``, the sum of the splines with coefficients ``c``."""
        near, axes = np.take(c, self.flat), tuple(range(len(self.shape)))
        return [np.sum(near * self.weights(t), axis=axes).reshape(self.places) for t in each]

    def back(self, ybar, times):
        """Add ``ybar`` to the coefficients of the splines, by what these are."""
        terms = self.weights(times) * np.ravel(ybar)

        def total(terms):
            size = math.prod(self.shape)
            return np.bincount(self.flat.ravel(), terms.ravel(), size).reshape(self.shape)

        if np.iscomplexobj(ybar):
            return total(terms.real) + 1j * total(terms.imag)
        return total(terms)
