"""The built site: links and pictures lead somewhere, and each page has a title and a way back.

``make docs`` builds it first; without that, or where a page is newer, these tests are skipped.
"""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import chainrules as cr
from chainrules.config.errors import page_of
from chainrules.rules.refusals.table import REFUSALS

TOP = Path(__file__).resolve().parents[2]
SITE = TOP / "docs" / "_build" / "html"
PAGES = sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts)
FRONT = SITE / "docs" / "index.html"
SOURCES = [p for p in (TOP / "docs").rglob("*.md") if not {"_build", "generated"} & {*p.parts}]


def is_built():
    """Say whether there is a site that is newer than its pages."""
    index = SITE / "searchindex.js"
    return index.exists() and index.stat().st_mtime > max(p.stat().st_mtime for p in SOURCES)


pytestmark = pytest.mark.skipif(not is_built(), reason="`make docs` builds the site anew")


class Page(HTMLParser):
    """A page of the site: its title, its headings, and what it refers to."""

    def __init__(self, path):
        super().__init__()
        self.title, self.anchors, self.targets, self.pictures, self.headings = "", set(), [], [], 0
        self._in_title = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self._in_title = tag == "title" and not self.title
        self.headings += tag == "h1"
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag in ("a", "link") and given.get("href"):
            self.targets.append(given["href"])
        if tag in ("img", "script", "source") and given.get("src"):
            self.targets.append(given["src"])
            if tag == "img":
                self.pictures.append(given.get("alt") or "")

    def handle_data(self, text):
        self.title += text if self._in_title else ""


@pytest.fixture(scope="module")
def pages():
    return {path: Page(path) for path in PAGES}


def missing(path, target, pages):
    """Say whether a target within the site is not there."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return False
    place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not place.exists():
        return True
    return (
        bool(parts.fragment)
        and place in pages
        and unquote(parts.fragment) not in pages[place].anchors
    )


def test_links_and_pictures(pages):
    assert len(pages) > 100
    broken = {
        f"{path.relative_to(SITE)}: {target}"
        for path, page in pages.items()
        for target in page.targets
        if missing(path, target, pages)
    }
    assert set() == broken


def test_nothing_is_fetched_from_elsewhere():
    """All that a page loads is in the site, so that it reads without a network."""
    loaded = re.compile(
        r"<(?:script|img|link rel=\"stylesheet\")[^>]*(?:src|href)=\"(https?:[^\"]+)"
    )
    found = {
        f"{p.relative_to(SITE)}: {x}" for p in PAGES for x in loaded.findall(p.read_text("utf-8"))
    }
    assert set() == found


def test_a_page_has_a_title_and_a_way_back(pages):
    for path, page in pages.items():
        assert page.title.strip(), path
        home = {(path.parent / urlsplit(target).path).resolve() for target in page.targets}
        assert path == FRONT or FRONT in home, path
        assert page.headings >= 1 or path.stem in ("index", "search", "genindex"), path


def test_a_picture_of_a_page_says_what_it_shows(pages):
    assert [] == [
        p for p, page in pages.items() if "notebooks" not in p.parts and "" in page.pictures
    ]


def test_search_finds_hvp():
    text = (SITE / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    names = index["docnames"]
    found = index["terms"]["hvp"]
    assert "docs/how_to/optimise" in {names[k] for k in found}
    # Names of functions are found by themselves: each entry begins with its page's number.
    page_of = {entry[4]: names[entry[0]] for entry in index["objects"]["chainrules"]}
    assert "docs/generated/reference/chainrules.hvp" == page_of["hvp"]


NUMPY = "https://numpy.org/doc/stable/reference/generated"
PYTHON = "https://docs.python.org/3/library"


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ("generated/reference/chainrules.grad", f"{PYTHON}/functions.html#callable"),
        ("generated/reference/chainrules.TangentError", f"{PYTHON}/exceptions.html#ValueError"),
        ("generated/reference/chainrules.linearize", f"{PYTHON}/typing.html#typing.Any"),
        ("reference/limits", f"{NUMPY}/numpy.matrix.html#numpy.matrix"),
    ],
)  # fmt: skip
def test_names_elsewhere_lead_to_their_documentation(page, address):
    """Types in a docstring, the bases of an error, functions in a text."""
    assert f'href="{address}"' in (SITE / "docs" / f"{page}.html").read_text(encoding="utf-8")


def test_each_public_name_has_a_page():
    for name in cr.__all__:
        page = SITE / "docs" / "generated" / "reference" / f"chainrules.{name}.html"
        assert f"chainrules.{name}" in page.read_text(encoding="utf-8")


def test_pages_fit_a_narrow_screen():
    for path in PAGES:
        assert 'name="viewport"' in path.read_text(encoding="utf-8"), path


def test_the_address_that_an_error_shows_is_a_page():
    home = "https://chainrules-py.readthedocs.io/en/latest/"
    for row in REFUSALS.values():
        address = page_of(row.code).partition(" ")[2]
        assert address.startswith(home)
        assert (SITE / address.removeprefix(home)).exists(), row.code
