"""Items without entries: reductions, orders and transforms of them, as a loop over the items."""

import itertools

import numpy as np
import pytest

import chainrules as cr

REDUCTIONS = {
    "nanpercentile": lambda x, **k: np.nanpercentile(x, [0.2, 0.7], **k),
    "percentile": lambda x, **k: np.percentile(x, [0.2, 0.7], **k),
    "nanquantile": lambda x, **k: np.nanquantile(x, 0.2, **k),
    "max": lambda x, **k: np.max(x, initial=0.0, **k),
    "nanmax": lambda x, **k: np.nanmax(x, initial=0.0, **k),
} | {
    f.__name__: f
    for f in (
        np.median, np.nanmedian, np.sum, np.mean, np.nanmean, np.var, np.nanvar, np.std, np.prod,
        np.nansum, np.any, np.count_nonzero, np.average, np.ptp, np.linalg.norm,
    )
}  # fmt: skip
AT_AXES = {
    "sort": np.sort, "argsort": np.argsort, "cumsum": np.cumsum,
    "diff": lambda x, axis: np.diff(x, axis=axis),
    "trapezoid": lambda x, axis: np.trapezoid(x, axis=axis), "flip": np.flip,
    "roll": lambda x, axis: np.roll(x, 1, axis), "fft": lambda x, axis: np.fft.fft(x, 4, axis),
}  # fmt: skip
SHAPES = [(0,), (2, 0), (0, 2), (1, 0, 2)]


def compare(f, xs):
    try:
        expected = np.stack([f(x) for x in xs])
    except (ValueError, IndexError, ZeroDivisionError):
        return  # NumPy refuses it
    found = cr.vmap(f)(xs)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.filterwarnings("ignore")  # of means of nothing
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", [*REDUCTIONS, *AT_AXES])
def test_as_a_loop_over_the_items(name, shape):
    xs = np.zeros((3, *shape))
    if name in AT_AXES:
        for axis in range(-1, len(shape)):
            compare(lambda x, axis=axis: AT_AXES[name](x, axis), xs)
        return
    for axis, keepdims in itertools.product((None, *range(-1, len(shape))), (False, True)):
        compare(lambda x, k=(axis, keepdims): REDUCTIONS[name](x, axis=k[0], keepdims=k[1]), xs)
