"""Each hand-written pair beside the other direction that is made of each of its halves."""

import numpy as np
import pytest
import test_every_rule as every_rule
from both_modes import both_rules
from quietly import quietly

import chainrules as cr
from chainrules.reverse.derived import pulled, pushed
from chainrules.rules import AbstractZero, as_structured, frule, pair_rule, rrule
from chainrules.rules.signatures import RuleSignature
from chainrules.testing import rand_tangent

CASES, FIXED, WRITERS = every_rule.CASES, every_rule.FIXED, every_rule.WRITERS


def by_hand(f):
    found = frule.rules_by_hand(f), rrule.rules_by_hand(f)
    return found if all(found) else None


PAIRS = [
    pytest.param(f, id=every_rule.name_of(f)) for f in CASES if by_hand(f) and f not in WRITERS
]


def fixed(f, args, tangents):
    """Leave out what is an option that happens to be a number."""
    at = FIXED.get(f, ())
    at = (at,) if isinstance(at, int) else at
    return tuple(cr.NoTangent() if i in at else t for i, t in enumerate(tangents))


def close(given, expected, found, single):
    for x, a, b in zip(given, expected, found, strict=True):
        if not (isinstance(a, AbstractZero) and isinstance(b, AbstractZero)):
            p, q = (cr.flatten(as_structured(x, t))[0] for t in (a, b))
            scale = 1 + np.max(np.abs(p), initial=0)
            eps = 1e-4 if single else 1e-9
            np.testing.assert_allclose(q, p, rtol=10 * eps, atol=eps * scale)


@pytest.mark.parametrize("f", PAIRS)
def test_each_half_makes_the_other(f):
    config = cr.ReverseConfig()
    tried = 0
    for args, kwargs in CASES[f]:
        with quietly():
            push, pull = frule.find(config, f, args), rrule.find(config, f, args)
            if not (isinstance(push, RuleSignature) and isinstance(pull, RuleSignature)):
                continue
            args, kwargs = pull.bind(f, args, kwargs)
            single = any(
                np.asarray(x).dtype in (np.float32, np.complex64) for x in every_rule.leaves(args)
            )
            rng = np.random.default_rng(3)
            tangents = fixed(f, args, [rand_tangent(x, rng) for x in args])
            y, pullback = rrule.run(pull, config, f, args, kwargs)
            _, ydot = frule.run(push, config, (cr.NoTangent(), *tangents), f, args, kwargs)
            ybar = rand_tangent(y, rng)
            head = () if push.config_type is None else (config,)
            _, made = pulled(push)(*head, f, *args, **kwargs)
            close(args, fixed(f, args, pullback(ybar)[1:]), fixed(f, args, made(ybar)[1:]), single)
            head = () if pull.config_type is None else (config,)
            _, made_dot = pushed(pull)(*head, (cr.NoTangent(), *tangents), f, *args, **kwargs)
            close((y,), (ydot,), (made_dot,), single)
            tried += 1
    assert tried


# ---- pairs that share what they compute first ----


@cr.primitive
def stretched(x, by=2.0, *, shift=0.0):
    return np.exp(by * x) + shift


@pair_rule(stretched)
def stretched_pair(stretched, x, *, by=2.0, shift=0.0):
    y = stretched(x, by, shift=shift)
    slope = by * (y - shift)

    def stretched_pushforward(xdot):
        return slope * xdot

    def stretched_pullback(ybar):
        return np.conj(slope) * ybar

    return y, stretched_pushforward, stretched_pullback


@pytest.mark.parametrize("x", [0.3, np.linspace(0, 1, 3), np.float32([0.1, 0.4]), np.array([1j])])
def test_one_function_makes_both_rules(x):
    for options in ({}, {"by": 0.5}, {"shift": 1.0}):
        both_rules(stretched, x, fkwargs=options)


def test_second_derivative_of_a_pair():
    x = np.array([0.1, 0.7])
    expected = np.diag(9 * np.exp(3 * x))
    for hessian in (
        cr.hessian,
        lambda f: cr.jacfwd(cr.jacfwd(f)),
        lambda f: cr.jacrev(cr.jacrev(f)),
    ):
        np.testing.assert_allclose(hessian(lambda x: np.sum(stretched(x, 3.0)))(x), expected)


def test_a_pair_projects_and_takes_options_by_position():
    y, pullback = cr.rrule(stretched, 0.5, 1.0)
    xbar = pullback(1 + 2j)
    assert xbar == (cr.NoTangent(), pytest.approx(np.exp(0.5)), cr.NoTangent())
    _, ydot = cr.frule((cr.NoTangent(), 1 + 2j, cr.NoTangent()), stretched, 0.5, 1.0)
    assert [y, ydot] == [pytest.approx(np.exp(0.5))] * 2
    with pytest.raises(cr.MissingRuleError, match="does not support the keyword 'base'"):
        cr.rrule(stretched, 0.5, base=2)


class Box:
    """An object, first without a number in it."""


@cr.primitive
def weighted(box, x):
    return getattr(box, "w", 1.0) * x


@pair_rule(weighted)
def weighted_pair(weighted, box, x):
    y = weighted(box, x)

    def weighted_pushforward(boxdot, xdot):
        return getattr(box, "w", 1.0) * xdot + (boxdot.w * x if hasattr(box, "w") else 0.0)

    def weighted_pullback(ybar):
        return cr.Tangent(Box, w=ybar * x), ybar * getattr(box, "w", 1.0)

    return y, weighted_pushforward, weighted_pullback


def test_a_class_that_has_tangents_only_later():
    box = Box()
    assert 1.0 == cr.grad(lambda x: weighted(box, x))(3.0)
    box.w = 2.0
    assert cr.Tangent(Box, w=3.0) == cr.grad(lambda b: weighted(b, 3.0))(box)


def test_messages_name_the_pair():
    for table in (frule, rrule):
        text = cr.which(table, stretched, 0.5)
        assert "stretched_pair (test_pairs_by_hand.py:" in text
