"""Features around features, three deep, each in a module that is adopted or not."""

import sys
from pathlib import Path

import numpy as np
from fuzz_oracle import CHECKS, LARGE, Failure, Refused, attempt, expect
from fuzz_program import Program
from hypothesis import strategies as st

PAIRS = Path(__file__).parents[1] / "pairs"
sys.path.append(str(PAIRS))

import features  # noqa: E402
import test_pairs as pairs  # noqa: E402

LEFT_OUT = {*pairs.REFUSED, "quad", "torch"} - {"np.asarray"}
NAMES = [name for name in pairs.NAMES if name not in LEFT_OUT]
DERIVATIVES = {"jvp", "linearize", "vjp", "grad", "jacfwd", "jacrev", "hessian", "hvp"}


@st.composite
def programs(draw):
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=3))
    inside = [name for name in names if name in DERIVATIVES]
    names = names[:2] if len(inside) > 1 else names
    adopted = [draw(st.booleans()) for _ in (*names, "base")]
    return Program((), (), "None", (repr(names), repr(adopted)), "pairs")


def made(names, adopted):
    """The program of these features, the innermost first."""
    text = features.FILLED if adopted[0] else features.BASE
    body = features.module_of(text, adopted=adopted[0]).base
    for name, is_adopted in zip(names, adopted[1:]):
        body = features.module_with(name, is_adopted).make(body)
    return body


def nested(program):
    names, adopted = map(eval, program.setup)
    f, exact = made(names, adopted), features.plain(*names)
    for x in pairs.POINTS[:2]:
        curved = not DERIVATIVES & set(names)
        checks = pairs.checks(f, exact, x, first=True, curved=curved, deep=not curved, both=True)
        for mode, run, right in checks:
            try:
                found = attempt(mode, run)
                if np.max(np.abs(right), initial=0) > LARGE:
                    continue
                expect(mode, np.asarray(right, float), found, 5e-6)
            except Refused:
                pass
            except Failure as failure:
                yield Failure(f"{failure.label}: {names}", f"adopted {adopted}: {failure}")
                return


CHECKS["pairs"] = nested
