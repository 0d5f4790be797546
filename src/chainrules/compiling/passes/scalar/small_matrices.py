"""Factors of small matrices as operations on single numbers: LU with row exchanges, Cholesky.

Rows are exchanged by selections, so that one straight line of operations serves all numbers, with
the pivots that LAPACK takes. A matrix that is singular to rounding is not ``regular``: what is
computed of it is not used, and NumPy does that call.
"""

import functools
import itertools
from typing import Any, NamedTuple, Protocol

import numpy as np

# What cancellation may leave of a pivot before rounding decides whether it is zero.
SMALLEST_SHARE = 2.0**-40
SMALLEST_PIVOT = 1e-280  # whose reciprocal is finite, with room for the numbers that it meets

Matrix = list[list[int]]


class Arithmetic(Protocol):
    """Writer of operations on numbers, which are known by their names."""

    def op(self, name: str, *ids: int) -> int: ...

    def constant(self, x: Any) -> int: ...


class Exchange(NamedTuple):
    """Exchange of row ``at`` with the one that the pivot was found in, by truths of later rows.

    The last row of which ``larger`` holds is the pivot's, of which alone ``chosen`` holds.
    """

    at: int
    larger: list[int]
    chosen: list[int]

    def of(self, writer: Arithmetic, column: list[int]) -> list[int]:
        """Return a column with its entries exchanged."""
        first, rest = column[self.at], column[self.at + 1 :]
        found = first
        for truth, x in zip(self.larger, rest, strict=True):
            found = writer.op("where", truth, x, found)
        moved = [
            writer.op("where", truth, first, x) for truth, x in zip(self.chosen, rest, strict=True)
        ]
        return [*column[: self.at], found, *moved]


class Factors(NamedTuple):
    """Triangles of a matrix whose rows were exchanged: ``lower`` has ones on its diagonal.

    Row k of ``lower`` is as it was when column k was eliminated. ``inverses`` are the reciprocals
    of the diagonal of ``upper``; ``is_odd`` says whether there was an odd number of exchanges.
    """

    upper: Matrix
    lower: Matrix  # by columns: the multipliers below the diagonal
    inverses: list[int]
    exchanges: list[Exchange]
    is_odd: int | None
    regular: int

    def solved(self, writer: Arithmetic, column: list[int]) -> list[int]:
        """Solve the system for one column."""
        x, n = list(column), len(column)
        for k, exchange in enumerate(self.exchanges):
            x = exchange.of(writer, x)
            for i in range(k + 1, n):
                x[i] = _less(writer, x[i], self.lower[k][i - k - 1], x[k])
        for k in reversed(range(n)):
            for j in range(k + 1, n):
                x[k] = _less(writer, x[k], self.upper[k][j], x[j])
            x[k] = writer.op("multiply", x[k], self.inverses[k])
        return x

    def solved_transposed(self, writer: Arithmetic, column: list[int]) -> list[int]:
        """Solve the system of the transposed matrix for one column."""
        x, n = list(column), len(column)
        for k in range(n):
            for j in range(k):
                x[k] = _less(writer, x[k], self.upper[j][k], x[j])
            x[k] = writer.op("multiply", x[k], self.inverses[k])
        for k, exchange in reversed(list(enumerate(self.exchanges))):
            for i in range(k + 1, n):
                x[k] = _less(writer, x[k], self.lower[k][i - k - 1], x[i])
            x = exchange.of(writer, x)
        return x

    def determinant(self, writer: Arithmetic) -> tuple[int, int, int]:
        """Return sign and size of the determinant, and whether no product was out of range."""
        op, constant = writer.op, writer.constant
        pivots = [row[k] for k, row in enumerate(self.upper)]
        size, least = constant(1.0), constant(np.inf)
        sign = constant(1.0)
        if self.is_odd is not None:
            sign = op("where", self.is_odd, constant(-1.0), sign)
        for x in pivots:
            size = op("multiply", size, op("absolute", x))
            least = op("minimum", least, size)
            sign = op("copysign", constant(1.0), op("multiply", sign, x))
        large = op("greater", least, constant(SMALLEST_PIVOT))
        return sign, size, op("logical_and", large, op("isfinite", size))


def _less(writer: Arithmetic, x: int, a: int, b: int) -> int:
    return writer.op("subtract", x, writer.op("multiply", a, b))


def factorized(writer: Arithmetic, rows: Matrix) -> Factors:
    """Return the LU factors of a square matrix, with the largest entry of a column as its pivot."""
    op, constant = writer.op, writer.constant
    n, rows = len(rows), [list(row) for row in rows]
    lower: Matrix = []
    inverses, exchanges, regular = [], [], []
    is_odd = None
    for k in range(n):
        largest, larger = op("absolute", rows[k][k]), []
        for i in range(k + 1, n):
            size = op("absolute", rows[i][k])
            larger.append(op("greater", size, largest))
            largest = op("where", larger[-1], size, largest)
        exchange, is_exchanged = _exchange(writer, k, larger)
        exchanges.append(exchange)
        if is_exchanged is not None:
            is_odd = is_exchanged if is_odd is None else op("logical_xor", is_odd, is_exchanged)
        columns = [exchange.of(writer, [row[j] for row in rows]) for j in range(k, n)]
        for i in range(k, n):
            rows[i][k:] = [column[i] for column in columns]
        above = functools.reduce(
            lambda a, b: op("maximum", a, op("absolute", b)), [rows[i][k] for i in range(k)],
            constant(SMALLEST_PIVOT / SMALLEST_SHARE),
        )  # fmt: skip
        share = op("multiply", above, constant(SMALLEST_SHARE))
        regular.append(op("greater", largest, share))
        inverses.append(op("reciprocal", rows[k][k]))
        lower.append([op("multiply", rows[i][k], inverses[k]) for i in range(k + 1, n)])
        for i, j in itertools.product(range(k + 1, n), range(k + 1, n)):
            rows[i][j] = _less(writer, rows[i][j], lower[k][i - k - 1], rows[k][j])
    return Factors(rows, lower, inverses, exchanges, is_odd, _all(writer, regular))


def _exchange(writer: Arithmetic, at: int, larger: list[int]) -> tuple[Exchange, int | None]:
    """Return an exchange, and whether the pivot is found in another row, if there is any."""
    if not larger:
        return Exchange(at, [], []), None
    found = larger[-1]
    chosen = [found]
    for truth in reversed(larger[:-1]):
        chosen.append(writer.op("logical_and", truth, writer.op("logical_not", found)))
        found = writer.op("logical_or", truth, found)
    return Exchange(at, larger, chosen[::-1]), found


def _all(writer: Arithmetic, truths: list[int]) -> int:
    return functools.reduce(functools.partial(writer.op, "logical_and"), truths)


def cholesky(writer: Arithmetic, rows: Matrix) -> tuple[Matrix, int]:
    """Return the lower Cholesky factor, by the lower triangle, and whether it is to be used."""
    op, constant = writer.op, writer.constant
    n, zero, regular = len(rows), constant(0.0), []
    y = [[zero] * n for _ in range(n)]
    for k in range(n):
        rest = functools.reduce(lambda x, a: _less(writer, x, a, a), y[k][:k], rows[k][k])
        share = op("multiply", op("absolute", rows[k][k]), constant(SMALLEST_SHARE))
        bound = op("maximum", share, constant(SMALLEST_PIVOT))
        regular.append(op("greater", rest, bound))
        y[k][k] = op("sqrt", rest)
        inverse = op("reciprocal", y[k][k])
        for i in range(k + 1, n):
            x = rows[i][k]
            for j in range(k):
                x = _less(writer, x, y[i][j], y[k][j])
            y[i][k] = op("multiply", x, inverse)
    return y, _all(writer, regular)


def inverse_of_lower(writer: Arithmetic, rows: Matrix) -> tuple[Matrix, int]:
    """Return the inverse of a lower triangle, and whether no entry of its diagonal is zero."""
    op, constant = writer.op, writer.constant
    n, zero = len(rows), constant(0.0)
    inverses = [op("reciprocal", rows[k][k]) for k in range(n)]
    sizes = [op("absolute", rows[k][k]) for k in range(n)]
    y = [[zero] * n for _ in range(n)]
    for j in range(n):
        y[j][j] = inverses[j]
        for i in range(j + 1, n):
            x = zero
            for k in range(j, i):
                x = _less(writer, x, rows[i][k], y[k][j])
            y[i][j] = op("multiply", x, inverses[i])
    return y, _all(writer, [op("greater", x, constant(SMALLEST_PIVOT)) for x in sizes])
