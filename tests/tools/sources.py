"""Files of the project, by their folders and their names from its top."""

from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def python_files(*folders):
    # rglob does not follow the links in src/chainrules.
    return [path for folder in folders for path in sorted((TOP / folder).rglob("*.py"))]


def relative(path):
    return path.relative_to(TOP).as_posix()
