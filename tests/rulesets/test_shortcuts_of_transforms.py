"""Fourier transforms past NumPy's wrappers: the same bits, shapes, memory order and errors."""

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules.table.shortcuts import SHORTCUTS, TRANSFORMS

RNG = np.random.default_rng(5)
SHAPES = [(), (1,), (2,), (7,), (8,), (3, 5), (4, 1), (2, 3, 6), (0,), (3, 0)]


def arrays(shape):
    numbers = RNG.normal(size=(2, *shape)) * 3
    for dtype in (float, complex, np.float32, np.complex64, int):
        z = numbers[0] + 1j * numbers[1] if np.issubdtype(dtype, np.complexfloating) else numbers[0]
        for order in "CF":
            yield np.asarray(z).astype(dtype, order=order)
    yield np.asarray(numbers[0])[..., ::-1] if shape else np.asarray(1.5)


def outcome(transform, *args):
    try:
        y = transform(*args)
    except Exception as error:
        return type(error), str(error)
    return y.dtype, y.shape, y.strides, y.tobytes()


@pytest.mark.filterwarnings("ignore")  # of casts, which are NumPy's
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda f: f.__name__)
def test_same_as_numpys(transform, shape):
    for a in arrays(shape):
        for n in (None, 1, 2, 8, 11, 0, np.int64(5), 2.0):
            for axis in {-1, 0, len(shape) - 1, 3}:
                for norm in (None, "backward", "forward", "ortho", "other"):
                    args = a, n, axis, norm
                    assert outcome(SHORTCUTS[transform][1], *args) == outcome(transform, *args)


def test_options_are_numpys():
    x, out = RNG.normal(size=8), np.empty(5, complex)
    quick = SHORTCUTS[np.fft.rfft][1]
    assert quick(x, out=out) is out
    np.testing.assert_array_equal(out, np.fft.rfft(x))
    with pytest.raises(TypeError, match="unexpected keyword"):
        quick(x, lenght=3)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        quick(np.full(4, 1e308))


@pytest.mark.parametrize("n", [None, 6, 9])
@pytest.mark.parametrize("norm", [None, "forward", "ortho"])
def test_compiled_as_eager(n, norm):
    def f(x):
        spectrum = np.fft.rfft(x, n, norm=norm)
        back = np.fft.irfft(spectrum * (1 + 0.5j), n, norm=norm)
        return np.sum(np.abs(np.fft.ifft(np.fft.fft(back) * 2, norm=norm)) ** 2)

    compiled, eager = cr.compile(cr.grad(f)), cr.grad(f)
    for _ in range(4):
        x = RNG.normal(size=8)
        np.testing.assert_allclose(compiled(x), eager(x), rtol=1e-12)
