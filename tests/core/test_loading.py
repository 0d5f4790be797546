"""First uses in places where imports are under way."""

import subprocess
import sys
import textwrap

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
