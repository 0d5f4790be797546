"""Steps of scientists' programs that were refused, or refused without saying what to write."""

import importlib
import itertools
import textwrap

import numpy as np
import pytest
import scipy.ndimage

import chainrules as cr

NUMBERS = itertools.count()


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return a function that makes a module of a source."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(source):
        name = f"refused_{next(NUMBERS)}"
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return make


def test_a_maker_of_generators_that_is_imported_by_its_name(module):
    made = module("""
        from numpy.random import default_rng

        def f(mean):
            return sum(default_rng(0).normal(mean, 2.0, size=3))
    """)
    plain = made.f(0.5)
    with cr.adopt(made):
        assert (plain, 3.0) == cr.value_and_grad(made.f)(0.5)
        assert plain == made.f(0.5)


@pytest.mark.parametrize("cast", ["float", "np.float64", "complex"])
def test_a_number_in_a_labelled_array_or_in_an_array_of_objects(module, cast):
    pytest.importorskip("xarray")
    made = module(f"""
        import numpy as np
        import xarray as xr

        def f(p):
            a = xr.DataArray(p * np.arange(3.0), dims="t")
            return np.real({cast}(a.mean()) * {cast}(a.max().values)) + float(np.array(1.5))
    """)
    plain = made.f(2.0)
    with cr.adopt(made):
        assert pytest.approx((plain, 8.0)) == cr.value_and_grad(made.f)(2.0)
        with pytest.raises(TypeError):
            cr.grad(lambda p: p * float(np.array([p, p], object)))(2.0)


def test_what_scipy_says_of_coordinates_is_explained():
    grid = np.arange(16.0).reshape(4, 4)
    with pytest.raises(cr.LostDerivativeError, match=r"(?s)map_coordinates met .*cr\.adopt"):
        cr.grad(lambda c: np.sum(scipy.ndimage.map_coordinates(grid, c)))(np.ones((2, 3)))


@pytest.mark.parametrize("n", range(1, 14))
def test_powers_of_a_matrix_are_numpys_to_the_last_bit(n):
    a = np.random.default_rng(n).normal(size=(3, 3))
    power = lambda a: np.linalg.matrix_power(a, n)
    expected = np.linalg.matrix_power(a, n)
    np.testing.assert_array_equal(expected, cr.vjp(power, a)[0])
    np.testing.assert_array_equal(expected, cr.jvp(power, (a,), (a,))[0])


def test_a_batch_says_that_it_was_the_batch_that_raised(module):
    made = module("""
        from decimal import Decimal

        def f(a):
            return float(Decimal(a).sqrt())
    """)
    with cr.adopt(made), pytest.warns(cr.BatchWarning, match="all at once they raise") as said:
        np.testing.assert_allclose(cr.vmap(made.f)(np.array([1.0, 4.0])), [1.0, 2.0], rtol=1e-9)
    assert ".., in" not in str(said[0].message)
