"""Every example in a docstring runs; ``np`` and ``cr`` are there without an import."""

import contextlib
import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import chainrules as cr

# What needs a library of an extra: their examples run where that is there.
OTHERS = ("casadi", "jax", "numexpr", "pytensor", "torch")
OPTIONAL = {f"chainrules.interop.{name}": name for name in OTHERS}
OPTIONAL |= {f"chainrules.interop.units.{name}": name for name in ("astropy", "unyt")}
OPTIONAL |= {
    f"chainrules.interop.autograd.{name}": "autograd"
    for name in ("adopted", "boxes", "exported", "followed")
}


def refuse(name):
    """Without this, walk_packages passes over a package that fails to import."""
    if name not in OPTIONAL:
        raise ImportError(name)


# By installed name: `pytest --doctest-modules` would import each file again, under another.
MODULES = ["chainrules"] + [
    info.name
    for info in pkgutil.walk_packages(cr.__path__, "chainrules.", refuse)
    # The classes of the last have SciPy's docstrings.
    if not info.name.endswith(("__main__", "scipy.sparse.seeing"))
]


class OwnExamples(doctest.DocTestFinder):
    """A finder that leaves out the mirrors, which have docstrings of NumPy's and SciPy's."""

    def _from_module(self, module, object):
        home = getattr(inspect.unwrap(object), "__module__", None) or ""
        return home.startswith("chainrules") and super()._from_module(module, object)


def precision_by_default(name):
    """JAX's precision as it is where nobody set it, whatever a test before has done."""
    if not name.startswith("chainrules.interop.jax"):
        return contextlib.nullcontext()
    import jax

    return jax.enable_x64(False)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    for package, library in OPTIONAL.items():
        if f"{name}.".startswith(f"{package}."):
            pytest.importorskip(library)
    module = importlib.import_module(name)
    # Printing as NumPy does by default, whatever a test before has set.
    plain = np.printoptions(precision=8, suppress=False, linewidth=75, legacy=False)
    with plain, precision_by_default(name):
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        for test in OwnExamples().find(module, extraglobs={"np": np, "cr": cr}):
            runner.run(test)
    assert 0 == runner.failures, "see the captured output"
