"""Extras alone: each is installed with a wheel where there is nothing else, and put to use.

``python .ci/extras.py dist/chainrules-0.1.0-....whl scipy compile`` tries two of them; without
names all are tried. ``make release`` does it for each.
"""

import subprocess
import sys
import tempfile
import urllib.request
import venv
from pathlib import Path

# What somebody does first who has installed the extra.
PROGRAMS = {
    "autograd": """
        from chainrules.interop.autograd import export
        import autograd
        assert autograd.grad(export(lambda x: x * x))(3.0) == 6.0
    """,
    "casadi": """
        from chainrules.interop.casadi import export
        assert float(export(lambda x: x * x, ())(3.0)) == 9.0
    """,
    "compile": """
        slope = cr.compile(cr.grad(lambda x: np.sum(np.sin(x))))
        assert np.allclose([slope(np.zeros(3)) for _ in range(3)], 1.0)
        assert "machine code" in str(cr.explain(slope))
    """,
    "cost": """
        prices = cr.cost(lambda x: np.sum(x * x), np.ones(3), seconds=0.1)
        assert "grad" in str(prices)
        import matplotlib, rich
    """,
    "dask": """
        from distributed import Client
        with Client(processes=False, n_workers=1, dashboard_address=None) as client:
            assert cr.map(lambda x: x * x, [3.0], executor=client) == [9.0]
    """,
    "demo": """
        from chainrules.__main__ import main
        assert main() == 0
    """,
    "jax": """
        from chainrules.interop.jax import export
        import jax
        assert jax.grad(export(lambda x: x * x))(3.0) == 6.0
    """,
    "pandas": """
        import pandas
        assert cr.grad(lambda x: (x * x).sum())(pandas.Series([1.0, 2.0])).tolist() == [2.0, 4.0]
    """,
    "progress": """
        assert cr.loop(3, lambda x: 2.0 * x, 1.0, progress=True) == 8.0
    """,
    "pytensor": """
        from chainrules.interop.pytensor import export
        import pytensor.tensor as pt
        assert export(lambda x: x * x)(pt.constant(3.0)).eval() == 9.0
    """,
    "scipy": """
        from chainrules.scipy import optimize
        root = lambda a: optimize.brentq(lambda x: x * x - a, 0.0, 9.0)
        assert abs(cr.grad(root)(4.0) - 0.25) < 1e-9
        assert cr.jacobian(np.diff, sparse=True)(np.ones(3)).nnz == 4
    """,
    "torch": """
        from chainrules.interop.torch import export
        import torch
        x = torch.tensor(3.0, requires_grad=True)
        export(lambda x: x * x)(x).backward()
        assert x.grad == 6.0
    """,
}
# PyPI's PyTorch brings CUDA along; the build for the CPU is at PyTorch's own index.
INDEX = {"torch": ("--extra-index-url", "https://download.pytorch.org/whl/cpu")}


def try_out(wheel: Path, extra: str) -> None:
    """Install a wheel with one extra, and run the program of that extra."""
    lines = [line.removeprefix("        ") for line in PROGRAMS[extra].splitlines()]
    program = "\n".join(["import numpy as np, chainrules as cr", *lines])
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        wanted = f"chainrules[{extra}] @ {wheel.resolve().as_uri()}"
        subprocess.run([*pip, *INDEX.get(extra, ()), wanted], check=True, cwd=folder)
        subprocess.run([python, "-P", "-c", program], check=True, cwd=folder)


def is_reached(index: str) -> bool:
    try:
        urllib.request.urlopen(index, timeout=20).close()
    except OSError:
        return False
    return True


def main(wheel: str, *extras: str) -> None:
    for extra in extras or PROGRAMS:
        missing = [word for word in INDEX.get(extra, ())[1:] if not is_reached(word)]
        if missing:
            print(f"\n==== the extra {extra} is left out: no {missing[0]} here ====", flush=True)
            continue
        print(f"\n==== the extra {extra}, alone ====", flush=True)
        try_out(Path(wheel), extra)


if __name__ == "__main__":
    main(*sys.argv[1:])
