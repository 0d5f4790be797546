"""Dispatch: a rule is chosen, and a call reaches it, by annotations, traits, keywords, methods."""

import dataclasses

import numpy as np
import pytest

import chainrules as cr
from chainrules.testing import test_rrule

NO, ZERO = cr.NoTangent(), cr.ZeroTangent()


def named(name, count=2):
    """A rule's answer that tells its name, in place of a value."""
    return name, lambda ybar: (ZERO,) * count


@pytest.fixture
def f():
    @cr.primitive
    def f(*args, **options):
        return args

    return f


# ---- annotations ----------------------------------------------------------------------------


def test_the_most_specific_annotation_wins(f):
    @cr.rrule.register(f)
    def f_any_rrule(f, x):
        return named("any")

    @cr.rrule.register(f)
    def f_array_rrule(f, x: np.ndarray):
        return named("array")

    @cr.rrule.register(f)
    def f_float_rrule(f, x: float):
        return named("float")

    @cr.rrule.register(f)
    def f_float64_rrule(f, x: np.float64):
        return named("float64")

    @cr.rrule.register(f)
    def f_text_rrule(f, x: str | bytes | None):
        return named("text")

    for expected, x in [
        ("any", 1),
        ("array", np.ones(2)),
        ("float", 1.0),
        ("float64", np.float64(1)),
        ("any", np.float32(1)),
        ("text", "a"),
        ("text", b"a"),
        ("text", None),
        ("any", [1.0]),
    ]:
        assert expected == cr.rrule(f, x)[0], x
    assert "the most specific for its argument types (float64)" in cr.which(
        cr.rrule, f, np.float64(1)
    )


def test_two_arguments_and_more(f):
    @cr.rrule.register(f)
    def f_pair_rrule(f, x, y):
        return named("pair", 3)

    @cr.rrule.register(f)
    def f_array_first_rrule(f, x: np.ndarray, y):
        return named("array first", 3)

    @cr.rrule.register(f)
    def f_arrays_rrule(f, x: np.ndarray, y: np.ndarray):
        return named("arrays", 3)

    @cr.rrule.register(f)
    def f_many_rrule(f, *xs):
        return named("many", 1 + len(xs))

    array = np.ones(2)
    for expected, args in [
        ("pair", (1, 2)),
        ("array first", (array, 2)),
        ("arrays", (array, array)),
        ("pair", (1, array)),
        ("many", (1, 2, 3)),
        ("many", (1,)),
    ]:
        assert expected == cr.rrule(f, *args)[0], args


def test_any_number_of_arguments_of_a_type(f):
    @cr.rrule.register(f)
    def f_many_rrule(f, *xs):
        return named("many", 1 + len(xs))

    @cr.rrule.register(f)
    def f_floats_rrule(f, *xs: float):
        return named("floats", 1 + len(xs))

    for expected, args in [
        ("floats", (1.0,)),
        ("floats", (1.0, np.float64(2), 3.0)),
        ("many", (1.0, 2)),
        ("many", ("a",)),
    ]:
        assert expected == cr.rrule(f, *args)[0], args


def test_no_rule_for_these_types(f):
    @cr.rrule.register(f)
    def f_rrule(f, x: str):
        return named("str")

    assert cr.rrule(f, 1.0) is None
    other = cr.which(cr.rrule, f, 1.0)
    assert "rrule of f for (float): none; those registered are for other argument types" == other
    made = cr.which(cr.frule, f, 1.0)  # from the rrule, for the same types
    assert "frule of f for (float): none; those registered are for other argument types" == made


def test_no_rule_at_all(f):
    none = cr.which(cr.frule, f, 1.0)
    assert "frule of f for (float): none, and none is registered for any types" == none


def test_a_traced_value_counts_as_what_it_carries():
    seen = []

    @cr.primitive
    def f(x):
        return 2 * x

    @cr.rrule.register(f)
    def f_float_rrule(f, x: float):
        seen.append("float")
        return f(x), lambda ybar: (NO, 2 * ybar)

    @cr.rrule.register(f)
    def f_array_rrule(f, x: np.ndarray):
        seen.append("array")
        return f(x), lambda ybar: (NO, 2 * ybar)

    assert 4.0 == cr.grad(lambda x: f(f(x)))(1.0)
    cr.grad(lambda x: np.sum(f(x)))(np.ones(3))
    assert 8.0 == cr.grad(cr.grad(lambda x: f(x) * f(x) / 1.0))(1.0)
    assert {"float", "array"} == set(seen)


# ---- traits ---------------------------------------------------------------------------------


class Fast:
    pass


class FastReverse(cr.ReverseConfig, Fast):
    pass


class FastForward(cr.ForwardConfig, Fast):
    pass


def test_an_argument_type_counts_before_a_trait(f):
    """A rule for the types at hand is more specific than one that only asks for a trait."""

    @cr.rrule.register(f)
    def f_trait_rrule(config: Fast, f, x):
        return named("trait")

    @cr.rrule.register(f)
    def f_array_rrule(f, x: np.ndarray):
        return named("array")

    @cr.rrule.register(f)
    def f_array_trait_rrule(config: cr.AllOf[Fast, cr.HasReverseMode], f, x: np.ndarray):
        return named("array and traits")

    assert "trait" == cr.rrule(FastForward(), f, 1.0)[0]
    assert "array" == cr.rrule(FastForward(), f, np.ones(2))[0]
    assert "array and traits" == cr.rrule(FastReverse(), f, np.ones(2))[0]
    assert "array" == cr.rrule(cr.ReverseConfig(), f, np.ones(2))[0]
    assert cr.rrule(cr.ReverseConfig(), f, 1.0) is None
    text = cr.which(cr.rrule, FastReverse(), f, np.ones(2))
    assert "(ndarray) and FastReverse() has AllOf[Fast, HasReverseMode]" in text
    assert cr.which(cr.rrule, cr.ReverseConfig(), f, 1.0).endswith(
        "those registered ask for AllOf[Fast, HasReverseMode], Fast, "
        "and ReverseConfig() does not match"
    )


def test_a_config_reaches_the_rules_of_a_transform():
    @cr.primitive
    def f(x):
        return x

    @cr.frule.register(f)
    def f_frule(config: Fast, tangents, f, x):
        return x, 10 * tangents[1]

    @cr.rrule.register(f)
    def f_rrule(config: Fast, f, x):
        return x, lambda ybar: (NO, 10 * ybar)

    def g(x):
        return f(x) * f(x)

    assert 6.0 == cr.jvp(g, (3.0,), (1.0,))[1]
    assert 60.0 == cr.jvp(g, (3.0,), (1.0,), config=FastForward())[1]
    assert (6.0,) == cr.vjp(g, 3.0)[1](1.0)
    assert (60.0,) == cr.vjp(g, 3.0, config=FastReverse())[1](1.0)


# ---- keywords -------------------------------------------------------------------------------


def make_scaled():
    @cr.primitive
    def scaled(x, scale=2.0, *, offset=0.0):
        return scale * x + offset

    @cr.rrule.register(scaled)
    def scaled_rrule(scaled, x, scale=2.0, *, offset=0.0):
        def scaled_pullback(ybar):
            return NO, scale * ybar, x * ybar

        return scaled(x, scale, offset=offset), scaled_pullback

    @cr.frule.register(scaled)
    def scaled_frule(tangents, scaled, x, scale, *, offset=0.0):
        _, xdot, scale_dot = tangents
        return scaled(x, scale, offset=offset), scale * xdot + x * scale_dot

    return scaled


def test_keywords_reach_the_rule():
    scaled = make_scaled()
    y, pullback = cr.rrule(scaled, 3.0, 4.0, offset=1.0)
    assert (13.0, (NO, 4.0, 3.0)) == (y, pullback(1.0))
    assert (13.0, 4.0) == cr.frule((NO, 1.0, ZERO), scaled, 3.0, 4.0, offset=1.0)
    assert 4.0 == cr.grad(lambda x: scaled(x, 4.0, offset=1.0))(3.0)
    test_rrule(scaled, 3.0, 4.0, offset=1.0)


@pytest.mark.parametrize("transform", [cr.grad, cr.jacfwd])
def test_a_traced_keyword_is_differentiated(transform):
    scaled = make_scaled()
    assert 6.0 == transform(lambda a: scaled(a, scale=a, offset=1.0))(3.0)
    assert 5.0 == transform(lambda a: scaled(5.0, scale=a))(3.0)
    assert 5.0 == transform(lambda a: scaled(x=5.0, scale=a))(3.0)


@pytest.mark.parametrize("transform", [cr.grad])
def test_a_plain_keyword_of_a_differentiable_parameter(transform):
    scaled = make_scaled()
    assert 4.0 == transform(lambda a: scaled(a, scale=4.0))(3.0)
    assert 4.0 == transform(lambda a: scaled(scale=4.0, x=a))(3.0)


def test_a_default_of_a_differentiable_parameter():
    scaled = make_scaled()
    assert 2.0 == cr.grad(lambda a: scaled(a))(3.0)
    assert 2.0 == cr.grad(scaled)(3.0)


@pytest.mark.parametrize("transform", [cr.grad, cr.jacfwd])
def test_a_traced_option_is_an_error(transform):
    scaled = make_scaled()
    message = r"scaled has no derivative in its option 'offset'.*\n.*offset=cr\.value"
    with pytest.raises(cr.LostDerivativeError, match=message):
        transform(lambda a: scaled(a, 2.0, offset=a))(3.0)
    assert 2.0 == transform(lambda a: scaled(a, 2.0, offset=cr.value(a)))(3.0)


def test_an_option_that_the_rule_does_not_know():
    @cr.primitive
    def f(x, power=1):
        return x**power

    @cr.rrule.register(f)
    def f_rrule(f, x):
        return f(x), lambda ybar: (NO, ybar)

    assert 1.0 == cr.grad(lambda x: f(x))(3.0)
    assert 1.0 == cr.grad(lambda x: f(x, power=1))(3.0)
    with pytest.raises(cr.MissingRuleError, match="does not support the keyword 'power'"):
        cr.grad(lambda x: f(x, power=2))(3.0)


# ---- methods --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Model:
    weight: float

    def predict(self, x):
        return self.weight * x


def test_bound_methods():
    """A method is bound anew at every look, and found by equality: its object is the same."""
    model = Model(2.0)

    @cr.rrule.register(model.predict)
    def predict_rrule(predict, x):
        def predict_pullback(ybar):
            return NO, 10 * ybar

        return predict(x), predict_pullback

    assert model.predict is not model.predict
    y, pullback = cr.rrule(model.predict, 3.0)
    assert (6.0, (NO, 10.0)) == (y, pullback(1.0))
    assert 10.0 == cr.grad(model.predict)(3.0)
    assert 5.0 == cr.grad(Model(5.0).predict)(3.0)


def test_methods_of_a_primitive_class():
    """A method that is a primitive: its rule has the object for its first argument."""

    class Layer:
        def __init__(self, weight):
            self.weight = weight

        @cr.primitive
        def apply(self, x):
            return self.weight * x

    @cr.rrule.register(Layer.apply)
    def apply_rrule(apply, layer, x):
        def apply_pullback(ybar):
            return NO, cr.Tangent(Layer, weight=100 * x * ybar), layer.weight * ybar

        return apply(layer, x), apply_pullback

    layer_bar, xbar = cr.grad(lambda layer, x: layer.apply(x), argnums=(0, 1))(Layer(2.0), 3.0)
    assert (cr.Tangent(Layer, weight=300.0), 2.0) == (layer_bar, xbar)


def test_a_functions_rule_is_found_before_its_class():
    class Call:
        def __call__(self, x):
            return x

    special = Call()

    @cr.rrule.register(cr.instances(Call))
    def call_rrule(call, x):
        return named("instance")

    @cr.rrule.register(special)
    def special_rrule(special, x):
        return named("this one")

    assert "this one" == cr.rrule(special, 1.0)[0]
    assert "instance" == cr.rrule(Call(), 1.0)[0]


# ---- a rule that breaks its contract --------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, r"the rrule of f \(test_dispatch\.py:\d+\) must return \(y, pullback\)"),
        ((1.0, 2.0), r"must return \(y, pullback\)"),
        ((1.0, lambda ybar: ybar), "the pullback of f returned a float "),
        ((1.0, lambda ybar: (NO, ybar, ybar)), "the pullback of f returned 3 cotangents"),
    ],
)
def test_answers_that_are_none(answer, message):
    @cr.primitive
    def f(x):
        return x

    @cr.rrule.register(f)
    def f_rrule(f, x):
        return answer

    with pytest.raises(cr.RuleError, match=message):
        cr.grad(lambda x: 2 * f(x))(np.float64(3.0))


def test_a_cotangent_of_the_wrong_shape_is_refused():
    @cr.primitive
    def f(x):
        return np.sum(x)

    @cr.rrule.register(f)
    def f_rrule(f, x):
        return f(x), lambda ybar: (NO, ybar)

    with pytest.raises(cr.TangentError, match=r"the pullback of f gave argument 0 .* shape \(\)"):
        cr.grad(lambda x: f(2 * x))(np.ones(3))


def test_a_tangent_of_the_wrong_shape_is_refused():
    @cr.primitive
    def f(x):
        return 2 * x

    @cr.frule.register(f)
    def f_frule(tangents, f, x):
        return f(x), np.sum(tangents[1])

    with pytest.raises(cr.TangentError, match=r"the frule of f gave a tangent of shape \(\)"):
        cr.jvp(lambda x: f(2 * x), (np.ones(3),), (np.ones(3),))
