"""Dense matrices that sparse ones give, by differences: sums, means, products and dense forms."""

import numpy as np
import pytest
from differences import jacobian_of

import chainrules as cr
from chainrules import numpy as followed
from chainrules.scipy import sparse

D = np.array([4.0, 5.0, 6.0, 1.0, 2.0])
ONES = np.ones(3)
pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass")


def made(d):
    return sparse.csr_matrix((d, ([0, 1, 2, 0, 1], [0, 1, 2, 1, 2])), shape=(3, 3))


PROGRAMS = {
    "sum": lambda d: made(d).sum(axis=0),
    "mean": lambda d: made(d).mean(axis=1),
    "product of sums": lambda d: made(d).sum(axis=0) * made(d).sum(axis=1),
    "product of dense forms": lambda d: made(d).todense() * made(d).todense(),
    "power": lambda d: made(d).todense() ** 2,
    "entries in a row": lambda d: made(d).sum(axis=1).A1,
    "ravel keeps two axes": lambda d: made(d).sum(axis=0).ravel(),
    "a ufunc": lambda d: np.sqrt(made(d).sum(axis=1)),
    "an index": lambda d: made(d).sum(axis=0)[0, 1],
    "as an array": lambda d: followed.asarray(made(d).sum(axis=1)).ravel(),
    "a dense sum": lambda d: made(d) + np.ones((3, 3)),
    "rows that sum to one": lambda d: (made(d) / made(d).sum(axis=1)).toarray(),
    "beside a traced array": lambda d: d[:3] * made(d).sum(axis=1),
    "scaled by degrees": lambda d: (
        sparse.diags(1 / followed.asarray(made(d).sum(axis=1)).ravel()) @ made(d) @ ONES
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_matrices_as_scipy_gives_them(name):
    f = PROGRAMS[name]
    plain = f(D)
    y, _ = cr.jvp(f, (D,), (D,))
    again, _ = cr.vjp(f, D)
    for found in (y, again):
        assert type(found) is type(plain)
        np.testing.assert_allclose(np.asarray(found), np.asarray(plain), rtol=1e-14)
    expected = jacobian_of(lambda d: np.asarray(f(d)), D)
    np.testing.assert_allclose(cr.jacfwd(f)(D), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(cr.jacrev(f)(D), expected, rtol=1e-6, atol=1e-8)
