"""Derivatives in both modes: by the two rules of a function, or by the engines."""

import numpy as np

import chainrules as cr
from chainrules.testing import test_frule, test_rrule


def gradient(f, x, **options):
    return cr.grad(lambda x: np.sum(f(x, **options)))(x)


def both_rules(f, *args, **options):
    test_frule(f, *args, **options)
    test_rrule(f, *args, **options)


def both_engines(f, *args, **options):
    """By the rules where there are some, and by the engines where ``f`` is composed."""
    test_frule(f, *args, frule_f=cr.frule_via_ad, **options)
    test_rrule(f, *args, rrule_f=cr.rrule_via_ad, **options)


def both(f, *args, **options):
    """By its rules, or by the engines alone where ``f`` has none; options are those of ``f``."""
    tests = both_engines if cr.rrule(f, *args, **options) is None else both_rules
    tests(f, *args, fkwargs=options)
