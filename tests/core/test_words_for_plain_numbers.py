"""Words for code that asks for a plain number: the line, and what to write, which works."""

import functools
import sys

import numpy as np
import pytest
from scipy import sparse

import chainrules as cr

THIS = sys.modules[__name__]
A = sparse.csr_array(np.array([[1.0, 2.0j], [0.5, 0.0]]))


class Degrees(float):
    def __new__(cls, x):
        return float.__new__(cls, x)


class Metres(float):
    pass


class Angle:
    def __init__(self, x):
        self.x = x

    def __float__(self):
        return self.x * 2.0


class _Compiled:
    """Function of Cython's, as it looks, which takes a double."""

    __name__ = "as_double"
    __call__ = float


_Compiled.__name__ = "cython_function_or_method"
as_double = functools.lru_cache(_Compiled())


def in_degrees(x):
    return Degrees(x) * x


def in_metres(x):
    return Metres(x) * x


def counted(x):
    counts = {}
    counts[x] = 1.0
    return sum(n * key**2 for key, n in counts.items())


def squared(x):
    return as_double(x) * x


def product(x):
    return np.sum(np.real(A @ (x * np.array([1.0, 1.0j]))))


def angle(x):
    return float(Angle(x))


def assembled(x):
    k = sparse.lil_matrix((2, 2))
    k[0, 1] = x * x
    return np.sum(k.toarray())


def spread(x):
    return np.eye(2).dot(np.stack([x, 2 * x])).std(ddof=1)


WORDS = {
    spread: r"write cr.array\(np.eye[^$]*\).std\(ddof=1\); or A @ x in place of A.dot\(x\)",
    in_degrees: r"float.__new__\(cls, x\) needs a plain number[^$]*Degrees derives from a number",
    in_metres: r"Metres\(x\) needs a plain number[^$]*Metres derives from a number",
    counted: "in place of a dict[^$]* keep a list of pairs",
    product: r"write chainrules.scipy.sparse.csr_array\(A\), once",
    assembled: r"k is a sparse matrix[^$]*csr_array\(\(np.stack\(values\)[^$]* np.zeros\(shape",
    angle: r"write q.__float__\(\) in place of float\(q\)",
}


@pytest.mark.parametrize("f", WORDS, ids=lambda f: f.__name__)
def test_a_line_that_asks_for_a_plain_number_says_what_to_write(f):
    for run in (lambda: cr.grad(f)(1.5), lambda: cr.jvp(f, (1.5,), (1.0,))):
        with pytest.raises(cr.LostDerivativeError, match=WORDS[f]):
            run()


def test_what_cython_compiled_under_a_cache_is_named():
    with cr.adopt(THIS), pytest.raises(cr.LostDerivativeError, match=r"cr.primitive\(as_double\)"):
        cr.grad(squared)(1.5)
    assert squared(1.5) == 2.25


def test_what_the_words_say_works():
    def ours(x):
        kept = cr.scipy.sparse.csr_array(A)
        return np.sum(np.real(kept @ (x * np.array([1.0, 1.0j]))))

    def by_triplets(x):
        k = cr.scipy.sparse.csr_array((np.stack([x * x, x]), ([0, 0], [1, 1])), shape=(2, 2))
        return np.sum(k.toarray())

    def in_an_array(x):
        k = np.zeros((2, 2), like=x)
        k[0, 1] = x * x
        k[0, 1] += x
        return np.sum(k)

    assert cr.grad(by_triplets)(1.5) == cr.grad(in_an_array)(1.5) == 4.0
    for f in (in_degrees, in_metres):
        assert cr.grad(cr.primitive(f, derivative="finite-difference"))(1.5) == pytest.approx(3.0)
    assert cr.grad(lambda x: cr.array(np.ones(2) + [x, 2 * x]).mean())(1.5) == 1.5

    def flat(x):
        return cr.array(np.eye(2).dot(np.stack([x, 2 * x]))).std(ddof=1)

    np.testing.assert_allclose(cr.grad(flat)(1.5), np.sqrt(0.5))
    assert cr.grad(ours)(1.5) == pytest.approx(product(1.0))
    assert cr.grad(lambda x: sum(n * key**2 for key, n in [(x, 1.0)]))(1.5) == 3.0
    assert cr.grad(lambda x: Angle(x).__float__())(1.5) == 2.0
    with cr.adopt(THIS):
        assert cr.grad(angle)(1.5) == 2.0
