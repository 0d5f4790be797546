"""Samples of np.random along the path: NumPy's own numbers, and their slopes."""

import copy
import textwrap
import types

import numpy
import pytest

import chainrules as cr
from chainrules import numpy as np

PARAMETERS = {
    "normal": (0.3, 1.2),
    "laplace": (0.3, 1.2),
    "logistic": (0.3, 1.2),
    "gumbel": (0.3, 1.2),
    "uniform": (0.3, 1.2),
    "exponential": (1.2,),
    "rayleigh": (1.2,),
    "lognormal": (0.3, 0.7),
    "weibull": (1.3,),
    "pareto": (1.3,),
    "power": (1.3,),
}


def generator(random):
    return random.default_rng(3)


def state(random):
    return random.RandomState(3)


def module(random):
    # SciPy warns where the state of the process was set by a seed.
    random.set_state(numpy.random.RandomState(3).get_state())
    return random


@pytest.mark.parametrize("size", [None, 4, (2, 3), (0, 3)], ids=str)
@pytest.mark.parametrize("source", [generator, state, module])
@pytest.mark.parametrize("name", PARAMETERS)
def test_samples_are_numpys_own_and_move_with_their_parameters(name, source, size):
    def draw(*parameters):
        drawn = getattr(source(np.random), name)
        first = drawn(*parameters, size=size)
        return first * drawn(*parameters[:-1], parameters[-1] * 1.1)  # the stream goes on

    def plain(*parameters):
        drawn = getattr(source(numpy.random), name)
        return drawn(*parameters, size=size) * drawn(*parameters[:-1], parameters[-1] * 1.1)

    parameters = PARAMETERS[name]
    own, h = plain(*parameters), 1e-5
    y, ydot = cr.jvp(draw, parameters, (1.0,) * len(parameters))
    assert type(y) is type(own)
    numpy.testing.assert_array_equal(y, own)
    ahead, back = plain(*(x + h for x in parameters)), plain(*(x - h for x in parameters))
    numpy.testing.assert_allclose(ydot, (ahead - back) / (2 * h), rtol=1e-6, atol=1e-8)

    y, pullback = cr.vjp(draw, *parameters)
    weights = numpy.cos(numpy.asarray(own))
    xbars = pullback(weights if numpy.ndim(own) else float(weights))
    numpy.testing.assert_allclose(sum(xbars), numpy.sum(weights * ydot), rtol=1e-10)

    total = [(numpy.sum(plain(*(x + k * h for x in parameters)))) for k in (-10, 0, 10)]
    second = cr.jvp(
        lambda t: cr.jvp(lambda t: np.sum(draw(*(x + t for x in parameters))), (t,), (1.0,))[1],
        (0.0,),
        (1.0,),
    )[1]
    steps = (total[0] - 2 * total[1] + total[2]) / (10 * h) ** 2
    numpy.testing.assert_allclose(second, steps, rtol=1e-3, atol=1e-5)


def test_parameters_are_arrays_that_broadcast():
    def draw(loc, scale):
        return np.random.default_rng(1).normal(loc, scale)

    loc, scale = numpy.arange(3.0), numpy.array([[0.5], [0.0]])
    numpy.testing.assert_array_equal(cr.vjp(draw, loc, scale)[0], draw(loc, scale))
    noise = numpy.random.default_rng(1).standard_normal((2, 3))
    along_loc, along_scale = cr.jacrev(draw, argnums=(0, 1))(loc, scale)
    numpy.testing.assert_allclose(along_loc, numpy.broadcast_to(numpy.eye(3), (2, 3, 3)))
    numpy.testing.assert_allclose(along_scale[0, :, 0, 0], noise[0])
    numpy.testing.assert_allclose(along_scale[1, :, 1, 0], noise[1])  # at scale 0, too


def test_generators_are_numpys_to_all_who_ask():
    rng = np.random.default_rng(1)
    assert isinstance(numpy.random.default_rng(1), np.random.Generator)
    assert isinstance(numpy.random.RandomState(1), np.random.RandomState)
    assert isinstance(rng, numpy.random.Generator)
    assert repr(rng).startswith("Generator(PCG64)")
    assert np.random.default_rng(rng) is rng
    assert copy.deepcopy(rng).normal() == rng.normal()


def test_an_adopted_module_and_the_generator_in_it():
    simulation = types.ModuleType("simulation")
    source = """
        import numpy as np
        rng = np.random.default_rng(7)
        def price(s, sigma):
            z = rng.normal(0.0, sigma, 100)
            return np.mean(np.maximum(s * np.exp(z - sigma**2 / 2) - 1.0, 0.0))
        """
    exec(textwrap.dedent(source), vars(simulation))
    own = simulation.rng
    expected = copy.deepcopy(own)
    with cr.adopt(simulation):
        y, (along_s, along_sigma) = cr.value_and_grad(simulation.price, argnums=(0, 1))(1.0, 0.2)
    assert simulation.rng is own
    z = expected.normal(0.0, 0.2, 100)
    ends = numpy.exp(z - 0.02)
    numpy.testing.assert_allclose(y, numpy.mean(numpy.maximum(ends - 1.0, 0.0)), rtol=1e-14)
    paid = ends > 1.0
    numpy.testing.assert_allclose(along_s, numpy.mean(ends * paid))
    numpy.testing.assert_allclose(along_sigma, numpy.mean(ends * paid * (z / 0.2 - 0.2)))
    assert own.normal() == expected.normal()


def test_a_generator_that_moves_meanwhile_is_refused(monkeypatch):
    monkeypatch.setattr(copy, "deepcopy", lambda rng: numpy.random.default_rng(99))
    with pytest.raises(cr.LostDerivativeError, match="used by another thread"):
        cr.grad(lambda x: np.random.default_rng(1).normal(x, x))(1.0)


def test_what_has_no_formula_refuses():
    with pytest.raises(cr.LostDerivativeError):
        cr.grad(lambda x: np.random.default_rng(1).gamma(x))(1.0)
    with pytest.raises(TypeError, match="colour"):
        cr.grad(lambda x: np.random.default_rng(1).normal(x, colour=1.0))(1.0)


ORDERS = {
    "shuffle": lambda rng, e: rng.shuffle(e),
    "shuffle, by name": lambda rng, e: rng.shuffle(x=e),
    "permutation": lambda rng, e: rng.permutation(e),
    "shuffle, last axis": lambda rng, e: rng.shuffle(e, axis=e.ndim - 1),
    "permutation, last axis": lambda rng, e: rng.permutation(e, axis=e.ndim - 1),
    "permuted": lambda rng, e: rng.permuted(e),
    "permuted, axis": lambda rng, e: rng.permuted(e, axis=0),
    "permuted into itself": lambda rng, e: rng.permuted(e, axis=0, out=e),
    "choice": lambda rng, e: rng.choice(e, 3),
}


@pytest.mark.parametrize("shape", [(8,), (4, 2), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("made_of", ["constants", "traced numbers"])
@pytest.mark.parametrize("draw", [generator, state, module])
@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.filterwarnings("ignore::chainrules.errors.BatchWarning")  # choice
def test_entries_in_another_order(name, draw, made_of, shape):
    def f(np, x):
        rng = draw(np.random)
        e = np.zeros(shape)
        e[...] = np.arange(e.size).reshape(shape) * (1.0 if made_of == "constants" else x)
        y = ORDERS[name](rng, e)
        return (e if y is None else y) * x * x

    try:
        expected = f(numpy, 1.3)
    except (AttributeError, TypeError, ValueError):
        pytest.skip("NumPy has no such method there")
    y, ydot = cr.jvp(lambda x: f(np, x), (1.3,), (1.0,))
    numpy.testing.assert_array_equal(y, expected)
    power = 2 if made_of == "constants" else 3
    numpy.testing.assert_allclose(ydot, power * expected / 1.3)
    numpy.testing.assert_allclose(cr.jacrev(lambda x: f(np, x))(1.3), ydot)
    xs = numpy.array([1.3, 0.7, 1.3])
    if draw is not module:
        batched = cr.vmap(lambda x: f(np, x))(xs)
        numpy.testing.assert_array_equal(batched, [f(numpy, x) for x in xs])
