"""Pages of error codes: the programs that they show meet what they are said to meet."""

import functools
import importlib.util
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

of_programs = error_pages.endings


@functools.cache
def endings(programs):
    """Return what each program ends with: those of a page are run once, and then shown."""
    return of_programs(dict(programs))


def met(programs):
    """Return the code of the error that each program meets; None without one."""
    return {code: ended for code, (ended, _) in endings(tuple(programs.items())).items()}


@pytest.fixture(scope="module")
def shown():
    return {x.code: x for x in (*error_pages._classes(), *error_pages._rows())}


@pytest.mark.slow
def test_each_page_has_a_program_that_meets_it_and_one_that_does_not(shown):
    assert {MEETS, AVOIDS} == set.intersection(*({*x.programs} for x in shown.values()))


NEEDS = {
    "pandas": ("CR120", "CR121", "CR123"),
    "xarray": ("CR132", "CR133"),
    "astropy": ("CR152",),
    "jax": ("CR018",),
}


def of_packages_here(programs):
    missing = [name for name in NEEDS if importlib.util.find_spec(name) is None]
    left_out = {code for name in missing for code in NEEDS[name]}
    return {code: program for code, program in programs.items() if code not in left_out}


@pytest.mark.slow
def test_programs_meet_their_codes(shown):
    programs = of_packages_here({code: x.programs[MEETS] for code, x in shown.items()})
    expected = {code: code for code in programs}
    if NumpyVersion(np.__version__) >= "2.5.0":  # NumPy itself refuses ufunc.at then
        expected[REFUSALS["shown array written by at"].code] = REFUSALS["shown array written"].code
    assert expected == met(programs)


@pytest.mark.slow
def test_programs_that_follow_the_remedy_meet_none(shown):
    programs = of_packages_here({code: x.programs[AVOIDS] for code, x in shown.items()})
    assert dict.fromkeys(programs) == met(programs)


def test_each_code_has_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr(error_pages, "FOLDER", tmp_path / "errors")
    monkeypatch.setattr(error_pages, "endings", lambda x: endings(tuple(x.items())))
    error_pages.write_pages(None, None)
    pages = {path.stem for path in (tmp_path / "errors").glob("CR*.md")}
    assert {row.code for row in REFUSALS.values()} < pages
    texts = [(tmp_path / "errors" / f"{code}.md").read_text(encoding="utf-8") for code in pages]
    assert [] == [text for text in texts if "## Remedy" not in text]
    # What the program gets to read; where a package is not here it may be another error.
    shown = [text.partition(MEETS)[2] for text in texts if MEETS in text]
    assert sum("```text" in text for text in shown) > 0.9 * len(shown)
