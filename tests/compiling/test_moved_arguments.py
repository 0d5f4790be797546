"""Compiled gradients of every rule's case at moved arguments: right, by one recording."""

import functools
import warnings

import numpy as np
import pytest
from test_every_rule import CASES, Case, kind_of, name_of

import chainrules as cr

# Their way depends on the numbers (a matching, an order, the width of a kernel), or a library's
# code still meets recorded arrays, and asks for their numbers: each point is recorded anew.
RECORDED_ANEW = {
    "numpy.array2string", "numpy.array_repr", "chainrules.scipy.ndimage.gaussian_filter1d",
    "chainrules.scipy.ndimage.gaussian_filter", "chainrules.scipy.optimize.linear_sum_assignment",
    "chainrules.scipy.integrate.fixed_quad",
    "chainrules.scipy.interpolate.barycentric_interpolate",
    "chainrules.scipy.interpolate.griddata", "chainrules.scipy.interpolate.pchip_interpolate",
    "chainrules.scipy.linalg.bandwidth",
    "chainrules.scipy.linalg.funm",
    "chainrules.scipy.linalg.ishermitian",
    "chainrules.scipy.linalg.issymmetric",
    "chainrules.scipy.linalg.lu",
    "chainrules.scipy.ndimage.affine_transform",
    "chainrules.scipy.ndimage.gaussian_gradient_magnitude",
    "chainrules.scipy.ndimage.gaussian_laplace", "chainrules.scipy.ndimage.map_coordinates",
    "chainrules.scipy.ndimage.rotate", "chainrules.scipy.ndimage.shift",
    "chainrules.scipy.signal.bode",
    "chainrules.scipy.signal.find_peaks",
    "chainrules.scipy.signal.sos2zpk",
    "chainrules.scipy.signal.tf2sos",
    "chainrules.scipy.signal.zpk2sos",
    "chainrules.scipy.spatial.distance.directed_hausdorff",
    "chainrules.scipy.spatial.distance.hamming", "chainrules.scipy.spatial.distance.is_valid_dm",
    "chainrules.scipy.spatial.distance.is_valid_y", "chainrules.scipy.spatial.distance.jaccard",
    "chainrules.scipy.spatial.distance.num_obs_dm", "chainrules.scipy.spatial.distance.num_obs_y",
    "chainrules.scipy.stats.expectile", "chainrules.scipy.stats.sigmaclip",
    "chainrules.scipy.stats.theilslopes", "numpy.array_str", "numpy.nanpercentile",
    "numpy.nanquantile", "numpy.ndarray.is_integer", "numpy.percentile", "numpy.quantile",
    "scipy.sparse._construct.diags", "scipy.sparse._construct.diags_array",
    "scipy.sparse.linalg._eigen._svds.svds",
}  # fmt: skip
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
    compiled = cr.compile(gradient)
    if name_of(f) in LOUD:
        with pytest.raises(cr.ChainRulesError, match=r"\n  "):
            compiled(*case.numbers)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for t in (0.0, 1e-3, 2e-3, -1e-3):
            xs = case.along(t)
            for expected, found in zip(gradient(*xs), compiled(*xs), strict=True):
                np.testing.assert_allclose(
                    np.asarray(found), np.asarray(expected), rtol=1e-8, atol=1e-10
                )
    one = all(entry.recordings <= 1 for entry in compiled.kinds.values())
    assert one == (name_of(f) not in RECORDED_ANEW)
