"""Leave to overwrite arguments, in compiled functions: results are those of the function itself."""

import numpy as np
import pytest

import chainrules as cr
from chainrules.scipy import fft, linalg

RNG = np.random.default_rng(6)
A = RNG.normal(size=(4, 4)) + 4 * np.eye(4)
BANDS = np.abs(RNG.normal(size=(3, 4))) + np.array([[0.0], [3.0], [0.0]])
B = RNG.normal(size=(4, 2))
CALLS = {
    "solve": (lambda a, b: linalg.solve(a, b, overwrite_a=True, overwrite_b=True), A, B),
    "solve by position": (lambda a, b: linalg.solve(a, b, False, True, True), A, B),
    "solve_banded": (
        lambda a, b: linalg.solve_banded((1, 1), a, b, overwrite_ab=True, overwrite_b=True),
        BANDS, B,
    ),
    "inv": (lambda a, b: linalg.inv(a, overwrite_a=True) @ b, A, B),
    "lu_factor": (lambda a, b: linalg.lu_factor(a, overwrite_a=True)[0] + b[0, 0], A, B),
    "eigh": (lambda a, b: linalg.eigh(a + a.T, overwrite_a=True)[0] * b[:, 0], A, B),
    "fft": (lambda a, b: fft.fft(a * 1j, overwrite_x=True) @ b, A, B),
    "dct": (lambda a, b: fft.dct(a, overwrite_x=True) @ b, A, B),
}  # fmt: skip


def fresh(x):
    return np.array(x, order="F")


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:.*overwrites an argument:chainrules.errors.CompileWarning")
def test_an_argument_that_is_overwritten(name):
    f, a, b = CALLS[name]
    compiled = cr.compile(f)
    for step in range(4):
        expected = f(fresh(a) + step, fresh(b))
        np.testing.assert_allclose(compiled(fresh(a) + step, fresh(b)), expected, rtol=1e-11)


@pytest.mark.parametrize("name", CALLS)
def test_an_intermediate_array_that_may_be_overwritten_is_kept(name):
    f, a, b = CALLS[name]

    def twice(a, b):  # a replay computes the two products once
        return f(a * 2.0, b + 1.0), np.sum(a * 2.0), np.sum(b + 1.0)

    compiled = cr.compile(twice)
    for step in range(4):
        y = compiled(fresh(a) + step, fresh(b))
        for found, right in zip(y, twice(fresh(a) + step, fresh(b)), strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-11)


def test_it_says_that_it_is_not_compiled():
    compiled = cr.compile(CALLS["solve"][0])
    with pytest.warns(cr.errors.CompileWarning, match="leave out overwrite_a=True"):
        compiled(fresh(A), fresh(B))
