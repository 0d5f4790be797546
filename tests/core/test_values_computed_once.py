"""A call under a tape evaluates NumPy's function once: what is computed is not thrown away."""

import sys
import warnings
from collections import Counter

import calls_by_place_and_name
from linear_calls import Dot

import chainrules as cr

CALLS_OF_EACH = 12


def evaluations(f, run):
    """Count how often the body of a function of NumPy's, in Python, is run."""
    code, count = f.__wrapped__.__code__, 0

    def look(frame, event, _):
        nonlocal count
        count += event == "call" and frame.f_code is code

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def test_once_in_a_tape_and_twice_with_a_tangent():
    tried, more = Counter(), set()
    for f, args, kwargs in calls_by_place_and_name.calls():
        in_python = hasattr(getattr(f, "__wrapped__", None), "__code__")
        if not in_python or not isinstance(args[0], Dot) or tried[f] == CALLS_OF_EACH:
            continue
        x = calls_by_place_and_name.points(args[0], 3)
        rest = calls_by_place_and_name.points(args[1:], 5)

        def g(x, f=f, rest=rest, kwargs=kwargs):
            return f(x, *rest, **kwargs)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                plain = evaluations(f, lambda x=x, g=g: g(x))
            except Exception:
                continue  # NumPy takes no such call
            tried[f] += 1
            taped = evaluations(f, lambda x=x, g=g: cr.vjp(g, x))
            pushed = evaluations(f, lambda x=x, g=g: cr.jvp(g, (x,), (x,)))
        if taped > plain or pushed > 2 * plain:
            more.add(f.__name__)
    assert len(tried) > 50
    assert more == set()
