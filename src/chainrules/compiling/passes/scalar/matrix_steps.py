"""Linear algebra of small matrices: solve, inv, det, slogdet and Cholesky, also of stacks."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ....config.thresholds import SMALL_MATRIX
from ...ir.forms import ValueForm
from ...ir.scalars import Names, NotLowered, settings
from .small_matrices import Factors, Matrix, cholesky, factorized, inverse_of_lower


def _square(line: Any, x: Any) -> np.ndarray:
    """Return the names in a small square matrix of floats, or in a stack of them."""
    names = line.as_kind(line.names(x), "f8").ids
    if names.ndim < 2 or not 0 < names.shape[-1] == names.shape[-2] <= SMALL_MATRIX:
        raise NotLowered("linear algebra of a matrix that is empty, large or not square")
    array: np.ndarray = names
    return array


def _use(line: Any, regular: int) -> None:
    """Note that what is computed is used only where the matrix is regular."""
    if regular < 0:
        if not line.constants[-regular - 1]:
            raise NotLowered("linear algebra of a constant matrix that is singular")
    elif regular not in line.regular:
        line.regular.append(regular)


def _factors(line: Any, matrix: np.ndarray) -> tuple[Factors, bool]:
    """Return the factors of a matrix or of its transpose, and whether they are the transpose's."""
    for names, transposed in ((matrix, False), (matrix.T, True)):
        if (key := (len(names), names.tobytes())) in line.factors:
            return line.factors[key], transposed
    found = factorized(line, matrix.tolist())
    line.factors[len(matrix), matrix.tobytes()] = found
    return found, False


def _matrices(x: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the matrices of a stack."""
    for index in np.ndindex(x.shape[:-2]):
        yield x[index]


def _solved(line: Any, matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    factors, transposed = _factors(line, matrix)
    _use(line, factors.regular)
    solve = factors.solved_transposed if transposed else factors.solved
    rows = zip(*[solve(line, column) for column in columns.T.tolist()], strict=True)
    return np.array(list(rows), np.int64).reshape(columns.shape)


def _solve(line: Any, form: ValueForm, a: Any, b: Any) -> Names:
    matrices, right = _square(line, a), line.as_kind(line.names(b), "f8").ids
    columns = right[:, None] if (vector := right.ndim == 1) else right
    stack = np.broadcast_shapes(matrices.shape[:-2], columns.shape[:-2])
    matrices = np.broadcast_to(matrices, (*stack, *matrices.shape[-2:]))
    columns = np.broadcast_to(columns, (*stack, *columns.shape[-2:]))
    if not columns.size:
        raise NotLowered("a system of nothing")
    pairs = zip(_matrices(matrices), _matrices(columns), strict=True)
    y = np.array([_solved(line, *pair) for pair in pairs]).reshape(columns.shape)
    return Names(y[..., 0] if vector else y, "f8")


def _inv(line: Any, form: ValueForm, a: Any) -> Names:
    matrices = _square(line, a)
    unit = line.names(np.eye(matrices.shape[-1])).ids
    found = [_solved(line, matrix, unit) for matrix in _matrices(matrices)]
    return Names(np.array(found, np.int64).reshape(matrices.shape), "f8")


def _inverse_or_nan(line: Any, form: ValueForm, a: Any, sign: Any) -> Names:
    inverse, signs = _inv(line, form, a), line.as_kind(line.names(sign), "f8")
    zero = line.each("equal", "b1", Names(signs.ids[..., None, None], "f8"), line.names(0.0))
    found: Names = line.each("where", "f8", zero, line.names(np.nan), inverse)
    return found


def _determinants(line: Any, a: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the names of the signs and sizes of determinants."""
    matrices, found = _square(line, a), []
    for matrix in _matrices(matrices):
        factors = _factors(line, matrix)[0]
        sign, size, within = factors.determinant(line)
        _use(line, factors.regular)
        _use(line, within)
        found.append((sign, size))
    both = np.array(found, np.int64).reshape(*matrices.shape[:-2], 2)
    return both[..., 0], both[..., 1]


def _det(line: Any, form: ValueForm, a: Any) -> Names:
    sign, size = [Names(ids, "f8") for ids in _determinants(line, a)]
    found: Names = line.each("multiply", "f8", sign, size)
    return found


def _slogdet(line: Any, a: Any) -> list[Names]:
    sign, size = [Names(ids, "f8") for ids in _determinants(line, a)]
    return [sign, line.each("log", "f8", size)]


def _each(line: Any, made: Callable, matrices: np.ndarray) -> np.ndarray:
    """Return what ``made`` gives of each matrix, with a truth without which it is not used."""
    found: list[Matrix] = []
    for matrix in _matrices(matrices):
        y, regular = made(line, matrix.tolist())
        _use(line, regular)
        found.append(y)
    return np.array(found, np.int64).reshape(matrices.shape)


def _inverse_of_lower(line: Any, form: ValueForm, a: Any) -> Names:
    return Names(_each(line, inverse_of_lower, _square(line, a)), "f8")


def _cholesky(line: Any, form: ValueForm, a: Any, *, upper: Any = False) -> Names:
    matrices, turned = _square(line, a), bool(settings(upper))
    if turned:
        matrices = np.swapaxes(matrices, -1, -2)
    y = _each(line, cholesky, matrices)
    return Names(np.swapaxes(y, -1, -2) if turned else y, "f8")


def _cholesky_pull(line: Any, form: ValueForm, y: Any, ybar: Any) -> Names:
    """Pull a cotangent through a Cholesky factor, by the products of the rule."""
    factor, inverse = Names(_square(line, y), "f8"), _inverse_of_lower(line, form, y)
    zero, half = line.names(0.0).ids, line.names(0.5)
    eye = np.eye(factor.ids.shape[-1], dtype=bool)

    def lower(a: Names, b: Names) -> Names:
        return Names(np.where(np.tri(len(eye), dtype=bool), line.product(a, b).ids, zero), "f8")

    def halved(x: Names) -> Names:
        return Names(np.where(eye, line.each("multiply", "f8", x, half).ids, x.ids), "f8")

    def turned(x: Names) -> Names:
        return Names(np.swapaxes(x.ids, -1, -2), "f8")

    given = line.as_kind(line.names(ybar), "f8")
    below = Names(np.where(np.tri(len(eye), dtype=bool), given.ids, zero), "f8")
    inner = halved(lower(turned(factor), below))
    whole = line.each("add", "f8", inner, turned(inner))
    return halved(lower(turned(inverse), lower(whole, inverse)))


#: By the names of lowerings in the table: of what gives one array or number, and of several.
MATRIX_STEPS: dict[str, Callable] = {
    "solve": _solve, "inv": _inv, "inverse_or_nan": _inverse_or_nan, "det": _det,
    "inverse_of_lower": _inverse_of_lower, "cholesky": _cholesky, "cholesky_pull": _cholesky_pull,
}  # fmt: skip
SEVERAL: dict[str, Callable] = {"slogdet": _slogdet}
