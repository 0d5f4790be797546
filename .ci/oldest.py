"""Oldest versions: the constraints for pip that hold each package at its lower bound.

``python .ci/oldest.py test`` prints them for the package and the extra ``test``, from
pyproject.toml; ``make test-oldest`` makes an environment of these and runs tests in it.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
# A name, what it is installed with (as in ``dask[array]``), and the lower bound.
BOUND = re.compile(r"([\w.-]+)(?:\[[\w,-]+\])?>=([\d.]+)")


def lowest(extras: list[str]) -> dict[str, str]:
    """Return the lower bound of each package that these extras, and the package itself, want."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    return dict(BOUND.fullmatch(requirement).groups() for requirement in wanted)


if __name__ == "__main__":
    print("\n".join(f"{name}=={version}" for name, version in lowest(sys.argv[1:]).items()))
