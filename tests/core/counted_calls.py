"""The calls that a run makes: counted where a stopwatch would say something else each time."""

import sys

# Those of NumPy's functions in C by which an array costs as much as it is large.
MAKERS = {"array", "empty", "zeros", "copy", "empty_like", "copyto", "astype", "concatenate"}


def calls_of(run):
    """The module and name of each function that `run()` calls, those in C without a module."""
    calls = []

    def profile(frame, event, argument):
        if event == "call":
            calls.append((frame.f_globals.get("__name__", ""), frame.f_code.co_qualname))
        elif event == "c_call":
            calls.append((None, argument.__name__))

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls[:-1]  # the last one is sys.setprofile


def arrays_made(run):
    """Count the arrays of its own that `run()` makes."""
    return sum(module is None and name in MAKERS for module, name in calls_of(run))
