"""``cr.explain`` of a call: time, memory, zeros; inside derivatives; where steps end."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser

import numpy as np
import pytest

import chainrules as cr
from chainrules.compiling.explaining import explained_call
from chainrules.config.lines import line_at

X = np.array([0.3, -0.7, 0.9])


@pytest.mark.parametrize("transform", [cr.grad, cr.hessian, cr.jacfwd])
def test_inside_a_derivative_it_explains_the_call_with_plain_numbers(transform):
    found = []

    def f(x):
        found.append(cr.explain(lambda x: np.sum(np.log(x)), x, stop="nan"))
        return np.sum(x * x)

    transform(f)(X)
    assert ["input", "log"] == [step.name for step in found[0].steps]
    assert "log" == found[0].first_bad.name


def test_what_cannot_be_followed_ends_the_steps():
    with ThreadPoolExecutor(2) as pool:
        found = cr.explain(lambda x: cr.map(lambda a: a * a, np.sin(x), executor=pool), X)
    assert ["input", "sin"] == [step.name for step in found.steps][:2]
    said = "the steps end here: functions that are given to map cannot be followed"
    assert said == str(found).splitlines()[1]


def test_a_call_without_a_number_says_that_it_has_no_steps():
    said = "no argument is a number or an array of NumPy: there is nothing to follow"
    assert said == str(cr.explain(len, "text")).splitlines()[1]


# ---- why it is zero -----------------------------------------------------------------------------

CONSTANT = {
    "round": lambda x: np.sum(np.round(x)),
    "astype": lambda x: np.sum(x.astype(int) * 2.0),
    "stop_gradient": lambda x: np.sum(cr.stop_gradient(x) * 2.0),
    "gt": lambda x: np.sum(np.where(x > 0.5, 1.0, 0.0)),
    "argmax": lambda x: np.argmax(x) * 2.0,
    "floor": lambda x: np.sum(np.floor(np.sin(x))),
}


@pytest.mark.parametrize("name", CONSTANT)
def test_what_cuts_the_way_to_a_constant_result(name):
    said = str(cr.explain(CONSTANT[name], X))
    line = r"test_explained_calls.py:\d+"
    assert re.search(f"constant, so that no derivative passes: {name} in {line}\n", said)
    assert re.search(
        f"the result is constant: the last step on the way to it is {name} in {line}\n", said
    )


def test_a_cut_beside_the_way_is_not_blamed():
    said = str(cr.explain(lambda x: 1.0 if x[0] > 0.0 else 2.0, X))
    assert "constant, so that no derivative passes: gt in" in said
    assert "the result is constant: no step leads from the inputs to it" in said


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x * np.round(x)),
        lambda x: np.sum(np.zeros_like(x) + x),
        lambda x: {"a": np.floor(x), "b": x},
        lambda x: np.sum(np.where(cr.value(x) > 0.0, x, 0.0)),
    ],
)
def test_a_result_that_moves_is_not_called_constant(f):
    assert "the result is constant" not in str(cr.explain(f, X))


def test_fresh_arrays_and_gradients_are_no_cuts():
    assert "no derivative passes" not in str(
        cr.explain(cr.grad(lambda x: np.sum(np.zeros_like(x) + x)), X)
    )


# ---- where the time goes ------------------------------------------------------------------------


def slow(x):
    y = np.sort(np.repeat(x, 20_000))
    return np.sum(np.sin(y))


def test_time_by_line_forward_and_back():
    found = cr.explain(cr.grad(slow), X)
    first = slow.__code__.co_firstlineno
    lines = [x.line for x in found.spent()]
    assert {f"test_explained_calls.py:{first + k}" for k in (1, 2)} <= set(lines)
    (dear,) = [x for x in found.spent() if x.line.endswith(f":{first + 1}")]
    assert dear.forward > 0.0
    assert dear.backward > 0.0
    assert dear.steps > 2
    total = sum(step.seconds for step in found.steps)
    np.testing.assert_allclose(total, sum(x.seconds for x in found.spent()))
    seconds = [x.seconds for x in found.spent()]
    assert sorted(seconds, reverse=True) == seconds


def many(x):
    for _ in range(100):
        x = np.sin(x)
    return x


def test_the_text_has_40_lines_and_the_rest_on_demand():
    found = cr.explain(many, X)
    lines = str(found).splitlines()
    assert 40 == len(lines)
    assert re.fullmatch(r"and \d+ lines more: explanation.text", lines[-1])
    assert found.text.count("  sin ") == 100


def test_a_stage_is_shown_whole():
    assert str(cr.explain(many, X, stage="recorded")).count("sin(") == 100


# ---- in a notebook, and as a graph --------------------------------------------------------------


class Reader(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag == self.open.pop()

    def handle_data(self, text):
        self.texts.append(text)


def test_a_page_for_notebooks():
    shown = cr.explain(cr.grad(slow), X)._repr_html_()
    page = Reader(shown)
    assert [] == page.open
    assert {"Time by line", "Text", "<", "grad(slow): "} & set(page.texts)
    assert "cr-hot" in shown.partition("</style>")[2]
    assert 4 == shown.count("<details")


def test_the_graph_of_a_page_has_an_arc_for_each_that_a_step_reads():
    found = cr.explain(cr.grad(lambda x: np.sum(np.sin(x) * x)), X)
    shown = found._repr_html_()
    assert len(found.steps) == shown.count("<circle")
    assert sum(len(x.reads) for x in found.steps) == shown.count("<path d=")


def test_a_page_of_many_steps_has_the_first():
    found = cr.explain(lambda x: [x := np.sin(x) for _ in range(2_000)][-1], X)
    shown = found._repr_html_()
    assert "the first 500 of 2001 steps" in shown
    assert "the first 60 of 2001 steps" in shown
    assert len(shown) < 200_000
    assert len(found.steps) == 2001


def test_a_page_says_what_was_found_before_its_tables():
    found = cr.explain(lambda x: np.log(-np.round(x)), np.array([1.0, 2.0]))
    said = found._repr_html_().partition("<details")[0]
    assert "constant, so that no derivative passes: round in test_explained_calls.py" in said
    assert "the first one that is not finite" in said


def test_without_steps_the_text_is_open():
    shown = cr.explain(cr.compile(np.sin))._repr_html_()
    assert "<details open><summary>Text" in shown


# ---- in a terminal ------------------------------------------------------------------------------


def test_a_terminal_shows_tables_by_rich(capsys):
    pytest.importorskip("rich")
    cr.explain(cr.grad(slow), X).show()
    lines = capsys.readouterr().out.splitlines()
    assert any("forward, ms" in line for line in lines)
    assert len(lines) <= 40
    cr.explain(many, X).show()
    assert "and 86 steps more: explanation.text" in capsys.readouterr().out
    cr.explain(cr.vjp(slow, X)[1]).show()
    assert "bytes" in capsys.readouterr().out
    cr.explain(cr.compile(np.sin)).show()
    assert "0 kinds of arguments" in capsys.readouterr().out


def test_without_rich_a_terminal_shows_the_text(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    found = cr.explain(np.sin, X)
    found.show()
    assert f"{found}\n" == capsys.readouterr().out


def test_a_graph_needs_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(cr.MissingPackageError, match="pip install graphviz"):
        cr.explain(np.sin, X).graph()


def test_what_a_page_shows_is_no_markup():
    shown = cr.explain(lambda x: x, X)._repr_html_()
    assert "<lambda>" not in shown
    assert "&lt;lambda&gt;" in shown


def test_a_graph_marks_dear_lines_and_cuts():
    text = cr.explain(lambda x: np.sum(np.sort(np.repeat(np.round(x), 20_000))), X).dot()
    assert text.startswith("digraph {")
    assert "fillcolor" in text
    assert "dashed" in text
    assert "s0 -> s1;" in text


# ---- what a pullback holds ----------------------------------------------------------------------


def layers(w, x):
    a = np.tanh(x @ w)
    return np.sum(np.exp(a) * a)


@pytest.mark.parametrize("watched", [False, True])
def test_what_a_pullback_holds(watched):
    w, x = np.ones((30, 20)), np.ones((100, 30))
    with cr.debug(nan=watched):
        pullback = cr.vjp(layers, w, x)[1]
    held = {(h.name, h.line): h.bytes for h in cr.explain(pullback).held}
    first = layers.__code__.co_firstlineno
    lines = [f"test_explained_calls.py:{first + k}" for k in (1, 2)]
    array = 100 * 20 * 8
    assert array <= held["tanh", lines[0]] < 1.1 * array
    assert array <= held["exp", lines[1]] < 1.1 * array
    assert held["matmul", lines[0]] >= w.nbytes + x.nbytes
    text = str(cr.explain(pullback))
    assert text.startswith(f"{pullback!r} holds ")
    assert "Memory by line" in cr.explain(pullback)._repr_html_()
    np.testing.assert_allclose(pullback(1.0)[0], cr.grad(layers)(w, x))


def test_memory_is_counted_once():
    big = np.ones(100_000)
    pullback = cr.vjp(lambda x: np.sum(x * big) + np.sum(big[1:] * x[1:]), big)[1]
    assert sum(h.bytes for h in cr.explain(pullback).held) < 3.5 * big.nbytes


def test_a_loop_of_numbers_is_counted():
    (held, *_) = cr.explain(cr.vjp(many, 1.0)[1]).held
    assert "sin" == held.name
    assert 100 == held.operations


def test_a_function_that_takes_another_way_has_its_lines_left_out():
    calls = []

    def f(x):
        calls.append(x)
        return np.sin(x) if len(calls) == 1 else np.sin(np.cos(x))

    held = cr.explain(cr.vjp(f, X)[1]).held
    assert {"", "an unknown line"} == {h.line for h in held}


def test_a_pullback_of_a_rule():
    held = cr.explain(cr.vjp(np.sin, X)[1]).held
    assert {"arguments", "the rule of the function"} == {h.name for h in held}


def test_a_pullback_that_is_called_is_explained_as_a_call():
    pullback = cr.vjp(layers, np.ones((3, 2)), np.ones((4, 3)))[1]
    assert cr.explain(pullback, 1.0).steps


# ---- what they are ------------------------------------------------------------------------------


def test_pullbacks_and_pushforwards_and_compiled_functions_say_what_they_are():
    pullback = cr.vjp(layers, np.ones((3, 2)), np.ones((4, 3)))[1]
    assert "<pullback of layers: float64 -> (float64[3, 2], float64[4, 3])>" == repr(pullback)
    tape = pullback.pull.__self__.tape
    assert re.fullmatch(r"<Tape, level \d+, 7 entries, ended>", repr(tape))
    pushforward = cr.linearize(np.sin, np.ones(3, np.float32))[1]
    assert "<pushforward of numpy.sin: (float32[3]) -> float32[3]>" == repr(pushforward)
    compiled = cr.compile(many)
    assert "<compiled many: 0 recordings>" == repr(compiled)
    compiled(1.0)
    assert "<compiled many: 1 recording>" == repr(compiled)


def test_debug_looks_into_compiled_functions():
    root = cr.compile(cr.grad(lambda x: np.sum(np.sqrt(x))))
    with np.errstate(all="ignore"):
        for _ in range(3):
            root(np.array([1.0, 0.0]))
        with cr.debug(inf=True), pytest.raises(FloatingPointError, match="pullback of sqrt gives"):
            root(np.array([1.0, 0.0]))
        with cr.debug(nan=True):
            assert np.inf == root(np.array([1.0, 0.0]))[1]
    inner = cr.compile(lambda x: np.sqrt(x))
    with np.errstate(all="ignore"), cr.debug(inf=True), pytest.raises(FloatingPointError):
        cr.grad(inner)(0.0)


# ---- what it costs ------------------------------------------------------------------------------


def test_a_line_is_put_into_words_once_however_often_it_is_passed(monkeypatch):
    told = []

    def counted(place):
        told.append(place)
        return line_at(place)

    def loop(x):
        s = 0.0
        for _ in range(50):
            s = s + x
            x = x * 0.5
        return s

    monkeypatch.setattr(explained_call, "line_at", counted)
    steps = cr.explain(loop, 1.5).steps
    assert len(steps) > 100
    assert len(told) == len({(step.line, step.name) for step in steps})


def test_a_pullback_that_holds_functions_with_traced_values():
    def f(x):
        return np.sum(cr.checkpoint(lambda t: np.cumsum(t) * x)(x))

    _, pull = cr.vjp(f, np.ones(5))
    assert cr.explain(pull).held


def test_a_view_of_what_was_written_to_is_a_result():
    def f(x):
        y = np.hstack([x, x])[...]
        y[0] = 0.0
        return y

    found = cr.explain(f, X)
    assert "the result is constant" not in found.text
