"""The mutants that ``make mutants`` draws, and where their text goes."""

import ast
import itertools

import pytest
from mutants import TOP, broken, first_of, mutants, replaced, room_of, sites


def kinds(source):
    return {(kind, text) for node in ast.walk(ast.parse(source)) for kind, text in broken(node)}


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("a + b", "sign", "((a) - (b))"),
        ("a < b", "comparison", "((a) >= (b))"),
        ("a and b", "and/or", "((a) or (b))"),
        ("-a", "minus", "(a)"),
        ("2", "constant", "3"),
        ("True", "constant", "False"),
        ("np.conj(a)", "conjugate", "(a)"),
        ("f(a, b, c=d)", "order of arguments", "(f(b, a, c=d))"),
    ],
)
def test_what_is_broken(source, kind, text):
    assert (kind, text) in kinds(source)


@pytest.mark.parametrize("source", ["f(a, a)", "f(*a, b)", "'2'", "a", "return", "return None"])
def test_what_would_be_the_same_is_left(source):
    assert kinds(source.replace("return", "def f():\n return")) == set()


def test_what_readers_read_is_left():
    source = "def f(x: g(1, 2)):\n    z(strict=True)\n    raise ValueError(a + b)\n"
    assert list(sites(ast.parse(source))) == []


def test_a_node_of_several_lines_is_replaced_and_the_lines_after_it_stay():
    source = "def f(x):\n    y = (1 +\n         x)\n    return y\n"
    node = ast.parse(source).body[0].body[0].value
    text = replaced(source, node, "(1 - x)")
    assert ast.unparse(ast.parse(text)) == ast.unparse(ast.parse(source)).replace("+", "-")
    assert text.splitlines().index("    return y") == source.splitlines().index("    return y")


@pytest.mark.slow
def test_mutants_are_the_same_in_each_run_and_of_all_rooms(monkeypatch):
    rooms = ("config", "forward", "reverse", "rules/tracing", "rules/rulesets/linalg")
    monkeypatch.setattr("mutants.PACKAGE", rooms)  # of all it takes seconds to say what they are
    drawn = list(itertools.islice(mutants(1), 40))
    again = list(itertools.islice(mutants(1), 40))
    assert [m[1:2] + m[3:] for m in drawn] == [m[1:2] + m[3:] for m in again]
    assert set(rooms) == {m[0] for m in drawn}
    for _, file, node, _, _, text in drawn:
        source = (TOP / file).read_text(encoding="utf-8")
        assert ast.dump(ast.parse(replaced(source, node, text))) != ast.dump(ast.parse(source))


def test_rooms():
    assert room_of("config/levels.py") == "config"
    assert room_of("rules/rulesets/scipy/linalg/lu.py") == "rules/rulesets/scipy"
    assert room_of("rules/table/kinds.py") == "rules/table"
    assert (
        room_of("src/chainrules/compiling/native/assembly/kinds.py")
        == "chainrules/compiling/native"
    )


def test_the_first_tests_are_of_few_files():
    names = [f"tests/{k % 10}.py::test_{k}" for k in range(1000)]
    chosen = first_of(names)
    assert {name.partition("::")[0] for name in chosen} == {f"tests/{k}.py" for k in range(3)}
