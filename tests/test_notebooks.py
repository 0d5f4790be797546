"""Each notebook runs from top to bottom, and its two forms hold the same cells.

``notebooks/x.py`` (jupytext, percent format) is the source, ``notebooks/x.ipynb`` is made from it
by ``make pair``. Run by ``make notebooks``.
"""

from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.notebooks,
    pytest.mark.filterwarnings("ignore"),  # Jupyter's own, which are not ours to mend
]

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NAMES = sorted({path.stem for form in ("*.py", "*.ipynb") for path in FOLDER.glob(form)})
SECONDS_PER_CELL = 300


def cells(notebook):
    return [(cell.cell_type, cell.source.strip()) for cell in notebook.cells]


@pytest.mark.parametrize("name", NAMES)
def test_pair_is_in_sync(name):
    jupytext = pytest.importorskip("jupytext")
    source = jupytext.read(FOLDER / f"{name}.py")
    paired = jupytext.read(FOLDER / f"{name}.ipynb")
    assert cells(source) == cells(paired), "run `make pair`"


@pytest.mark.parametrize("name", NAMES)
def test_notebook_runs(name, tmp_path, monkeypatch):
    jupytext = pytest.importorskip("jupytext")
    nbclient = pytest.importorskip("nbclient")
    # Nothing of the user's profile: neither start-up files nor a kernel of the same name.
    for variable in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    work = tmp_path / "work"
    work.mkdir()

    notebook = jupytext.read(FOLDER / f"{name}.py")
    client = nbclient.NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=SECONDS_PER_CELL,
        resources={"metadata": {"path": str(work)}},
    )
    client.execute()  # a cell that fails is a CellExecutionError, with the cell and its traceback
