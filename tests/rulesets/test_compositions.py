"""Compositions that keep the library's own value: where it is computed, and what it is made of."""

import numpy as np
import pytest
import scipy.stats

import chainrules as cr
from chainrules.rules import composed
from chainrules.scipy import linalg, stats

X = np.array([0.5, 1.5, 4.0, 2.0])


def counted():
    """A primitive that counts its calls, and the composition that has its derivative."""
    calls = []

    @cr.primitive
    def spread(x, scale=1.0, keepdims=False):
        calls.append(x)
        return np.reshape(scale * np.ptp(x), (1,) if keepdims else ())

    @composed(spread, value="own")
    def inner(x, scale=1.0):
        return scale * (np.max(x) - np.min(x))

    return spread, inner, calls


def test_the_library_is_called_once():
    spread, _, calls = counted()
    assert cr.grad(spread)(X).tolist() == [-1.0, 0.0, 1.0, 0.0]
    assert len(calls) == 1


def test_a_rule_that_calls_the_body_by_its_name_calls_no_library():
    _, inner, calls = counted()
    assert cr.grad(inner)(X).tolist() == [-1.0, 0.0, 1.0, 0.0]
    assert not calls


@pytest.mark.parametrize("call", [lambda f, x: f(x, 2.0), lambda f, x: f(x, keepdims=True)[0] * 2,
                                  lambda f, x: f(x, 2.0, True)[0]])  # fmt: skip
def test_options_by_place_and_by_name(call):
    spread, _, _ = counted()
    assert cr.grad(lambda x: call(spread, x))(X).tolist() == [-2.0, 0.0, 2.0, 0.0]


def test_the_shape_is_the_librarys():
    spread, _, _ = counted()
    y, ydot = cr.jvp(lambda x: spread(x, keepdims=True), (X,), (X,))
    assert y.shape == ydot.shape == (1,)


def test_the_body_is_handed_the_value_it_asks_for():
    @cr.primitive
    def twice(x):
        return 2.0 * x

    @composed(twice, value="own")
    def inner(x, *, own):
        assert own == 6.0
        return x + x

    assert cr.grad(twice)(3.0) == cr.grad(inner)(3.0) == 2.0


def test_another_word_for_the_value():
    with pytest.raises(cr.RuleError, match="'own'"):
        composed(np.ptp, value="mine")(np.ptp)


@pytest.mark.parametrize("f", [
    lambda x: np.sum(stats.zscore(x) ** 3), lambda x: linalg.companion(x)[0, 2] ** 2,
    lambda x: linalg.svdvals(np.outer(x, x) + np.eye(4))[0], lambda x: stats.gmean(x) * x[0],
])  # fmt: skip
def test_a_recording_has_it_as_one_step_and_serves_other_numbers(f):
    g = cr.grad(f)
    compiled = cr.compile(g)
    for k in range(6):
        x = X + 0.01 * k
        np.testing.assert_allclose(compiled(x), g(x), rtol=1e-12)
    text = str(cr.explain(compiled))
    assert "its value" not in text, text
    assert "another recording" not in text, text


def test_the_librarys_errors_come_first():
    with pytest.raises(ValueError, match="square"):
        cr.grad(lambda a: linalg.det(a))(np.ones((2, 3)))


def test_results_with_attributes_beside_their_fields():
    own = scipy.stats.linregress(np.arange(4.0), X).intercept_stderr
    assert (
        cr.jvp(lambda x: stats.linregress(np.arange(4.0), x).intercept_stderr, (X,), (X,))[0] == own
    )


@pytest.mark.parametrize("gives", [lambda x: x, lambda x: x[::-1], lambda x: (x[1:], x)])
def test_a_write_into_a_value_that_is_the_argument_is_refused(gives):
    """The library's value shares memory with the argument, and the body's does not."""

    @cr.primitive
    def own(x):
        return gives(x)

    @composed(own, value="own")
    def own_composed(x):
        y = gives(x)
        return tuple([1.0 * part for part in y]) if isinstance(y, tuple) else 1.0 * y

    def first(y):
        return y[0] if isinstance(y, tuple) else y

    def writes(x, into_result):
        a = x * 2.0
        b = first(own(a))
        (b if into_result else a)[0] = 5.0
        return np.sum(a**3) + np.sum(b**2)

    for into_result in (True, False):
        for transform in (cr.grad, cr.jacfwd, cr.hessian):
            with pytest.raises(cr.MutationError, match="memory is seen elsewhere"):
                transform(writes)(X, into_result)
    # Without a write there is a derivative; differences of squares are exact.
    slopes = [
        np.sum(first(gives(X + e)) ** 2) - np.sum(first(gives(X - e)) ** 2) for e in np.eye(4)
    ]
    of_squares = cr.grad(lambda x: np.sum(first(own(x)) ** 2))(X)
    np.testing.assert_allclose(of_squares, np.divide(slopes, 2))
