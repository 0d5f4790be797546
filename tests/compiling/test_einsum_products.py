"""Einsum of two operands as a product of matrices in compiled programs, beside NumPy's own."""

import numpy as np
import pytest
from three_ways import Recorded, differences, run

import chainrules as cr
from chainrules.compiling.passes import einsum_products
from chainrules.compiling.passes.einsum_products import Einsum, einsum_product

pytest.importorskip("llvmlite")

SIZES = dict(zip("abcdefg", (2, 3, 4, 5, 2, 3, 1), strict=True))
PRODUCTS = [
    "ab,bc->ac", "ab,bc->ca", "ab,cb->ac", "ba,bc->ca", "ab,bc", "ba,cb", "abc,cd->abd",
    "abc,bd->acd", "abc,abd->acd", "abc,abd->dca", "abc,dbc->ad", "abc,bc->ab", "ab,b->a",
    "b,ab->a", "abcd,cdef->abef", "abcd,cdef->fbae", "abg,gbc->ac", "abg,bgc->agc",
    "a b , b c -> a c",
]  # fmt: skip
OTHERS = [
    "ab,bc->abc", "ab,c->abc", "aab,bc->ac", "ab,bc->a", "ab,ab->ab", "ab", "ab,bc,cd",
    "...b,bc->...c", "ab,bc->aac",
]  # fmt: skip


@pytest.fixture(autouse=True)
def small_products(monkeypatch):
    monkeypatch.setattr(einsum_products, "EINSUM_MULTIPLICATIONS", 1)


def operands(subscripts, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    terms = subscripts.replace(" ", "").partition("->")[0].split(",")
    arrays = [rng.normal(size=[SIZES[x] for x in term]) for term in terms]
    if np.dtype(dtype).kind == "c":
        arrays = [x + 1j * rng.normal(size=x.shape) for x in arrays]
    return tuple(x.astype(dtype) for x in arrays)


def einsums(made):
    return [step for step in made.writer.plan.values() if type(step.function) is Einsum]


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8"])
@pytest.mark.parametrize("subscripts", PRODUCTS)
def test_products(subscripts, dtype):
    def f(*xs):
        return np.einsum(subscripts, *xs) * 2.0, np.einsum(subscripts, *xs, optimize=True)

    recorded = Recorded(f, *operands(subscripts, dtype))
    made = recorded.by("many")
    assert einsums(made)
    for seed in (0, 1, 2):
        xs = operands(subscripts, dtype, seed)
        assert not differences(run(made, xs)[1], f(*xs), ulps=2e3, zeros=False)


@pytest.mark.parametrize("subscripts", OTHERS)
def test_what_is_no_product_stays_einsum(subscripts):
    shapes = [
        [SIZES[x] for x in term if x != "."] for term in subscripts.partition("->")[0].split(",")
    ]
    assert len(shapes) != 2 or einsum_product(subscripts, *map(tuple, shapes)) is None
    if "aac" in subscripts or "..." in subscripts:
        return
    g = cr.compile(lambda *xs: np.einsum(subscripts, *xs) + 1.0)
    for seed in (0, 1, 2):
        xs = operands(subscripts, seed=seed)
        np.testing.assert_allclose(g(*xs), np.einsum(subscripts, *xs) + 1.0)


def test_shapes_that_are_stretched_or_empty_stay_einsum():
    assert einsum_product("ab,bc->ac", (2, 1), (3, 4)) is None
    assert einsum_product("ab,bc->ac", (2, 0), (0, 4)) is None
    assert einsum_product("ab,bc->ac", (2, 3, 1), (3, 4)) is None
    assert einsum_product([0, 1], (2, 3), (3, 4)) is None
    g = cr.compile(lambda a, b: np.einsum("ab,bc->ac", a, b) + 1.0)
    for shapes in (((2, 1), (3, 4)), ((2, 0), (0, 4))):
        a, b = map(np.ones, shapes)
        for _ in range(3):
            np.testing.assert_array_equal(g(a, b), np.einsum("ab,bc->ac", a, b) + 1.0)


def test_other_dtypes_stay_einsum():
    for dtypes in (("i8", "i8"), ("f8", "f4"), ("f4", "i4"), ("?", "?")):
        a, b = np.ones((2, 3), dtypes[0]), np.ones((3, 4), dtypes[1])
        g = cr.compile(lambda a, b: np.einsum("ab,bc->ac", a, b))
        for _ in range(3):
            y = g(a, b)
            assert y.dtype == np.einsum("ab,bc->ac", a, b).dtype
            np.testing.assert_array_equal(y, np.einsum("ab,bc->ac", a, b))


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_numbers_that_are_not_finite(special):
    a, b = operands("ab,bc->ac")
    made = Recorded(lambda a, b: np.einsum("ab,bc->ac", a, b) + 0.0, a, b).by("many")
    a[0, 1] = special
    assert not differences(run(made, (a, b))[1], np.einsum("ab,bc->ac", a, b), ulps=2e3)


def test_a_sum_of_all_products_stays_einsum():
    g = cr.compile(lambda a, b: np.einsum("ab,ab->", a, b))
    for seed in (0, 1, 2):
        a, b = operands("ab,ab->", seed=seed)
        np.testing.assert_allclose(g(a, b), np.sum(a * b), rtol=1e-12)


def test_how_a_result_lies_stays_where_a_step_asks_for_it():
    def f(a, b):
        y = np.einsum("the,she->hts", a, b)
        return np.ravel(y * 1.0, order="K"), np.ravel(y, order="K")

    rng = np.random.default_rng(0)
    args = rng.normal(size=(5, 2, 3)), rng.normal(size=(4, 2, 3))
    g = cr.compile(f)
    for _ in range(3):
        for x, y in zip(g(*args), f(*args), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12)


def attention(x, q, k, v):
    queries, keys, values = [np.einsum("td,dhe->the", x, w) for w in (q, k, v)]
    scores = np.einsum("the,she->hts", queries, keys)
    odds = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    shares = odds / np.sum(odds, axis=-1, keepdims=True)
    return np.sum(np.einsum("hts,she->the", shares, values) ** 2)


def windows(filters, images):
    seen = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2))
    return np.sum(np.maximum(np.einsum("bxykl,fkl->bfxy", seen, filters), 0.0) ** 2)


@pytest.mark.parametrize("transform", ["grad", "jvp", "hvp"])
@pytest.mark.parametrize("f", [attention, windows], ids=lambda f: f.__name__)
def test_derivatives(f, transform):
    def arguments(seed):
        rng = np.random.default_rng(seed)
        if f is windows:
            return rng.normal(size=(4, 3, 3)), rng.normal(size=(2, 7, 6))
        return rng.normal(size=(6, 4)), *(rng.normal(size=(4, 2, 3)) for _ in range(3))

    argnums = tuple(range(len(arguments(0))))
    derived = {
        "grad": cr.grad(f, argnums=argnums),
        "jvp": lambda *xs: cr.jvp(f, xs, tuple(map(np.cos, xs)))[1],
        "hvp": lambda *xs: cr.hvp(f, xs, tuple(map(np.cos, xs)))[1],
    }[transform]
    g = cr.compile(derived)
    for seed in (0, 1, 2):
        found, expected = g(*arguments(seed)), derived(*arguments(seed))
        assert not differences(found, expected, ulps=1e6, zeros=False)
