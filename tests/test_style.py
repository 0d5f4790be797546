"""The style, as far as a machine can check it."""

import ast
import re
from collections import defaultdict

import pytest
from sources import python_files, relative

PACKAGE = ("config", "rules", "forward", "reverse", "src/chainrules")

# "About 400": above it a file has two ideas.
LONGEST_FILE = 420

# A function is called by its name in its rule: `def dot_rrule(dot, a, b)`.
FUNCTIONS_NAMED_DOT = {"dot", "multi_dot", "tensordot", "vdot"}

# Where they must not be, by how the enclosing function's name ends.
STRANGERS = {
    "bar": ("_frule", "_pushforward"),
    "dot": ("_rrule", "_pullback", "_transpose"),
}


def names_in(function):
    """Yield variables and parameters of ``function``. Attributes such as ``np.dot`` are neither."""
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def misplaced(tree):
    """List the bars that live in a frule or pushforward, the dots in an rrule or pullback."""
    return sorted(
        f"{name} in {function.name}"
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for name in set(names_in(function)) - FUNCTIONS_NAMED_DOT
        for ending, homes in STRANGERS.items()
        if name.endswith(ending) and function.name.endswith(homes)
    )


@pytest.mark.parametrize("path", python_files("rules"), ids=relative)
def test_dots_live_in_pushforwards_and_bars_in_pullbacks(path):
    assert [] == misplaced(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("expected", "source"),
    [
        (["ybar in sin_frule"], "def sin_frule(ybar): pass"),
        (["xdot in sin_pullback"], "def sin_pullback(ybar):\n return xdot"),
        ([], "def dot_rrule(dot, a, b): return np.vecdot(a, b), dot(a, b)"),
        ([], "def sin_frule(tangents, sin, x): _, xdot = tangents"),
    ],
)
def test_misplaced(expected, source):
    assert expected == misplaced(ast.parse(source))


def open_while_suspended(function):
    """Return the contexts that a generator holds open at a ``yield``."""
    is_context = any("contextmanager" in ast.unparse(x) for x in function.decorator_list)
    waiting, found = [] if is_context else [(part, ()) for part in function.body], []
    while waiting:
        node, held = waiting.pop()
        if isinstance(node, ast.With):
            held = (*held, *[ast.unparse(item.context_expr) for item in node.items])
        if isinstance(node, ast.Yield | ast.YieldFrom):
            found += held
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            waiting += [(part, held) for part in ast.iter_child_nodes(node)]
    return [name for name in found if not name.startswith("contextlib.suppress")]


def test_generators_hold_no_context_open():
    # One that an error has left ends when the collector finds it: at any time, in any state.
    found = {
        relative(path): held
        for path in python_files(*PACKAGE)
        if "yield" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and (held := open_while_suspended(node))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("expected", "source"),
    [
        (["f()"], "def g():\n    with f():\n        yield 1"),
        ([], "@contextmanager\ndef g():\n    with f():\n        yield 1"),
        ([], "def g():\n    with f():\n        h(1)\n    yield 1"),
    ],
)
def test_open_while_suspended(expected, source):
    assert expected == open_while_suspended(ast.parse(source).body[0])


def test_ascii_only():
    files = python_files(*PACKAGE, "tests", "notebooks", "benchmarks")
    assert [] == [relative(path) for path in files if not path.read_bytes().isascii()]


def test_files_keep_their_budget():
    files = {relative(path): path.read_text(encoding="utf-8") for path in python_files(*PACKAGE)}
    lengths = {name: len(text.splitlines()) for name, text in files.items()}
    assert {} == {name: length for name, length in lengths.items() if length > LONGEST_FILE}


def test_first_sentences_name_their_subject():
    files = python_files(*PACKAGE, "tests", "benchmarks", "docs")
    question = re.compile(r'^ *"""((?:What|How|Where|Which|Whether|When|Why)\b.*)', re.MULTILINE)
    found = {relative(path): question.findall(path.read_text(encoding="utf-8")) for path in files}
    assert {} == {name: heads for name, heads in found.items() if heads}


@pytest.mark.parametrize(("word", "most", "exceptions"), [("class", 1, 0), ("def", 3, 6)])
def test_names_stand_for_one_thing(word, most, exceptions):
    """No class has the name of another one; few functions have that of three others.

    Interfaces to other libraries have the names of these.
    """
    files = defaultdict(list)
    for path in python_files(*PACKAGE):
        if "interop" not in path.parts:
            text = path.read_text(encoding="utf-8")
            for name in set(re.findall(rf"^{word} (\w+)", text, re.MULTILINE)) - {"__getattr__"}:
                files[name].append(relative(path))
    found = {name: places for name, places in files.items() if len(places) > most}
    assert len(found) <= exceptions, found


def annotations(tree):
    """Yield what the signatures of a module are annotated with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            given = node.args
            named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            yield from (part.annotation for part in named if part and part.annotation)
            if node.returns:
                yield node.returns


def names_of_any(tree):
    """Yield the name ``Any`` and each that a module gives it."""
    yield "Any"
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.value) == "Any":
            yield from map(ast.unparse, node.targets)


def test_annotations_say_something():
    """Of the core at most one in four is ``Any``, by whatever name of ``rules/annotations.py``."""
    files = python_files("config", "rules", "forward", "reverse")
    core = [path for path in files if "rulesets" not in path.parts]
    words = [path for path in core if relative(path) == "rules/annotations.py"]
    nothing = {name for path in words for name in names_of_any(ast.parse(path.read_text()))}
    found = [ast.unparse(x) for path in core for x in annotations(ast.parse(path.read_text()))]
    assert words
    assert sum(map(found.count, nothing)) <= len(found) / 4
