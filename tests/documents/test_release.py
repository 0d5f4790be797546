"""Files that go with a release agree: its version, and the address of the project."""

import re
import tomllib
from pathlib import Path

import pytest

import chainrules

TOP = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
URLS = PROJECT["urls"]
WITH_ADDRESS = (
    "CITATION.cff", "SECURITY.md", ".github/ISSUE_TEMPLATE/config.yml", "docs/project/policy.md",
)  # fmt: skip


def read(name):
    return (TOP / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["CITATION.cff", "docs/project/cite.md"])
def test_the_version_is_that_of_the_package(name):
    (version,) = re.findall(r"^\s*version\W+([\d.]+)", read(name), re.M)
    assert chainrules.__version__ == version


def test_the_changelog_has_a_section_of_the_version():
    assert f"## [{chainrules.__version__}]" in read("CHANGELOG.md")


@pytest.mark.parametrize("name", WITH_ADDRESS)
def test_the_address_is_that_of_pyproject(name):
    ours = [url for url in re.findall(r"https://[^\s\"')>]+", read(name)) if "chainrules-py" in url]
    assert [] == [url for url in ours if not url.startswith(tuple(URLS.values()))]


def test_extras_are_told_of():
    """Each extra of a user's stands in the table of the page on installing."""
    page = read("docs/start/install.md")
    own = {"benchmarks", "dev", "docs", "lint", "notebooks", "release", "test"}
    extras = PROJECT["optional-dependencies"].keys() - own
    assert [] == [extra for extra in sorted(extras) if f"`{extra}`" not in page]


def test_variables_of_the_environment_are_told_of():
    page = read("docs/reference/configuration.md")
    files = [
        p
        for room in ("config", "rules", "forward", "reverse", "src")
        for p in TOP.glob(f"{room}/**/*.py")
    ]
    asked = re.compile(r"environ\S*?[\"'](CHAINRULES_\w+)")
    names = {name for path in files for name in asked.findall(path.read_text(encoding="utf-8"))}
    assert {"CHAINRULES_CACHE"} <= names
    assert [] == [name for name in sorted(names) if f"`{name}`" not in page]


def test_supported_versions_are_those_of_pyproject():
    page = read("docs/project/policy.md")
    oldest = dict(re.findall(r"^\| (Python|NumPy|SciPy) (?:\(extra\) )?\| ([\d.]+) \|", page, re.M))
    assert PROJECT["requires-python"] == f">={oldest['Python']}"
    assert f"numpy>={oldest['NumPy']}" in PROJECT["dependencies"]
    assert PROJECT["optional-dependencies"]["scipy"] == [f"scipy>={oldest['SciPy']}"]
    assert f"Programming Language :: Python :: {oldest['Python']}" in PROJECT["classifiers"]


def test_what_a_visitor_looks_for_is_there():
    for name in ("LICENSE", "CITATION.cff", "SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md"):
        assert (TOP / name).exists()
    forms = list((TOP / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert 4 == len(forms)
