"""Random chains of what SciPy does with sparse arrays, in every format: values, and both modes."""

import numpy as np
import pytest
import scipy.sparse as scipys
from hypothesis import assume, given
from hypothesis import strategies as st

import chainrules as cr
from chainrules.scipy import sparse

N = 4
FORMATS = ("csr", "csc", "coo", "bsr", "dia")
WEIGHTS = np.random.default_rng(0).normal(size=(N, N))


def with_own_bug_left_out(sparse, a, b):
    """Return the two; leave out a program in which SciPy itself adds them wrongly.

    Where two arrays of format "dia" have the same offsets, ``_dia_base._add_sparse`` adds their
    ``data`` as they are. These are as wide as the last column that is not empty: (1, 4) and (1, 3)
    fail, and (1, 4) and (1, 1) are broadcast.
    """
    if sparse is scipys and a.format == b.format == "dia":
        assume(a.data.shape == b.data.shape or not np.array_equal(a.offsets, b.offsets))
    return a, b


def added(sparse, a, b):
    a, b = with_own_bug_left_out(sparse, a, b)
    return a + b


def subtracted(sparse, a, b):
    a, b = with_own_bug_left_out(sparse, a, b)
    return a - b


UNARY = {
    "transposed": lambda sparse, a: a.T,
    "negative": lambda sparse, a: -a,
    "half": lambda sparse, a: a / 2.5,
    "weighted": lambda sparse, a: a.multiply(WEIGHTS).asformat(a.format),
    "a column times": lambda sparse, a: a.multiply(WEIGHTS[:, :1]).asformat(a.format),
    "sines": lambda sparse, a: a.sin(),
    "lower": lambda sparse, a: sparse.tril(a),
    "upper": lambda sparse, a: sparse.triu(a, 1),
    "rows in another order": lambda sparse, a: a.tocsr()[[2, 0, 3, 0]],
    "columns in another order": lambda sparse, a: a.tocsc()[:, [1, 3, 1, 2]],
    "reshaped": lambda sparse, a: a.reshape((2, 8)).reshape((N, N)),
    "stacked": lambda sparse, a: sparse.vstack([a.tocsr()[1:], a.tocsr()[:1]]),
    "a diagonal": lambda sparse, a: added(sparse, sparse.diags_array(a.diagonal()), a),
    **{f"{to}_array": lambda sparse, a, to=to: getattr(sparse, f"{to}_array")(a) for to in FORMATS},
    **{f"as {to}": lambda sparse, a, to=to: a.asformat(to) for to in FORMATS},
}
BINARY = {
    "sum": added,
    "difference": subtracted,
    "product": lambda sparse, a, b: a @ b,
    "by entries": lambda sparse, a, b: a.multiply(b),
    "side by side": lambda sparse, a, b: sparse.hstack([a, b]).tocsr()[:, 2:6],
    "in blocks": lambda sparse, a, b: sparse.block_array([[a, None], [b, a]]).tocsr()[3:7, 2:6],
}
READ = {
    "all": lambda a: a.toarray(),
    "sums of rows": lambda a: a.sum(axis=1),
    "product with a vector": lambda a: a @ WEIGHTS[0],
    "an entry": lambda a: a.tocsr()[1, 2],
    "trace": lambda a: a.trace(),
}
INDEX = st.lists(st.integers(0, N - 1), min_size=6, max_size=6)


@st.composite
def programs(draw):
    places = draw(INDEX), draw(INDEX)
    steps = draw(st.lists(st.sampled_from(sorted(UNARY) + sorted(BINARY)), min_size=1, max_size=4))
    form, read = draw(st.sampled_from(FORMATS)), draw(st.sampled_from(sorted(READ)))

    def program(sparse, x):
        a = first = sparse.coo_array((x, places), shape=(N, N)).asformat(form)
        for step in steps:
            a = UNARY[step](sparse, a) if step in UNARY else BINARY[step](sparse, a, first)
        return READ[read](a)

    return program, (form, places, steps, read)


@pytest.mark.slow
@given(programs(), st.booleans())
def test_as_scipy_and_in_both_modes(drawn, is_complex):
    program, text = drawn
    rng = np.random.default_rng(1)
    x, xdot = rng.normal(size=(2, 6)) + (1j * rng.normal(size=(2, 6)) if is_complex else 0)

    def f(x):
        return program(sparse, x)

    expected = program(scipys, x)
    y, ydot = cr.jvp(f, (x,), (xdot,))
    assert (np.shape(expected), np.asarray(expected).dtype) == (np.shape(y), np.asarray(y).dtype)
    np.testing.assert_allclose(y, expected, rtol=1e-13, atol=1e-13, err_msg=str(text))
    step = 1e-4
    slope = (program(scipys, x + step * xdot) - program(scipys, x - step * xdot)) / (2 * step)
    np.testing.assert_allclose(ydot, slope, rtol=1e-5, atol=1e-6, err_msg=str(text))
    ybar = np.asarray(rng.normal(size=np.shape(y)), np.asarray(y).dtype)[()]
    (xbar,) = cr.vjp(f, x)[1](ybar)
    np.testing.assert_allclose(
        np.sum(np.real(np.conj(xbar) * xdot)),
        np.sum(np.real(np.conj(ybar) * ydot)),
        atol=1e-9,
        err_msg=str(text),
    )


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
def test_powers_of_a_matrix(n):
    x = np.arange(1.0, 7.0)

    def power(sparse, x):
        places = [0, 1, 2, 2, 0, 1], [1, 0, 2, 0, 1, 2]
        return (sparse.csr_matrix((x, places), shape=(3, 3)) ** n).toarray()

    np.testing.assert_array_equal(
        power(scipys, x), cr.jvp(lambda x: power(sparse, x), (x,), (x,))[0]
    )


def test_an_entry_that_is_not_stored_is_a_number():
    x = np.arange(1.0, 4.0)
    found = cr.jvp(lambda x: sparse.csr_array((x, ([0, 1, 1], [1, 0, 1])))[0, 0], (x,), (x,))
    assert [0.0, 0.0] == list(found)
    assert [(), ()] == list(map(np.shape, found))
