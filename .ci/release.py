"""Release: build sdist and wheel into dist/, check both, and try each in a fresh environment.

``make release`` runs it. Nothing is uploaded: docs/project/releasing.md says how that is done.
"""

import shutil
import subprocess
import sys
import tempfile
import venv
from hashlib import sha256
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import extras

TOP = Path(__file__).resolve().parents[1]
DIST = TOP / "dist"
# What a new user types first: without an extra, a gradient, a compiled one (which warns that
# machine code needs llvmlite), a rule, and the doctor.
SMOKE = """
import numpy as np, chainrules as cr
from chainrules.testing import test_rrule

assert "site-packages" in cr.__file__, cr.__file__
assert cr.grad(lambda x: np.sum(x**2))(np.ones(2)).tolist() == [2.0, 2.0]
assert cr.hessian(lambda x: x[0] * x[1])(np.ones(2)).tolist() == [[0.0, 1.0], [1.0, 0.0]]
assert cr.compile(cr.grad(lambda x: np.sin(x)))(0.0) == 1.0
assert cr.vmap(cr.grad(lambda x: x * x))(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]
test_rrule(np.sin, 0.5)
"""


def run(*command: str | Path, cwd: Path = TOP) -> None:
    print("\n====", *command, "====", flush=True)
    subprocess.run(list(map(str, command)), cwd=cwd, check=True)


def build() -> tuple[Path, Path]:
    """Build both archives; return the sdist and the wheel, which is made from it."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-P", "-m", "build", "--outdir", DIST, TOP)
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    return sdist, wheel


def check(sdist: Path, wheel: Path) -> None:
    """Check the metadata that an index shows, and the files of the wheel."""
    run(sys.executable, "-P", "-m", "twine", "check", "--strict", sdist, wheel)
    run(sys.executable, "-P", "-m", "check_wheel_contents", wheel)


def try_out(archive: Path) -> None:
    """Install an archive where there is nothing else: alone first, then with the demo's extra."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "venv", with_pip=True)
        python = place / "venv" / "bin" / "python"
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(*pip, archive, cwd=place)
        run(python, "-P", "-W", "error", "-c", SMOKE, cwd=place)
        run(python, "-P", "-m", "chainrules", "doctor", cwd=place)
        run(*pip, f"chainrules[demo] @ {archive.as_uri()}", cwd=place)
        run(python, "-P", "-m", "chainrules", cwd=place)


def main() -> None:
    archives = build()
    check(*archives)
    for archive in archives:
        try_out(archive)
    sdist, wheel = archives
    extras.main(str(wheel))
    print("\nsha256 of the sdist, for recipe/recipe.yaml:", sha256(sdist.read_bytes()).hexdigest())
    print("\n==== dist/ is ready:", ", ".join(path.name for path in archives), "====")


if __name__ == "__main__":
    main()
