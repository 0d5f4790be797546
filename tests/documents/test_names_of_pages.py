"""Each name of ours that a page writes is one: the tables for newcomers stay true."""

import importlib
import inspect
import re
import runpy

import pytest
from sources import TOP, relative

import chainrules as cr
from chainrules._other_names import INSTEAD

PAGES = [
    TOP / "README.md",
    *(p for p in sorted((TOP / "docs").rglob("*.md")) if not {"_build", "generated"} & {*p.parts}),
]
OURS = re.compile(r"(?<![\w.])cr((?:\.[A-Za-z_]\w*)+)")
MODULES = re.compile(r"`(chainrules(?:\.\w+)+)`")
# Modules that need a library which may not be here.
FOREIGN = re.compile(r"chainrules\.interop\.(?:jax|torch|pytensor|casadi|autograd\.scipy)")


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_each_name_exists(page):
    text = page.read_text(encoding="utf-8")
    for path in sorted(set(OURS.findall(text))):
        _, first, *rest = path.split(".")
        if first in INSTEAD:  # which answers with what to write
            continue
        x = getattr(cr, first)
        for name in rest:
            x = getattr(x, name)


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_each_module_exists(page):
    for name in set(MODULES.findall(page.read_text(encoding="utf-8"))):
        if not FOREIGN.match(name):
            home, _, last = name.rpartition(".")
            try:
                importlib.import_module(name)
            except ModuleNotFoundError:
                assert hasattr(importlib.import_module(home), last), name


@pytest.mark.parametrize("module", ["chainrules", "chainrules.testing"])
def test_the_reference_has_each_public_name_once(module):
    tables = runpy.run_path(str(TOP / "docs" / "extensions" / "public_names.py"))
    groups = tables["GROUPS" if module == "chainrules" else "TESTING"]
    listed = [name for group in groups.values() for name in group]
    assert sorted(listed) == sorted(importlib.import_module(module).__all__)


def test_each_page_stands_in_a_table_of_contents():
    """So that the site leads to it; `make docs` would refuse one that does not."""
    listed = {(TOP / "README.md"), (TOP / "docs" / "index.md")}
    for page in PAGES:
        for contents in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.S):
            names = re.findall(r"^(?:[^:\n]*<)?([\w./]+)>?$", contents, re.M)
            listed |= {(page.parent / f"{name}.md").resolve() for name in names}
    assert [] == [relative(page) for page in PAGES if page not in listed]


def test_names_that_people_bring_along_are_in_the_tables():
    """Each name that answers with what to write stands in a table of the guides, too."""
    tables = "".join(p.read_text(encoding="utf-8") for p in (TOP / "docs/coming_from").glob("*.md"))
    assert [] == [name for name in INSTEAD if not re.search(rf"\b{name}\b", tables)]


def test_each_row_of_a_table_says_what_to_write():
    """On our side stands something that can be written: code."""
    for page in sorted((TOP / "docs/coming_from").glob("*.md")):
        if page.name == "index.md":
            continue
        rows = re.findall(r"^\|(.+)\|(.+)\|$", page.read_text(encoding="utf-8"), re.M)
        assert len(rows) > 10, page
        for theirs, ours in rows:
            is_head = ours.strip() == "here" or set(ours.strip()) == {"-"}
            assert is_head or "`" in ours, (theirs, ours)


def test_each_public_name_has_an_example():
    """Errors and warnings have theirs on the page of errors."""
    for name in cr.__all__:
        if not name.endswith(("Error", "Warning")):
            assert ">>> " in (inspect.getdoc(getattr(cr, name)) or ""), name
