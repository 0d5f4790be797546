"""Compiled gradients of every rule's case at moved arguments: right, by one recording."""

import functools
import warnings

import numpy as np
import pytest
import scipy
from test_every_rule import CASES, Case, kind_of, name_of

import chainrules as cr

# Each point is recorded anew, or the second one is: they give texts of the numbers, the user's
# function is called by SciPy (funm), SciPy works on a sparse matrix whose entries are recorded
# (svds, before 1.18), or what holds at the first point alone is looked at: a coefficient of a
# section that is 0 (sos2zpk), a matrix that is symmetric (is_valid_dm), a number that is rounded up
# (orders of filters), the larger of two entries that are equal but for rounding (roots_gegenbauer).
RECORDED_ANEW = {
    "numpy.array2string", "numpy.array_repr", "numpy.array_str", "chainrules.scipy.linalg.funm",
    "scipy.sparse.linalg._eigen._svds.svds", "chainrules.scipy.signal.sos2zpk",
    "chainrules.scipy.spatial.distance.is_valid_dm", "chainrules.scipy.signal.buttord",
    "chainrules.scipy.signal.cheb1ord", "chainrules.scipy.signal.cheb2ord",
    "chainrules.scipy.signal.kaiserord", "chainrules.scipy.special.roots_gegenbauer",
}  # fmt: skip
if np.lib.NumpyVersion(scipy.__version__) >= "1.18.0":
    RECORDED_ANEW.remove("scipy.sparse.linalg._eigen._svds.svds")
# They run uncompiled, or say why they cannot.
LOUD = {
    "chainrules.scipy.linalg.fractional_matrix_power",
    "chainrules.scipy.linalg.logm", "scipy.sparse.linalg._expm_multiply.expm_multiply",
}  # fmt: skip


@functools.cache
def case_of(f):
    return Case(f, *CASES[f][0])


def is_compared(f):
    if name_of(f) == "numpy.row_stack":
        return False  # it warns that it goes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of functions that go
        case = case_of(f)
        return not case.integers and all(kind_of(x) == "f" for x in case.numbers)


@pytest.mark.parametrize("f", [pytest.param(f, id=name_of(f)) for f in CASES])
def test_the_gradient_at_moved_arguments(f):
    if not is_compared(f):
        pytest.skip("of integers or complex numbers")
    case = case_of(f)

    def loss(*numbers):
        return case.loss(*numbers)

    gradient = cr.grad(loss, argnums=tuple(range(len(case.numbers))))
    compiled = cr.compile(gradient, check=False)
    if name_of(f) in LOUD:
        with pytest.raises(cr.ChainRulesError, match=r"\n  "):
            compiled(*case.numbers)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for t in (0.0, 1e-3, -1e-3):
            xs = case.along(t)
            for expected, found in zip(gradient(*xs), compiled(*xs), strict=True):
                np.testing.assert_allclose(
                    np.asarray(found), np.asarray(expected), rtol=1e-8, atol=1e-10
                )
    one = all(entry.recordings <= 1 for entry in compiled.kinds.values())
    assert one == (name_of(f) not in RECORDED_ANEW)
