"""The given top-level folders are one package, ``chainrules``, and nothing else."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from sources import TOP, python_files, relative

import chainrules
from chainrules._on_demand import HOME_OF

FACE = "src/chainrules"
FACE_FILE = TOP / FACE / "__init__.py"
HATCH = tomllib.loads((TOP / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
FOLDERS = sorted(set(HATCH["targets"]["wheel"]["only-include"]) - {FACE})

# An sdist carries no links (see pyproject.toml).
needs_links = pytest.mark.skipif((TOP / "PKG-INFO").exists(), reason="an unpacked sdist")


def absolute_imports(path, names):
    """Return those of ``names`` that ``path`` imports absolutely."""
    text = path.read_text(encoding="utf-8")
    if not re.search(rf"^ *(import|from) .*\b({'|'.join(names)})\b", text, re.MULTILINE):
        return set()  # to parse all files would take seconds
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(str(node.module).partition(".")[0])
    return found & set(names)


def test_folders_of_the_face():
    assert FOLDERS == sorted(chainrules._parts)


def test_sources():
    expected = {FACE: "chainrules", **{folder: f"chainrules/{folder}" for folder in FOLDERS}}
    assert expected == HATCH["targets"]["wheel"]["sources"]


def test_excluded_links():
    assert {f"/{FACE}/{folder}" for folder in FOLDERS} == set(HATCH["exclude"])


@needs_links
def test_links():
    links = {path.name: path.readlink() for path in (TOP / FACE).iterdir() if path.is_symlink()}
    assert {folder: Path("../..", folder) for folder in FOLDERS} == links


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_with_code_is_a_package(folder):
    # pkgutil, and with it the docstring test, does not see a folder without __init__.py.
    parents = {path.parent for path in python_files(folder)}
    assert [] == [relative(path) for path in parents if not (path / "__init__.py").exists()]


def test_no_folder_has_more_than_25_files():
    counts = Counter(path.parent for path in python_files(*FOLDERS, FACE))
    assert [] == [f"{relative(path)}: {n}" for path, n in counts.items() if n > 25]


def test_no_absolute_imports_of_the_folders():
    files = python_files(*FOLDERS, FACE, "tests", "notebooks", "benchmarks")
    found = [relative(path) for path in files if absolute_imports(path, FOLDERS)]
    assert [] == found, "write `from chainrules.rules import ...`, or `from ..rules import ...`"


def test_relative_imports_inside_the_folders():
    found = [relative(p) for p in python_files(*FOLDERS) if absolute_imports(p, ["chainrules"])]
    assert [] == found, "write `from ..rules import ...`"


def test_no_conftest_in_the_folders():
    # pytest would import it, and what it imports, under a second name.
    assert [] == [relative(path) for path in python_files(*FOLDERS) if path.name == "conftest.py"]


def test_tests_are_no_package():
    assert [] == [relative(path) for path in python_files("tests") if path.name == "__init__.py"]


def test_test_files_have_distinct_names():
    names = Counter(path.name for path in python_files("tests") if path.name != "conftest.py")
    assert [] == [name for name, count in names.items() if count > 1]


def test_nothing_but_chainrules_is_importable_elsewhere(tmp_path):
    script = f"""
import chainrules, chainrules.rules, importlib.util, sys
found = [name for name in {FOLDERS} if importlib.util.find_spec(name)]
assert not found, found
assert {str(TOP)!r} not in sys.path
"""
    subprocess.run([sys.executable, "-I", "-c", script], cwd=tmp_path, check=True)


@pytest.mark.parametrize("name", ["chainrules", "chainrules.rules"])
def test_the_names_listed_by_hand_are_all_there_are(name):
    module = importlib.import_module(name)
    rooms = {"config", "forward", "reverse", "rules", "numpy", "testing", "coverage"}
    there = {
        word
        for word, x in vars(module).items()
        if not word.startswith("_") and not inspect.ismodule(x) and word not in rooms
    }
    if name == "chainrules":
        there |= set(HOME_OF)  # loaded when they are asked for
    assert sorted(there) == sorted(module.__all__)
    assert set(module.__all__) <= set(dir(module)) or name == "chainrules"  # see test_completion
    assert all(getattr(module, word) is not None for word in module.__all__)


def test_what_is_loaded_on_demand_is_what_a_type_checker_reads():
    (typed,) = [node for node in ast.walk(ast.parse(FACE_FILE.read_text())) if is_for_types(node)]
    read = [
        (f".{node.module}", alias.name)
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert [] == sorted({*read} - {(".rules", "rulesets")} ^ {(h, n) for n, h in HOME_OF.items()})


def is_for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "_typing.TYPE_CHECKING"
