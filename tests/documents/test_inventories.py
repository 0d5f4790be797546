"""Inventories of names elsewhere: each name that a page refers to is there, and exists."""

import builtins
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import chainrules as cr
import chainrules.testing

TOP = Path(__file__).resolve().parents[2]
sys.path.append(str(TOP / "docs" / "extensions"))

from names_elsewhere import full_name  # noqa: E402

pytest.importorskip("scipy")
INVENTORIES = sorted((TOP / "docs" / "inventories").glob("*.inv"))
ENTRY = re.compile(r"([\w.]+) (class|data|exception|function|mod) ([\w./-]+\.html)")
# Code in a text of Markdown or of a docstring that begins with a name of NumPy's or SciPy's.
NAMED = re.compile(
    r"(?<!`)`{1,2}((?:np|numpy|scipy|optimize|stats|math|functools|itertools)\.[\w.]*\w)"
)


def entries(path):
    first, _, _, *lines = path.read_text(encoding="utf-8").splitlines()
    assert first == "# Sphinx inventory version 1"
    return {name: (kind, page) for name, kind, page in (ENTRY.fullmatch(x).groups() for x in lines)}


def resolved(name):
    return vars(builtins)[name] if name in vars(builtins) else pkgutil.resolve_name(name)


@pytest.mark.parametrize("path", INVENTORIES, ids=lambda path: path.stem)
def test_each_entry_is_a_name_on_its_page(path):
    names = entries(path)
    assert [*names] == sorted(names)
    for name, (kind, page) in names.items():
        x = resolved(name)
        assert (kind == "mod") == inspect.ismodule(x), name
        assert (kind == "exception") == (inspect.isclass(x) and issubclass(x, BaseException)), name
        if "/generated/" in page:
            assert page == f"reference/generated/{name}.html"


def texts():
    """Yield the texts of the site: pages, notebooks, and docstrings of public names."""
    for folder, ending in (("docs", "md"), ("benchmarks", "md"), ("notebooks", "py"), (".", "md")):
        for path in (TOP / folder).glob(f"**/*.{ending}" if folder == "docs" else f"*.{ending}"):
            if not {"_build", "generated"} & {*path.parts}:
                yield re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    for x in (getattr(m, n) for m in (cr, cr.testing) for n in m.__all__):
        yield inspect.getdoc(x) or ""


def test_each_name_that_a_page_refers_to_has_an_address():
    known = {name for path in INVENTORIES for name in entries(path)}
    missing = set()
    for name in {full_name(x) for text in texts() for x in NAMED.findall(text)} - known:
        home, _, last = name.rpartition(".")
        try:
            x = resolved(name)
        except (ImportError, AttributeError):
            continue  # such as scipy.special.foo, of an example
        # A method of a ufunc, and a short name of one (np.abs), have no page of their own.
        if home in ("numpy", "scipy") or not isinstance(
            resolved(home), type(resolved("numpy.sin"))
        ):
            missing |= {name} if getattr(x, "__name__", last) == last else set()
    assert set() == missing
