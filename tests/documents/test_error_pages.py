"""Pages of error codes: the programs that they show meet what they are said to meet."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.lib import NumpyVersion

from chainrules.rules.refusals.table import REFUSALS

TOP = Path(__file__).resolve().parents[2]
sys.path.append(str(TOP / "docs" / "extensions"))

import error_pages  # noqa: E402
from error_pages import AVOIDS, MEETS  # noqa: E402


def met(programs):
    """Return the code of the error that each program meets; None without one."""
    return [code for code, _ in error_pages.endings([(program, False) for program in programs])]


@pytest.fixture(scope="module")
def shown():
    cases = error_pages.Cases(TOP / "tests" / "core" / "test_refusals.py")
    return {name: cases.of(name) for name in cases.cases}


@pytest.mark.slow
def test_programs_of_rows_meet_their_codes(shown):
    codes = met([programs[MEETS] for programs in shown.values()])
    expected = [REFUSALS[name].code for name in shown]
    if NumpyVersion(np.__version__) >= "2.5.0":  # NumPy itself refuses ufunc.at then
        at = list(shown).index("stand-in written by at")
        expected[at] = REFUSALS["stand-in written"].code
    assert expected == codes


@pytest.mark.slow
def test_programs_of_rows_that_need_other_packages():
    from programs_of_errors import PROGRAMS_OF_ROWS

    pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    head = "import numpy as np\nimport chainrules as cr\n"
    assert [*PROGRAMS_OF_ROWS] == met([head + program for program in PROGRAMS_OF_ROWS.values()])


@pytest.mark.slow
def test_programs_that_follow_the_remedy_meet_none(shown):
    programs = [programs[AVOIDS] for programs in shown.values() if AVOIDS in programs]
    assert len(programs) > 30
    assert [None] * len(programs) == met(programs)


def test_each_code_has_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr(error_pages, "FOLDER", tmp_path / "errors")
    error_pages.write_pages(None, None)
    pages = {path.stem for path in (tmp_path / "errors").glob("CR*.md")}
    assert {row.code for row in REFUSALS.values()} < pages
    texts = [(tmp_path / "errors" / f"{code}.md").read_text(encoding="utf-8") for code in pages]
    assert [] == [text for text in texts if "## Remedy" not in text]
    # What the program gets to read; where a package is not here it may be another error.
    shown = [text.partition(MEETS)[2] for text in texts if MEETS in text]
    assert sum("```text" in text for text in shown) > 0.9 * len(shown)
