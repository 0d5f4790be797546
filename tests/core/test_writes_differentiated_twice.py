"""Second derivatives through arrays that are written to: each nest of modes gives the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr

X = np.array([0.0, 0.6, -1.3])
SIZE = 3


def root(v, x, i, j, k):
    v[i] = np.sqrt(v[j] * v[j])  # which has an infinite slope where a constant zero is read


def product(v, x, i, j, k):
    v[i] = v[j] * x[k] + v[k]


def constant(v, x, i, j, k):
    v[i] = 0.5 * k


def of_input(v, x, i, j, k):
    v[i] = np.sin(x[j]) * x[k]


def added(v, x, i, j, k):
    v[i] += v[j] * v[k]


def swapped(v, x, i, j, k):
    v[i], v[j] = v[j] * x[k], v[i] + 1.0


def row(v, x, i, j, k):
    v[:] = v[::-1] * x[k]


def part(v, x, i, j, k):
    v[1:] = v[:-1] * v[j] + x[1:]


def by_view(v, x, i, j, k):
    v[::-1][i] = v[j] + x[k] * x[k]


STEPS = root, product, constant, of_input, added, swapped, row, part, by_view
places = st.integers(0, SIZE - 1)
programs = st.lists(st.tuples(st.sampled_from(STEPS), places, places, places), max_size=8)


@given(program=programs, read=places)
def test_nests_of_modes_agree(program, read):
    def f(x):
        v = np.zeros(SIZE, like=x)
        for step, *where in program:
            step(v, x, *where)
        return v[read] * x[1] + v[-1] * v[0] + x[2]

    with np.errstate(all="ignore"):
        found = {
            "block over tape": cr.jacfwd(cr.grad(f))(X),
            "duals over tape": np.stack([cr.jvp(cr.grad(f), (X,), (e,))[1] for e in np.eye(3)]),
            "tape over tape": cr.jacrev(cr.grad(f))(X),
            "block over block": cr.jacfwd(cr.jacfwd(f))(X),
            "tape over block": cr.jacrev(cr.jacfwd(f))(X),
        }
    expected = found.pop("block over block")
    for nest, hessian in found.items():
        known = np.isfinite(expected)  # an infinite slope of what moves says nothing
        if nest == "tape over tape":  # where a zero of the outer one meets the slope it is NaN
            known &= np.isfinite(hessian)
        np.testing.assert_allclose(
            hessian[known], expected[known], rtol=1e-11, atol=1e-12, err_msg=nest
        )
