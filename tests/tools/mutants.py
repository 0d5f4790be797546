"""Mutants: copies of the package with one thing broken, by which the tests are measured.

``make mutants`` draws them by rule from the syntax trees of all rooms, in a random order that a
seed fixes. Each is run against the tests that enter the broken function, quickest first, up to
the first that fails: those of the quick tier, and, where all of these pass, the others of the
same test functions and files, which ``make test-all`` runs. What is found is added to
``--results``, a line of JSON for each mutant, and a second run goes on after the last.

The map from functions to tests is made by one run of the quick tier with this file as a plugin:

    PYTHONPATH=tests/tools python -P -m pytest -n 2 -p mutants --calls-to=/tmp/chainrules-calls

A function that no test is seen to enter is tried on those of its module's folder.
"""

import argparse
import ast
import contextlib
import functools
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PACKAGE = ("config", "rules", "forward", "reverse", "src/chainrules")
FEW = 60  # tests of the first session of a mutant, and of their files: most die in it
FILES = 3
MANY = 1500  # tests of a later session
MOST_OF_A_FOLDER = 400

# ---- the map from functions to tests, as a plugin of pytest -------------------------------------


def pytest_addoption(parser):
    parser.addoption("--calls-to", metavar="FOLDER", help="write which tests enter which functions")
    parser.addoption(
        "--names-in", metavar="FILE", help="run the tests named in a file, in its order"
    )


def pytest_configure(config):
    runs = hasattr(config, "workerinput") or not config.getoption("numprocesses", None)
    if config.getoption("--calls-to") and runs:
        config.pluginmanager.register(Calls(Path(config.getoption("--calls-to"))), "calls")
    if config.getoption("--names-in"):
        config.pluginmanager.register(Named(config.getoption("--names-in")), "named")


class Named:
    """The tests that a file names, in its order."""

    def __init__(self, file):
        names = Path(file).read_text(encoding="utf-8").splitlines()
        self.place = {name: k for k, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid in self.place]
        items.sort(key=lambda item: self.place[item.nodeid])


class Calls:
    """Functions of the package that each test enters, by their files and first lines."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.file = (folder / f"{os.getpid()}.jsonl").open("w", encoding="utf-8", buffering=1)
        self.codes = set()
        self.ours = {}  # by the name of a file: its path in the checkout, or None

    def enter(self, frame, event, arg):
        self.codes.add(frame.f_code)
        # No trace inside the function: only calls are of interest.

    def place(self, code):
        name = code.co_filename
        if name not in self.ours:
            path = Path(name).resolve() if name.startswith("/") else None
            inside = path is not None and any(path.is_relative_to(TOP / room) for room in PACKAGE)
            self.ours[name] = path.relative_to(TOP).as_posix() if inside else None
        return self.ours[name], code.co_firstlineno

    def pytest_runtest_logstart(self, nodeid):
        self.codes = set()
        self.start = time.process_time()
        threading.settrace(self.enter)
        sys.settrace(self.enter)

    def pytest_runtest_logfinish(self, nodeid):
        sys.settrace(None)
        threading.settrace(None)
        codes, self.codes = self.codes, set()  # other threads may still add to the first
        places = sorted({place for place in map(self.place, list(codes)) if place[0]})
        seconds = round(time.process_time() - self.start, 4)
        self.file.write(json.dumps([nodeid, seconds, places]) + "\n")


def tests_of_functions(folder, quick):
    """Read what ``Calls`` wrote: seconds of each quick test, and the tests of each function."""
    seconds, tests = {}, defaultdict(list)
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            name, spent, places = json.loads(line)
            if name not in quick:
                continue
            seconds[name] = spent
            for file_name, number in places:
                tests[file_name, number].append(name)
    return seconds, tests


# ---- what can be broken -------------------------------------------------------------------------


OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*",
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
NOTHING = {"return", "return None", "return False"}  # the same to most callers
CONJUGATES = {"conj", "conjugate", "adjoint"}


def broken(node):
    """Yield the kinds of breakage of a node, each with the text in its place."""
    text = ast.unparse
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        sign = OPERATORS[type(node.op)]
        yield "sign", f"(({text(node.left)}) {sign} ({text(node.right)}))"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        sign = OPERATORS[type(node.ops[0])]
        yield "comparison", f"(({text(node.left)}) {sign} ({text(node.comparators[0])}))"
    elif isinstance(node, ast.BoolOp):
        sign = " or " if isinstance(node.op, ast.And) else " and "
        yield "and/or", "(" + sign.join(f"({text(value)})" for value in node.values) + ")"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "minus", f"({text(node.operand)})"
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "constant", f"{node.value + 1!r}"
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "constant", f"{not node.value!r}"
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        plain = not any(isinstance(x, ast.Starred) for x in node.args)
        if name in CONJUGATES and len(node.args) == 1 and not node.keywords:
            yield "conjugate", f"({text(node.args[0])})"
        elif plain and len(node.args) >= 2 and text(node.args[0]) != text(node.args[1]):
            first, second, *rest = node.args
            swapped = ast.Call(node.func, [second, first, *rest], node.keywords)
            yield "order of arguments", f"({text(swapped)})"
    elif isinstance(node, ast.Return) and text(node) not in NOTHING:
        yield "return", "return None"


def tests_of_conditions(node):
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield node.test, "condition", f"(not ({ast.unparse(node.test)}))"


def skipped(node):
    """Say whether a node is text for readers (types, names, messages) or an assertion."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        return True
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return True  # of zip, whose arguments are as long
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def sites(tree):
    """Yield what can be broken: a node, the first line of its function, the kind, the new text.

    Only inside of functions: what runs at imports is not there for a test to enter.
    """

    def walk(node, line):
        if skipped(node):
            return
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            first = min([node.lineno, *[x.lineno for x in getattr(node, "decorator_list", [])]])
            for part in node.body if isinstance(node.body, list) else [node.body]:
                yield from walk(part, first)
            return
        if line is not None:
            for kind, text in broken(node):
                yield node, line, kind, text
            for test, kind, text in tests_of_conditions(node):
                yield test, line, kind, text
        for name, field in ast.iter_fields(node):
            if name in ("annotation", "returns"):
                continue
            for part in field if isinstance(field, list) else [field]:
                if isinstance(part, ast.AST):
                    yield from walk(part, line)

    yield from walk(tree, None)


def is_tried(file):
    """Say whether the tests of a module run here: some need libraries that may be missing."""
    return not any(
        name in file and importlib.util.find_spec(name) is None
        for name in ("torch", "casadi", "pytensor")
    )


def room_of(file):
    parts = file.split("/")
    if parts[0] == "rules":
        return "/".join(parts[: 3 if parts[1] == "rulesets" else 2][: len(parts) - 1])
    if parts[0] == "src":
        return "/".join(parts[1:-1][:3])
    return parts[0]


def replaced(source, node, text):
    """Put a text in the place of a node. Lines keep their numbers as far as they can."""
    lines = source.splitlines(keepends=True)
    first, last = lines[node.lineno - 1], lines[node.end_lineno - 1]
    head = first.encode()[: node.col_offset].decode()
    tail = last.encode()[node.end_col_offset :].decode()
    gap = "\n" * (node.end_lineno - node.lineno)
    lines[node.lineno - 1 : node.end_lineno] = [head + text + tail + gap]
    return "".join(lines)


@functools.cache
def sites_in(path):
    """List what can be broken in a file."""
    return list(sites(ast.parse(path.read_text(encoding="utf-8"))))


def mutants(seed):
    """List mutants in a random order: one of each room, then another of each, and so on.

    Within a room each kind of breakage is as likely as another, however often it is possible.
    """
    draws = random.Random(seed)
    rooms = defaultdict(lambda: defaultdict(list))
    for folder in PACKAGE:
        for path in sorted((TOP / folder).rglob("*.py")):
            file = path.relative_to(TOP).as_posix()
            if not is_tried(file):
                continue
            for node, line, kind, text in sites_in(path):
                rooms[room_of(file)][kind].append((file, node, line, kind, text))
    piles = {}
    for room, kinds in sorted(rooms.items()):
        for pile in kinds.values():
            draws.shuffle(pile)
        piles[room] = kinds
    while piles:
        order = sorted(piles)
        draws.shuffle(order)
        for room in order:
            kind = draws.choice(sorted(piles[room]))
            yield (room, *piles[room][kind].pop())
            if not piles[room][kind]:
                del piles[room][kind]
            if not piles[room]:
                del piles[room]


# ---- a mutant and its tests ---------------------------------------------------------------------


def checkout(folder):
    """Copy what the tests need: everything but environments and what checks leave behind."""
    ignore = shutil.ignore_patterns(".venv*", ".*_cache", "__pycache__")
    shutil.copytree(TOP, folder, symlinks=True, ignore=ignore)
    return folder


def fails(copy, names, limit=600):
    """Run tests in a copy of the checkout; return the first that fails, or None."""
    chosen = copy / "chosen.txt"
    chosen.write_text("\n".join(names), encoding="utf-8")
    paths = sorted({name.partition("::")[0] for name in names})
    words = ["-x", "-q", "-p", "mutants", "-p", "no:cacheprovider", f"--names-in={chosen}"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy / "tests/tools")]),
        "PYTHONDONTWRITEBYTECODE": "1",  # a mutant may be as old, and as long, as the last
        "OPENBLAS_NUM_THREADS": "1",
    }
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "pytest", *words, *paths],
            cwd=copy, env=environment, capture_output=True, text=True, timeout=limit, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "too slow"
    if done.returncode in (0, 5):  # passed, or there was none
        return None
    found = [x for x in done.stdout.splitlines() if x.startswith(("FAILED", "ERROR"))]
    return (found or ["pytest itself"])[0][:160]


def spread(names, seconds):
    """Order tests: quick ones first, and of each test function one before a second."""
    seen, place = Counter(), {}
    for name in sorted(names, key=lambda name: (seconds.get(name, 1.0), name)):
        function = name.partition("[")[0]
        place[name] = (seen[function], seconds.get(name, 1.0), name)
        seen[function] += 1
    return sorted(place, key=place.get)


def first_of(names):
    """Choose a few tests of few files, which are quick to collect."""
    files, chosen = set(), []
    for name in names:
        file = name.partition("::")[0]
        if file in files or len(files) < FILES:
            files.add(file)
            chosen.append(name)
    return chosen[:FEW]


def mirrored(file):
    """Return the folder of tests of a module."""
    folders = [part for part in Path(file).parts[:-1] if (TOP / "tests" / part).is_dir()]
    return f"tests/{folders[0] if folders else 'core'}/"


def trial(copy, mutant, seconds, tests, everything):
    """Break the copy, run its tests, and mend it. Returns who found it, and in which tier."""
    _, file, node, line, _, text = mutant
    source = (copy / file).read_text(encoding="utf-8")  # the checkout may be changed meanwhile
    (copy / file).write_text(replaced(source, node, text), encoding="utf-8")
    try:
        quick = spread(tests.get((file, line), ()), seconds)
        if not quick:
            near = [name for name in seconds if name.startswith(mirrored(file))]
            quick = spread(near, seconds)[:MOST_OF_A_FOLDER]
        first = first_of(quick)
        for names in (first, [name for name in quick[:MANY] if name not in set(first)]):
            if names and (found := fails(copy, names)):
                return "quick", found
        functions = {name.partition("[")[0] for name in quick}
        files = {name.partition("::")[0] for name in quick}
        rest = [name for name in everything if name not in seconds]
        near = [name for name in rest if name.partition("[")[0] in functions]
        slow = [name for name in rest if name.partition("::")[0] in files and name not in near]
        for names in (near[:MANY], slow[:MANY]):
            if names and (found := fails(copy, names)):
                return "all", found
        return "none", ""
    finally:
        (copy / file).write_text(source, encoding="utf-8")


def collected(*words):
    command = [sys.executable, "-P", "-m", "pytest", "--collect-only", "-q", *words]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if "::" in line]


def main():
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--number", type=int, default=100)
    reader.add_argument("--calls", type=Path, default=Path("/tmp/chainrules-calls"))
    reader.add_argument("--results", type=Path, default=Path("/tmp/chainrules-mutants.jsonl"))
    reader.add_argument("--copy", type=Path, default=Path("/tmp/chainrules-mutant"))
    reader.add_argument("--share", default="0/1", help="1/2: the second half, for two at a time")
    reader.add_argument(
        "--entered", action="store_true", help="only functions that a test of the map enters"
    )
    reader.add_argument("--quick", action="store_true", help="try the tests of the quick tier only")
    given = reader.parse_args()
    if not given.calls.exists():
        print("one run of the quick tier, to see which tests enter which functions")
        environment = {**os.environ, "PYTHONPATH": str(TOP / "tests" / "tools")}
        words = ["-q", "-n", "2", "-p", "mutants", f"--calls-to={given.calls}"]
        command = [sys.executable, "-P", "-m", "pytest", *words]
        subprocess.run(command, cwd=TOP, env=environment, check=False)
    seconds, tests = tests_of_functions(given.calls, set(collected()))
    everything = [] if given.quick else collected("--all")
    shutil.rmtree(given.copy, ignore_errors=True)
    copy = checkout(given.copy)
    part, parts = map(int, given.share.split("/"))
    done = set()
    with contextlib.suppress(FileNotFoundError):
        lines = given.results.read_text(encoding="utf-8").splitlines()
        done = {json.loads(line)["number"] for line in lines}
    drawn = mutants(given.seed)
    if given.entered:
        drawn = (mutant for mutant in drawn if tests.get((mutant[1], mutant[3])))
    for number, mutant in zip(range(given.number), drawn, strict=False):
        if number % parts != part or number in done:
            continue
        room, file, node, _, kind, text = mutant
        began = time.monotonic()
        tier, found = trial(copy, mutant, seconds, tests, everything)
        line = {
            "number": number, "room": room, "kind": kind, "tier": tier, "found": found,
            "place": f"{file}:{node.lineno}", "was": ast.unparse(node)[:90], "is": text[:90],
            "seconds": round(time.monotonic() - began),
        }  # fmt: skip
        with given.results.open("a", encoding="utf-8") as file_of_results:
            file_of_results.write(json.dumps(line) + "\n")
        print(
            f"{number:4d} {tier:5s} {line['place']} {kind}: {line['was']} -> {line['is']}",
            flush=True,
        )
    summary(given.results)


def summary(results):
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    tiers = Counter(line["tier"] for line in lines)
    killed = tiers["quick"] + tiers["all"]
    print(f"{len(lines)} mutants, {killed} found by the tests, {tiers['quick']} by the quick tier")
    for line in lines:
        if line["tier"] != "quick":
            print(f"  {line['tier']:5s} {line['place']} {line['was']} -> {line['is']}")


if __name__ == "__main__":
    main()
