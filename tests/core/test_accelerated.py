"""The accelerator gives what the engines' own methods give: values, types, warnings, errors."""

import contextvars
import gc
import itertools
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from counted_calls import calls_of

import chainrules as cr
from chainrules.rules import scalar_rule
from chainrules.rules.accelerated import numbers
from chainrules.rules.accelerated.digest import digest_of

HERE = Path(__file__).parent
SEEDS = [(0, 40), (1, 401, 10)]  # of numbers, and of arrays

accelerated = pytest.mark.skipif(numbers is None, reason="it was not compiled here")


def in_another_process(switch, *words):
    # Calls of functions with rules are read from these rooms, too.
    rooms = [str(HERE.parent / name) for name in ("core", "rulesets", "tools")]
    paths = [*rooms, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "CHAINRULES_ACCELERATED": switch,
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(paths),
    }
    command = [sys.executable, "-P", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return done.stdout.splitlines()


@accelerated
@pytest.mark.parametrize("seeds", SEEDS)
def test_random_programs_to_the_bit(seeds):
    program = HERE / "programs_of_numbers.py"
    with_it, without = (in_another_process(switch, program, *seeds) for switch in "10")
    assert len(with_it) > 800
    different = [pair for pair in zip(with_it, without, strict=True) if pair[0] != pair[1]]
    assert different == []


@accelerated
@pytest.mark.parametrize(("share", "of"), [(0, 40), pytest.param(1, 8, marks=pytest.mark.slow)])
def test_options_by_place_and_by_name(share, of):
    program = HERE / "calls_by_place_and_name.py"
    with_it, without = (in_another_process(switch, program, share, of) for switch in "10")
    assert len(with_it) > 3_000
    different = [pair for pair in zip(with_it, without, strict=True) if pair[0] != pair[1]]
    assert different == []


@accelerated
def test_dual_numbers_are_out_of_sight_of_the_collector():
    """A tape of them would set it going again and again; nothing leads from one to itself."""
    seen = {}

    def f(x):
        y = x * x + 1.0
        seen[type(x).__name__] = gc.is_tracked(y)
        return y

    cr.jvp(f, (2.0,), (1.0,))
    cr.jacfwd(lambda x: f(x[0]))(np.array([2.0, 3.0]))
    assert seen == {"Dual": False}
    # What is traced further out may lead anywhere.
    cr.grad(lambda x: cr.jvp(f, (x,), (1.0,))[1])(2.0)
    assert seen == {"Dual": True}


def living_tapes():
    gc.collect()
    return [x for x in gc.get_objects() if type(x).__name__ in ("Tape", "BlockDuals")]


@accelerated
def test_cycles_of_tapes_are_collected():
    """A pullback that a rule keeps leads to a tape, whose partials are traced further out."""
    others = living_tapes()  # of other tests, held so that no new one has the id of one
    known = set(map(id, others))

    def f(x):
        return np.sum(np.stack(cr.map(cr.grad(lambda z: z * z * x[0]), list(x))))

    for order in (cr.grad(f), cr.hessian(f), cr.jacrev(cr.grad(f)), cr.jacfwd(cr.hessian(f))):
        order(np.array([2.0, 3.0]))
        assert [x for x in living_tapes() if id(x) not in known] == []


def test_switch():
    program = "import chainrules.rules.accelerated as a; print(a.numbers is None)"
    assert in_another_process("0", "-c", program) == ["True"]


def test_values_of_a_level_before_there_is_an_engine():
    program = (
        "import numpy as np\n"
        "from chainrules.rules.linear.block_level import BlockLevel\n"
        "v = BlockLevel(2).wrap(np.arange(6.0).reshape(2, 3))\n"
        "print((v[1:] * v[0]).block.tolist())"
    )
    assert in_another_process("1", "-c", program) == ["[[0.0, 0.0], [12.0, 15.0]]"]


def test_digest(tmp_path):
    assert digest_of(tmp_path) == ""
    (tmp_path / "numbers.c").write_text("int x;")
    first = digest_of(tmp_path)
    (tmp_path / "numbers.c").write_text("int y;")
    assert first != digest_of(tmp_path) != ""


def test_rules_are_looked_up_at_each_call():
    y, y_as_user_says = in_another_process(
        "1",
        "-c",
        "import chainrules as cr, numpy as np\n"
        "from chainrules.rules import scalar_rule\n"
        "f = lambda x: x * x\n"
        "before = cr.grad(f)(3.0), cr.jvp(f, (3.0,), (1.0,))[1]\n"
        "scalar_rule(np.multiply, lambda y, a, b: 10.0, lambda y, a, b: 1.0)\n"
        "print(*before)\n"
        "print(cr.grad(f)(3.0), cr.jvp(f, (3.0,), (1.0,))[1])\n",
    )
    assert y.split() == ["6.0", "6.0"]
    assert y_as_user_says.split() == ["11.0", "11.0"]


def test_partial_that_raises():
    def partial(y, x):
        raise NotImplementedError("no partial yet")

    f = cr.primitive(lambda x: x + 1)
    scalar_rule(f, partial)
    with pytest.raises(NotImplementedError, match="no partial yet"):
        cr.grad(lambda x: f(x) * x)(2.0)


def test_escaped_number():
    kept = []

    def f(x):
        kept.append(x)
        return x * x

    cr.grad(f)(2.0)
    with pytest.raises(cr.EscapedTraceError):
        kept[0] * 2.0
    cr.jvp(f, (2.0,), (1.0,))
    with pytest.raises(cr.EscapedTraceError):
        2.0 - kept[1]


def test_threads_share_a_tape():
    def f(x):
        sums = [None] * 4

        def work(k):
            y = x
            for _ in range(2000):
                y = y * 0.5 + x
            sums[k] = y

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sums[0] + sums[1] + sums[2] + sums[3]

    assert cr.grad(f)(1.0) == 8.0


def test_long_chain_is_freed_without_recursion():
    def f(x):
        y = x
        for _ in range(300_000):
            y = y * 0.999 + 0.001
        return y

    assert 0 <= cr.grad(f)(1.0) < 1
    assert cr.jvp(f, (1.0,), (1.0,))[1] >= 0


def test_interrupt_leaves_nothing_behind():
    def f(x):
        y = x
        for k in range(1000):
            if k == 500:
                raise KeyboardInterrupt
            y = y * x
        return y

    with pytest.raises(KeyboardInterrupt):
        cr.grad(f)(1.0)
    assert cr.grad(lambda x: x * x)(3.0) == 6.0


@pytest.mark.parametrize("number", [np.float32(2.0), np.complex128(1 + 1j)])
def test_other_numbers_go_their_own_way(number):
    y, ydot = cr.jvp(lambda x: x * x + 1, (number,), (type(number)(1),))
    assert type(y) is type(ydot) is type(number)
    assert ydot == 2 * number


@accelerated
@pytest.mark.parametrize("transform", [cr.grad, lambda f: lambda x: cr.jvp(f, (x,), (x,))])
@pytest.mark.parametrize("move", [np.transpose, lambda x: np.reshape(x, (4, 1)), lambda x: x[::-1]])
def test_a_linear_step_costs_few_calls(transform, move):
    """Beside a ufunc, which is known to go the short way."""

    def chain(step):
        def f(x):
            for _ in range(20):
                x = step(x)
            return np.sum(x)

        derivative, x = transform(f), np.ones((2, 2))
        derivative(x)
        return sum(module is not None for module, _ in calls_of(lambda: derivative(x)))

    assert chain(move) - chain(np.negative) < 20 * 9


def interrupted_at(count, run):
    """Call ``run`` with an interrupt at the Python call of this number; say whether it came."""
    calls = itertools.count()

    def at_call(frame, event, arg):
        # NumPy 2.5 goes on after an error of ``__class__``, which is a lambda.
        known = event == "call" and frame.f_code.co_name != "<lambda>"
        if known and next(calls) == count:
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(at_call)
    try:
        run()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return next(calls) > count


@accelerated
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of generators
def test_an_interrupt_at_any_call_is_raised():
    def f(x):
        y = np.zeros_like(x)
        for i in range(len(x)):
            y[i] = np.sin(x[i]) + 0.5 * y[i - 1]
        return np.sum(np.outer(y, x) @ x) + np.sum(np.stack([y.T, x]) * 2)

    x = np.array([0.2, 0.7])
    for derive in (lambda: cr.grad(f)(x), lambda: cr.jacfwd(f)(x)):
        derive()
        count = 0
        # An interrupt on the way out may leave a setting, which the context takes along.
        while contextvars.copy_context().run(interrupted_at, count, derive):
            count += 1
        assert count > 50


def test_levels_of_other_classes_beside_a_tape():
    def sparse_of(a):
        return cr.jacobian(lambda x: a * x * x, sparse=True)(np.array([2.0, 3.0]))[0, 0]

    assert sparse_of(1.0) == 4.0
    for _ in range(3):  # the accelerated part reads no number of a level that is none of its own
        for transform in (cr.grad(sparse_of), lambda a: cr.jvp(sparse_of, (a,), (1.0,))):
            with pytest.raises(TypeError, match="cannot be differentiated again"):
                transform(1.0)
