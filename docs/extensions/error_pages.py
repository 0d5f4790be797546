"""Pages of the codes of errors: of each the cause, the remedy, and a program that meets it.

Causes and remedies are those of the classes and of the table of refusals; the programs are those of
the tests, read from there as text.
"""

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from chainrules import testing
from chainrules.config import errors
from chainrules.rules.refusals.table import REFUSALS

TOP = Path(__file__).parents[2]
FOLDER = TOP / "docs" / "generated" / "errors"
TESTS = TOP / "tests" / "core"
sys.path.append(str(TESTS))  # where the programs are
HEAD = """# Error codes

The message of an error or a warning ends with a code and the address of its page. The page gives
the cause, the remedy, a program that meets the error, and the mended program. In Python the code
is `error.code`. The table lists classes of errors and warnings first, then single messages; words
in braces are placeholders.

| code | error | |
|---|---|---|
"""
# Programs run one after another in a process of its own; warnings of ours that are asked for raise.
RUN = """
import json, linecache, sys, types, warnings
import chainrules

ended = []
for program, raises in json.load(sys.stdin):
    module = sys.modules["program"] = types.ModuleType("program")
    linecache.cache["program.py"] = len(program), None, program.splitlines(True), "program.py"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if raises:
            warnings.simplefilter("error", chainrules.CompileWarning.__base__)
        try:
            exec(compile(program, "program.py", "exec"), vars(module))
            ended.append((None, ""))
        except Exception as error:
            ended.append((getattr(error, "code", repr(error)), str(error)))
print(json.dumps(ended))
"""
MEETS, AVOIDS = "A program that meets it", "The mended program"


class Coded(NamedTuple):
    """A code, and what its page says."""

    code: str
    title: str
    summary: str  # in the table of all
    error: type[Exception]
    cause: str
    remedy: str
    programs: dict[str, str]  # by heading


def write_pages(app: Any, config: Any) -> None:
    """Write the page of each code, and their table."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    every = [*_classes(), *_rows()]
    met = endings({x.code: x.programs.get(MEETS, "") for x in every})
    table = [f"| [{x.code}]({x.code}.md) | `{x.error.__name__}` | {x.summary} |" for x in every]
    contents = "\n".join(["", "```{toctree}", ":hidden:", "", *(x.code for x in every), "```", ""])
    (FOLDER / "index.md").write_text(HEAD + "\n".join(table) + "\n" + contents, encoding="utf-8")
    for x in every:
        code, message = met[x.code]
        # Where a package of the program is not here, it meets another error.
        said = message.partition("\n[CR")[0] if code == x.code else ""
        (FOLDER / f"{x.code}.md").write_text("\n".join(_page(x, said)), encoding="utf-8")


def endings(programs: dict[str, str]) -> dict[str, tuple[str | None, str]]:
    """Return the code and the message of the error that each program meets; None without one.

    They are named by the code of their page; of a page of a warning, warnings of ours end them.
    """
    from programs_of_errors import ALONE

    together = [code for code in programs if code not in ALONE]
    found: dict[str, tuple[str | None, str]] = {}
    for codes in (together, *([code] for code in programs if code in ALONE)):
        given = [(programs[code], issubclass(ERRORS[code], Warning)) for code in codes]
        done = subprocess.run(
            [sys.executable, "-P", "-c", RUN], input=json.dumps(given),
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        ended = json.loads(done.stdout.splitlines()[-1])
        found |= {code: tuple(end) for code, end in zip(codes, ended, strict=True)}
    return found


def _page(x: Coded, said: str) -> Iterator[str]:
    """Yield the parts of a page; ``said`` is what the program gets to read."""
    yield f"# {x.code}: {x.title}\n"
    bases = [b.__name__ for b in x.error.__mro__[1:] if b.__module__ == "builtins"]
    yield f"`{x.error.__name__}`" + (f", which is also a `{bases[0]}`." if bases else ".")
    yield f"\n## Cause\n\n{x.cause}\n\n## Remedy\n\n{x.remedy}\n"
    for heading, program in x.programs.items():
        yield f"## {heading}\n\n```python\n{program.strip()}\n```\n"
        if said and heading == MEETS:
            yield f"```text\n{said}\n```\n"
    yield "[All codes](index.md)\n"


_CLASSES = {
    x.code: x
    for x in [*vars(errors).values(), *vars(testing.errors).values()]
    if isinstance(x, type) and getattr(x, "code", "")
}
ERRORS = {**_CLASSES, **{row.code: row.error for row in REFUSALS.values()}}


def _classes() -> Iterator[Coded]:
    for x in _CLASSES.values():
        cause, remedy = [" ".join(part.split()) for part in (x.__doc__ or "").split("\n\n")]
        cause, remedy = _as_markdown(cause), _as_markdown(remedy)
        yield Coded(x.code, x.__name__, cause, x, cause, remedy, programs_of(x.code))


def _as_markdown(text: str) -> str:
    return text.replace("``", "`")


def _rows() -> Iterator[Coded]:
    cases = Cases(TESTS / "test_refusals.py")
    for name, row in REFUSALS.items():
        cause, remedy = (f"```text\n{text}\n```" for text in (row.cause, row.remedy))
        programs = {**programs_of(row.code), **cases.of(name)}
        yield Coded(row.code, name, name, row.error, cause, remedy, programs)


def programs_of(code: str) -> dict[str, str]:
    """Return the program that meets a code, and the mended one, where these are written down."""
    from mended_programs import MENDED
    from programs_of_errors import PROGRAMS, PROGRAMS_OF_ROWS

    head = "import numpy as np\nimport chainrules as cr\n\n"
    both = {MEETS: {**PROGRAMS, **PROGRAMS_OF_ROWS}.get(code), AVOIDS: MENDED.get(code)}
    return {heading: head + text.strip() for heading, text in both.items() if text}


class Cases:
    """The programs of a test file, each with the functions of the file that it needs."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.statements = ast.parse(self.text).body
        (table,) = [
            node.value
            for node in self.statements
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CASES"
        ]
        assert isinstance(table, ast.Dict)
        pairs = zip(table.keys, table.values, strict=True)
        self.cases = {key.value: value.elts for key, value in pairs}  # type: ignore[union-attr,attr-defined]

    def of(self, name: str) -> dict[str, str]:
        """Return the program that is refused, and the one that follows the remedy."""
        parts = dict(zip((MEETS, AVOIDS), self.cases.get(name, ()), strict=False))
        return {
            heading: self._program(part)
            for heading, part in parts.items()
            if not isinstance(part, ast.Constant)
        }

    def _program(self, part: ast.expr) -> str:
        """Return a call of ``part``, below all that it stands on."""
        needed: set[int] = set()
        names = _read(part)
        while True:
            more = {
                k
                for k, node in enumerate(self.statements)
                if names & _made(node) or names & _registered(node)
            } - needed
            if not more:
                break
            needed |= more
            names |= {name for k in more for name in _read(self.statements[k])}
        lines = [self._source(self.statements[k]) for k in sorted(needed)]
        run = part.body if isinstance(part, ast.Lambda) else part
        text = ast.unparse(run) if part is run else self._source(run)
        return "\n".join([*lines, text if isinstance(part, ast.Lambda) else f"{text}()"])

    def _source(self, node: ast.AST) -> str:
        heads = [*getattr(node, "decorator_list", []), node]
        lines = self.text.splitlines()[heads[0].lineno - 1 : node.end_lineno]
        if isinstance(node, ast.expr):
            return ast.get_source_segment(self.text, node) or ""
        gap = [""] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
        return "\n".join([*gap, *lines, *gap])


def _read(node: ast.AST) -> set[str]:
    return {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}


def _made(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module makes."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return {x.id for x in targets if isinstance(x, ast.Name)}


def _registered(node: ast.stmt) -> set[str]:
    """Return the names for which a statement registers something: a rule, a container."""
    if isinstance(node, ast.FunctionDef):
        calls = [x for x in node.decorator_list if isinstance(x, ast.Call)]
    else:
        calls = [node.value] if isinstance(node, ast.Expr) else []  # type: ignore[list-item]
    return {
        x.id for c in calls if isinstance(c, ast.Call) for x in c.args if isinstance(x, ast.Name)
    }


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
