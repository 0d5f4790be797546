"""Derivatives outside of a batch: of every rule's first case, at once, and as in a loop.

A batch form that calls a library's own function does not see what is traced further out; the batch
then goes item after item, with the right numbers.
"""

import warnings

import numpy as np
import pytest
from test_every_rule import CASES, WRITERS, name_of

import chainrules as cr
from chainrules.rules import dtype_of, seen
from chainrules.rules.containers import iterate_leaves

# What calls a function of the user's, or asks for the numbers of each item.
ONE_BY_ONE = {
    "accumulate", "reduce", "map", "funm", "laplace", "cspline1d", "qspline1d", "spherical_jn",
    "spherical_yn", "spherical_in", "spherical_kn", "binned_statistic", "binned_statistic_2d",
    "binned_statistic_dd",
}  # fmt: skip
OF_USERS = [
    f
    for f in CASES
    if f not in WRITERS
    and not (getattr(f, "__module__", None) or "").startswith("chainrules.rules")
]


def loss_of(f):
    """Return the sum of the real numbers that a case gives, in its first array or float."""
    for args, options in CASES[f][:1]:
        floats = [
            i
            for i, x in enumerate(args)
            if isinstance(x, np.ndarray | float) and np.asarray(x).dtype.kind == "f" and np.size(x)
        ]
        for i in floats[:1]:

            def loss(x, args=args, options=options, i=i):
                y = seen(f)(*args[:i], x, *args[i + 1 :], **options)
                leaves = [part for part in iterate_leaves((y,)) if not isinstance(part, type)]
                kinds = [getattr(dtype_of(part), "kind", "") for part in leaves]
                return sum(
                    [np.sum(np.real(x)) for x, kind in zip(leaves, kinds) if kind in ("f", "c")]
                )

            return loss, np.asarray(args[i])
    return None, None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", OF_USERS, ids=name_of)
def test_at_once_and_as_in_a_loop(f):
    loss, x = loss_of(f)
    if loss is None:
        return
    xs = np.stack([x, x * 1.001])
    try:
        expected = np.stack([cr.grad(loss)(x) for x in xs])
    except (cr.errors.ChainRulesError, TypeError, ValueError):
        return  # of no real number, or refused
    with warnings.catch_warnings():
        if f.__name__ not in ONE_BY_ONE:
            warnings.simplefilter("error", cr.BatchWarning)
        found = cr.grad(lambda xs: np.sum(cr.vmap(loss)(xs)))(xs)
    size = np.max(np.abs(expected), initial=1.0, where=np.isfinite(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * size)
