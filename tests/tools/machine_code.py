"""Machine code in tests, as a plugin of pytest: made once of a text, with ``--all`` without effort.

LLVM's code generator took a third of the time of compiled tests, and a third of its texts were
those of other ways, modes or threads of the same test. It has the effort of users in the quick
tier, in whatever is named, and in ``tests/compiling/native``, which looks at the code itself.
"""

import functools
from collections import OrderedDict

from chainrules.compiling.native import disk_cache, machine

CAREFUL = "native"  # folder of tests
MOST = 200  # kept codes, of some ten kilobytes each


class Kept:
    """Machine code by its cache key, in place of the folder on disk where that is off."""

    def __init__(self):
        self.codes = OrderedDict()
        self.on_disk = disk_cache.found, disk_cache.keep

    def found(self, key):
        code = self.on_disk[0](key)
        return self.codes.get(key) if code is None and disk_cache._folder() is None else code

    def keep(self, key, code):
        self.on_disk[1](key, code)
        self.codes[key] = code
        if len(self.codes) > MOST:
            self.codes.popitem(last=False)


class InAHurry:
    """Effort of LLVM's code generator, where all tests run: none, but in the native room."""

    def __init__(self):
        self.careful = False
        init = machine.Code.__init__

        @functools.wraps(init)
        def of_less_effort(code, text, effort=2):
            init(code, text, effort if self.careful else 0)

        machine.Code.__init__ = of_less_effort

    def pytest_runtest_setup(self, item):
        self.careful = CAREFUL in item.path.parts


def pytest_collection_finish(session):
    kept = Kept()
    disk_cache.found, disk_cache.keep = kept.found, kept.keep
    if session.config.option.all:
        session.config.pluginmanager.register(InAHurry(), "machine code in a hurry")
