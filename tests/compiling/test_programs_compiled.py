"""Programs of tests/programs, compiled: at the recorded point and others, by modes in turns."""

import contextlib

import numpy as np
import pytest
import test_programs as programs

import chainrules as cr
from chainrules.compiling.agreement import agree
from chainrules.compiling.compiled import Compiled

STEPS = (0.0, -0.01, 0.05)  # the recorded point, its first replay at another, and a third

# Whose rounding grows, and whose answer is zero but for rounding: machine code is not used.
OF_ROUNDING = {"correlation", "kl_entr", "pendulum_energy_remedy"}
# What is refused, as it must be, and what runs as it always did.
DRAWS = "heston_monte_carlo"
NOT_RECORDED = {
    "piecewise_pieces", "standard_atmosphere", "where_sel", "vectorized", "vec_otypes",
    "wrapper_deco",
}  # fmt: skip


def value(f, ybar):
    return lambda *xs: f(*xs[: len(xs) // 2])


def pulled(f, ybar):
    def vjp(*xs):
        y, pull = cr.vjp(f, *xs[: len(xs) // 2])
        return y, pull(ybar)

    return vjp


def pushed(f, ybar):
    return lambda *xs: cr.jvp(f, xs[: len(xs) // 2], xs[len(xs) // 2 :])


def curved(f, ybar):
    def hvp(*xs):
        n = len(xs) // 2
        return cr.jvp(lambda *xs: cr.vjp(f, *xs)[1](ybar), xs[:n], xs[n:])[1]

    return hvp


# Each program in some of the modes, in turns: a mode that is wrong is so in a hundred programs.
MODES = [(value, curved), (pulled,), (pushed,)]
ALL = [
    pytest.param(module, f, args, transform, id=f"{name}-{transform.__name__}")
    for k, (module, (name, f, args, *_)) in enumerate(
        (module, program) for module in programs.MODULES for program in module.PROGRAMS
    )
    for transform in MODES[k % len(MODES)]
]


def outcome(f, xs):
    np.random.seed(0)
    try:
        return f(*xs)
    except Exception as error:
        return error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("any_loss_allowed")
@pytest.mark.parametrize(("module", "f", "args", "transform"), ALL)
def test_program(module, f, args, transform, request, monkeypatch):
    name = request.node.callspec.id.rpartition("-")[0]
    if name in OF_ROUNDING:  # see conftest.py
        monkeypatch.setattr(Compiled, "_in_some_way", Compiled._in_some_way.__wrapped__)
    adopted = cr.adopt(module) if module in programs.ADOPTED else contextlib.nullcontext()
    of_moving, xs = programs.fixed(f, args)
    with adopted:
        ybar = None
        if transform in (pulled, curved):
            y = outcome(of_moving, xs)
            if not programs.differentiable(y):
                pytest.skip("its result has no cotangent")
            ybar = programs.tangent(y, np.random.default_rng(7))
        eager = transform(of_moving, ybar)
        compiled = cr.compile(eager, fallback="error" if name not in NOT_RECORDED else "eager")
        for step in STEPS[:2] if transform is curved else STEPS:
            rng = np.random.default_rng(5)
            xdots = [programs.tangent(x, rng) for x in xs]
            at = [programs.moved(x, xdot, step) for x, xdot in zip(xs, xdots, strict=True)]
            expected, found = (outcome(g, (*at, *xdots)) for g in (eager, compiled))
            if name.startswith(DRAWS):
                assert isinstance(found, cr.CompileError)
                assert "draws random numbers" in str(found)
            elif isinstance(expected, Exception):
                assert type(found) is type(expected)
            else:
                assert agree(found, expected, scale=1e-3), (found, expected)
