"""First uses in places where imports are under way."""

import subprocess
import sys
import textwrap

import pytest

HOOK = """
    import importlib.abc
    import sys

    class Hook(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            if name == "sched":
                import chainrules as cr
                from chainrules import numpy as np

                print(cr.grad(lambda x: np.sum(np.array([x, 2.0]) ** 2))(3.0))

    sys.meta_path.insert(0, Hook())
    import sched
"""


def test_a_first_use_in_an_import_hook_does_not_wait_for_itself():
    run = [sys.executable, "-P", "-c", textwrap.dedent(HOOK)]
    found = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert (found.stdout, found.stderr) == ("6.0\n", "")


AT_ONCE = """
    import threading

    import numpy as np
    import scipy.special

    import chainrules as cr

    ready, found = threading.Barrier(6), []

    def work():
        ready.wait()
        for _ in range(2):
            found.append(cr.grad(lambda x: np.sum(scipy.special.gammaln(x)))(np.full(2, 2.0)))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(found), np.ptp(found, axis=0).tolist())
"""


def test_threads_that_first_meet_a_ufunc_of_scipy_at_once():
    pytest.importorskip("scipy")
    run = [sys.executable, "-P", "-c", textwrap.dedent(AT_ONCE)]
    found = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert (found.stdout, found.stderr) == ("12 [0.0, 0.0]\n", "")
