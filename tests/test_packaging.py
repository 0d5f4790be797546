"""The sdist and the wheel hold what the tree holds, and each file is imported under one name."""

import functools
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

TOP = Path(__file__).resolve().parents[1]
FOLDERS = ("config", "forward", "reverse", "rules")

IMPORT_ALL = """
import importlib.util, json, pkgutil, sys, chainrules

# What needs a library that is not here is found, and not imported.
others = "casadi", "jax", "numexpr", "pytensor", "torch"
libraries = {f"chainrules.interop.{name}": name for name in others}
libraries |= {f"chainrules.interop.units.{name}": name for name in ("astropy", "unyt")}
libraries |= {
    f"chainrules.interop.autograd.{name}": "autograd"
    for name in ("adopted", "boxes", "exported", "followed")
}
missing = {p for p, name in libraries.items() if importlib.util.find_spec(name) is None}

def modules(path, prefix):
    for info in pkgutil.iter_modules(path, prefix):
        yield info.name
        if info.ispkg:
            inside = importlib.util.find_spec(info.name).submodule_search_locations
            yield from modules(inside, f"{info.name}.")

names = list(modules(chainrules.__path__, "chainrules."))
for name in names:
    if not name.endswith("__main__") and not any(f"{name}.".startswith(f"{p}.") for p in missing):
        __import__(name)
files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
print(json.dumps([names, files]))
"""


def hatchling(target, tree, into):
    """Build ``target`` as an installer does, but with the hatchling that is here."""
    command = [sys.executable, "-P", "-m", "hatchling", "build", "-t", target, "-d", str(into)]
    subprocess.run(command, cwd=tree, check=True)
    (archive,) = into.iterdir()
    return archive


def contents(wheel):
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@functools.cache
def import_all(**env):
    """Import all of ``chainrules`` in a new process: its modules, and ``sys.modules`` by file."""
    command = [sys.executable, "-P", "-W", "error", "-c", IMPORT_ALL]
    # What goes wrong is on stderr, and pytest shows it.
    output = subprocess.check_output(command, env=os.environ | env, text=True)
    return json.loads(output.splitlines()[-1])


def module_name(path):
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return hatchling("wheel", TOP, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked_sdist(tmp_path_factory):
    sdist = hatchling("sdist", TOP, tmp_path_factory.mktemp("sdist"))
    into = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        # Not extractall(filter="data"): Debian 12's Python 3.11.2 has no such keyword.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(into)
    (tree,) = into.iterdir()
    return tree


def test_wheel_holds_the_tree(wheel):
    face = TOP / "src" / "chainrules"
    # rglob does not follow the links.
    files = [(path, path.relative_to(face.parent)) for path in face.rglob("*.py")]
    for folder in FOLDERS:
        files += [(p, "chainrules" / p.relative_to(TOP)) for p in (TOP / folder).rglob("*.py")]
    expected = {name.as_posix(): path.read_bytes() for path, name in files}
    assert expected == {k: v for k, v in contents(wheel).items() if k.endswith(".py")}


def test_wheel_is_typed(wheel):
    assert "chainrules/py.typed" in contents(wheel)


def test_wheel_holds_only_chainrules(wheel):
    assert {"chainrules", "dist-info"} == {
        name.partition("/")[0].rpartition(".")[2] for name in contents(wheel)
    }


@pytest.mark.slow
def test_wheel_from_sdist_is_the_wheel(wheel, unpacked_sdist, tmp_path):
    assert contents(wheel) == contents(hatchling("wheel", unpacked_sdist, tmp_path))


def test_sdist_holds_tests(unpacked_sdist):
    assert (unpacked_sdist / "tests" / Path(__file__).name).exists()


@pytest.mark.slow
def test_checkout_has_the_modules_of_the_wheel(wheel):
    # The top of the checkout is on the package's __path__: a stray module there would be ours.
    expected = {module_name(name) for name in contents(wheel) if name.endswith(".py")}
    names, _ = import_all()
    compiled = {"chainrules.rules.accelerated._numbers"}  # where there is a compiler
    assert expected - {"chainrules"} == set(names) - compiled


@pytest.mark.slow
def test_no_file_has_two_names():
    _, files = import_all()
    ours = [os.path.realpath(f) for f in files.values() if f and f.startswith(f"{TOP}{os.sep}")]
    ours = [path for path in ours if "site-packages" not in path]  # the environment lies inside
    assert ours
    assert sorted(set(ours)) == sorted(ours)


@pytest.mark.slow
def test_wheel_works_without_the_checkout(wheel, tmp_path):
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    _, files = import_all(PYTHONPATH=str(tmp_path))
    ours = {name: path for name, path in files.items() if name.partition(".")[0] == "chainrules"}
    assert ours
    # Under chainrules.numpy are NumPy's own modules, and those that are made of them and of SciPy's
    # have no file.
    ours = {name: path for name, path in ours.items() if not name.startswith("chainrules.numpy.")}
    ours = {name: path for name, path in ours.items() if path is not None}
    assert {} == {name: path for name, path in ours.items() if not path.startswith(str(tmp_path))}
