"""Arguments and options in another form that NumPy and SciPy take for the same: no rule minds.

An integer may be one of NumPy's, a tuple of integers a list, an array a list of lists, and SciPy
reads some names of options in any case. A rule that knows one form alone ends in an error that
names nothing of the user's, or goes by another branch than the value did.
"""

import copy
import functools
import itertools
import warnings

import numpy as np
import pytest
from test_every_rule import CASES, FIXED, WRITERS, is_number, kind_of, name_of
from test_operands_written_to import total

import chainrules as cr
from chainrules.scipy import special, stats


def as_list(x):
    integers = isinstance(x, tuple) and all(type(part) is int for part in x)
    return list(x) if integers else x


def as_small(x):
    """Return integers as unsigned ones of one byte, which have no negatives."""
    if type(x) is tuple and x and all(type(part) is int for part in x):
        return tuple(map(as_small, x))
    return np.uint8(x) if type(x) is int and 0 <= x < 256 else x


FORMS = {
    "integers of NumPy": lambda x: np.int64(x) if type(x) is int else x,
    "unsigned integers": as_small,
    "0-d arrays": lambda x: np.array(x) if type(x) in (int, bool) else x,
    "booleans of NumPy": lambda x: np.bool_(x) if type(x) is bool else x,
    "integers for booleans": lambda x: int(x) if type(x) is bool else x,
    "lists for tuples": as_list,
    "lists for arrays": lambda x: x.tolist() if type(x) is np.ndarray and x.ndim else x,
    "capitals": lambda x: x.upper() if isinstance(x, str) else x,
}


def drawn(f, form):
    """Yield programs of one argument beside others as they are and in the form, and its value."""
    for given, options in CASES[f]:
        for i, x in enumerate(given):
            if not isinstance(x, np.ndarray) or not is_number(x) or kind_of(x) not in "fc":
                continue
            if i in FIXED.get(f, ()):
                continue

            def program(t, form, given=given, options=options, i=i):
                rest, names = copy.deepcopy((list(given), options))
                rest = [part if k == i else form(part) for k, part in enumerate(rest)]
                rest[i] = t
                return total(f(*rest, **{name: form(part) for name, part in names.items()}))

            changed = [part for k, part in enumerate(given) if k != i] + list(options.values())
            if all(form(part) is part for part in changed):
                continue
            try:
                pair = program(x, form), program(x, lambda part: part)
            except Exception:  # whatever the library refuses
                continue
            if np.array_equal(*pair, equal_nan=True):
                yield program, x


def derivatives_of(program, x):
    """Yield derivatives, or a refusal."""
    v = np.cos(np.arange(np.size(x))).reshape(np.shape(x)).astype(x.dtype)
    for transform in (lambda: cr.jvp(program, (x,), (v,))[1], lambda: cr.grad(program)(x)):
        try:
            yield np.asarray(transform())
        except cr.ChainRulesError as error:
            yield error


USERS = [f for f in CASES if f not in WRITERS and not name_of(f).startswith("chainrules.rules.")]


@pytest.mark.parametrize("f", [pytest.param(f, id=name_of(f)) for f in USERS])
def test_another_form_changes_no_derivative(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        programs = [
            (program, form, x)
            for form in FORMS.values()
            for program, x in itertools.islice(drawn(f, form), 2)
        ]
        for program, form, x in programs:
            plainly = derivatives_of(functools.partial(program, form=lambda part: part), x)
            other = derivatives_of(functools.partial(program, form=form), x)
            for want, got in zip(plainly, other, strict=True):
                if not isinstance(got, Exception) and not isinstance(want, Exception):
                    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-9)


X = np.random.default_rng(3).normal(size=(2, 3, 4))
ALIKE = {
    "cumsum": (lambda x: np.cumsum(x, axis=np.array(1)), lambda x: np.cumsum(x, axis=1)),
    "median": (
        lambda x: np.median(x, axis=np.array([0, 2])),
        lambda x: np.median(x, axis=(0, 2)),
    ),
    "ttest_1samp": (
        lambda x: stats.ttest_1samp(x, [0.3], axis=1).statistic,
        lambda x: stats.ttest_1samp(x, 0.3, axis=1).statistic,
    ),
    "logsumexp": (
        lambda x: special.logsumexp(x, axis=0, keepdims=np.True_),
        lambda x: special.logsumexp(x, axis=0, keepdims=True),
    ),
}


@pytest.mark.parametrize(("f", "plainly"), ALIKE.values(), ids=ALIKE)
def test_arrays_for_options(f, plainly):
    for jacobian in (cr.jacrev, cr.jacfwd):
        np.testing.assert_array_equal(jacobian(f)(X), jacobian(plainly)(X))


@pytest.mark.parametrize("options", [{"range": (-3.0, 3.0)}, {"weights": X[0]}, {"density": True}])
def test_edges_of_a_histogram_have_the_dtype_of_numpys(options):
    x = X[0].astype(np.float32)
    expected = np.histogram(x, 3, **options)
    for found in (
        cr.vjp(lambda x: np.histogram(x, 3, **options), x)[0],
        cr.jvp(lambda x: np.histogram(x, 3, **options), (x,), (x,))[0],
    ):
        for want, got in zip(expected, found, strict=True):
            np.testing.assert_array_equal(got, want, strict=True)
