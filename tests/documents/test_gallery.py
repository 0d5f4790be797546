"""Pictures of the gallery: each program draws one, and says what it shows in one sentence."""

import ast
import re
import runpy
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((TOP / "docs" / "gallery").glob("*.py"))


def name_of(path):
    return path.stem


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=name_of)
def test_a_picture(path, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    figure = runpy.run_path(str(path))["draw"]()
    figure.savefig(tmp_path / "picture.png", dpi=50)
    assert figure.axes[0].get_title() or figure.axes[0].get_legend()


@pytest.mark.parametrize("path", PROGRAMS, ids=name_of)
def test_a_program_is_named_after_what_it_draws(path):
    text = path.read_text(encoding="utf-8")
    title, _, sentence = ast.get_docstring(ast.parse(text)).partition(": ")
    assert path.stem == re.sub(r"\W+", "_", title.lower())
    assert sentence.endswith(".")
    assert len(text.splitlines()) < 50
    assert "cr." in text


def test_there_are_many():
    stored = [p for p in (TOP / "notebooks").glob("*.ipynb") if "image/png" in p.read_text("utf-8")]
    pictures = sum(p.read_text("utf-8").count('"image/png"') for p in stored)
    assert len(PROGRAMS) + pictures >= 24
