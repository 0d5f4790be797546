"""States of a cache entry of a compiled function, and the events that lead from one to another."""

import queue
import time

import numpy as np
import pytest

import chainrules as cr
from chainrules.compiling.record.state.walk import WALKED, walk_as
from chainrules.compiling.tree import TRANSITIONS, CacheEntry, State


class Recorded:
    """A recording whose run ends at its first look, by what is given."""

    loss = 0.0

    def __init__(self):
        self.others = {}

    def run(self, values):
        return (0, values[0]), None


GIVEN = {
    "add": lambda entry: entry.add(Recorded(), [entry.recordings]),
    "restart": lambda entry: entry.restart(None, ""),
    "recapture": lambda entry: entry.recapture(None, ""),
    "drop": CacheEntry.drop,
    "close": lambda entry: entry.close("too many ways"),
    "refuse": lambda entry: entry.refuse("a clock"),
}
EVENTS = {
    State.NEW: [],
    State.RECORDED: ["add"],
    State.FULL: ["add", "close"],
    State.REFUSED: ["refuse"],
}


def entry_in(state):
    entry = CacheEntry(None)
    for event in EVENTS[state]:
        GIVEN[event](entry)
    assert state is entry.state
    return entry


@pytest.mark.parametrize(
    ("state", "event", "after"),
    [(s, event, after) for s, rows in TRANSITIONS.items() for event, after in rows.items()],
)
def test_each_event_leads_where_the_table_says(state, event, after):
    entry = entry_in(state)
    GIVEN[event](entry)
    assert after is entry.state


def test_recordings_are_found_by_what_their_looks_saw():
    entry = CacheEntry(None)
    for seen in (0, 1, 1, 2):
        entry.add(Recorded(), [seen])
    assert 4 == entry.recordings == sum(1 for _ in entry.all_recordings())
    assert {(0, 1), (0, 2)} == set(entry.root.others)


def states_of(c):
    return [entry.state for entry in c.kinds.values()]


def test_states_of_compiled_functions():
    c = cr.compile(lambda x: x if x > 0 else -x, paths=1)
    assert [] == states_of(c)
    c(1.0)
    assert [State.RECORDED] == states_of(c)
    with pytest.warns(cr.CompileWarning, match="more than 1 ways"):
        c(-1.0)
    assert [State.FULL] == states_of(c)
    timed = cr.compile(lambda x: x + time.time())
    with pytest.warns(cr.CompileWarning, match="it uses time.time"):
        timed(2.0)
    assert [State.REFUSED] == states_of(timed)


def test_what_changes_its_cell_begins_anew():
    rate = 2.0
    c = cr.compile(lambda x: rate * x)
    assert 6.0 == c(3.0)
    rate = 3.0
    assert 9.0 == c(3.0)
    assert [State.RECORDED] == states_of(c)
    assert [1] == [entry.restarts for entry in c.kinds.values()]


def test_a_package_says_how_its_objects_are_walked():
    chip = queue.SimpleQueue()  # of a type that is written in C, which is refused
    walk_as(
        queue.SimpleQueue,
        lambda walk, x, where: walk.same(where, "{0}.qsize() == {1}", x, x.qsize()),
    )
    try:
        c = cr.compile(lambda x: (2.0 + chip.qsize()) * x, fallback="error")
        assert 6.0 == c(3.0)
        chip.put(1)
        assert 9.0 == c(3.0)
        assert [1] == [entry.restarts for entry in c.kinds.values()]
    finally:
        WALKED.pop(0)


@pytest.mark.filterwarnings("ignore::chainrules.CompileWarning")  # of modules loaded meanwhile
def test_rules_that_are_asked_for_the_first_time_are_no_side_effect():
    cubed = cr.primitive(lambda x: x**3, derivative="finite-difference")
    pulled = cr.compile(lambda x: cr.vjp(cubed, x)[1](1.0)[0])
    assert np.allclose([pulled(x) for x in (2.0, 3.0, 4.0)], [12.0, 27.0, 48.0])
