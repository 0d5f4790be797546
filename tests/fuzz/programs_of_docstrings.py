"""Examples of docstrings as programs of one number: ``programs_of_docstrings.py scipy.signal``.

Others wrote the programs, of several lines, as users write theirs. A number or a list in one is
made an argument, its module is adopted, and its results are asked what those of
``calls_of_libraries`` are. A refusal is no finding; it is counted. What rounds is found as well.
"""

import argparse
import ast
import collections
import contextlib
import doctest
import importlib
import inspect
import io
import signal
import sys
import types
import warnings

import calls_of_libraries as calls
import numpy as np

import chainrules as cr

LONGEST = 60  # seconds for a program
MOST = 8  # arguments of a program
DRAWS = {"arange", "linspace", "logspace", "normal", "random", "standard_normal", "uniform"}
SHOWING = {"animation", "ax", "axes", "fig", "matplotlib", "plt", "print"}  # no part of a program


class PlainFailsError(Exception):
    pass


# ---- programs ----


def docstrings(library):
    """Yield the names in a module that have examples, each with its docstring."""
    module = importlib.import_module(library)
    for word in getattr(module, "__all__", dir(module)):
        part = getattr(module, word)
        members = vars(part).items() if inspect.isclass(part) else ()
        for name, x in ((word, part), *((f"{word}.{k}", v) for k, v in members if k[0] != "_")):
            text = inspect.getdoc(x) if callable(getattr(x, "__func__", x)) else None
            if text and ">>>" in text:
                yield name, text


def statements(text):
    """Return the imports and the other statements of the examples in a docstring."""
    imports, body, shown = [ast.parse("import numpy as np").body[0]], [], set(SHOWING)
    with contextlib.suppress(ValueError, SyntaxError):
        for example in doctest.DocTestParser().get_examples(text):
            for statement in ast.parse(example.source).body if not example.exc_msg else ():
                used = {x.id for x in ast.walk(statement) if isinstance(x, ast.Name)}
                if isinstance(statement, ast.Import | ast.ImportFrom):
                    if "matplotlib" not in ast.unparse(statement):
                        imports.append(statement)
                elif used & shown:
                    stores = [x for x in ast.walk(statement) if isinstance(x, ast.Name)]
                    shown |= {x.id for x in stores if isinstance(x.ctx, ast.Store)}
                elif isinstance(statement, ast.Expr):
                    body += ast.parse(f"_results.append({ast.unparse(statement)})").body
                else:
                    body.append(statement)
    return imports, body


def is_number(node):
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def arguments(body):
    """Yield the nodes of a program that may move, with the value and what stands for it."""
    inner = set()
    for node in ast.walk(ast.Module(body, [])):
        if node in inner:
            continue
        if isinstance(node, ast.List) and node.elts and all(map(is_number, node.elts)):
            inner |= set(ast.walk(node))
            places = ", ".join(f"_t[{k}]" for k in range(len(node.elts)))
            yield node, np.array(ast.literal_eval(node), float), f"[{places}]"
        elif isinstance(node, ast.Constant) and type(node.value) is float:
            yield node, node.value, "_t"
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in DRAWS:
            yield node, 1.0, f"({ast.unparse(node)} * _t)"


class Replaced(ast.NodeTransformer):
    """The program with other text for one of its nodes."""

    def __init__(self, node, text):
        self.node, self.new = node, ast.parse(text).body[0].value

    def visit(self, node):
        return self.new if node is self.node else self.generic_visit(node)


def programs(text):
    """Yield programs of one argument ``_t``, as source, each with the value that it had."""
    count = len(list(arguments(statements(text)[1])))
    for k in range(min(count, MOST)):
        imports, body = statements(text)
        node, value, instead = list(arguments(body))[k]
        body = [ast.fix_missing_locations(Replaced(node, instead).visit(x)) for x in body]
        lines = [*map(ast.unparse, imports), "def program(_t):", "    _results = []"]
        lines += [f"    {line}" for x in body for line in ast.unparse(x).splitlines()]
        yield "\n".join([*lines, "    return _results, dict(locals())"]), value


# ---- what is asked ----


def floats_of(returned):
    """Return the floats among results and variables, in arrays and numbers, in a list."""
    results, variables = returned
    names = [x for name, x in variables.items() if name[0] != "_"]
    return [x for x in calls.parts_of([*results, *names])
            if isinstance(x, float | complex | np.inexact)
            or (isinstance(x, np.ndarray) and x.dtype.kind in "fcO")]  # fmt: skip


def program_of(source, adopted):
    module = types.ModuleType("program")
    exec(compile(source, "<docstring>", "exec"), vars(module))
    if adopted:
        cr.adopt(module)
    return lambda t: floats_of(module.program(t))


def ask(source, value):
    """Return what is found of a program: pairs of a transform and a text; None if it is refused."""
    call = calls.Call((value,), {})
    try:
        plain = program_of(source, False)
        call.at(plain, call.leaves)
    except Exception as error:
        raise PlainFailsError from error
    try:
        return list(calls.findings(program_of(source, True), plain, call))
    except cr.errors.ChainRulesError:
        return None
    except Exception as error:
        return [("error", f"{type(error).__name__}: {error}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("library", help="with docstrings: numpy, scipy.signal ...")
    parser.add_argument("--only", default="", help="a part of the names of functions")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")

    def late(*_):
        raise calls.LateError

    signal.signal(signal.SIGALRM, late)
    count = collections.Counter()
    for name, text in docstrings(given.library):
        for source, value in programs(text) if given.only in name else ():
            signal.alarm(LONGEST)
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    found = ask(source, value)
                count["refused" if found is None else "wrong" if found else "right"] += 1
                for transform, said in found or ():
                    print(f"{transform} of {name}: {said[:200]}\n{source}\n", flush=True)
            except PlainFailsError:
                pass
            except calls.LateError:
                print(f"{name}: more than {LONGEST} s", flush=True)
            finally:
                signal.alarm(0)
    sys.stdout.write(f"{dict(count)} programs\n")


if __name__ == "__main__":
    main()
