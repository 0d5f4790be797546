"""The rooms of the compiler: few files in each, and names that stand in one place only."""

import ast
from collections import Counter
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
COMPILER = TOP / "src" / "chainrules" / "compiling"
HOUSE = [
    path
    for folder in ("config", "rules", "forward", "reverse", "src/chainrules")
    for path in sorted((TOP / folder).rglob("*.py"))  # which does not follow links
]


ROOMS = [
    "", "record", "record/state", "ir", "passes", "passes/fused", "passes/scalar", "native",
    "native/assembly", "native/arrays", "native/scalars", "native/steps", "loops", "explaining",
]  # fmt: skip


def classes(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_of_the_compiler_has_few_files(room):
    assert len({*(COMPILER / room).glob("*.py")} - {COMPILER / room / "__init__.py"}) <= 14


def test_no_file_name_stands_in_two_rooms():
    names = Counter(path.name for path in COMPILER.rglob("*.py") if path.stem != "__init__")
    assert [] == [name for name, count in names.items() if count > 1]


@pytest.mark.parametrize("room", ROOMS)
def test_each_readme_names_all_files(room):
    text = (COMPILER / room / "README.md").read_text(encoding="utf-8")
    files = {path.name for path in (COMPILER / room).glob("*.py")} - {"__init__.py", "__main__.py"}
    assert [] == sorted(name for name in files if f"`{name}`" not in text)


def test_public_classes_of_the_compiler_are_named_once_in_the_house():
    counts = Counter(name for path in HOUSE for name in classes(path))
    ours = set().union(*(classes(path) for path in HOUSE if COMPILER in path.parents))
    assert [] == sorted(name for name in ours if counts[name] > 1)


def test_all_ways_into_machine_code_read_the_one_table_of_functions():
    """A lowering without a row is never asked for, and a row without one promises too much."""
    pytest.importorskip("llvmlite")
    pytest.importorskip("scipy")
    from chainrules.compiling.ir.lowering import FUNCTIONS
    from chainrules.compiling.native.assembly.operations import OPCODES
    from chainrules.compiling.passes import factor_sharing
    from chainrules.compiling.passes.fused import groups, lookups, step_views
    from chainrules.compiling.passes.scalar import matrix_steps, scalar_steps

    loops = groups._REDUCTIONS + groups._PRODUCTS + groups._RUNNING + groups._JOINED
    of_matrices = matrix_steps.MATRIX_STEPS | matrix_steps.SEVERAL | factor_sharing.STANDS_FOR
    entries = scalar_steps.STEPS | lookups.LOOKUPS | step_views.PARTS_OF
    named = {row.does for row in FUNCTIONS.values()} - {""}
    assert named == {*loops, *of_matrices, *entries}
    assert {row.op for row in FUNCTIONS.values()} - {""} <= OPCODES.keys()
