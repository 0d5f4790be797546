"""Rules that installed packages bring: loaded at the first transform, and only then.

Each test runs a process of its own, with packages that are installed in a folder of its own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import chainrules

OURS = Path(chainrules.__file__).parents[1]
CORE = """
import numpy as np
from chainrules.rules import primitive

@primitive
def direction(x):
    return x / np.linalg.norm(x)
"""
# Not the derivative, so that one sees who answered.
RULES = """
from chainrules.rules import scalar_rule
from {name}.core import direction

scalar_rule(direction, lambda y, x: {slope})
"""


@pytest.fixture
def install(tmp_path):
    def install(name, entry=None, slope=100.0, requires="", **files):
        """Put a package and what an installer writes for it where Python finds them."""
        package = tmp_path / name
        package.mkdir()
        files = {"__init__": "", "core": CORE, "rules": RULES, **files}
        for file, text in files.items():
            text = text.replace("{name}", name).replace("{slope}", str(slope))
            (package / f"{file}.py").write_text(text)
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        wanted = f"Requires-Dist: {requires}\n" if requires else ""
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{wanted}"
        (info / "METADATA").write_text(metadata)
        entry = f"{name} = {name}.rules" if entry is None else entry
        (info / "entry_points.txt").write_text(f"[chainrules.rules]\n{entry}\n")

    return install


@pytest.fixture
def run(tmp_path):
    def run(script, *options):
        path = os.pathsep.join([str(tmp_path), str(OURS)])
        done = subprocess.run(
            [sys.executable, "-P", *options, "-c", "import sys, threading, warnings\n" + script],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert 0 == done.returncode, done.stderr
        return done.stdout, done.stderr

    return run


def test_the_kit_alone_loads_no_engine_and_no_rules(run):
    # 110 ms over NumPy, of which the kit is 15.
    run(
        "import chainrules.rules\n"
        "from chainrules.rules import primitive, scalar_rule, frule, rrule\n"
        "cube = primitive(lambda x: x**3)\n"
        "scalar_rule(cube, lambda _, x: 3 * x**2)\n"
        "parts = 'forward', 'reverse', 'rules.rulesets', 'rules_of_packages', 'compiling'\n"
        "assert not {f'chainrules.{part}' for part in parts} & set(sys.modules)\n"
        "import chainrules as cr\n"
        "assert 12.0 == cr.grad(cube)(2.0)\n"
    )


def test_rules_are_loaded_at_the_first_transform(install, run):
    install("tiny")
    run(
        "import numpy as np, chainrules as cr\n"
        "from tiny.core import direction\n"
        "cr.grad\n"
        "assert 'tiny.rules' not in sys.modules\n"
        "assert 100.0 == cr.grad(lambda x: direction(x) + 0.0)(2.0)\n"
    )


@pytest.mark.parametrize(
    "ask",
    [
        "cr.rrule(direction, 2.0)[1](1.0)[1]",
        "cr.frule((cr.NoTangent(), 1.0), direction, 2.0)[1]",
        "100.0 * ('scalar rule' in cr.which(cr.rrule, direction, 2.0))",
        "cr.jvp(direction, (2.0,), (1.0,))[1]",
        "cr.compile(cr.grad(lambda x: direction(x) + 0.0))(2.0)",
    ],
)
def test_whoever_asks_first_finds_them(install, run, ask):
    install("tiny")
    run(f"import chainrules as cr\nfrom tiny.core import direction\nassert 100.0 == {ask}\n")


def test_an_entry_point_may_name_a_function(install, run):
    later = "def register():\n" + RULES.replace("\n", "\n    ")
    install("tiny", "tiny = tiny.rules:register", rules=later)
    run(
        "import chainrules as cr\nfrom tiny.core import direction\n"
        "assert 100.0 == cr.grad(lambda x: direction(x) + 0.0)(2.0)\n"
    )


def test_one_that_cannot_be_loaded_is_a_warning(install, run):
    install("absent", "absent = absent.no_such_module")
    install("broken", rules="raise RuntimeError('needs a newer chainrules')")
    install("tiny")
    install("unreadable", "= ")
    _, said = run(
        "import chainrules as cr\nfrom tiny.core import direction\n"
        "assert 100.0 == cr.grad(lambda x: direction(x) + 0.0)(2.0)\n"
        "assert 0.0 == cr.grad(lambda x: x * 0)(2.0)\n"
    )
    assert 1 == said.count("RulesNotLoadedWarning: the rules of absent were not loaded")
    assert "entry point absent = absent.no_such_module): ModuleNotFoundError: No module" in said
    assert 1 == said.count("rules of broken")
    assert "RuntimeError: needs a newer chainrules" in said
    assert "rules of tiny" not in said


TINY = (
    "import chainrules as cr\nfrom tiny.core import direction\n"
    "assert {slope} == round(cr.grad(lambda x: direction(x) + 0.0)(2.0), 12)\n"
)


def test_one_that_ends_the_program_is_a_warning(install, run):
    install("ends", rules="import sys\nsys.exit(3)")
    install("tiny")
    _, said = run(TINY.format(slope=100.0))
    assert "<string>:4: RulesNotLoadedWarning: the rules of ends were not loaded" in said
    assert "SystemExit: 3" in said
    assert "CHAINRULES_WITHOUT=... leaves a package out" in said


def test_one_that_is_slow_is_named(install, run):
    install("tiny", rules="import time\ntime.sleep(2.1)\n" + RULES)
    _, said = run(TINY.format(slope=100.0))
    assert "the rules of tiny took 2." in said
    assert "leave them out: CHAINRULES_WITHOUT=tiny" in said


VERSIONS = {
    "chainrules>=0.1,<0.2": True, "chainrules (>=0.1)": True, "Chainrules": True,
    "chainrules==0.1.*; extra == 'test'": True, "chainrules~=0.1.0": True,
    "chainrules<0.1": False, "chainrules>=0.2; extra == 'test'": False,
    "chainrules!=0.1.0": False, "chainrules[scipy]~=1.0": False,
    "chainrules==0.0.*": False, "numpy<0.1": True,
}  # fmt: skip


def test_rules_for_other_versions_are_left_out(install, run):
    names = [f"tiny{k}" for k in range(len(VERSIONS))]
    for name, requires in zip(names, VERSIONS, strict=True):
        install(name, requires=requires)
    given = [*zip(names, VERSIONS.values(), strict=True)]
    _, said = run(
        f"import chainrules as cr, importlib\nfor name, fits in {given}:\n"
        "    direction = importlib.import_module(f'{name}.core').direction\n"
        "    slope = cr.grad(lambda x: direction(x) + 0.0)(2.0)\n"
        "    assert slope == (100.0 if fits else 0.0), name\n"
    )
    for name, fits in given:
        left_out = f"{name} were not loaded (entry point {name} = {name}.rules): it requires"
        found = [line for line in said.split("the rules of ") if line.startswith(left_out)]
        assert bool(found) is not fits
        assert fits or f"and this is {chainrules.__version__}" in found[0]


@pytest.mark.parametrize("names", ["tiny", "other, TINY", "all"])
def test_a_package_may_be_left_out(install, run, monkeypatch, names):
    install("tiny")
    monkeypatch.setenv("CHAINRULES_WITHOUT", names)
    _, said = run(TINY.format(slope=0.0))
    assert "" == said


def test_a_package_that_differentiates_while_it_is_imported(install, run):
    # Its rules need what it has not got yet: they are loaded by the next transform.
    install(
        "eager",
        __init__="import chainrules as cr\nslope = cr.grad(lambda x: x * x)(3.0)\n"
        "from .core import direction\n",
        rules=RULES.replace("{name}.core", "{name}"),
    )
    _, said = run(
        "import chainrules as cr, eager\nassert 6.0 == eager.slope\n"
        "assert 100.0 == cr.grad(lambda x: eager.direction(x) + 0.0)(2.0)\n"
    )
    assert "" == said


def test_the_last_word_is_the_users(install, run):
    # It was the package's, whose rules were loaded later.
    install("tiny")
    _, said = run(
        "import chainrules as cr\nfrom tiny.core import direction\n"
        "cr.scalar_rule(direction, lambda y, x: 7.0)\n"
        "assert 7.0 == cr.grad(lambda x: direction(x) + 0.0)(2.0)\n"
    )
    assert 1 == said.count("a rule of direction that tiny registered is replaced")


REGISTERED = {
    "np.sin": "scalar_rule(np.sin, lambda y, x: 7.0)",
    "np.cumprod": "linear_rule(np.cumprod, lambda ybar, space: 7.0 * ybar)",
    "np.sum": "rrule.register(np.sum)(lambda sum, x: (sum(x), lambda ybar: (0.0, 7.0 * ybar)))",
    "scipy.special.gamma": "scalar_rule(scipy.special.gamma, lambda y, x: 7.0)",
}


@pytest.mark.slow
def test_rules_for_functions_of_numpy_stay(run):
    # Those of ours were loaded later, and took their place.
    pytest.importorskip("scipy")
    rules = "\n".join(REGISTERED.values())
    run(
        "import numpy as np, scipy.special\nwarnings.simplefilter('ignore')\n"
        f"from chainrules.rules import linear_rule, rrule, scalar_rule\n{rules}\n"
        f"import chainrules as cr\nfor f in ({', '.join(REGISTERED)}):\n"
        "    y, pullback = cr.vjp(f, 2.0)\n"
        "    assert 7.0 == pullback(y)[0] / y, f\n"
    )


def test_a_package_may_replace_what_another_brings(install, run):
    install("apart", slope=1.0)
    # In the order of their names, unless one imports the rules of the other.
    install("about", rules="import apart.rules\n" + RULES.replace("{name}", "apart"), slope=2.0)
    _, said = run(
        "import chainrules as cr\nfrom apart.core import direction\n"
        "assert 2.0 == cr.grad(lambda x: direction(x) + 0.0)(2.0)\n"
    )
    assert "that apart registered is replaced" in said


def test_threads_wait_for_one_another(install, run):
    install("tiny", rules="import time\ntime.sleep(0.3)\n" + RULES)
    run(
        "import chainrules as cr\nfrom tiny.core import direction\nfound = []\n"
        "def ask(): found.append(cr.grad(lambda x: direction(x) + 0.0)(2.0))\n"
        "threads = [threading.Thread(target=ask) for _ in range(8)]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "assert [100.0] * 8 == found, found\n"
    )


def test_two_threads_that_would_wait_for_each_other(install, run):
    # One imports a package, which differentiates; the other differentiates, and imports its rules.
    install(
        "slow",
        __init__="import time, chainrules as cr\ntime.sleep(0.3)\n"
        "slope = cr.grad(lambda x: x * x)(3.0)\nfrom .core import direction\n",
    )
    install("quick", rules="import time\ntime.sleep(0.2)\nimport slow\n" + RULES)
    run(
        "import chainrules as cr\nimport quick.core\n"
        "def transform(): cr.grad(lambda x: x * x)(3.0)\n"
        "def load(): import slow\n"
        "threads = [threading.Thread(target=f, daemon=True) for f in (transform, load)]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join(300)\n"
        "assert not any(t.is_alive() for t in threads)\n"
        "import slow\n"
        "for f in quick.core.direction, slow.direction:\n"
        "    assert 100.0 == cr.grad(lambda x: f(x) + 0.0)(2.0)\n"
    )


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows")
def test_a_fork_while_another_thread_loads(install, run):
    # The child waited for ever for what the other thread was importing.
    install("tiny", rules="import time\ntime.sleep(0.3)\n" + RULES)
    run(
        "import os, time, chainrules as cr\nfrom tiny.core import direction\n"
        "def ask(): return cr.grad(lambda x: direction(x) + 0.0)(2.0)\n"
        "thread = threading.Thread(target=ask)\nthread.start()\ntime.sleep(0.05)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os._exit(0 if ask() == 100.0 else 1)\n"
        "thread.join()\nassert 0 == os.waitpid(pid, 0)[1]\n",
        "-Wignore",  # of forking where there are threads
    )
