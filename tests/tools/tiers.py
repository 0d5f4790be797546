"""Tiers of the suite, as a plugin of pytest: which tests run, and lines that tell how far it is.

The quick tier is what ``make test`` runs. It is a rule, not a list, and no clock decides:

- Of each test function it runs one case in eight, and two at least. A digest of the test's name
  chooses, so that the sample is the same everywhere and every day. Of cases that several
  parameters name, such as ``exp-complex``, each name is in about as many as the others.
- In a file marked ``every_case`` each case is run by at least one of the file's functions: each
  rule of the package, each program.
- A test marked ``slow`` is left out. It takes more than a second: a cluster, processes that are
  killed, hundreds of random programs.

Everything runs with ``--all`` (``make test-all``), and whatever is named: by a path, ``-k``,
``-m``, ``--last-failed`` or ``--failed-first``; with ``--quick`` the quick tier of that.
"""

import hashlib
import time
from collections import Counter, defaultdict

import pytest
from _pytest.runner import runtestprotocol

ONE_IN = 8
AT_LEAST = 2
MANY = 200  # from so many tests on, lines tell how far it is, and not a dot for each

QUICK = f"""\
the quick tier: one case in {ONE_IN} of each test, every rule, nothing slow; 3 minutes on two cores
everything: make test-all (9 minutes); whatever is named: make test ARGS='tests/core -k sum'"""
ALL = "everything: 9 minutes on two cores; the quick tier: make test (3 minutes)"
NAMED = "all tests of what is named"

TIER = pytest.StashKey[str]()  # "quick", "all" or "named"


def add_options(parser):
    parser.addoption("--all", action="store_true", help="run all tests, not the quick tier")
    parser.addoption("--quick", action="store_true", help="of what is named run the quick tier")


def is_named(config):
    """Say whether the command line names tests."""
    option = config.option
    by_path = config.args_source is pytest.Config.ArgsSource.ARGS
    by_mark = any(str(word).startswith("-m") for word in config.invocation_params.args)
    by_failure = getattr(option, "lf", False) or getattr(option, "failedfirst", False)
    return bool(by_path or by_mark or option.keyword or by_failure)


def pytest_configure(config):
    if hasattr(config, "workerinput"):
        config.stash[TIER] = config.workerinput["tier"]
        if config.option.durations is None:  # which asks for those of fixtures, too
            config.pluginmanager.register(FewMessages())
        return
    named = is_named(config) and not config.option.quick
    config.stash[TIER] = "all" if config.option.all else "named" if named else "quick"
    config.pluginmanager.register(Progress(config), "lines of progress")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Hand the decision on: a worker of xdist gets the paths of the ini file as if named."""
    node.workerinput["tier"] = node.config.stash[TIER]


def pytest_report_header(config):
    return {"all": ALL, "named": NAMED, "quick": QUICK}[config.stash[TIER]]


# ---- the sample -------------------------------------------------------------------------------


def digest(name):
    name = name[max(name.find("tests/"), 0) :]  # what is before it depends on the command line
    return hashlib.blake2b(name.encode(), digest_size=8).digest()


def chosen_of(group, number):
    """Yield cases of a function, each the one whose parameters are the rarest so far."""
    left = {
        name: name.partition("[")[2].rstrip("]").split("-") for name in sorted(group, key=digest)
    }
    seen = Counter()
    for _ in range(number):
        new = (name for name in left if seen.keys().isdisjoint(left[name]))
        name = next(new, None) or min(left, key=lambda name: sum(seen[x] for x in left[name]))
        seen.update(left.pop(name))
        yield name


def sample(names, every_case):
    """Choose the quick tier.

    Parameters
    ----------
    names : iterable of str
        Node ids: ``file::function[case]``.
    every_case : collection of str
        The files that are marked so.
    """
    functions, cases = defaultdict(list), defaultdict(list)
    for name in names:
        function, _, case = name.partition("[")
        functions[function].append(name)
        if (file := name.partition("::")[0]) in every_case:
            cases[file, case].append(name)
    chosen = {min(group, key=digest) for group in cases.values()}
    for group in functions.values():
        number = max(AT_LEAST, -(-len(group) // ONE_IN))
        chosen.update(chosen_of(group, min(number, len(group))))
    return chosen


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if config.stash[TIER] != "quick":
        return
    left = [item for item in items if not item.get_closest_marker("slow")]
    marked = {
        item.nodeid.partition("::")[0] for item in left if item.get_closest_marker("every_case")
    }
    chosen = sample([item.nodeid for item in left], marked)
    config.hook.pytest_deselected(items=[x for x in items if x.nodeid not in chosen])
    items[:] = [item for item in left if item.nodeid in chosen]


# ---- how far it is ----------------------------------------------------------------------------


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Progress:
    """One line for each twentieth of many tests, in place of a dot for each that passes.

    It stays out of the way where pytest shows its own: ``-v``, ``-q``, and without xdist.
    """

    def __init__(self, config):
        self.config = config
        self.total = self.done = self.failed = 0
        self.start = time.monotonic()

    @property
    def shown(self):
        return self.total >= MANY and self.config.option.verbose == 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        if not self.total:
            self.total, self.start = len(ids), time.monotonic()

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report):
        told = report.when == "call" or report.skipped
        if self.shown and told and not hasattr(report, "wasxfail"):
            return report.outcome, "", report.outcome.upper()
        return None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        if not self.shown:
            return
        if report.failed:
            self.failed += 1
            self.say(f"failed: {report.nodeid}")
        if report.when == "call" or (report.when == "setup" and not report.passed):
            self.done += 1
            if self.done * 20 // self.total > (self.done - 1) * 20 // self.total:
                spent = time.monotonic() - self.start
                left = spent * (self.total - self.done) / self.done
                self.say(
                    f"{100 * self.done // self.total:3d} %: {self.done} of {self.total} tests, "
                    f"{self.failed} failed, after {clock(spent)}, about {clock(left)} to go"
                )

    def say(self, line):
        self.config.pluginmanager.get_plugin("terminalreporter").write_line(line)


class FewMessages:
    """Tests of a worker of xdist, which tells one result of each that passes, and not five events.

    Messages cost more than a millisecond of each test, and there are 48,000.
    """

    @pytest.hookimpl
    def pytest_runtest_protocol(self, item, nextitem):
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        return True
