"""Sparse derivatives asked for twice, at points where the pattern is another one."""

import numpy as np
from fuzz_oracle import CHECKS, Failure, attempt, expect
from fuzz_program import Program
from hypothesis import strategies as st

import chainrules as cr

TERMS = """
np.roll(x, 1)|np.roll(x, 2)|x[::-1]|np.flip(x) * x|np.cumsum(x)|x * np.sum(x)|x[[1, 0, 2, 1]]
np.take(x, [3, 3, 0, 1])
np.concatenate([x[2:], x[:2]])|x[..., [3, 2, 1, 0]]|np.diagonal(np.outer(x, x))
x @ np.ones((4, 4), np.float32)|x[0] * x
"""


@st.composite
def programs(draw):
    terms = [t for line in TERMS.split("\n") for t in line.split("|") if t]
    single = draw(st.booleans())
    size = draw(st.sampled_from(["1.0", "0.1", "1e-2", "1e-3", "5e-4", "1e-5"]))
    kind = "np.float32" if single else "np.float64"
    term = f"{draw(st.sampled_from(terms))} * {kind}({size})"
    body = (f"y = x * {kind}(1)", "if cr.value(x)[0] > 0:", f"    y = y + {term}")
    result = draw(st.sampled_from(["y", "y * y", "np.sum(y * y)"]))
    values = draw(st.lists(st.sampled_from([0.3, 0.7, 1.1, 1.9, -1.0]), min_size=4, max_size=4))
    return Program((("x", f"np.array({values}, {kind})"),), body, result, check="twice")


def twice(program):
    for name in ("jacobian", "jacfwd", "jacrev", "hessian"):
        f, (x,) = program.build()
        scalar = program.result.startswith("np.sum")
        if (name == "hessian") != scalar and name != "jacobian":
            continue
        try:
            sparse = attempt(f"sparse {name}", lambda: getattr(cr, name)(f, sparse=True))  # noqa: B023
            for first in (-1.0, 1.0, -1.0):
                x[0] = first * abs(x[0])
                ours = attempt(f"sparse {name}", lambda: sparse(x).toarray())  # noqa: B023
                dense = np.asarray(getattr(cr, name)(f)(x)).reshape(ours.shape)
                # To the dtype: an entry that is small beside the others is an entry.
                if not np.allclose(dense, ours, rtol=1e-4, atol=1e-7):
                    expect(f"sparse {name}, called again", dense, ours, 1e-30)
        except Failure as failure:
            yield failure
        except Exception as error:
            if not type(error).__name__.startswith("Refused"):
                yield Failure(f"sparse {name} raises {type(error).__name__}", str(error))


CHECKS["twice"] = twice
