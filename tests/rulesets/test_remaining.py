"""Functions of NumPy that belong to no family."""

import json
import pickle
import struct

import numpy as np
import pytest
from both_modes import both

import chainrules as cr

RNG = np.random.default_rng(9)
X = RNG.normal(size=(2, 3, 2))
PADDED = np.pad([[1.5, 0.0, 2.5]], ((1, 2), (2, 1)))


@pytest.mark.parametrize("axes", [0, -1, [0, 2], (1, -1), []], ids=str)
def test_apply_over_axes(axes):
    both(lambda x: np.apply_over_axes(np.sum, x, axes), X)
    both(lambda x: np.apply_over_axes(np.cumsum, x, axes), X)


def test_apply_over_axes_checks():
    with pytest.raises(ValueError, match="correct shape"):
        cr.vjp(lambda x: np.apply_over_axes(lambda x, axis: np.sum(x), x, 0), X)


@pytest.mark.parametrize("trim", ["fb", "f", "B"])
def test_trim_zeros(trim):
    for x in (PADDED[1], PADDED[1] * 1j, PADDED[1].astype(np.float32), np.zeros(3), np.zeros(0)):
        expected = np.trim_zeros(x, trim)
        y, pullback = cr.vjp(lambda x: np.trim_zeros(x, trim), x)
        np.testing.assert_array_equal(expected, y)
        (xbar,) = pullback(np.ones_like(expected))
        assert x.dtype == xbar.dtype
        assert np.size(expected) == np.sum(np.real(xbar))
    both(lambda x: np.trim_zeros(np.concatenate([np.zeros(2), x, np.zeros(1)]), trim), X[0, 0])


def test_trim_zeros_of_grids():
    for axis in (None, 0, -1, (0, 1), ()):
        y = cr.vjp(lambda x, axis=axis: np.trim_zeros(x, axis=axis), PADDED)[0]
        np.testing.assert_array_equal(np.trim_zeros(PADDED, axis=axis), y)
    xbar = cr.grad(lambda x: np.sum(np.trim_zeros(x)))(PADDED)
    np.testing.assert_array_equal(np.pad(np.ones((1, 3)), ((1, 2), (2, 1))), xbar)


def test_trim_zeros_checks():
    with pytest.raises(ValueError, match="unexpected"):
        cr.vjp(lambda x: np.trim_zeros(x, "x"), X[0, 0])


SAVED = {
    "save": (lambda file, x: np.save(file, x), np.load),
    "savez": (lambda file, x: np.savez(file, x=x), lambda file: np.load(file)["x"]),
    "savez_compressed": (
        lambda file, x: np.savez_compressed(file, x), lambda file: np.load(file)["arr_0"],
    ),
    "savetxt": (np.savetxt, np.loadtxt),
    "tofile": (lambda file, x: x.tofile(file), np.fromfile),
    "dump": (lambda file, x: x.dump(file), lambda file: np.load(file, allow_pickle=True)),
    "pickle": (
        lambda file, x: file.write_bytes(pickle.dumps(x)),
        lambda file: pickle.loads(file.read_bytes()),
    ),
    "tobytes": (
        lambda file, x: file.write_bytes(x.tobytes()),
        lambda file: np.frombuffer(file.read_bytes()),
    ),
    "json": (
        lambda file, x: file.write_text(json.dumps(x.tolist())),
        lambda file: np.array(json.loads(file.read_text())),
    ),
    "json by a default": (
        lambda file, x: file.write_text(json.dumps(list(x), default=float)),
        lambda file: np.array(json.loads(file.read_text())),
    ),
    "struct": (
        lambda file, x: file.write_bytes(struct.pack("2d", *x)),
        lambda file: np.array(struct.unpack("2d", file.read_bytes())),
    ),
}  # fmt: skip


NAMES = {"save": "x.npy", "savez": "x.npz", "savez_compressed": "x.npz"}


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize("mode", ["grad", "jvp", "nested"])
def test_no_derivative_leaves_by_bytes(tmp_path, name, mode):
    save, load = SAVED[name]
    file, x = tmp_path / NAMES.get(name, "x"), X[0, 0]

    def loss(x):
        save(file, x)
        return np.sum(load(file) * x)

    assert loss(x) == pytest.approx(np.sum(x**2))
    transforms = {
        "grad": lambda: cr.grad(loss)(x),
        "jvp": lambda: cr.jvp(loss, (x,), (x,)),
        "nested": lambda: cr.hessian(loss)(x),
    }
    with pytest.raises(cr.LostDerivativeError):
        transforms[mode]()


@pytest.mark.filterwarnings("ignore::chainrules.BatchWarning")
@pytest.mark.parametrize("name", SAVED)
def test_each_item_of_a_batch_has_its_own_bytes(tmp_path, name):
    save, load = SAVED[name]
    file, x = tmp_path / NAMES.get(name, "x"), X[0]

    def loss(x):
        save(file, x)
        return np.sum(load(file) * x)

    np.testing.assert_allclose(cr.vmap(loss)(x), np.sum(x**2, axis=1))


def test_files_get_the_numbers(tmp_path):
    def loss(x):
        np.save(tmp_path / "x.npy", cr.value(x))
        np.savetxt(tmp_path / "x.txt", cr.value(x))
        return np.sum(x**2)

    x = X[0]
    np.testing.assert_array_equal(2 * x, cr.grad(loss)(x))
    np.testing.assert_array_equal(x, np.load(tmp_path / "x.npy"))
    np.testing.assert_allclose(x, np.loadtxt(tmp_path / "x.txt"))
