"""Files that go with a release agree: its version, and the address of the project."""

import inspect
import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml

import chainrules

TOP = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
URLS = PROJECT["urls"]
# Extras of those who work on chainrules.
OWN = {"benchmarks", "dev", "docs", "lint", "notebooks", "release", "test"}
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
    extras = PROJECT["optional-dependencies"].keys() - OWN
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


def test_the_recipe_of_conda_agrees_with_the_package():
    recipe = yaml.safe_load(read("recipe/recipe.yaml"))
    assert chainrules.__version__ == recipe["context"]["version"]
    needed = recipe["requirements"]
    assert ["python", *(x.replace(">=", " >=") for x in PROJECT["dependencies"])] == needed["run"]
    built = {requirement.partition(">")[0].strip() for requirement in needed["host"]}
    assert {"hatchling", "numpy", "setuptools"} <= built
    assert (
        f'match(python, "<{PROJECT["requires-python"].removeprefix(">=")}")'
        == (recipe["build"]["skip"])
    )
    extras = PROJECT["optional-dependencies"]
    optional = [*extras["scipy"], extras["compile"][0]]
    assert [x.replace(">=", " >=") for x in optional] == needed["run_constraints"]
    about = recipe["about"]
    assert PROJECT["description"] == about["summary"]
    assert PROJECT["license"] == about["license"]
    assert [URLS["Homepage"], URLS["Source"], URLS["Documentation"]] == [
        about[key] for key in ("homepage", "repository", "documentation")
    ]
    assert (TOP / about["license_file"]).exists()


def test_wheels_are_made_for_each_python_that_is_supported():
    settings = tomllib.loads(read("pyproject.toml"))["tool"]["cibuildwheel"]
    versions = re.findall(r"Python :: 3\.(\d+)", " ".join(PROJECT["classifiers"]))
    assert [f"cp3{minor}-*" for minor in versions] == settings["build"]


def test_each_extra_of_a_users_is_tried_alone():
    programs = runpy.run_path(str(TOP / ".ci" / "extras.py"))["PROGRAMS"]
    assert sorted(PROJECT["optional-dependencies"].keys() - OWN) == sorted(programs)
    for program in programs.values():
        compile(inspect.cleandoc(program), "extra", "exec")


def test_each_package_has_one_lower_bound():
    """So that `make test-oldest`, which holds packages at it, tests what each extra promises."""
    bound = runpy.run_path(str(TOP / ".ci" / "oldest.py"))["BOUND"]
    extras = {"the package": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    bounds: dict[str, set] = {}
    for requirement in {x for wanted in extras.values() for x in wanted}:
        if found := bound.fullmatch(requirement):
            bounds.setdefault(found[1], set()).add(found[2])
    assert len(bounds) > 30
    assert {} == {name: found for name, found in bounds.items() if len(found) > 1}
