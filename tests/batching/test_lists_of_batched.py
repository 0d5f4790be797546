"""Lists of batched arrays as arguments of NumPy's functions, which join them to one array."""

import numpy as np
import pytest

import chainrules as cr

FUNCTIONS = {
    "where: conditions": lambda x, z: np.where([x > 0.3, x > 0.5], z, 2 * z),
    "where: numbers": lambda x, z: np.where([x, x], z, z),
    "where: a tuple, constants": lambda x, z: np.where((x > 0.3, z > 1.2), 1.0, 2.0),
    "where: a branch": lambda x, z: np.where(x > 0.3, [x, z], z),
    "where: constants and lists": lambda x, z: np.where([[True], [False]], [z, x], z),
    "maximum": lambda x, z: np.maximum([x, z], [z]),
    "logical_and": lambda x, z: np.logical_and([x, z > 1.2], z),
    "clip": lambda x, z: np.clip([x, x], 0.2, [z, z]),
    "select": lambda x, z: np.select([x > 0.3, x > 0.1], [z, 3 * z]),
    "choose": lambda x, z: np.choose([(x > 0.5).astype(int)], [z, 2 * z]),
    "compress": lambda x, z: np.compress([True], [x, z], axis=1),
    "take": lambda x, z: np.take([x, z], [[0], [1]], axis=0),
    "isin": lambda x, z: np.isin([x, z], [0.3, 1.3]),
    "isclose": lambda x, z: np.isclose([x, z], [z]),
    "searchsorted": lambda x, z: np.searchsorted([0.1, 0.5, 1.2], [x, z]),
    "digitize": lambda x, z: np.digitize([x, z], [0.1, 0.5]),
    "argsort": lambda x, z: np.argsort([x, z], axis=0),
    "count_nonzero": lambda x, z: np.count_nonzero([x > 0.3, z > 1.2], axis=0),
}


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("in_axes", [(0, 0), (0, None), (None, 0)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::chainrules.errors.BatchWarning")
def test_as_for_each_item(name, in_axes, size):
    f = FUNCTIONS[name]
    # One axis of one entry broadcasts to whatever a wrong form makes of the list.
    xs = np.array([0.883, 0.3, 0.4, 0.1])[:, None] + np.zeros(size)
    zs = xs + 1
    args = [v if axis == 0 else v[1] for v, axis in zip((xs, zs), in_axes, strict=True)]
    items = [[v if ax is None else v[k] for v, ax in zip(args, in_axes)] for k in range(4)]
    expected = np.stack([f(*item) for item in items])
    batched = cr.vmap(f, in_axes=in_axes)(*args)
    assert batched.dtype == expected.dtype
    np.testing.assert_array_equal(batched, expected)
