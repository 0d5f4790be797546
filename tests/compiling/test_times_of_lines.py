"""``cr.explain(f, x, stage="times")``: seconds of each line of the user's, forward and back."""

import gc
import re
import sys
import time

import numpy as np
import pytest

import chainrules as cr
from chainrules.compiling.explaining import line_marks
from chainrules.rules.containers import iterate_leaves

X = np.linspace(0.1, 1.0, 50)
LARGE = np.linspace(0.1, 1.0, 200_000)


def line(f, offset):
    return f"test_times_of_lines.py:{f.__code__.co_firstlineno + offset}"


def dear(x):
    y = x * 2.0
    z = np.sin(np.exp(np.sin(np.exp(np.sin(y)))))
    w = z + 1.0
    return np.sum(w)


def steps(x):
    for _ in range(300):
        y = x * 0.9
        x = np.sin(y) + y
    return np.sum(x)


def numbers(x):
    for _ in range(1000):
        x = x * 0.999
    return x


def squared(x):
    def inner(y):
        return np.sum(np.sin(y) * y)

    return np.sum(cr.grad(inner)(x) ** 2)


def branches(x):
    total = 0.0
    for v in x:
        total = total + (np.sin(v) if v > 0.5 else v * v)
    return total


TRANSFORMS = {
    "plain": lambda f: f,
    "grad": cr.grad,
    "value_and_grad": cr.value_and_grad,
    "jacrev": cr.jacrev,
    "jacobian": cr.jacobian,
    "two pulls": lambda f: lambda x: [cr.vjp(f, x)[1](k) for k in (1.0, 2.0)],
    "one pullback twice": lambda f: lambda x: list(map(cr.vjp(f, x)[1], (1.0, 2.0))),
    "jvp": lambda f: lambda x: cr.jvp(f, (x,), (x,)),
    "hvp": lambda f: lambda x: cr.hvp(f, (x,), (x,)),
    "hessian": cr.hessian,
    "grad of grad": lambda f: cr.grad(lambda x: np.sum(cr.grad(f)(x) ** 2)),
    "checkpoint": lambda f: cr.grad(cr.checkpoint(f)),
    "vmap": lambda f: lambda x: cr.vmap(cr.grad(f))(np.stack([x, x])),
    "strong": lambda f: cr.grad(f, zero="strong"),
}


def result_of(transform, f, x):
    """Explain the times of a transform, and return what it gave besides."""
    found = []

    def kept(*args):
        found.append(transform(f)(*args))

    return cr.explain(kept, x, stage="times"), found[0]


@pytest.mark.parametrize("f", [dear, steps, squared, branches])
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_the_result_is_that_of_a_run_without_a_clock(transform, f):
    _, found = result_of(transform, f, X)
    expected = transform(f)(X)
    for a, b in zip(iterate_leaves(found), iterate_leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b)


def test_numbers():
    _, found = result_of(cr.grad, numbers, 2.0)
    assert found == cr.grad(numbers)(2.0)


def test_the_dearest_line_comes_first():
    first, *_ = cr.explain(cr.grad(dear), LARGE, stage="times").spent()
    assert first.line == line(dear, 2)
    assert first.forward > 0
    assert first.backward > 0


def test_entries_are_counted_and_each_line_is_there():
    spent = {x.line: x for x in cr.explain(cr.grad(steps), X, stage="times").spent()}
    assert spent[line(steps, 2)].steps == 300
    assert spent[line(steps, 3)].steps == 600
    assert spent[line(steps, 1)].steps == 0
    assert all(x.forward >= 0 and x.backward >= 0 for x in spent.values())


def test_sampled_parts_stand_for_all():
    spent = {x.line: x for x in cr.explain(cr.grad(numbers), 2.0, stage="times").spent()}
    assert spent[line(numbers, 2)].steps == 1000


def test_forward_mode_has_no_way_back():
    found = cr.explain(lambda x: cr.jvp(dear, (x,), (x,)), LARGE, stage="times")
    assert found.spent()[0].line == line(dear, 2)
    assert all(x.backward == 0 for x in found.spent())


def test_a_function_that_is_called_has_its_own_lines():
    def slow(x):
        return np.sort(np.sin(x) * x)

    def f(x):
        y = slow(x)
        return np.sum(y)

    first, *_ = cr.explain(cr.grad(f), LARGE, stage="times").spent()
    assert first.line == line(slow, 1)


def test_text_and_page():
    found = cr.explain(cr.grad(steps), X, stage="times")
    assert re.match(
        r"grad\(steps\): [\d.]+ ms with a clock at each line\nwhere the time", str(found)
    )
    assert "steps" in found._repr_html_()
    assert line(steps, 3) in found._repr_html_()


def test_a_compiled_function_runs_as_it_is_written():
    found = cr.explain(cr.compile(cr.grad(steps)), X, stage="times")
    assert line(steps, 3) in {x.line for x in found.spent()}


def fails(x):
    y = np.sin(x)
    raise KeyError(y.shape)


@cr.primitive
def refused(x):
    return x * 1.0


@cr.rrule.register(refused)
def refused_rrule(refused, x):
    def refused_pullback(ybar):
        raise KeyError("on the way back")

    return refused(x), refused_pullback


@pytest.mark.parametrize("f", [fails, lambda x: np.sum(refused(np.sin(x)))])
def test_nothing_stays_after_an_error(f):
    before = sys.gettrace()

    def outer(frame, event, arg):
        return None

    sys.settrace(outer)
    try:
        with pytest.raises(KeyError) as error:
            cr.explain(cr.grad(f), X, stage="times")
        assert sys.gettrace() is outer
        del error
        gc.collect()
        assert sys.gettrace() is outer
    finally:
        sys.settrace(before)
    assert gc.isenabled()
    np.testing.assert_array_equal(cr.grad(steps)(X), cr.grad(steps)(X))


def test_random_numbers_of_the_users_are_not_drawn():
    np.random.seed(3)
    expected = np.random.rand()
    np.random.seed(3)
    cr.explain(cr.grad(numbers), 1.0, stage="times")
    assert expected == np.random.rand()


def halves(measured):
    for k in range(3):
        measured.append(k)
        yield k / 2
    try:
        raise KeyError
    except KeyError:
        measured.pop()


def marked(marks_class):
    """Mark the events of generators, errors and calls; return their lines and lengths."""
    firsts = {id(f.__code__): 1000 * k for k, f in enumerate((marked_run, halves), 1)}
    marks, measured = marks_class(firsts), [0]
    tracers = {at: marks.tracer(first) for at, first in firsts.items()}
    marks.note(7)
    marks.measure((measured, [None]))
    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: tracers.get(id(frame.f_code)))
    try:
        marked_run(measured)
    finally:
        sys.settrace(before)
    marks.measure(())
    marks.note(marks.waiting(sys._getframe()))
    lines, times, lengths = marks.columns()
    assert len(marks) == len(lines) // 8 == len(times) // 8
    assert np.all(np.diff(np.frombuffer(times)) >= 0)
    return lines, lengths


def marked_run(measured):
    total = 0.0
    for x in halves(measured):
        total += x
    return sorted(measured, key=lambda x: -x), total


@pytest.mark.skipif(line_marks.numbers is None, reason="the accelerator was not built")
def test_marks_of_the_accelerator_are_those_of_the_class():
    in_python = marked(line_marks.LineMarks)
    assert in_python == marked(line_marks.numbers.LineMarks)
    assert len(in_python[1]) > 200


@pytest.mark.skipif(line_marks.numbers is None, reason="the accelerator was not built")
def test_marks_refuse_what_is_no_list_and_no_frame():
    marks = line_marks.numbers.LineMarks({})
    for wrong in (
        lambda: marks.measure([]),
        lambda: marks.measure(([], ())),
        lambda: marks.waiting(None),
        lambda: marks.note("a line"),
        lambda: marks.tracer(3)(1, 2, 3),
        lambda: line_marks.numbers.LineMarks([]),
    ):
        with pytest.raises(TypeError):
            wrong()


def test_it_takes_less_than_twice_the_run():
    def seconds(call):
        begun = time.process_time()
        call()
        return time.process_time() - begun

    slope, x = cr.grad(steps), np.ones(10_000)
    run = min(seconds(lambda: slope(x)) for _ in range(3))
    explained = min(seconds(lambda: cr.explain(slope, x, stage="times")) for _ in range(3))
    assert explained < 2 * run
