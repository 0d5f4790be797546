"""The kit catches wrong rules, and says where they are wrong."""

import math
import re

import numpy as np
import pytest

import chainrules as cr
from chainrules.testing import (
    MutatedArgumentError,
    NoRuleError,
    RuleTestError,
    WrongDerivativeError,
    WrongStructureError,
    WrongValueError,
    primal_with_tangent,
    test_frule,
    test_rrule,
    test_scalar,
)

NO = cr.NoTangent()
X = np.array([[0.5, -1.2, 2.0], [0.3, 1.7, -0.4]])
A, B = np.array([1.5, 0.7]), np.array([-0.3, 2.2])


def reverse(pull, value=None):
    """An ``rrule_f`` whose pullback is ``pull(ybar, *args)``, the function's entry left out."""

    def rrule_f(config, f, *args, **kwargs):
        y = f(*args, **kwargs) if value is None else value(*args)
        return y, lambda ybar: (NO, *pull(ybar, *args))

    return rrule_f


def forward(push, value=None):
    """An ``frule_f`` whose tangent is ``push(tangents, *args)``, that of the function left out."""

    def frule_f(config, tangents, f, *args, **kwargs):
        y = f(*args, **kwargs) if value is None else value(*args)
        return y, push(tangents[1:], *args)

    return frule_f


def check_rrule(f, *args, pull, value=None, **options):
    test_rrule(f, *args, rrule_f=reverse(pull, value), **{"second_order": False, **options})


def check_frule(f, *args, push, value=None, **options):
    test_frule(f, *args, frule_f=forward(push, value), **{"second_order": False, **options})


def product(a, b):
    return a * b


def square(x):
    return x * x


def test_right_rules_pass():
    check_rrule(square, X, pull=lambda ybar, x: (2 * x * ybar,))
    check_rrule(product, A, B, pull=lambda ybar, a, b: (b * ybar, a * ybar))
    check_frule(product, A, B, push=lambda t, a, b: t[0] * b + a * t[1])
    check_frule(square, X, push=lambda t, x: 2 * x * t[0])


# ---- wrong derivatives -----------------------------------------------------------------------


def test_a_wrong_factor_is_named():
    with pytest.raises(WrongDerivativeError, match=r"every entry is 1\.5 times what it should be"):
        check_rrule(square, X, pull=lambda ybar, x: (3 * x * ybar,))
    with pytest.raises(WrongDerivativeError, match=r"every entry is 0\.5 times what it should be"):
        check_frule(square, X, push=lambda t, x: x * t[0])


def test_a_factor_a_millionth_off_is_caught():
    with pytest.raises(WrongDerivativeError):
        check_rrule(square, X, pull=lambda ybar, x: (2.000001 * x * ybar,))
    with pytest.raises(WrongDerivativeError):
        check_frule(square, X, push=lambda t, x: 2.000001 * x * t[0])


def test_a_wrong_sign_is_named():
    with pytest.raises(WrongDerivativeError, match="wrong sign"):
        check_rrule(square, X, pull=lambda ybar, x: (-2 * x * ybar,))


def test_swapped_arguments_are_named():
    with pytest.raises(WrongDerivativeError, match="are the two swapped") as caught:
        check_rrule(product, A, B, pull=lambda ybar, a, b: (a * ybar, b * ybar))
    assert "argument 0 (a) and argument 1 (b)" in str(caught.value)


def test_only_the_wrong_argument_is_named():
    with pytest.raises(WrongDerivativeError, match=r"wrong cotangent for argument 1 \(b\)\."):
        check_rrule(product, A, B, pull=lambda ybar, a, b: (b * ybar, a + 0 * ybar))
    with pytest.raises(WrongDerivativeError, match=r"wrong tangent for argument 1 \(b\)\."):
        check_frule(product, A, B, push=lambda t, a, b: t[0] * b + 2 * a * t[1])


@pytest.mark.parametrize("at", [(0, 0), (1, 2)])
def test_only_the_wrong_entry_is_named(at):
    def pull(ybar, x):
        xbar = 2 * x * ybar
        xbar[at] *= 1.01
        return (xbar,)

    with pytest.raises(WrongDerivativeError) as caught:
        check_rrule(square, X, pull=pull)
    entries = [
        line for line in str(caught.value).splitlines() if "expected " in line and "off by" in line
    ]
    assert len(entries) == 1
    assert f"argument 0 (x)[{at[0]}, {at[1]}]: expected" in entries[0]


def test_a_wrong_entry_of_a_container_is_named():
    def f(p):
        return p["w"][1] * 2.0

    def pull(ybar, p):
        return (cr.Tangent(dict, {"w": cr.Tangent(tuple, 0.0 * ybar, 3.0 * ybar)}),)

    with pytest.raises(WrongDerivativeError, match=r"argument 0 \(p\)\['w'\]\[1\]: expected"):
        check_rrule(f, {"w": (1.0, 2.0)}, pull=pull)


def test_a_transposed_cotangent_is_guessed():
    with pytest.raises(WrongDerivativeError, match="is something transposed"):
        check_rrule(square, X[:, :2], pull=lambda ybar, x: ((2 * x * ybar).T,))


def test_a_zero_derivative_is_guessed():
    with pytest.raises(WrongDerivativeError, match="is the derivative missing"):
        check_rrule(square, X, pull=lambda ybar, x: (cr.ZeroTangent(),))


def test_a_lost_conjugate_is_named():
    z = np.array([1 + 2j, 0.5 - 1j])
    check_rrule(np.sin, z, pull=lambda ybar, x: (np.conj(np.cos(x)) * ybar,))
    with pytest.raises(WrongDerivativeError):
        check_rrule(np.sin, z, pull=lambda ybar, x: (np.cos(x) * ybar,))
    with pytest.raises(WrongDerivativeError, match="complex conjugate"):
        check_rrule(np.positive, z, pull=lambda ybar, x: (np.conj(ybar),))


def test_a_rule_correct_only_at_zero_is_caught():
    with pytest.raises(WrongDerivativeError):
        check_rrule(np.sin, X, pull=lambda ybar, x: (ybar,))
    check_rrule(np.sin, np.zeros(3), pull=lambda ybar, x: (ybar,))


def test_a_wrong_large_array_is_caught():
    x = np.linspace(1, 2, 5000)

    def pull(ybar, x):
        xbar = 2 * x * ybar
        xbar[1234] += 1e-3
        return (xbar,)

    with pytest.raises(WrongDerivativeError):
        check_rrule(square, x, pull=pull)


def test_nan_is_never_right():
    with pytest.raises(WrongDerivativeError, match="got nan"):
        check_rrule(square, X, pull=lambda ybar, x: (np.nan * ybar,))
    with pytest.raises(WrongDerivativeError, match="got nan"):
        check_frule(square, X, push=lambda t, x: np.nan * t[0])


def test_an_affine_pullback_is_caught():
    offsets = iter([0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    with pytest.raises(WrongDerivativeError):
        check_rrule(square, X, pull=lambda ybar, x: (2 * x * ybar + next(offsets),))


def test_a_pullback_that_is_right_once_is_caught():
    calls = []

    def pull(ybar, x):
        calls.append(ybar)
        return (2 * x * ybar * len(calls),)

    with pytest.raises(WrongDerivativeError, match=r"when it is called again|is not linear"):
        check_rrule(square, X, pull=pull)


def test_a_pullback_right_for_one_seed_only_is_caught():
    def pull(ybar, x):
        return (2 * x * np.where(np.abs(ybar) > 9, 0.0, ybar),)

    with pytest.raises(WrongDerivativeError, match="is not linear"):
        check_rrule(square, X, pull=pull)


def test_a_pullback_that_makes_something_of_nothing_is_caught():
    with pytest.raises(WrongDerivativeError, match="gives something for a zero seed"):
        check_rrule(square, X, pull=lambda ybar, x: (2 * x * ybar + (not ybar.any()),))


def test_a_frule_that_confuses_zeros_is_caught():
    def push(t, a, b):
        if any(isinstance(xdot, cr.ZeroTangent) for xdot in t):
            return 4.25
        return t[0] * b + a * t[1]

    with pytest.raises(WrongDerivativeError, match=r"(?s)ZeroTangent\(\) for all.* got 8.5,"):
        check_frule(product, 2.0, 3.0, push=push)


def test_a_frule_that_is_not_linear_is_caught():
    def push(t, x):
        return 2 * x * np.where(t[0] > -4.0, t[0], -4.0)

    with pytest.raises(WrongDerivativeError):
        check_frule(square, X, push=push)


# ---- wrong values and forms ------------------------------------------------------------------


def test_a_wrong_primal_is_caught():
    with pytest.raises(WrongValueError, match=r"y\[0, 0\]: expected 0.25, got 1.25"):
        check_rrule(square, X, pull=lambda ybar, x: (2 * x * ybar,), value=lambda x: x * x + 1)
    with pytest.raises(WrongValueError, match="computes another value"):
        check_frule(square, X, push=lambda t, x: 2 * x * t[0], value=lambda x: x * x + 1)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda x: (x * x).astype("f4"), "expected the dtype float64, got float32"),
        (lambda x: (x * x)[:1], r"expected float64\[2,3\], got float64\[1,3\]"),
        (lambda x: (x * x,), r"expected float64\[2,3\], got"),
    ],
)
def test_a_primal_of_another_form_is_caught(value, message):
    with pytest.raises(WrongValueError, match=message):
        check_rrule(square, X, pull=lambda ybar, x: (2 * x * ybar,), value=value)


def test_a_primal_of_another_container_is_caught():
    def f(x):
        return {"a": x, "b": [1, "text"]}

    for wrong in ({"a": 1.0, "b": (1, "text")}, {"a": 1.0, "b": [1, "test"]}, {"a": 1.0}):
        with pytest.raises(WrongValueError):
            check_rrule(f, 1.0, pull=lambda ybar, x: (ybar["a"],), value=lambda x, y=wrong: y)


def test_a_wrong_shape_is_caught():
    with pytest.raises(WrongStructureError, match=r"expected the shape \(2, 3\), got \(3, 2\)"):
        check_rrule(square, X, pull=lambda ybar, x: ((2 * x * ybar).T,))
    with pytest.raises(WrongStructureError, match=r"expected the shape \(\), got \(2, 3\)"):
        check_rrule(product, 2.0, X, pull=lambda ybar, a, b: (b * ybar, a * ybar))
    with pytest.raises(WrongStructureError, match=r"ydot is float64\[2,3\]: expected the shape"):
        check_frule(square, X, push=lambda t, x: np.sum(2 * x * t[0]))


def test_a_float64_for_a_float32_is_caught():
    x = X.astype("f4")
    check_rrule(square, x, pull=lambda ybar, x: (2 * x * ybar,))
    with pytest.raises(WrongStructureError, match=r"dtype float32, got float64\.\n"):
        check_rrule(square, x, pull=lambda ybar, x: (2 * x * ybar.astype(float),))
    with pytest.raises(WrongStructureError, match=r"dtype float32, got float64\.\n"):
        check_frule(square, x, push=lambda t, x: 2 * x * t[0].astype(float))
    with pytest.raises(WrongStructureError, match=r"dtype float32, got float64\.\n"):
        check_rrule(square, np.float32(2), pull=lambda ybar, x: (float(2 * x * ybar),))


def test_a_complex_cotangent_of_a_real_argument_is_caught():
    with pytest.raises(WrongStructureError, match="a real value has a real tangent"):
        check_rrule(product, A, B + 1j, pull=lambda ybar, a, b: (np.conj(b) * ybar, a * ybar))


def test_a_missing_or_surplus_entry_is_caught():
    with pytest.raises(WrongStructureError, match="returned 2 cotangents for 2 arguments"):
        check_rrule(product, A, B, pull=lambda ybar, a, b: (b * ybar,))
    with pytest.raises(WrongStructureError, match="returned 4 cotangents for 2 arguments"):
        check_rrule(product, A, B, pull=lambda ybar, a, b: (b * ybar, a * ybar, NO))


def test_a_pullback_that_returns_no_tuple_is_caught():
    def rrule_f(config, f, x):
        return f(x), lambda ybar: [NO, 2 * x * ybar]

    with pytest.raises(WrongStructureError, match="returned a list, not a tuple"):
        test_rrule(square, X, rrule_f=rrule_f)


@pytest.mark.parametrize("pair", [None, 3.0, (1.0,), (1.0, 2.0)])
def test_a_rule_that_returns_no_pair_is_caught(pair):
    with pytest.raises(RuleTestError, match=r"there is no rrule|must return"):
        test_rrule(square, X, rrule_f=lambda *call: pair)


def test_a_frule_that_returns_no_pair_is_caught():
    with pytest.raises(WrongStructureError, match=r"must return \(y, ydot\)"):
        test_frule(square, X, frule_f=lambda *call: 3.0)


def test_a_tangent_for_what_has_none_is_caught():
    def f(x, flag):
        return x * 2

    check_rrule(f, 1.0, "text", pull=lambda ybar, x, flag: (2 * ybar, cr.ZeroTangent()))
    for argument in ("text", None, True, len):
        with pytest.raises(
            WrongStructureError, match=r"cannot be perturbed: expected NoTangent\(\)"
        ):
            check_rrule(f, 1.0, argument, pull=lambda ybar, x, flag: (2 * ybar, 0.0))


def test_a_tangent_of_another_structure_is_caught():
    def f(p):
        return p[0] * p[1]

    def pull(ybar, p):
        return (cr.Tangent(list, p[1] * ybar, p[0] * ybar),)

    check_rrule(f, [1.0, 2.0], pull=pull)
    with pytest.raises(WrongStructureError, match="is a tuple, and got a Tangent of list"):
        check_rrule(f, (1.0, 2.0), pull=pull)
    with pytest.raises(WrongStructureError, match="of 2 parts has 1"):
        check_rrule(f, (1.0, 2.0), pull=lambda ybar, p: ((p[1] * ybar,),))


def test_no_rule_is_said():
    with pytest.raises(NoRuleError, match=r"there is no rrule of unknown\.\n  called as"):
        test_rrule(unknown, 1.0)
    with pytest.raises(NoRuleError, match="there is no frule of unknown"):
        test_frule(unknown, 1.0)


def unknown(x):
    return x


# ---- writing into what belongs to others -----------------------------------------------------


def test_a_mutated_input_is_caught():
    def in_the_rule(config, f, x):
        y = f(x)
        x += 1
        return y, lambda ybar: (NO, 2 * (x - 1) * ybar)

    with pytest.raises(MutatedArgumentError, match=r"wrote into argument 0 \(x\)\."):
        test_rrule(square, X.copy(), rrule_f=in_the_rule)

    def pull(ybar, x):
        x *= 2
        return (x * ybar,)

    with pytest.raises(
        MutatedArgumentError, match=r"the pullback .* wrote into argument 0 \(x\)\."
    ):
        check_rrule(square, X.copy(), pull=pull)

    def push(t, x):
        x *= 2
        return x * t[0]

    with pytest.raises(MutatedArgumentError, match=r"wrote into argument 0 \(x\)\."):
        check_frule(square, X.copy(), push=push)


def test_a_mutated_input_inside_a_container_is_caught():
    def pull(ybar, p):
        p["w"][0][:] = 0
        return (cr.Tangent(dict, {"w": cr.Tangent(list, 2 * ybar)}),)

    with pytest.raises(MutatedArgumentError, match=r"wrote into argument 0 \(p\)\['w'\]\[0\]"):
        check_rrule(lambda p: 2 * p["w"][0], {"w": [np.ones(2)]}, pull=pull)


def test_a_mutated_seed_is_caught():
    def pull(ybar, x):
        ybar *= 2 * x
        return (ybar,)

    with pytest.raises(MutatedArgumentError, match=r"wrote into ybar\."):
        check_rrule(square, X, pull=pull)


def test_a_mutated_tangent_is_caught():
    def push(t, x):
        xdot = t[0]
        xdot *= 2 * x
        return xdot

    with pytest.raises(MutatedArgumentError, match="wrote into its tangent"):
        check_frule(square, X, push=push)


def test_a_buffer_that_is_used_again_is_caught():
    buffer = np.zeros_like(X)

    def pull(ybar, x):
        return (np.multiply(2 * x, ybar, out=buffer),)

    with pytest.raises(MutatedArgumentError, match="changed what the first gave"):
        check_rrule(square, X, pull=pull)


def test_a_mutated_keyword_is_caught():
    def f(x, *, table):
        return x * 2

    def rrule_f(config, f, x, *, table):
        table[0] += 1
        return f(x, table=table), lambda ybar: (NO, 2 * ybar)

    with pytest.raises(MutatedArgumentError, match=r"wrote into keyword table\."):
        test_rrule(f, X, table=np.zeros(2), rrule_f=rrule_f)


# ---- thunks, second derivatives, disagreement ------------------------------------------------


def test_a_pullback_that_fails_with_a_thunk_is_caught():
    def pull(ybar, x):
        assert isinstance(ybar, np.ndarray)
        return (2 * x * ybar,)

    with pytest.raises(AssertionError):
        check_rrule(square, X, pull=pull)
    check_rrule(square, X, pull=pull, check_thunks=False)


def test_a_pullback_wrong_for_a_thunk_is_caught():
    def pull(ybar, x):
        scale = 2 if isinstance(ybar, np.ndarray) else 3
        return (scale * x * cr.unthunk(ybar),)

    with pytest.raises(WrongDerivativeError, match="something else for thunk"):
        check_rrule(square, X, pull=pull)


def test_an_inplace_half_that_disagrees_is_caught():
    def rule(scale, returned=True):
        def pull(ybar, x):
            def add_into(buffer):
                buffer += scale * x * cr.unthunk(ybar)
                return buffer if returned else buffer.copy()

            return (cr.InplaceableThunk(add_into, lambda: 2 * x * cr.unthunk(ybar)),)

        return pull

    check_rrule(square, X, pull=rule(2))
    with pytest.raises(WrongStructureError, match="adds something else than its value"):
        check_rrule(square, X, pull=rule(3))
    with pytest.raises(WrongStructureError, match="does not return the array"):
        check_rrule(square, X, pull=rule(2, returned=False))


def test_a_second_derivative_hidden_from_the_tracer_is_caught():
    options = {"second_order": True}
    check_rrule(square, X, pull=lambda ybar, x: (2 * x * ybar,), **options)
    with pytest.raises(
        WrongDerivativeError, match="the second derivative is wrong, forward over reverse"
    ):
        check_rrule(square, X, pull=lambda ybar, x: (2 * cr.value(x) * ybar,), **options)
    with pytest.raises(
        WrongDerivativeError, match="the second derivative is wrong, forward over forward"
    ):
        check_frule(square, X, push=lambda t, x: 2 * cr.value(x) * t[0], **options)


def test_a_value_hidden_from_the_tracer_is_caught():
    """A program that goes on from it, as square(x)**2 does, differentiates twice through it."""
    options = {"second_order": True, "value": lambda x: cr.value(x) ** 2}
    with pytest.raises(
        WrongDerivativeError, match="value that the rule returns is not followed, forward over rev"
    ):
        check_rrule(square, X, pull=lambda ybar, x: (2 * x * ybar,), **options)
    with pytest.raises(
        WrongDerivativeError, match="value that the rule returns is not followed, forward over for"
    ):
        check_frule(square, X, push=lambda t, x: 2 * x * t[0], **options)


def test_a_rule_that_programs_do_not_ask_is_noted():
    assert any("calls inside a program are not seen" in n for n in test_rrule(halfway, X).notes)
    assert any("calls inside a program are not seen" in n for n in test_frule(halfway, X).notes)
    assert [] == test_rrule(np.sin, X).notes


def halfway(x):
    return 0.5 * x


cr.linear_rule(halfway, lambda ybar, space: 0.5 * ybar)


def test_a_rule_that_cannot_be_differentiated_again_says_where():
    def pull(ybar, x):
        return (2 * np.asarray(x, dtype=float) * ybar,)

    with pytest.raises(TypeError) as caught:
        check_rrule(square, X, pull=pull, second_order=True)
    assert any("forward over reverse" in note for note in caught.value.__notes__)


def halved(x):
    return 0.5 * x


@cr.frule.register(halved)
def halved_frule(tangents, halved, x):
    return 0.5 * x, 0.5 * tangents[1]


@cr.rrule.register(halved)
def halved_rrule(halved, x):
    def halved_pullback(ybar):
        return cr.NoTangent(), 0.50000001 * ybar

    return 0.5 * x, halved_pullback


def test_a_frule_that_disagrees_with_its_rrule_is_caught_without_differences():
    # Too little for the differences, and too much for two exact rules.
    options = {"atol": 1e-5, "second_order": False}
    with pytest.raises(WrongDerivativeError, match="forward and reverse mode of halved disagree"):
        test_rrule(halved, X, **options)
    with pytest.raises(WrongDerivativeError, match="forward and reverse mode of halved disagree"):
        test_frule(halved, X, **options)


def bent(x):
    return x * x


@cr.frule.register(bent)
def bent_frule(tangents, bent, x):
    return x * x, 2 * x * tangents[1]


@cr.rrule.register(bent)
def bent_rrule(bent, x):
    def bent_pullback(ybar):
        return cr.NoTangent(), 3 * x * ybar

    return x * x, bent_pullback


def test_scalar_finds_the_wrong_half():
    with pytest.raises(WrongDerivativeError):
        test_scalar(bent, 1.5)


# ---- as rules go wrong in practice ---------------------------------------------------------


def test_one_entry_a_thousandth_off_is_named():
    def scaled(xbar):
        xbar[1, 2] *= 1.001
        return xbar

    with pytest.raises(WrongDerivativeError, match=r"argument 0 \(x\)\[1, 2\]: expected"):
        check_rrule(square, X, pull=lambda ybar, x: (scaled(2 * x * ybar),))
    with pytest.raises(WrongDerivativeError, match=r"ydot\[1, 2\]: expected"):
        check_frule(square, X, push=lambda t, x: scaled(2 * x * t[0]))


def test_a_conjugate_too_few_is_recognized_by_the_sizes():
    z = np.array([1 + 2j, 0.5 - 1j])
    with pytest.raises(WrongDerivativeError, match=r"a cotangent conj\(f'\(x\)\) \* ybar"):
        check_rrule(np.square, z, pull=lambda ybar, x: (2 * x * ybar,))
    with pytest.raises(WrongDerivativeError, match=r"a tangent is f'\(x\) \* xdot"):
        check_frule(np.square, z, push=lambda t, x: 2 * np.conj(x) * t[0])


def test_a_rule_wrong_at_ties_is_told_of_the_kink():
    a, b = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    half = np.array([0.5, 0.0])
    check_rrule(
        np.maximum, a, b, pull=lambda ybar, a, b: (ybar * ((a > b) + half), ybar * ((b > a) + half))
    )
    with pytest.raises(WrongDerivativeError, match=r"it has a kink here: its slope is"):
        check_rrule(np.maximum, a, b, pull=lambda ybar, a, b: (ybar * (a >= b), ybar * (b >= a)))


def test_a_transposed_square_matrix_is_guessed():
    with pytest.raises(WrongDerivativeError, match="is something transposed"):
        check_rrule(np.transpose, X[:, :2], pull=lambda ybar, x: (ybar,))
    with pytest.raises(WrongDerivativeError, match=r"wrong cotangent for argument 0 \(x1\)\."):
        check_rrule(np.matmul, X[:, :2], X[:, 1:], pull=lambda ybar, a, b: (ybar @ b, a.T @ ybar))


def test_a_pullback_that_works_once_says_which_call_failed():
    def rrule_f(config, f, x):
        parts = [2 * x]
        return f(x), lambda ybar: (NO, parts.pop() * ybar)

    with pytest.raises(IndexError) as caught:
        test_rrule(square, X, rrule_f=rrule_f)
    assert any("any number of times" in note for note in caught.value.__notes__)


def test_a_rule_that_keeps_its_last_argument_is_caught():
    kept = {}

    def rrule_f(config, f, x):
        kept["x"] = x
        return f(x), lambda ybar: (NO, 2 * kept["x"] * ybar)

    with pytest.raises(WrongDerivativeError, match="after the rule was run for other arguments"):
        test_rrule(square, X, rrule_f=rrule_f)


def test_a_rule_that_counts_its_calls_is_caught():
    calls = []

    def rrule_f(config, f, x):
        calls.append(x)
        scale = 2 if len(calls) < 3 else 3
        return f(x), lambda ybar: (NO, scale * x * ybar)

    with pytest.raises(WrongDerivativeError, match="does the rule keep something outside"):
        test_rrule(square, X, rrule_f=rrule_f)

    def push(t, x):
        calls.append(x)
        return (2 if len(calls) < 2 else 3) * x * t[0]

    calls.clear()
    with pytest.raises(WrongDerivativeError, match="when it is called again; does it keep state"):
        check_frule(square, X, push=push)


def test_a_derivative_that_ignores_a_keyword_is_caught():
    def rrule_f(config, f, x, **options):
        return f(x, **options), lambda ybar: (NO, np.ones_like(x) * ybar)

    test_rrule(np.sum, X, rrule_f=rrule_f)
    for options in ({"axis": 1}, {"axis": 0, "where": X[:2, :2] > 0}):
        with pytest.raises(WrongDerivativeError, match="axis="):
            test_rrule(np.sum, X[:2, :2], rrule_f=rrule_f, **options)


def test_another_default_of_a_keyword_is_caught():
    def f(x, *, power=2):
        return x**power

    def rrule_f(config, f, x, power=3):
        return f(x), lambda ybar: (NO, power * x ** (power - 1) * ybar)

    with pytest.raises(WrongDerivativeError, match=r"wrong cotangent for argument 0 \(x\)\."):
        test_rrule(f, A, rrule_f=rrule_f)


def test_a_missing_derivative_of_an_integer_is_caught_where_a_tangent_is_given():
    options = {"pull": lambda ybar, a, b: (b * ybar, NO)}
    check_rrule(product, A, np.array([2, 3]), **options)
    with pytest.raises(WrongDerivativeError, match="is the derivative missing"):
        check_rrule(product, A, primal_with_tangent(np.array([2, 3]), np.ones(2)), **options)
    with pytest.raises(WrongDerivativeError, match=r"wrong tangent for argument 1 \(b\)\."):
        check_frule(product, A, primal_with_tangent(3, 1.0), push=lambda t, a, b: t[0] * b)


def test_a_rule_by_the_math_module_is_caught_and_told_what_to_write():
    with pytest.raises(TypeError, match=r"math.cos\(x\) needs a plain number"):
        check_rrule(np.sin, 0.7, pull=lambda ybar, x: (math.cos(x) * ybar,), second_order=True)
    with pytest.raises(TypeError, match=r"math.cos\(x\) needs a plain number"):
        check_frule(np.sin, 0.7, push=lambda t, x: math.cos(x) * t[0], second_order=True)


@pytest.mark.parametrize("x", [X.astype("f4"), X.astype("c8"), np.float32(0.7)])
def test_a_formula_wrong_by_less_than_float32_shows_is_caught_in_float64(x):
    check_rrule(square, x, pull=lambda ybar, x: (2 * np.conj(x) * ybar,))
    check_frule(square, x, push=lambda t, x: 2 * x * t[0])
    wide = r"1\.00001 times what it should be(.*\n)+.*(float64|complex128)"
    with pytest.raises(WrongDerivativeError, match=wide):
        check_rrule(square, x, pull=lambda ybar, x: (x.dtype.type(2.00002) * np.conj(x) * ybar,))
    with pytest.raises(WrongDerivativeError, match=wide):
        check_frule(square, x, push=lambda t, x: x.dtype.type(2.00002) * x * t[0])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_second_derivative_wrong_by_less_than_float32_shows_is_caught(dtype):
    def bend(x):  # it is 1, and its derivative 1e-5 and not 0
        return 1 + 1e-5 * (x - cr.value(x))

    x = np.array([1.5, 0.75], dtype)
    options = {"second_order": True}
    check_rrule(square, x, pull=lambda ybar, x: (2 * x * ybar,), **options)
    check_frule(square, x, push=lambda t, x: 2 * x * t[0], **options)
    with pytest.raises(WrongDerivativeError, match="the second derivative is wrong"):
        check_rrule(square, x, pull=lambda ybar, x: (2 * x * ybar * bend(x),), **options)
    with pytest.raises(WrongDerivativeError, match="the second derivative is wrong"):
        check_frule(square, x, push=lambda t, x: 2 * x * t[0] * bend(x), **options)


# ---- messages --------------------------------------------------------------------------------


def test_a_message_has_everything_one_needs():
    def pull(ybar, a, b):
        return b * ybar, 2 * a * ybar

    with pytest.raises(AssertionError) as caught:
        check_rrule(product, A, B, pull=pull, seed=3)
    lines = str(caught.value).splitlines()
    assert lines[0] == "the rrule of product gives a wrong cotangent for argument 1 (b)."
    number = r"-?[\d.]+(e-?\d+)?"
    pattern = rf"  argument 1 \(b\)\[[01]\]: expected {number}, got {number}, off by {number}"
    assert re.fullmatch(pattern, lines[1])
    assert lines[-3] == "  argument 1 (b): every entry is 2 times what it should be"
    assert lines[-2] == "  expected values by complex step"
    assert lines[-1] == "  called as  test_rrule(product, float64[2], float64[2]), seed=3"


def test_keywords_are_part_of_the_call():
    def f(x, *, power=1):
        return x**power

    with pytest.raises(AssertionError, match=r"test_rrule\(f, float64\[2\], power=2\), seed=0"):
        test_rrule(f, A, power=2, rrule_f=reverse_with_keywords)


def reverse_with_keywords(config, f, x, power):
    return f(x, power=power), lambda ybar: (NO, power * ybar)


def test_a_keyword_given_twice_is_refused():
    with pytest.raises(TypeError, match="'axis' is given twice"):
        test_rrule(np.sum, X, axis=0, fkwargs={"axis": 1})


def test_a_tangent_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="tangent"):
        test_rrule(np.sin, primal_with_tangent(X, np.ones(2)))


def test_pytest_does_not_collect_the_kit():
    for tester in (test_rrule, test_frule, test_scalar):
        assert tester.__test__ is False


def test_a_wrong_entry_is_found_among_many():
    def pull(ybar, x):
        xbar = 2 * x * ybar
        xbar[1234] *= 1.5
        return (xbar,)

    with pytest.raises(WrongDerivativeError) as caught:
        check_rrule(square, np.linspace(1, 2, 5000), pull=pull)
    assert str(caught.value).count("argument 0 (x)[") == 1
    assert "argument 0 (x)[1234]: expected" in str(caught.value)


def test_an_output_tangent_of_the_wrong_form_is_refused():
    for wrong in (np.ones(2), 1j * X):
        with pytest.raises(ValueError, match="output_tangent does not fit"):
            check_rrule(square, X, pull=lambda ybar, x: (2 * x * ybar,), output_tangent=wrong)
