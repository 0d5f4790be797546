"""No public name of NumPy is without a status, and what the table claims is so."""

import importlib.util
import io
import pathlib
import re

import numpy as np
import pytest
from differences import jacobian_of

import chainrules as cr
import chainrules.numpy
from chainrules import coverage

TESTS = pathlib.Path(__file__).parent
DOCUMENT = TESTS.parent / "docs" / "coverage.md"
SECTIONS = coverage.sections()
TITLES = list(SECTIONS)
X = np.array([0.5, 1.5, 2.25])


@pytest.mark.parametrize("title", TITLES)
def test_every_name_has_a_status(title):
    assert [] == [row.name for row in SECTIONS[title] if row.status == "missing"]


@pytest.mark.parametrize("title", TITLES)
def test_every_rule_has_both_directions(title):
    assert [] == [row.name for row in SECTIONS[title] if row.forward != row.reverse]


@pytest.mark.parametrize("title", TITLES)
def test_a_derivative_or_the_reason_why_there_is_none(title):
    for row in SECTIONS[title]:
        assert row.forward != row.status.startswith(("refused", "no input")), row
        assert coverage.head_of(row.status) in coverage.HEADS
        # The reason, and what to write instead.
        assert not row.status.startswith("refused") or ";" in row.status, row


def test_what_has_no_rule_is_still_there():
    names = {row.name for rows in SECTIONS.values() for row in rows if not row.forward}
    listed = {*coverage.REASONS, *coverage.REFUSED}
    everywhere = {n for module in coverage.modules().values() for n in dir(module)}
    assert set() == (listed & everywhere) - names


# ---- what is refused --------------------------------------------------------------------------


def both(f):
    """The Jacobian in both modes, which must agree with differences."""
    expected = jacobian_of(f, X)
    for jacobian in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(jacobian(f)(X), expected, rtol=1e-6, atol=1e-7)


CALLS = {
    "arange": lambda f, x: f(x[0], 4.0, x[1]),
    "asarray_chkfinite": lambda f, x: f([x[0], x[2] * x[2]]),
    "asfortranarray": lambda f, x: f([x * x]),
    "asmatrix": lambda f, x: np.asarray(f([[x[0], x[1]]])),
    "bmat": lambda f, x: np.asarray(f([[x[:2, None], x[1:, None]]])),
    "fromiter": lambda f, x: f((xi * xi for xi in x), float),
    "frompyfunc": lambda f, x: f(np.sin, 1, 1)(x),
    "require": lambda f, x: f(x * x, float, "W"),
}
SAVES = "save", "savetxt", "savez", "savez_compressed"
CALLS |= {name: lambda f, x: f(io.BytesIO(), x) for name in SAVES}
CALLS |= {
    name: (lambda f, x: f(x)) if name.endswith("roots") else (lambda f, x: f(X + x[0], x * x, 1))
    for name in coverage.REFUSED if name not in CALLS
}  # fmt: skip
REMEDIES = {
    "asmatrix": lambda x: cr.array([[x[0], x[1]]]),
    "bmat": lambda x: np.block([[x[:2, None], x[1:, None]]]),
    "frompyfunc": chainrules.numpy.vectorize(np.sin),
} | {
    name: lambda x, name=name: x * float(CALLS[name](getattr(np, name), cr.value(x)) is None)
    for name in SAVES
}


def plain_function(name):
    for module in coverage.modules().values():
        if hasattr(module, name):
            return getattr(module, name)
    raise AssertionError(f"{name} is gone")


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of matrices
@pytest.mark.parametrize("name", list(coverage.REFUSED))
def test_what_is_refused_loses_nothing(name):
    """NumPy raises, or makes an object array, which computes rightly."""
    f = plain_function(name)
    for transform in (cr.jacfwd, cr.jacrev):
        try:
            y = transform(lambda x: CALLS[name](f, x))(X)
        except (TypeError, ValueError, cr.ChainRulesError) as error:
            said = str(error)
            assert "chainrules.numpy" in said or "cr." in said or "np." in said
        else:
            h = 1e-6
            step = [CALLS[name](f, X + h * u) - CALLS[name](f, X - h * u) for u in np.eye(3)]
            np.testing.assert_allclose(y, np.stack(step, -1) / (2 * h), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", list(coverage.REFUSED))
def test_the_remedy_of_what_is_refused(name):
    remedy = coverage.REFUSED[name][1]
    if name in REMEDIES:
        both(REMEDIES[name])
        return
    found = chainrules.numpy
    for part in remedy.removeprefix("chainrules.numpy.").split("."):
        found = getattr(found, part)
    both(lambda x: CALLS[name](found, x))


def test_a_function_that_calls_one_of_the_users():
    both(lambda x: np.fromfunction(lambda i: x * i, (3,)))


ARGUMENTS = {"view": (float,), "setfield": (1.0, float), "getfield": (float,), "byteswap": (),
             "dump": (io.BytesIO(),), "tofile": (io.BytesIO(),), "to_device": ("cpu",)}  # fmt: skip


@pytest.mark.parametrize("title", ["numpy.ndarray", "numpy.float64 (where it differs)"])
def test_refused_attributes_say_what_to_write(title):
    refused = [row.name for row in SECTIONS[title] if row.status.startswith("refused")]
    assert refused

    def f(x):
        for name in refused:
            with pytest.raises((AttributeError, cr.ChainRulesError)) as caught:
                getattr(x, name)(*ARGUMENTS.get(name, ()))
            text = str(caught.value)
            assert "test_coverage.py:" in text, name
            assert "cr.value(x)" in text or "write x = " in text, name
        return np.sum(x)

    for x in (X,) if title == "numpy.ndarray" else (X[0],):
        cr.grad(f)(x)
        cr.jvp(f, (x,), (x,))


# ---- what is followed ---------------------------------------------------------------------------


def test_every_followed_attribute_has_a_case():
    module = importlib.import_module("cases_methods")
    followed = {r.name for t in TITLES if t.startswith(("numpy.ndarray", "numpy.float64"))
                for r in SECTIONS[t] if r.forward}  # fmt: skip
    assert followed == {f.__name__ for f in module.CASES}


# ---- the document -------------------------------------------------------------------------------


def test_the_counts():
    for line in coverage.counts(SECTIONS)[2:]:
        title, count, *numbers = [cell.strip() for cell in line.strip("|").split("|")]
        assert int(count) == len(SECTIONS[title])
        assert int(count) == sum(map(int, numbers[: len(coverage.HEADS)]))


def test_the_document_is_up_to_date():
    text = DOCUMENT.read_text()
    if f"with NumPy {np.__version__}." not in text:
        pytest.skip("the document was made with another NumPy")
    made = coverage.table()
    if "## scipy.special" not in made:
        text = re.sub(r"\| scipy.special .*\n", "", text.partition("\n## scipy.special")[0])
    assert made == text, "make it anew: python -m chainrules.coverage > docs/coverage.md"
