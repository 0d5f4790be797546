"""Compiled functions beside plain ones: where state lives, how it is read, and how it changes.

A script makes state and a function that reads it, calls it with moved arguments, changes the state
and calls it again. It is run twice, with the function as it is and compiled, and must tell the same
story; a refusal of ours is an answer.
"""

import builtins
import contextlib
import decimal
import os
import signal
import sys
import types
import warnings

import numpy as np
from fuzz_oracle import CHECKS, Failure
from fuzz_program import Program, compiled
from fuzz_states import READERS, STATES, USES, as_read
from hypothesis import strategies as st

import chainrules as cr

ARGV = list(sys.argv)
HEAD = (
    "import abc, array, builtins, collections, contextvars, copy, ctypes, dataclasses, decimal",
    "import enum, functools, importlib, io, itertools, operator, os, queue, sys, threading, types",
    "import weakref",
)
# How the function is called: each expression makes one argument, moved by k.
ARGUMENTS = [
    "1.5 + k", "np.float64(0.5 + k)", "np.arange(3.0) + k", "np.arange(6.0)[::2] + k",
    "np.arange(6.0).reshape(2, 3).T + k", "(np.arange(8.0) + k)[::-2]", "np.array(2.0 + k)",
    "np.broadcast_to(1.0 + k, (3,))", "np.arange(3.0, dtype=np.float32) + k",
    "np.frombuffer(bytes(1) + (np.arange(3.0) + k).tobytes(), np.float64, 3, 1)",
]  # fmt: skip
CALLS = ["g({x})"] * 4 + ["g(x={x})", "functools.partial(g, {x})()", "list(map(g, [{x}]))[0]"]
WRAPS = ["wrap(f)"] * 5 + [
    "wrap(lambda x: f(x))",
    "wrap(cr.value_and_grad(lambda x: np.sum(f(x))))",
    "wrap(lambda x: cr.jvp(f, (x * 1.0,), (x * 0.5,)))",
    "wrap(cr.grad(lambda x: np.sum(wrap(f)(x))))",
]
# Effects of the function on its arguments and on what it captures, and how they are seen.
EFFECTS = [
    ("", "0"),
    ("calls = [0]", "calls[0]", "    calls[0] += 1"),
    ("log = queue.SimpleQueue()", "log.qsize()", "    log.put(1)"),
    ("class Seen:\n    n = 0", "Seen.n", "    Seen.n += 1"),
    ("table = {}", "sorted(table.items())", "    table.setdefault('a', 1)"),
    ("n_calls = 0", "n_calls", "    global n_calls\n    n_calls += 1"),
    ("def note(): note.n = note.n + 1\nnote.n = 0", "note.n", "    note()"),
]
# Objects as arguments: the function writes into them, or reads what is no number.
OBJECTS = [
    "self.calls += 1", "self.done = True", "self.new = 1", "self.name += 'a'", "pass",
    "self.count = self.count + (1,)", "self.inner['k'] = self.calls", "del self.rate2",
    "setattr(self, 'calls', 7)", "self.__dict__['calls'] = 3", "self.inner = {}",
]  # fmt: skip
OBJECT = """class Model:
    def __init__(self, k):
        self.rate, self.rate2, self.calls, self.done, self.name = 2.0 + k, 1.0, k, False, 'a' * k
        self.count, self.inner = (k,), {{}}
    {wrap}
    def run(self, x):
        y = x * self.rate * (1 + self.calls + len(self.name) + sum(self.count) + self.done)
        {write}
        return y * (1 + self.calls)
held = Model(1)"""


@st.composite
def programs(draw):
    scene = draw(st.sampled_from(["state"] * 8 + ["object", "object", "threads", "fork"]))
    if scene == "object":
        return of_object(draw)
    chosen = [draw(st.sampled_from(STATES)) for _ in range(draw(st.integers(1, 2)))]
    lines, reads, changes = list(HEAD), [], []
    for number, (setup, read, change, *more) in enumerate(chosen):
        new = str(number)
        lines.append(numbered(setup, new, 2.0))
        reader = draw(st.sampled_from(READERS))
        made, expression = as_read(reader, numbered(read, new, 2.0), f"q{number}")
        lines += [made] if made else []
        reads.append(expression)
        changes += [numbered(text, new, 5.0 + k) for k, text in enumerate((change, *more))]
    effect = draw(st.sampled_from(EFFECTS[:1] * 8 + EFFECTS))
    use = draw(st.sampled_from(USES))
    body = [effect[2]] if len(effect) > 2 else []
    lines += [effect[0]] if effect[0] else []
    body.append(f"    return {use.replace('{}', ' + '.join(reads))}")
    lines.append("\n".join(["def f(x):", *body]))
    # Inside of derivatives a function that is not compiled runs for its value and for its pull.
    takes = any("next(i#" in read for _, read, *_ in chosen)  # from an iterator: each call another
    wraps = WRAPS[:6] if len(effect) > 2 or takes else WRAPS
    lines.append(f"g = {draw(st.sampled_from(wraps))}")
    argument = draw(st.sampled_from(ARGUMENTS))
    call = draw(st.sampled_from(CALLS)).format(x=argument)
    if "x=x" in call or "lambda x" not in lines[-1]:
        call = call.replace("g(x=", "g(")
    lines += calls(call, effect[1], 3)
    if scene == "threads" and not takes:  # whose call is first, nobody says
        lines.append(f"out += in_threads(lambda k: {call})")
    for change in changes if draw(st.booleans()) else changes[:1]:
        lines += [change, *calls(call, effect[1], draw(st.integers(1, 3)))]
    if scene == "fork":
        lines.append(f"k = 1; out += in_child(lambda: {call})")
    return Program((), (), "None", tuple(lines), "compiled")


def of_object(draw):
    write = draw(st.sampled_from(OBJECTS))
    method = draw(st.booleans())
    lines = [*HEAD, OBJECT.format(wrap="@wrap" if method else "", write=write)]
    if not method:
        lines.append("run = wrap(lambda m, x: m.run(x))")
    call = "m.run(x)" if method else "run(m, x)"
    of = draw(st.sampled_from(["held", "Model(k)", "Model(1)", "held if k % 2 else Model(k)"]))
    x = draw(st.sampled_from(ARGUMENTS[:5]))
    lines.append(f"for k in range(5): m, x = {of}, {x}; out.append(tried(lambda: {call}))")
    lines.append("out.append(str(vars(m)))\nheld.calls, held.done = 4, True")
    lines.append(f"for k in range(3): m, x = held, {x}; out.append(tried(lambda: {call}))")
    lines.append("out.append(str(vars(held)))")
    return Program((), (), "None", tuple(lines), "compiled")


def numbered(text, number, value):
    return text.replace("#", number).replace("VALUE", repr(value))


def calls(call, seen, times):
    return [f"for k in range({times}): out.append((tried(lambda: {call}), {seen}))"]


# ---- the check ----------------------------------------------------------------------------------


def tried(call):
    """Return the result of a call, or the type of its error."""
    try:
        return call()
    except cr.CompileError:
        raise
    except Exception as error:
        return type(error).__name__


def in_threads(call):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(call, [0, 1, 2] * 4))


def in_child(call):
    """Return the result of a call in a child of this process, in which a thread may compile."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        signal.alarm(30)
        os.write(writing, repr(np.sum(np.asarray(tried(call), object))).encode()[:200])
        os._exit(0)
    os.close(writing)
    _, status = os.waitpid(process, 0)
    with os.fdopen(reading) as said:
        text = said.read()
    return ["hangs" if os.WIFSIGNALED(status) else text]


def story(program, wrap):
    """Run the script; return what it tells, and the refusal that ended it."""
    name = "program_of_fuzz"
    module = sys.modules[name] = types.ModuleType(name)
    tools = {"tried": tried, "in_threads": in_threads, "in_child": in_child}
    vars(module).update({"np": np, "cr": cr, "wrap": wrap, "out": [], **tools})
    try:
        with decimal.localcontext():
            exec(compiled("\n".join(program.setup)), vars(module))
    except cr.CompileError as error:
        return module.out, str(error)
    finally:
        sys.argv[:] = ARGV
        for added in ("conf", "conf.inner", name):
            sys.modules.pop(added, None)
        for added in [name for name in vars(builtins) if name.startswith("of_fuzz")]:
            delattr(builtins, added)
        for added in [name for name in os.environ if name.startswith("OF_FUZZ")]:
            del os.environ[added]
    return module.out, ""


def same(x, y):
    """Say whether two results are the same, but for rounding."""
    if isinstance(x, list | tuple) and isinstance(y, list | tuple):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, str) or isinstance(y, str):
        return x == y or (x[:4] == y[:4] and "." in x)
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind not in "fc":
        return np.array_equal(x, y)
    close = 1e-4 if x.dtype == np.float32 else 1e-9
    return x.shape == y.shape and np.allclose(x, y, rtol=close, atol=close, equal_nan=True)


def compiled_tells_the_same(program):
    with contextlib.redirect_stdout(None), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected, _ = story(program, lambda f: f)
        except Exception:
            return  # it does not run by itself
        try:
            found, refused = story(program, cr.compile)
        except Exception as error:
            yield Failure(f"compiled raises {type(error).__name__}", str(error)[:200])
            return
    for k, (x, y) in enumerate(zip(found, expected)):
        if not same(x, y):
            yield Failure("compiled is stale", f"result {k}: {x} for {y}"[:200])
            return
    if not refused and len(found) != len(expected):
        yield Failure("compiled ends early")


CHECKS["compiled"] = compiled_tells_the_same
