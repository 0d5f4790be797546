"""Completion: ``dir`` shows what programs use, and no internals; the rest is in modules."""

import importlib
import re

import numpy
import pytest

import chainrules as cr
from chainrules._other_names import INSTEAD

TRANSFORMS = """
    grad value_and_grad jvp vjp linearize jacobian jacfwd jacrev hessian hvp vmap compile adopt
    map scan loop while_loop checkpoint implicit explain cost debug primitive frule rrule
""".split()  # noqa: SIM905
MODULES = ["cmath", "errors", "interop", "math", "numpy", "rules", "scipy", "testing", "traits"]


def test_transforms_are_shown():
    assert set(TRANSFORMS) <= set(dir(cr))
    assert set(MODULES) <= set(dir(cr))


def test_errors_traits_and_the_kit_are_in_modules_of_their_own():
    shown = dir(cr)
    assert [] == [name for name in shown if name.endswith(("Error", "Warning", "Mode", "Config"))]
    assert [] == [name for name in shown if name.startswith("_") and name != "__version__"]
    assert len(shown) < 60
    elsewhere = set(cr.__all__) - set(shown)
    for name in elsewhere:
        homes = [m for m in (cr.errors, cr.traits, cr.rules) if name in m.__all__]
        assert homes, name
        assert all(getattr(home, name) is getattr(cr, name) for home in homes)


def test_all_names_of_the_face_are_there_as_ever():
    for name in cr.__all__:
        assert getattr(cr, name) is not None


def test_errors_are_all_errors():
    names = [name for name in cr.__all__ if name.endswith(("Error", "Warning"))]
    assert sorted(names) == sorted(cr.errors.__all__) == dir(cr.errors)


@pytest.mark.parametrize("name", [*MODULES, "errors", "traits"])
def test_modules_can_be_imported_by_their_names(name):
    assert importlib.import_module(f"chainrules.{name}") is getattr(cr, name)


def test_mirrors_show_the_names_of_their_originals():
    assert dir(numpy) == dir(cr.numpy)
    optimize = pytest.importorskip("scipy.optimize")
    assert dir(optimize) == dir(importlib.import_module("chainrules.scipy.optimize"))
    assert "optimize" in dir(cr.scipy)
    assert not {"Any", "FOLLOWED", "rules_of"} & set(dir(cr.scipy))
    assert "mirror" not in dir(cr.math)


def test_interop_shows_the_libraries():
    assert ["Foreign", "autograd", "casadi", "jax", "pytensor", "torch"] == dir(cr.interop)
    assert set(dir(cr.testing)) == set(cr.testing.__all__)


def test_a_module_has_no_other_names():
    with pytest.raises(AttributeError, match="has no attribute 'HasNothing'"):
        cr.traits.HasNothing  # noqa: B018


@pytest.mark.parametrize("name", INSTEAD)
def test_what_to_write_instead_exists(name):
    assert name not in cr.__all__
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'") as caught:
        getattr(cr, name)
    assert str(caught.value).endswith(INSTEAD[name])
    for word in re.findall(r"\bcr\.(\w+)", INSTEAD[name]):
        assert word in cr.__all__, word


@pytest.mark.parametrize(
    "name",
    [
        *("tree_leaves", "ravel_pytree", "remat", "make_jaxpr", "pmap", "lax", "backward"),
        *("requires_grad", "GradientTape", "grad_and_value", "derivative", "Dual", "export"),
    ],
)
def test_names_that_newcomers_looked_for_answer(name):
    assert name in INSTEAD
