"""Rules by hand that lack the function as their first argument are refused where they are made."""

import functools
import re

import numpy as np
import pytest

import chainrules as cr


@cr.primitive
def double(x):
    return 2 * x


@cr.primitive
def scaled(x, k=2.0):
    return k * x


@cr.primitive
def added(x, y, *more):
    return x + y + sum(more)


@cr.primitive
def powered(x, *, k=1):
    return x**k


class Line:
    def __init__(self, slope):
        self.slope = slope

    def __call__(self, x):
        return self.slope * x

    def at(self, x):
        return self.slope * x


Primitive = cr.primitive(Line)


def first(rule, *args):
    return rule(*args)


@cr.primitive
@functools.wraps(lambda a, b, c: 0)
def wrapped(*args):
    return sum(args)


NO_RRULES = {
    "lacks it": (double, lambda x: 0, "rule(double, x)"),
    "lacks it beside a config": (double, "config", "rule(config: HasReverseMode, double, x)"),
    "a config without an annotation": (double, lambda config, double, x: 0, "rule(double, x)"),
    "an argument too many": (double, lambda double, x, y: 0, "rule(double, x)"),
    "lacks it, with a default": (scaled, lambda x, k=2.0: 0, "rule(scaled, x, k=2.0)"),
    "lacks it, with a keyword": (powered, lambda x, *, k=1: 0, "rule(powered, x, *, k=1)"),
    "lacks it, of two": (added, lambda x, y: 0, "rule(added, x, y, *more)"),
    "lacks it, of any number": (added, lambda x, y, *more: 0, "rule(added, x, y, *more)"),
    "of instances": (cr.instances(Line), lambda x: 0, "rule(instance, x)"),
    "of a class": (Primitive, lambda slope: 0, "rule(Line, slope)"),
    "of a method": (Line(1.0).at, lambda x: 0, "rule(at, x)"),
}  # fmt: skip
if np.lib.NumpyVersion(np.__version__) >= "2.4.0":  # before, a ufunc tells no signature
    NO_RRULES["of a ufunc"] = (np.hypot, lambda x1, x2: 0, "rule(hypot, x1, x2, /)")
NO_FRULES = {
    "lacks the function": (double, lambda tangents, x: 0, "rule(tangents, double, x)"),
    "lacks the tangents": (double, lambda double, x: 0, "rule(tangents, double, x)"),
    "lacks it, with a default": (
        scaled, lambda tangents, x, k=2.0: 0, "rule(tangents, scaled, x, k=2.0)"
    ),
    "lacks both": (scaled, lambda x, k=2.0: 0, "rule(tangents, scaled, x, k=2.0)"),
}  # fmt: skip
RULES = {
    "plain": (double, lambda double, x: 0),
    "by another name": (double, lambda f, x: 0),
    "by the name of the argument": (first, lambda first, rule, *args: 0),
    "any arguments": (double, lambda double, *args: 0),
    "any options": (double, lambda double, **options: 0),
    "the argument as an option": (double, lambda double, *, x: 0),
    "without the default": (scaled, lambda scaled, x: 0),
    "with the default": (scaled, lambda scaled, x, k=2.0: 0),
    "the default as an option": (scaled, lambda scaled, x, *, k=2.0: 0),
    "one number of many": (added, lambda added, x, y, z: 0),
    "a keyword": (powered, lambda powered, x, *, k=1: 0),
    "of instances": (cr.instances(Line), lambda line, x: 0),
    "of a class": (Primitive, lambda line, slope: 0),
    "of a method": (Line(1.0).at, lambda at, x: 0),
    "of what is wrapped": (wrapped, lambda wrapped, a: 0),
    "of what does not tell": (functools.partial(first, 1), lambda f: 0),
}


def rule_of(made):
    if isinstance(made, str):

        def rule(config: cr.HasReverseMode, x):
            return 0

        return rule
    made.__name__ = "rule"
    return made


@pytest.mark.parametrize("name", NO_RRULES)
def test_what_is_no_rrule(name):
    f, made, signature = NO_RRULES[name]
    with pytest.raises(cr.RuleError, match=re.escape(f"write def {signature}") + r"(\n|$)"):
        cr.rrule.register(f)(rule_of(made))


@pytest.mark.parametrize("name", NO_FRULES)
def test_what_is_no_frule(name):
    f, made, signature = NO_FRULES[name]
    with pytest.raises(cr.RuleError, match=re.escape(f"write def {signature}") + r"(\n|$)"):
        cr.frule.register(f)(rule_of(made))


@pytest.mark.filterwarnings("ignore::chainrules.RuleNeverAskedWarning")
@pytest.mark.parametrize("name", RULES)
def test_what_is_a_rule(name):
    f, made = RULES[name]
    cr.rrule.register(f)(made)
    cr.rrule.unregister(f)


def test_what_the_error_says():
    def double_rrule(x):
        return double(x), lambda ybar: (cr.NoTangent(), 77.0)

    line = double_rrule.__code__.co_firstlineno
    with pytest.raises(cr.RuleError) as error:
        cr.rrule.register(double)(double_rrule)
    assert str(error.value) == (
        f"double_rrule(x) (test_arity.py:{line}) is no rrule of double, which is called as "
        "double(x): a rule takes the function itself, then its arguments.\n"
        "  write def double_rrule(double, x)"
    )
    with pytest.raises(cr.RuleError, match="a rule takes the tangents, then the function itself"):
        cr.frule.register(double)(lambda tangents, x: 0)
    assert cr.grad(double)(1.0) == 2.0
