"""docs/writing_rules.md tells the truth: its blocks run in order, and check themselves."""

import re
from pathlib import Path

import pytest

from chainrules import rules

TEXT = (Path(__file__).parents[2] / "docs" / "writing_rules.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.S | re.M)
WORDS = re.findall(r"^\| [^|]* \| `(\w+)` \|", TEXT, re.M)


def test_every_block_runs():
    names = {}
    for block in BLOCKS:
        exec(block, names)


def test_every_word_has_a_block():
    assert len(WORDS) == 8
    for word in WORDS:
        assert hasattr(rules, word)
        assert any(f"{word}(" in block for block in BLOCKS), word


@pytest.mark.parametrize("group", [
    "write a rule", "tangents", "ask a rule", "look under a trace", "call back",
])  # fmt: skip
def test_the_kits_names_stand_in_groups(group):
    source = Path(rules.__file__).read_text(encoding="utf-8")
    assert f"# ---- {group}" in source


def test_every_name_of_the_kit_stands_once():
    assert len(rules.__all__) == len(set(rules.__all__))
    assert all(hasattr(rules, name) for name in rules.__all__)
