"""scan, loop and checkpoint beside the Python loops that they stand for, in nests of transforms."""

import numpy as np
import pytest
from fuzz_loops import programs
from fuzz_settings import always_the_same
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr


class Plain:
    """``chainrules`` with loops of Python's own."""

    def __getattr__(self, name):
        return getattr(cr, name)

    def loop(self, n, step, carry, segment=None):
        for _ in range(n):
            carry = step(carry)
        return carry

    def scan(self, f, carry, xs, segment=None):
        ys = []
        for x in xs:
            carry, y = f(carry, x)
            ys.append(copied(y))
        return carry, stacked(ys)

    def checkpoint(self, f):
        return f


def stacked(ys):
    if not ys or ys[0] is None:
        return None
    if isinstance(ys[0], dict):
        return {key: stacked([y[key] for y in ys]) for key in ys[0]}
    if isinstance(ys[0], tuple):
        return tuple(map(stacked, zip(*ys)))
    return cr.array(ys)


def copied(y):
    """An output as it is at its step: the next one may write into it."""
    if isinstance(y, dict):
        return {key: copied(part) for key, part in y.items()}
    if isinstance(y, tuple):
        return tuple(map(copied, y))
    return y if y is None or np.ndim(y) == 0 else np.copy(y)


V = np.array([0.3, -1.1])
NESTS = {
    "value": lambda f: f,
    "grad": cr.grad,
    "jvp": lambda f: lambda w: cr.jvp(f, (w,), (V,))[1],
    "linearize": lambda f: lambda w: cr.linearize(f, w)[1](V),
    "hvp": lambda f: lambda w: cr.hvp(f, (w,), (V,)),
    "hessian": cr.hessian,
    "grad of grad": lambda f: cr.grad(lambda w: cr.grad(f)(w) @ V),
    "grad of jvp": lambda f: cr.grad(lambda w: cr.jvp(f, (w,), (V,))[1]),
    "jacrev of grad": lambda f: cr.jacrev(cr.grad(f)),
    "grad of hvp": lambda f: cr.grad(lambda w: cr.hvp(f, (w,), (V,)) @ V),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::chainrules.CompileWarning")
@always_the_same(8)
@given(programs(), st.sampled_from(sorted(NESTS)))
def test_loops_that_are_one_step_of_a_recording(program, nest):
    loop_lowering = pytest.importorskip("chainrules.compiling.loops.loop_lowering")
    (f, (w,)), (g, _) = program.build(), program.build(Plain())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_lowering, "LOOP_ROUNDS", 2)
        compiled = cr.compile(NESTS[nest](f))
        for u in (w, 1.1 * w, w[::-1].copy(), w):
            expected = NESTS[nest](g)(u)
            try:
                found = compiled(u)
            except (cr.EscapedTraceError, cr.MutationError, cr.CompileError):
                assert any(line.startswith("kept") for line in program.body), program
                return
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@always_the_same(30)
@given(programs(), st.sampled_from(sorted(NESTS)))
def test_loops(program, nest):
    (f, (w,)), (g, _) = program.build(), program.build(Plain())
    expected = NESTS[nest](g)(w)
    try:
        found = NESTS[nest](f)(w)
    except (cr.EscapedTraceError, cr.MutationError):
        # What steps leave behind may be refused, and nothing else.
        assert any(line.startswith("kept") for line in program.body), program
        return
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
