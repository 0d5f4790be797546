"""Writes by functions into object arrays of traced numbers are seen there, or refused.

NumPy's own functions write objects into them; those of ``chainrules.numpy`` read a traced array in
place of one that they only read.
"""

import numpy as np
import pytest

import chainrules as cr
from chainrules import numpy as cnp

X = np.array([1.0, 2.0, 3.0])
WRITES = {
    "putmask": lambda m, c, x: m.putmask(c, [True, False, False], 7.0),
    "place": lambda m, c, x: m.place(c, np.array([True, False, False]), [7.0]),
    "copyto": lambda m, c, x: m.copyto(c, [7.0, 1.0, 1.0]),
    "copyto, by name": lambda m, c, x: m.copyto(dst=c, src=[7.0, 1.0, 1.0]),
    "copyto, traced": lambda m, c, x: m.copyto(c, 2 * x),
    "put": lambda m, c, x: m.put(c, [0], 7.0),
    "put_along_axis": lambda m, c, x: m.put_along_axis(c, np.array([0]), 7.0, 0),
    "fill_diagonal": lambda m, c, x: m.fill_diagonal(c.reshape(1, 3), 7.0),
    "cumsum": lambda m, c, x: m.cumsum(x, out=c),
    "cumsum, by place": lambda m, c, x: m.cumsum(x, 0, None, c),
    "cumsum of itself": lambda m, c, x: m.cumsum(c, out=c),
    "sum": lambda m, c, x: m.sum(np.ones((3, 3)) * x, axis=0, out=c),
    "mean": lambda m, c, x: m.mean(np.ones((3, 3)) * x, axis=0, out=c),
    "dot": lambda m, c, x: m.dot(np.ones((3, 3)), x, out=c),
    "einsum": lambda m, c, x: m.einsum("ij,j->i", np.ones((3, 3)), x, out=c),
    "clip": lambda m, c, x: m.clip(x, 0, 2, out=c),
    "take": lambda m, c, x: m.take(x, [2, 1, 0], out=c),
    "round": lambda m, c, x: m.round(x, out=c),
    "concatenate": lambda m, c, x: m.concatenate([x[:1], x[1:]], out=c),
    "add": lambda m, c, x: m.add(x, 1.0, out=c),
    "add.at": lambda m, c, x: m.add.at(c, [0], 1.0),
}


@pytest.mark.parametrize("module", [np, cnp], ids=["numpy", "chainrules.numpy"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_is_seen_or_refused(module, write):
    def f(x):
        c = np.array([x[0], x[1], x[2]])
        write(module, c, x)
        return c * 1.0

    for jacobian in (cr.jacfwd, cr.jacrev):
        try:
            got = jacobian(f)(X)
        except cr.ChainRulesError as error:
            assert "test_writes_into_object_arrays.py" in str(error) or "keyword" in str(error)  # noqa: PT017
            continue
        want = np.stack([(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)], axis=1)
        if write not in (WRITES["clip"], WRITES["round"]):  # at their kinks
            np.testing.assert_allclose(got, want, atol=1e-6)
        np.testing.assert_array_equal(cr.jvp(f, (X,), (X,))[0], f(X))
