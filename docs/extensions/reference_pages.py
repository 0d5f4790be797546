"""Pages of the reference that are made: one for each public name and each public module."""

import ast
import functools
import inspect
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from public_names import GROUPS, MODULES, TESTING

import chainrules
import chainrules.testing

TOP = Path(__file__).parents[2]
FOLDER = TOP / "docs" / "generated" / "reference"
CONTENTS = "\n```{{toctree}}\n:hidden:\n\n{}\n```\n"


def write_pages(app: Any, config: Any) -> None:
    """Write all pages anew, so that none stays of a name that has gone."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for title, module, groups in (
        ("Public names", chainrules, GROUPS),
        ("Testing rules", chainrules.testing, TESTING),
    ):
        _write_module(title, module, groups)
    _write_modules()


def _write_module(title: str, module: ModuleType, groups: dict[str, tuple[str, ...]]) -> None:
    names = [name for group in groups.values() for name in group]
    if sorted(names) != sorted(module.__all__):
        wrong = sorted({*names} ^ {*module.__all__})
        raise ValueError(
            f"docs/extensions/public_names.py is not what {module.__name__} has: {wrong}"
        )
    lines = [f"# {title}", "", f"The names of `{module.__name__}`, each with a page of its own."]
    for heading, group in groups.items():
        lines += ["", f"## {heading}", "", "| name | |", "|---|---|"]
        lines += [f"| [`{n}`]({_file(module, n)}) | {_summary(module, n)} |" for n in group]
    for name in names:
        (FOLDER / _file(module, name)).write_text(_page(module, name), encoding="utf-8")
    lines.append(CONTENTS.format("\n".join(_file(module, name) for name in names)))
    index = FOLDER / f"{module.__name__.rpartition('.')[2]}.md"
    index.write_text("\n".join(lines), encoding="utf-8")


def _write_modules() -> None:
    """Write the page of each public module, and their table of contents."""
    lines = ["# Modules", "", "Import these by their names.", "", "| module | |", "|---|---|"]
    for name, members in MODULES.items():
        page = [name, "=" * len(name), "", f".. automodule:: {name}"]
        page += [f"\n.. autofunction:: {name}.{member}" for member in members]
        (FOLDER / f"module.{name}.rst").write_text("\n".join([*page, ""]), encoding="utf-8")
        lines.append(f"| [`{name}`](module.{name}.rst) | {_first_line(name)} |")
    lines.append(CONTENTS.format("\n".join(f"module.{name}.rst" for name in MODULES)))
    (FOLDER / "modules.md").write_text("\n".join(lines), encoding="utf-8")


def _first_line(module: str) -> str:
    """Return the first sentence of a module, which is read and not imported."""
    path = find_spec(module).origin
    return _sentence(ast.get_docstring(ast.parse(Path(path).read_text(encoding="utf-8"))) or "")


def _file(module: ModuleType, name: str) -> str:
    return f"{module.__name__}.{name}.rst"


def _summary(module: ModuleType, name: str) -> str:
    """Return the first sentence of a docstring, as Markdown in a table."""
    return _sentence(inspect.getdoc(getattr(module, name)) or "")


def _sentence(text: str) -> str:
    first = " ".join(text.partition("\n\n")[0].split())
    return first.replace("``", "`").replace("|", r"\|")


def _page(module: ModuleType, name: str) -> str:
    """Return the page of a name: its signature, and its docstring."""
    full = f"{module.__name__}.{name}"
    x = getattr(module, name)
    kind = "class" if inspect.isclass(x) else "function" if inspect.isroutine(x) else "data"
    lines = [full, "=" * len(full), "", f".. auto{kind}:: {full}"]
    lines.append("   :no-value:" if kind == "data" else "   :members:" if kind == "class" else "")
    if kind == "class" and issubclass(x, BaseException):
        lines.append("   :show-inheritance:")
    if kind == "data" and hasattr(x, "register"):
        lines += ["", f".. autofunction:: {full}.register"]
    if guides := sorted(path for path, text in _guides().items() if _written(name).search(text)):
        lines += ["", ".. rubric:: In the guides", ""]
        lines += [f"- :doc:`/{path.relative_to(TOP).with_suffix('')}`" for path in guides]
    return "\n".join([*lines, ""])


def _written(name: str) -> re.Pattern[str]:
    """Return how a page names it: as ``cr.name``, and what has a capital by itself."""
    return re.compile(rf"\b{name}\b" if name[0].isupper() else rf"\bcr\.{name}\b")


@functools.cache
def _guides() -> dict[Path, str]:
    return {
        path: path.read_text(encoding="utf-8")
        for path in (TOP / "docs").rglob("*.md")
        if not {"_build", "generated"} & {*path.parts}
    }


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
