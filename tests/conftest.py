"""Tests import the modules beside them, and in other folders of tests, by their names.

No test writes into the folder where the user's machine code is kept: there is one for each run of
the tests. None draws other numbers than in its last run: not by the clock, by the tests before it,
or by what failed yesterday.
"""

import functools
import gc
import importlib
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

import hypothesis
import numpy as np
from hypothesis.internal.conjecture import providers

if "PYTEST_XDIST_WORKER" not in os.environ:  # its processes share the folder
    # In memory, where there is a folder for that: of thousands of files each is read twice or so.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    os.environ["CHAINRULES_CACHE"] = tempfile.mkdtemp(prefix="chainrules-", dir=memory)
os.environ["CHAINRULES_TRACEBACK"] = "full"  # who mends the package wants to see its frames
# JAX compiles hundreds of functions that run once or twice.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
sys.path += [str(path) for path in Path(__file__).parent.iterdir() if path.is_dir()]

import tiers

hypothesis.settings.register_profile(
    "always the same",
    max_examples=40,  # the same ones each time: tests/fuzz/run.py draws others
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate, hypothesis.Phase.shrink],
    print_blob=False,
)
hypothesis.settings.load_profile("always the same")
# Hypothesis draws numbers that it finds in the source of what has been imported so far, which
# depends on the tests before; it has no setting for that.
providers._get_local_constants = lambda: providers._local_constants


def pytest_addoption(parser):
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in random order")
    tiers.add_options(parser)


def pytest_configure(config):
    config.pluginmanager.register(tiers, "tiers")


def pytest_unconfigure(config):
    if "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(os.environ["CHAINRULES_CACHE"], ignore_errors=True)


def keep_from_the_collector():
    """Leave what there is now out of what the collector looks through.

    Tests, and the libraries that they import, are millions of objects, and to look through them
    took a twelfth of the time. JAX adds a function that is called each time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000)


pytest_collection_finish = keep_from_the_collector


def pytest_collection_modifyitems(config, items):
    """Shuffle the files, and the tests of each file."""
    if (seed := config.getoption("--shuffle")) is not None:
        draws = random.Random(seed)
        place = {path: draws.random() for path in sorted({item.path for item in items})}
        items.sort(key=lambda item: item.nodeid)
        draws.shuffle(items)
        items.sort(key=lambda item: place[item.path])


@functools.cache
def limits():
    return importlib.import_module("chainrules.compiling.native.limits")


_modules: list = []  # of the last test
_states: dict[int, tuple] = {}  # by the id of a generator: it, and its state after the import


@functools.cache
def _generators_of(module):
    """List the random generators of a test's module, with their states after the import."""
    found = [x for x in vars(module).values() if isinstance(x, np.random.Generator)]
    return [_states.setdefault(id(x), (x, x.bit_generator.state)) for x in found]


def pytest_runtest_setup(item):
    """Set the random generators of a test's module back, so that its order does not matter.

    Where all tests run, machine code is made with little effort but in the room that is about it.
    """
    careful = "native" in item.path.parts or not item.config.option.all
    limits().MOST_EFFORT = 2 if careful else 0
    if (module := getattr(item, "module", None)) is not None:
        if module not in _modules[-1:]:
            _modules[:] = [module]
            keep_from_the_collector()
        for generator, state in _generators_of(module):
            generator.bit_generator.state = state
