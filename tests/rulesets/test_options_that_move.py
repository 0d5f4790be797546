"""Options and parameters that other tests hold fixed: their derivative is right, or refused.

Of a sampling rate, of weights or of a bound the result depends as of any argument; a rule that
takes it for a setting loses the derivative in silence. Options are those that cases give, and those
that have a number by default.
"""

import functools
import inspect
import warnings

import numpy as np
import pytest
from test_every_rule import CASES, FIXED, WRITERS, is_number, name_of

import chainrules as cr
from chainrules.rules.containers import iterate_leaves

pytestmark = pytest.mark.every_case

STEPS = 1e-5, 1e-6
CASES_OF_WHOLE_NUMBERS = 4  # of each function
DIFFERENCES_ARE_ROUGH = 1e-3  # of the derivative: what is looked for is a derivative that is lost


def is_float(x):
    return is_number(x) and np.asarray(x).dtype in (np.dtype(float), np.dtype(complex))


def drawn(f):
    """Yield functions of one number or array that a case has as an option, and where to ask."""
    for given, options in CASES[f]:
        for i in FIXED.get(f, ()):
            if i < len(given) and is_float(given[i]):
                yield functools.partial(_at_place, f, given, options, i), given[i]
        for name, x in options.items():
            if is_float(x):
                yield functools.partial(_at_name, f, given, options, name), x
    given, options = CASES[f][0]
    for name, x in defaults_of(f)[len(given) :]:
        if name not in options and isinstance(x, int | float) and not isinstance(x, bool):
            yield functools.partial(_at_name, f, given, options, name), float(x)
    yield from whole_numbers(f)


def whole_numbers(f):
    """Yield functions of what cases give in integers or flags, as real numbers."""
    for given, options in CASES[f][:CASES_OF_WHOLE_NUMBERS]:
        for i, x in enumerate(given):
            if is_whole(x) and i not in FIXED.get(f, ()):
                yield functools.partial(_at_place, f, given, options, i), np.asarray(x, float)[()]
        for name, x in options.items():
            if is_whole(x):
                yield functools.partial(_at_name, f, given, options, name), np.asarray(x, float)[()]


def is_whole(x):
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "iub" and x.size > 0
    if isinstance(x, list):
        return bool(x) and all(type(part) in (int, bool) for part in x)
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


def defaults_of(f):
    """Return the parameters by their names, each with its default."""
    try:
        found = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return []
    return [(p.name, p.default) for p in found if p.kind is not p.VAR_POSITIONAL]


def _at_place(f, given, options, i, t):
    beside = [x + 0.0 * np.sum(t) if is_vector(x) else x for x in given[: min(i, 1)]]  # see below
    return f(*beside, *given[len(beside) : i], t, *given[i + 1 :], **options)


def _at_name(f, given, options, name, t):
    # NumPy asks the arrays alone: so one that stays as it is is traced, too.
    beside = [x + 0.0 * np.sum(t) if is_vector(x) else x for x in given[:1]]
    return f(*beside, *given[1:], **{**options, name: t})


def is_vector(x):
    return isinstance(x, np.ndarray) and x.dtype in (np.dtype(float), np.dtype(complex)) and x.size


def entries_of(y):
    """Yield the leaves of a result; what one of SciPy's has beside its entries is left out."""
    return iterate_leaves(tuple(y) if isinstance(y, tuple) else y)


def floats_in(y):
    """Return the numbers of a result as one vector, integers and texts left out."""
    parts = [np.ravel(cr.value(x)) for x in entries_of(y) if is_float(cr.value(x))]
    return np.concatenate([*parts, np.zeros(0)])


def followed(g, t, tdot):
    """Return the derivative along ``tdot``; None where it is refused."""
    try:
        y, ydot = cr.jvp(lambda t: [x for x in entries_of(g(t)) if is_float(cr.value(x))],
                         (t,), (tdot,))  # fmt: skip
    except (cr.errors.ChainRulesError, TypeError, ValueError):
        return None
    parts = [np.broadcast_to(cr.value(d), np.shape(x)) for x, d in zip(y, ydot, strict=True)]
    return np.concatenate([*map(np.ravel, parts), np.zeros(0)])


def differences(g, t, tdot, h):
    """Return two-sided and both one-sided differences; None where ``g`` does not take that."""
    try:
        above, here, below = (floats_in(g(t + s * h * tdot)) for s in (1, 0, -1))
    except Exception:
        return None
    if not above.shape == here.shape == below.shape:
        return None
    return (above - below) / (2 * h), (above - here) / h, (here - below) / h


WITH_OPTIONS = [
    f
    for f in CASES
    if f not in WRITERS
    and CASES[f]
    and not str(getattr(f, "__module__", "")).startswith("chainrules.rules")  # with callers of ours
    and any(True for _ in drawn(f))
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", WITH_OPTIONS, ids=name_of)
def test_an_option_moves_the_result_or_is_refused(f):
    rng = np.random.default_rng(5)
    for g, t in drawn(f):
        tdot = np.asarray(rng.uniform(0.5, 1.0, np.shape(t)))[()]
        coarse, fine = (differences(g, t, tdot, h) for h in STEPS)
        if coarse is None or fine is None or (found := followed(g, t, tdot)) is None:
            continue
        with np.errstate(all="ignore"), warnings.catch_warnings():
            both, right, left = fine
            size = np.abs(both) + np.abs(found)
            # At a kink, and where differences are not precise, nothing is known.
            known = np.abs(right - left) + np.abs(both - coarse[0]) < 1e-2 * size
            wrong = known & ~(np.abs(found - both) <= DIFFERENCES_ARE_ROUGH * size + 1e-6)
        assert not wrong.any(), (found[wrong], both[wrong])
