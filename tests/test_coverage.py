"""No public function of NumPy is left without a status, nor a rule without both directions."""

import pathlib

import numpy as np
import pytest

from chainrules import coverage

DOCUMENT = pathlib.Path(__file__).parent.parent / "docs" / "coverage.md"
TITLES = list(coverage.modules())


@pytest.mark.parametrize("title", TITLES)
def test_every_function_has_a_status(title):
    missing = [row.name for row in coverage.rows(coverage.modules()[title])
               if row.status == "missing"]  # fmt: skip
    assert missing == []


@pytest.mark.parametrize("title", TITLES)
def test_every_rule_has_both_directions(title):
    one_way = [row.name for row in coverage.rows(coverage.modules()[title])
               if row.forward != row.reverse]  # fmt: skip
    assert one_way == []


def test_what_is_not_followed_has_no_rule():
    for module in coverage.modules().values():
        for row in coverage.rows(module):
            if row.name in coverage.REASONS:
                assert row.status.startswith("not followed"), row


def test_the_document_is_up_to_date():
    text = DOCUMENT.read_text()
    if f"with NumPy {np.__version__}." not in text:
        pytest.skip("the document was made with another NumPy")
    made = coverage.table()
    if "## scipy.special" not in made:
        text = text.partition("\n## scipy.special")[0]
    assert made == text, "make it anew: python -m chainrules.coverage > docs/coverage.md"
