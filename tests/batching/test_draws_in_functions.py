"""Draws by generators that a function makes: each item finds its own in the same state."""

import numpy as np
import pytest
from scipy import stats as own

import chainrules as cr
from chainrules.scipy import stats

POINTS = np.array([1.0, 1.5, 1.0, 2.5])


def twice(s, p):
    rng = np.random.default_rng(2)
    return s.norm.rvs(scale=p, random_state=rng) + 2 * s.norm.rvs(loc=p, random_state=rng)


def unlike_often(s, p):
    """Rejection sampling draws unlike often, and what is drawn next is then another number."""
    rng = np.random.RandomState(3)
    return np.sum(s.gamma.rvs(0.3 * p, size=20, random_state=rng)) + s.norm.rvs(
        scale=p, random_state=rng
    )


FUNCTIONS = {
    "a number": lambda s, p: s.norm.rvs(scale=p, random_state=np.random.default_rng(2)),
    "several": lambda s, p: np.sum(
        s.norm.rvs(scale=p, size=3, random_state=np.random.default_rng(2))
    ),
    "frozen": lambda s, p: np.sum(
        s.gamma(2 * p).rvs(size=2, random_state=np.random.RandomState(2))
    ),
    "twice": twice,
    "unlike often": unlike_often,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::chainrules.errors.BatchWarning")
def test_as_a_loop_over_the_items(name):
    def f(p):
        return FUNCTIONS[name](stats, p)

    expected = [FUNCTIONS[name](own, p) for p in POINTS]
    np.testing.assert_allclose(cr.vmap(f)(POINTS), expected, rtol=1e-14)
    slopes = [cr.grad(f)(p) for p in POINTS]
    np.testing.assert_allclose(cr.vmap(cr.grad(f))(POINTS), slopes, rtol=1e-12)
    found = cr.grad(lambda ps: np.sum(cr.vmap(f)(ps)))(POINTS)
    np.testing.assert_allclose(found, slopes, rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_says_that_it_draws(name):
    def f(p):
        return FUNCTIONS[name](stats, p)

    compiled = cr.compile(f)
    with pytest.warns(cr.errors.CompileWarning, match="draws of a (Generator|RandomState)"):
        compiled(1.0)
    for p in POINTS:
        assert compiled(p) == FUNCTIONS[name](own, p)


def test_a_generator_from_outside_draws_in_the_order_of_the_items():
    rng, again = np.random.default_rng(5), np.random.default_rng(5)
    with pytest.warns(cr.errors.BatchWarning, match="draws random numbers"):
        batched = cr.vmap(lambda p: stats.norm.rvs(scale=p, random_state=rng))(POINTS)
    looped = [own.norm.rvs(scale=p, random_state=again) for p in POINTS]
    np.testing.assert_allclose(batched, looped, rtol=1e-14)
