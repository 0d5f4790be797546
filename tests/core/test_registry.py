"""The tables of rules: asking, registering, opting out, and the tools that define rules."""

import dataclasses
import functools
import gc
import inspect
import re
import subprocess
import sys
import weakref

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules import getitem

NO, ZERO = cr.NoTangent(), cr.ZeroTangent()


class Fast:
    pass


class FastConfig(cr.RuleConfig, Fast):
    pass


@pytest.fixture
def f():
    @cr.primitive
    def f(*args, **options):
        return args[0]

    return f


def pass_on(ybar):
    return NO, ybar


# ---- asking ---------------------------------------------------------------------------------


def test_asking_for_a_rule_there_is_not():
    def unknown(x):
        return x

    assert cr.rrule(unknown, 1.0) is None
    assert cr.frule((NO, 1.0), unknown, 1.0) is None
    assert cr.rrule(cr.ReverseConfig(), [].append, 1.0) is None
    assert cr.rrule([], 1.0) is None


@pytest.mark.parametrize(
    ("message", "ask"),
    [
        ("rrule takes", lambda: cr.rrule()),
        ("rrule takes", lambda: cr.rrule(cr.ReverseConfig())),
        ("frule takes", lambda: cr.frule(np.sin, 1.0)),
        ("frule takes", lambda: cr.frule((NO, 1.0))),
        ("frule of numpy.sin got 1 arguments and 1 tangents", lambda: cr.frule((NO,), np.sin, 1.0)),
    ],
)
def test_asking_in_the_wrong_way(message, ask):
    with pytest.raises(TypeError, match=message):
        ask()


def test_a_pullback_skips_zeros_and_opens_thunks(f):
    @cr.rrule.register(f)
    def f_rrule(f, x):
        def f_pullback(ybar):
            assert type(ybar) is float
            return NO, ybar

        return f(x), f_pullback

    _, pullback = cr.rrule(f, 1.0)
    assert (NO, 2.0) == pullback(2.0) == pullback(cr.thunk(lambda: 2.0))
    assert (ZERO, ZERO) == pullback(ZERO)
    assert "<pullback of f>" == repr(pullback)


def test_tables_show_themselves():
    assert repr(cr.rrule).startswith("<rrule: rules for ")
    assert repr(cr.frule).startswith("<frule: rules for ")
    assert "instances(Fast)" == repr(cr.instances(Fast))


# ---- registering ----------------------------------------------------------------------------


def test_register_returns_the_function(f):
    def f_rrule(f, x):
        return x, pass_on

    assert f_rrule is cr.rrule.register(f)(f_rrule)


def test_a_rule_with_the_same_types_replaces_the_older(f):
    for value in (1.0, 2.0):

        @cr.rrule.register(f)
        def f_rrule(f, x: float, value=value):
            return value, pass_on

        assert value == cr.rrule(f, 0.0)[0]


def test_a_rule_takes_effect_at_once(f):
    gradient, derivative = cr.grad(lambda x: 2 * f(x)), cr.jacfwd(lambda x: 2 * f(x))
    assert (2.0, 2.0) == (gradient(1.0), derivative(1.0))

    @cr.rrule.register(f)
    def f_rrule(f, x):
        return f(x), lambda ybar: (NO, 10 * ybar)

    @cr.frule.register(f)
    def f_frule(tangents, f, x):
        return f(x), 100 * tangents[1]

    assert (20.0, 200.0) == (gradient(1.0), derivative(1.0))

    @cr.rrule.register(f)
    def f_float_rrule(f, x: float):
        return f(x), lambda ybar: (NO, 3 * ybar)

    assert 6.0 == gradient(1.0)
    cr.scalar_rule(f, 5.0)
    assert (10.0, 10.0) == (gradient(1.0), derivative(1.0))
    cr.rrule.unregister(f)
    assert 2.0 == gradient(1.0)


def test_a_rule_of_a_call_without_arguments():
    @cr.primitive
    def constant(x=3.0):
        return x

    @cr.rrule.register(constant)
    def constant_rrule(constant, x=3.0):
        return x, pass_on

    assert 3.0 == cr.rrule(constant)[0]
    assert (5.0, (NO, 1.0)) == (cr.rrule(constant, 5.0)[0], cr.rrule(constant, 5.0)[1](1.0))


def test_annotated_tangents_of_a_functor_are_no_config():
    class Call:
        def __call__(self, x):
            return x

    @cr.frule.register(cr.instances(Call))
    def call_frule(tangents: tuple, call, x):
        return x, 2 * tangents[1]

    assert (1.0, 6.0) == cr.frule((NO, 3.0), Call(), 1.0)


def test_unregistering_a_functor():
    class Call:
        def __call__(self, x):
            return x

    @cr.rrule.register(cr.instances(Call))
    def call_rrule(call, x):
        return x, pass_on

    assert cr.rrule(Call(), 1.0) is not None
    cr.rrule.unregister(cr.instances(Call))
    assert cr.rrule(Call(), 1.0) is None


def rule_without_function():
    pass


def rule_without_config(config: Fast):
    pass


def rule_by_keyword(f, *, x, **options):
    return x, pass_on


def rule_with_an_unknown_annotation(f, x: "Missing"):  # type: ignore  # noqa: F821
    pass


@pytest.mark.parametrize(
    ("message", "register"),
    [
        ("rrule.register needs the function itself, not 'f'", lambda f: cr.rrule.register("f")),
        (
            r"rule_without_function \(test_registry.py:\d+\) must have the signature \(f, \*args\)",
            lambda f: cr.rrule.register(f)(rule_without_function),
        ),
        (
            r"must have the signature \(tangents, f, \*args\)",
            lambda f: cr.frule.register(f)(lambda tangents: None),
        ),
        (
            r"must have the signature \(f, \*args\)",
            lambda f: cr.rrule.register(f)(rule_without_config),
        ),
        (
            "an annotation of rule_with_an_unknown_annotation cannot be resolved",
            lambda f: cr.rrule.register(f)(rule_with_an_unknown_annotation),
        ),
    ],
)
def test_registering_what_is_no_rule(f, message, register):
    with pytest.raises(cr.RuleError, match=message):
        register(f)


def test_optional_arguments_and_options(f):
    """Positional parameters of the rule may be missing; keyword-only ones are options."""

    @cr.rrule.register(f)
    def f_rrule(f, x, *others, axis=None):
        def f_pullback(ybar):
            return NO, ybar, *([ZERO] * len(others))

        return (x, others, axis), f_pullback

    assert (1.0, (), None) == cr.rrule(f, 1.0)[0]
    y, pullback = cr.rrule(f, 1.0, 2.0, 3.0, axis=0)
    assert ((1.0, (2.0, 3.0), 0), (NO, 5.0, ZERO, ZERO)) == (y, pullback(5.0))


def test_options_given_by_position():
    """They get their names from the function, and NoTangent() for a cotangent."""

    @cr.primitive
    def f(x, axis=None, flag=False):
        return x

    @cr.rrule.register(f)
    def f_rrule(f, x, *, axis=None, flag=False):
        return (x, axis, flag), pass_on

    y, pullback = cr.rrule(f, 1.0, 0, flag=True)
    assert ((1.0, 0, True), (NO, 2.0, NO)) == (y, pullback(2.0))


# ---- configs --------------------------------------------------------------------------------


def test_the_config_parameter_is_known_by_its_annotation():
    """A config class, a trait of the library, AllOf, any class that the function is not."""

    def ask(annotate, config):
        def f(x):
            return x

        def f_rrule(asked, f, x):
            return type(asked).__name__, pass_on

        f_rrule.__annotations__["asked"] = annotate
        cr.rrule.register(f)(f_rrule)
        found = cr.rrule(config, f, 1.0)
        return None if found is None else found[0]

    reverse = cr.ReverseConfig()
    for annotation in (
        cr.RuleConfig, cr.ReverseConfig, cr.HasReverseMode, cr.AllOf[cr.HasReverseMode],
        cr.AllOf[cr.HasForwardsMode, cr.HasReverseMode],
    ):  # fmt: skip
        assert "ReverseConfig" == ask(annotation, reverse)
    assert "FastConfig" == ask(Fast, FastConfig())
    for annotation in (cr.ForwardConfig, cr.NoReverseMode, Fast, cr.AllOf[cr.HasReverseMode, Fast]):
        assert ask(annotation, reverse) is None


def test_traits_of_ones_own_are_weighed_before_types(f):
    """A rule that few engines are to be given was hidden by any rule with more types."""

    def register(name, annotation, types=object):
        def f_rrule(config, f, x):
            return name, pass_on

        f_rrule.__annotations__.update({"config": annotation, "x": types})
        cr.rrule.register(f)(f_rrule)

    def for_one_type(f, x: int):
        return "for one type", pass_on

    def ask(config, x=2.0):
        return cr.rrule(config, f, x)[0]

    class FasterConfig(FastConfig, cr.HasReverseMode):
        def rrule_via_ad(self, f, *args, **kwargs): ...

    register("for floats", cr.AllOf[cr.HasForwardsMode, cr.HasReverseMode], float)
    register("for all", cr.HasReverseMode)
    register("for arrays", cr.RuleConfig, np.ndarray)
    assert ["for floats", "for all"] == [ask(cr.ReverseConfig(), x) for x in (2.0, 2)]
    register("fast", Fast)
    assert ["fast"] * 3 == [ask(FastConfig(), x) for x in (2.0, 2, np.ones(2))]
    assert "for floats" == ask(cr.ReverseConfig())
    register("fast, and reverse", cr.AllOf[cr.HasReverseMode, Fast], np.ndarray)
    assert ["fast", "fast, and reverse"] == [ask(FasterConfig(), x) for x in (2.0, np.ones(2))]
    register("faster", FasterConfig)
    assert ["faster"] * 2 == [ask(FasterConfig(), x) for x in (2.0, np.ones(2))]
    assert "fast" == ask(FastConfig())
    cr.rrule.register(f)(for_one_type)  # which calls nobody back
    assert ["for one type", "fast"] == [ask(FastConfig(), x) for x in (2, 2.0)]
    assert "because FasterConfig() has FasterConfig" in cr.which(cr.rrule, FasterConfig(), f, 2.0)


def test_a_rule_of_map_for_an_engine_of_ones_own():
    """It was never asked for arrays, for which there is one of ours."""

    class Elsewhere:
        pass

    class ElsewhereConfig(cr.ReverseConfig, Elsewhere):
        pass

    @cr.primitive
    def mapped(f, xs):
        return cr.map(f, xs)

    @cr.rrule.register(mapped)
    def on_arrays(
        config: cr.AllOf[cr.HasForwardsMode, cr.HasReverseMode], mapped, f, xs: np.ndarray
    ):
        return cr.rrule(config, cr.map, f, xs)

    @cr.rrule.register(mapped)
    def elsewhere(config: cr.AllOf[cr.HasReverseMode, Elsewhere], mapped, f, xs):
        return 7.0 * xs, lambda ybar: (NO, NO, 7.0 * ybar)

    xs = np.array([1.0, 2.0])

    def total(xs):
        return np.sum(mapped(np.square, xs))

    assert [2.0, 4.0] == cr.grad(total)(xs).tolist()
    assert [7.0, 7.0] == cr.grad(total, config=ElsewhereConfig())(xs).tolist()


def test_configs_of_a_class_are_equal():
    assert cr.ReverseConfig() == cr.ReverseConfig()
    assert cr.ReverseConfig() != cr.ForwardConfig()
    assert 1 == len({cr.ReverseConfig(), cr.ReverseConfig()})
    assert "ReverseConfig()" == repr(cr.ReverseConfig())


def test_all_of():
    both = cr.AllOf[cr.HasForwardsMode, cr.HasReverseMode]
    assert "AllOf[HasForwardsMode, HasReverseMode]" == both.__name__
    assert isinstance(cr.ReverseConfig(), both)
    assert not isinstance(cr.ForwardConfig(), both)
    assert issubclass(both, cr.HasReverseMode)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        (
            r"ForwardConfig\(\) has no rrule_via_ad",
            lambda: cr.rrule_via_ad(cr.ForwardConfig(), abs, 1.0),
        ),
        (
            "ask for the trait in the rule",
            lambda: cr.frule_via_ad(FastConfig(), (NO, 1.0), abs, 1.0),
        ),
        ("frule_via_ad needs a RuleConfig, and got float", lambda: cr.frule_via_ad(1.0, (), abs)),
    ],
)
def test_calling_back_into_an_engine_that_cannot(message, call):
    with pytest.raises(cr.RuleError, match=message):
        call()


# ---- opting out, and which ------------------------------------------------------------------


def test_opting_out(f):
    @cr.rrule.register(f)
    def f_rrule(f, x, *others):
        return f(x, *others), lambda ybar: (NO, 10 * ybar, *others)

    cr.opt_out(cr.rrule, f, float)
    assert (1.0, 10.0) == (cr.grad(lambda x: f(x))(2.0), cr.grad(lambda x: f(x))(np.array(2.0)))
    assert cr.rrule(f, 2.0) is None
    assert cr.rrule(f, 2.0, 3.0) is not None
    with pytest.raises(cr.RuleError, match="opt_out takes the table first"):
        cr.opt_out(f, float)


def test_one_argument_is_more_specific_than_any_number(f):
    @cr.rrule.register(f)
    def f_many_rrule(f, *xs):
        return "many", pass_on

    @cr.rrule.register(f)
    def f_one_rrule(f, x):
        return "one", pass_on

    assert ("one", "many") == (cr.rrule(f, 1.0)[0], cr.rrule(f, 1.0, 2.0)[0])


def test_opting_out_for_any_arguments(f):
    @cr.rrule.register(f)
    def f_rrule(f, x):
        return f(x), pass_on

    cr.opt_out(cr.rrule, f)
    assert cr.rrule(f, 1.0) is None


@pytest.mark.parametrize(
    ("expected", "call"),
    [
        ("rrule of numpy.floor for (float): non-differentiable", (np.floor, 1.0)),
        ("rrule of numpy.sum for (ndarray): linear rule", (np.sum, np.ones(2))),
        ("rrule of numpy.matmul for (ndarray, float): bilinear rule", (np.matmul, np.ones(2), 1.0)),
        ("rrule of numpy.sin for (float): scalar rule", (np.sin, 1.0)),
        ("rrule of len for (list): none, and none is registered for any types", (len, [])),
        ("rrule of numpy.piecewise for (): composed of other functions", (np.piecewise,)),
    ],
)
def test_which(expected, call):
    assert cr.which(cr.rrule, *call).startswith(expected)


def test_which_needs_the_table():
    with pytest.raises(cr.RuleError, match="which takes the table first"):
        cr.which(np.sin, 1.0)


def test_which_says_where_a_rule_is(f):
    cr.scalar_rule(f, 1.0)
    where = r"test_registry\.py:\d+"
    assert pytest.importorskip("re").search(
        rf"scalar rule \({where}\)$", cr.which(cr.frule, f, 1.0)
    )

    @cr.rrule.register(f)
    def f_rrule(config: Fast, f, x: float):
        return x, pass_on

    text = cr.which(cr.rrule, FastConfig(), f, 1.0)
    assert (
        "because the most specific for its argument types (float) and FastConfig() has Fast" in text
    )


# ---- tools ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "define"),
    [
        (r"scalar_rule\(f\) needs one partial per argument", lambda f: cr.scalar_rule(f)),
        (
            "every output of f needs the same number of partials",
            lambda f: cr.scalar_rule(f, (1.0,), (1.0, 2.0)),
        ),
    ],
)
def test_tools_used_in_the_wrong_way(f, message, define):
    with pytest.raises(cr.RuleError, match=message):
        define(f)


def test_non_differentiable_functions_leave_no_trace(f):
    seen = []

    @cr.primitive
    def spy(x):
        seen.append(type(x))
        return x

    cr.non_differentiable(f, spy)
    assert 2.0 == cr.grad(lambda x: x * f(x))(2.0)
    assert 2.0 == cr.grad(lambda x: x * spy(x))(2.0)
    assert [float] == seen
    y, pullback = cr.rrule(f, 1.0, 2.0)
    assert (1.0, (NO, NO, NO)) == (y, pullback(NO))


def test_a_linear_rule_refuses_other_options():
    @cr.primitive
    def total(x, axis=None, weights=None):
        return np.sum(x, axis)

    @cr.linear_rule(total)
    def total_transpose(ybar, space, axis=None):
        return np.broadcast_to(ybar, space.shape)

    np.testing.assert_array_equal([1.0, 1.0], cr.grad(lambda x: total(x, weights=None))(np.ones(2)))
    message = (
        "the rule of total does not support the keyword 'weights'.\n  keywords it supports: axis"
    )
    with pytest.raises(cr.MissingRuleError, match=message):
        cr.grad(lambda x: total(x, weights=1.0))(np.ones(2))


def test_getitem_is_a_function_with_a_rule():
    y, pullback = cr.rrule(getitem, np.arange(3.0), 1)
    assert 1.0 == y
    np.testing.assert_array_equal([0.0, 2.0, 0.0], cr.unthunk(pullback(2.0)[1]))


def test_primitives():
    @cr.primitive
    def f(x, *, scale=1.0):
        """Say something."""
        return scale * x

    assert ("f", "Say something.", 6.0) == (f.__name__, f.__doc__, f(3.0, scale=2.0))
    assert 2.0 == cr.grad(lambda x: f(x, scale=2.0))(3.0)
    assert 3.0 == cr.grad(lambda scale: f(3.0, scale=scale))(2.0)


def test_rules_of_which_neither_is_more_specific():
    def f(x, y):
        return x

    def answer(x):
        return x, lambda ybar: (cr.NoTangent(), ybar, ybar)

    @cr.rrule.register(f)
    def f_first_rrule(f, x: float, y):
        return answer(x)

    @cr.rrule.register(f)
    def f_second_rrule(f, x, y: float):
        return answer(x)

    with pytest.warns(Warning, match=r"the rules of f for .*, and neither is more specific"):
        cr.rrule(f, 1.0, 2.0)

    def g(*xs):
        return xs[0]

    @cr.rrule.register(g)
    def g_two_rrule(g, x, y):
        return answer(x)

    @cr.rrule.register(g)
    def g_many_rrule(g, *xs: float):
        return answer(xs[0])

    with pytest.warns(Warning, match="neither is more specific"):
        cr.rrule(g, 1.0, 2.0)


# ---- rules go with their function -----------------------------------------------------------


def with_a_scalar_rule(f):
    cr.scalar_rule(f, lambda y, x: 2 * x)


def with_rules_by_hand(f):
    @cr.rrule.register(f)
    def f_rrule(config: cr.HasReverseMode, f, x):
        return f(x), pass_on

    @cr.frule.register(f)
    def f_frule(tangents, f, x: float):
        return f(x), tangents[1]


def with_outputs(f):
    cr.scalar_rule(f, (lambda _, x: 2 * x,), (1,))


def with_an_opt_out(f):
    with_rules_by_hand(f)
    cr.opt_out(cr.rrule, f, float)


@pytest.mark.parametrize("decorate", [cr.primitive, lambda f: f], ids=["primitive", "plain"])
@pytest.mark.parametrize(
    "register", [with_a_scalar_rule, with_rules_by_hand, with_outputs, with_an_opt_out]
)
def test_a_function_that_is_gone_takes_its_rules_along(decorate, register):
    def make():
        @decorate
        def square(x):
            return (x * x, x) if register is with_outputs else x * x

        register(square)
        first = register is with_outputs
        use = (lambda **k: square(**k)[0]) if first else lambda **k: square(**k)
        cr.grad(lambda x: use(x=x))(1.0)
        cr.jvp(square, (1.0,), (1.0,))
        cr.jacfwd(lambda x: use(x=x))(np.ones(2))
        return weakref.ref(square)

    reference = make()
    gc.collect()
    assert reference() is None


def test_partials_of_other_outputs_than_there_are(f):
    cr.scalar_rule(f, (1.0,), (2.0,))
    for run in (lambda: cr.grad(f)(1.0), lambda: cr.jvp(f, (1.0,), (1.0,))):
        with pytest.raises(cr.RuleError, match=r"partials of 2, and it returned 1 \(float"):
            run()


def test_a_wrapper_does_not_take_over_the_rules_of_what_it_wraps(f):
    """functools.wraps copies every attribute of a function."""
    cr.scalar_rule(f, 5.0)

    @functools.wraps(f)
    def twice(x):
        return 2 * f(x)

    assert cr.rrule(twice, 1.0) is None
    assert (5.0, 10.0) == (cr.grad(f)(1.0), cr.grad(twice)(1.0))
    cr.scalar_rule(twice, 7.0)
    assert (5.0, 7.0) == (cr.grad(f)(1.0), cr.grad(twice)(1.0))


def test_a_primitive_of_a_function_of_numpy_is_not_kept_either():
    def make():
        inv = cr.primitive(np.linalg.inv)
        cr.linear_rule(inv, lambda ybar, space: ybar)
        return weakref.ref(inv)

    reference = make()
    gc.collect()
    assert reference() is None


def test_bound_methods_are_found_by_equality():
    class Line:
        def at(self, x):
            return 3 * x

    line, other = Line(), Line()

    @cr.rrule.register(line.at)
    def at_rrule(at, x):
        return at(x), lambda ybar: (NO, 10 * ybar)

    assert 10.0 == cr.rrule(line.at, 1.0)[1](1.0)[1]
    assert cr.rrule(other.at, 1.0) is None
    cr.rrule.unregister(line.at)
    assert cr.rrule(line.at, 1.0) is None


# ---- rules that nobody asks -----------------------------------------------------------------


class Scale:
    def __init__(self, a):
        self.a = a

    def __call__(self, x):
        return self.a * x


def plain(x):
    return x


@pytest.mark.parametrize(
    ("f", "what", "remedy"),
    [
        (plain, "plain itself is", "decorate plain with @cr.primitive, and register the rule for"),
        (
            len,
            "len itself is",
            "put the call into a function with @cr.primitive, and",
        ),
        (Scale, "Scale itself is", "decorate Scale with @cr.primitive, and register the rule for"),
        (
            cr.instances(Scale),
            "an instance of Scale is itself",
            "put the call into a function with @cr.pri",
        ),
        (Scale(1.0).__call__, "__call__ itself is", "put the call into a function with @cr.primi"),
    ],
)
@pytest.mark.parametrize("table", [cr.frule, cr.rrule])
def test_registering_a_rule_that_calls_inside_a_program_do_not_ask(table, f, what, remedy):
    """The rule is asked where f itself is differentiated, not at calls of f inside a program."""

    def rule(*call):
        raise AssertionError

    expected = f"asked only where {what} what is differentiated"
    of_frule, of_rrule = lambda tangents, f, x: 0, lambda f, x: 0
    rule.__signature__ = inspect.signature(of_frule if table is cr.frule else of_rrule)
    with pytest.warns(cr.RuleNeverAskedWarning, match=re.escape(expected)) as caught:
        table.register(f)(rule)
    table.unregister(f)
    assert [__file__] == [warning.filename for warning in caught]
    assert remedy in str(caught[0].message)


def test_the_tools_warn_of_rules_that_nobody_asks():
    for define in (
        lambda: cr.scalar_rule(plain, 1.0),
        lambda: cr.scalar_rule(plain, (1.0,), (2.0,)),
        lambda: cr.linear_rule(plain, lambda ybar, space: ybar),
        lambda: cr.non_differentiable(plain),
        lambda: cr.non_differentiable(plain, float),
    ):
        with pytest.warns(cr.RuleNeverAskedWarning) as caught:
            define()
        assert [__file__] == [warning.filename for warning in caught]
    assert "non-differentiable" in cr.which(cr.rrule, plain, 1.0)
    assert "not asked by calls inside a program" in cr.which(cr.rrule, plain, 1.0)
    cr.rrule.unregister(plain)
    cr.frule.unregister(plain)


def test_no_warning_for_rules_that_are_asked(f, recwarn):
    with_rules_by_hand(f)
    cr.scalar_rule(f, 1.0)
    cr.non_differentiable(f, str)
    cr.opt_out(cr.rrule, plain)
    assert [] == recwarn.list
    assert "not asked" not in cr.which(cr.rrule, f, 1.0) + cr.which(cr.rrule, np.sin, 1.0)


def test_a_wrapper_of_a_primitive_runs_where_it_is_called_by_a_rule(f):
    @functools.wraps(f)
    def twice(x):
        return 2 * f(x)

    cr.scalar_rule(f, 5.0)
    assert 10.0 == cr.grad(cr.checkpoint(twice))(1.0)


def registered_by(module, program, **names):
    """Run a program that registers rules, as if ``module`` did."""
    exec(program, {"cr": cr, "NO": NO, "__name__": module, **names})


SCALAR = "cr.scalar_rule(f, 2.0)"
BY_HAND = "@cr.rrule.register(f)\ndef f_rrule(f, x): return f(x), lambda ybar: (NO, ybar)"
LINEAR = "cr.linear_rule(f, lambda ybar, space: ybar)"
CONSTANT = "cr.non_differentiable(f)"
TYPED = "@cr.rrule.register(f)\ndef f_rrule(f, x: str): return f(x), lambda ybar: (NO, NO)"


@pytest.mark.parametrize("first", [SCALAR, BY_HAND, LINEAR, CONSTANT])
@pytest.mark.parametrize("second", [SCALAR, BY_HAND, LINEAR, CONSTANT])
def test_replacing_the_rule_of_another_module_warns(f, first, second, recwarn):
    registered_by("theirs.rules", first, f=f)
    registered_by("theirs", first, f=f)  # again, as when it is loaded again
    assert [] == recwarn.list
    message = r"a rule of f that theirs registered is replaced, for everybody"
    with pytest.warns(cr.RuleReplacedWarning, match=message):
        registered_by("ours", second, f=f)
    recwarn.clear()
    registered_by("ours", second, f=f)
    assert [] == recwarn.list


def test_replacing_a_rule_of_ours_warns_once_and_at_the_line(recwarn):
    former = [table.methods.pop(np.cbrt) for table in (cr.frule, cr.rrule)]
    kinds = [table.kinds.pop(np.cbrt) for table in (cr.frule, cr.rrule)]
    try:
        for table, methods in zip((cr.frule, cr.rrule), former, strict=True):
            table.methods[np.cbrt] = methods
        for _ in range(2):  # a cell of a notebook that is run again
            cr.scalar_rule(np.cbrt, lambda y, x: 0 * x)
        assert {__file__} == {warning.filename for warning in recwarn.list}
        assert {cr.RuleReplacedWarning} == {warning.category for warning in recwarn.list}
        assert "a rule of numpy.cbrt that chainrules registered" in str(recwarn.list[0].message)
        assert 1 == len(recwarn.list)
    finally:
        for table, methods, kind in zip((cr.frule, cr.rrule), former, kinds, strict=True):
            table.methods[np.cbrt], table.kinds[np.cbrt] = methods, kind
            table.scalars[np.cbrt] = kind


def test_a_rule_for_other_types_replaces_nothing(f, recwarn):
    registered_by("theirs", SCALAR, f=f)
    registered_by("ours", TYPED, f=f)
    assert [] == recwarn.list
    with pytest.warns(cr.RuleReplacedWarning, match="that ours registered"):
        registered_by("others", TYPED, f=f)


def test_a_rule_of_the_users_stays_when_rules_of_its_library_are_loaded_late():
    # The first other function of scipy.special that was differentiated put ours in its place.
    program = """
import warnings, scipy.special, chainrules as cr
warnings.simplefilter("ignore")
cr.scalar_rule(scipy.special.erf, lambda y, x: 7.0)
cr.grad(scipy.special.gammaln)(1.5)
print(cr.grad(scipy.special.erf)(1.5))
"""
    run = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
    assert ("7.0\n", "") == (run.stdout, run.stderr)


def test_primitive_on_a_class_keeps_a_class():
    class Base:
        def doubled(self):
            return type(self)(2 * self.a)

    @cr.primitive
    class Wave(Base):
        """A wave."""

        def __init__(self, a, phase=0.0):
            super().__init__()
            self.a, self.phase = a, phase

        def at(self, x):
            return self.a * np.sin(x + self.phase)

    asked = []
    assert isinstance(Wave, type)
    assert isinstance(Wave(1.0), Wave)
    assert isinstance(Wave(1.0), Base)
    assert ("Wave", "A wave.") == (Wave.__name__, Wave.__doc__)
    assert ["a", "phase"] == list(inspect.signature(Wave).parameters)
    # Without a rule its constructor runs, on traced values too.
    assert np.sin(3.0) == cr.grad(lambda a: Wave(a).at(3.0))(2.0)

    @cr.frule.register(Wave)
    def wave_frule(tangents, Wave, a, phase=0.0):  # noqa: N803
        asked.append("frule")
        return Wave(a, phase), cr.Tangent(Wave, a=10 * tangents[1])

    @cr.rrule.register(Wave)
    def wave_rrule(Wave, a, phase=0.0):  # noqa: N803
        asked.append("rrule")
        return Wave(a, phase), lambda ybar: (NO, 10 * ybar.a, cr.ZeroTangent())

    def program(a):
        wave = Wave(a)
        assert isinstance(wave, Wave)
        return wave.at(3.0)

    assert 10 * np.sin(3.0) == cr.grad(program)(2.0)
    assert (2 * np.sin(3.0), 10 * np.sin(3.0)) == cr.jvp(program, (2.0,), (1.0,))
    assert 20 * np.sin(3.0) == cr.grad(lambda a: Wave(a, phase=0.0).doubled().at(3.0))(2.0) / 10
    assert 0.0 == cr.hessian(program)(2.0)
    assert {"frule", "rrule"} == set(asked)
    assert "wave_rrule" in cr.which(cr.rrule, Wave, 2.0)
    assert "not asked" not in cr.which(cr.rrule, Wave, 2.0)

    class Louder(Wave):
        def __init__(self, a):
            super().__init__(100 * a)

    assert 100 * np.sin(3.0) == cr.grad(lambda a: Louder(a).at(3.0))(2.0)


def test_primitive_on_dataclasses_and_on_classes_with_slots():
    @cr.primitive
    @dataclasses.dataclass(frozen=True, slots=True)
    class Point:
        x: float
        y: float = 2.0

    @dataclasses.dataclass
    @cr.primitive
    class Below:
        x: float
        y: float = 2.0

    for cls in (Point, Below):
        assert [f.name for f in dataclasses.fields(cls)] == ["x", "y"]
        assert cls(1.0) == cls(1.0, 2.0)
        assert cr.grad(lambda p: p.x * p.y)(cls(1.0)).x == 2.0
        assert cr.grad(lambda x, cls=cls: cls(x).x * cls(x).y)(1.0) == 2.0
    assert not hasattr(Point(1.0), "__dict__")
    assert cr.primitive(float) is not float  # C's classes are wrapped, as functions are


def test_a_pullback_that_gives_none_is_an_error(f):
    def gives_none(f, *args):
        return f(*args), lambda ybar: (NO, *[None for _ in args])

    cr.rrule.register(f)(gives_none)
    message = r"pullback of f gave None for argument 0 \(test_registry\.py:\d+\)(?s:.*)ZeroTangent"
    for run in (cr.grad(f), cr.grad(lambda x: f(2 * x)), lambda x: cr.vjp(f, x)[1](1.0)):
        with pytest.raises(cr.RuleError, match=message):
            run(1.0)

    @cr.primitive
    def product(pair):
        return pair[0] * pair[1]

    @cr.rrule.register(product)
    def product_rrule(product, pair):
        return product(pair), lambda ybar: (NO, (ybar * pair[1], None))

    with pytest.raises(cr.TangentError, match=r"pullback of product, argument 0: None is no tan"):
        cr.grad(product)((2.0, 3.0))
    with pytest.raises(cr.RuleError, match=r"pullback of product gave None for argument 0"):
        cr.grad(lambda b: product((2.0, b)))(3.0)


# ---- rules that compute with object arrays --------------------------------------------------


def by_the_primitive_itself(f, x):
    y = f(x)
    return y, lambda ybar: (NO, ybar * y)


def by_asarray(f, x):
    y = np.exp(np.asarray(x))
    return y, lambda ybar: (NO, cr.thunk(lambda: ybar * y))


@pytest.mark.parametrize("rule", [by_the_primitive_itself, by_asarray])
@pytest.mark.parametrize("g", [np.sum, lambda y: y[0] * y[1], lambda y: np.sum(y**2)])
def test_second_derivatives_through_np_asarray(rule, g):
    """It makes an object array of traced numbers, of which the outer derivative was lost."""

    @cr.primitive
    def exp(x):
        return np.exp(np.asarray(x))

    cr.rrule.register(exp)(rule)
    x, v = np.array([0.5, -1.0]), np.array([1.0, 2.0])
    expected = cr.hessian(lambda x: g(np.exp(x)))(x)
    np.testing.assert_allclose(expected @ v, cr.hvp(lambda x: g(exp(x)), (x,), (v,)))
    for outer, inner in ((cr.jacfwd, cr.grad), (cr.jacrev, cr.grad), (cr.jacfwd, cr.jacfwd)):
        np.testing.assert_allclose(expected, outer(inner(lambda x: g(exp(x))))(x))


# ---- what a config promises ------------------------------------------------------------------


def test_a_config_that_promises_what_it_does_not_have():
    with pytest.raises(cr.RuleError, match=r"Empty has HasForwardsMode and does not implement fr"):
        type("Empty", (cr.RuleConfig, cr.HasForwardsMode, cr.NoReverseMode), {})
    with pytest.raises(cr.RuleError, match=r"does not implement rrule_via_ad[^$]*NoReverseMode"):
        type("Empty", (cr.RuleConfig, cr.HasReverseMode), {})


def test_a_config_that_contradicts_itself():
    with pytest.raises(cr.RuleError, match="HasForwardsMode and NoForwardsMode, which contradict"):
        type("Both", (cr.RuleConfig, cr.HasForwardsMode, cr.NoForwardsMode), {})
    with pytest.raises(cr.RuleError, match="HasReverseMode and NoReverseMode, which contradict"):
        type("Both", (cr.ReverseConfig, cr.NoReverseMode), {})
