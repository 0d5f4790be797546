"""Each hand-written pair beside the other direction that is made of each of its halves."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

import chainrules as cr
from chainrules.reverse.derived import pulled, pushed
from chainrules.rules import AbstractZero, as_structured, frule, rrule
from chainrules.rules.signatures import RuleSignature
from chainrules.testing import rand_tangent

spec = importlib.util.spec_from_file_location(
    "every_rule", Path(__file__).parent / "test_every_rule.py"
)
every_rule = importlib.util.module_from_spec(spec)
spec.loader.exec_module(every_rule)
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
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
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
