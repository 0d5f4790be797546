"""Right rules pass, for every kind of argument and output, and quickly."""

import dataclasses
from collections import namedtuple

import numpy as np
import pytest
import scipy.sparse as sp
from counted_calls import calls_of
from scipy import special

import chainrules as cr
from chainrules.testing import (
    UndecidedError,
    WrongDerivativeError,
    backward_fdm,
    central_fdm,
    forward_fdm,
    primal_with_tangent,
    test_frule,
    test_rrule,
    test_scalar,
)

NO = cr.NoTangent()
X = np.array([[0.5, -1.2, 2.0], [0.3, 1.7, -0.4]])
Z = X + 1j * X[::-1]
Pair = namedtuple("Pair", "a b")


def reverse(pull):
    def rrule_f(config, f, *args, **kwargs):
        return f(*args, **kwargs), lambda ybar: (NO, *pull(cr.unthunk(ybar), *args))

    return rrule_f


def forward(push):
    def frule_f(config, tangents, f, *args, **kwargs):
        return f(*args, **kwargs), push(tangents[1:], *args)

    return frule_f


FIRST = {"second_order": False}


@pytest.mark.parametrize("x", [0.7, np.float64(0.7), np.float32(0.7), np.float16(0.7),
                               np.longdouble(0.7), 0.7 + 0.2j, np.complex64(0.7 + 0.2j), X, Z,
                               X.astype("f4"), X.astype("f2"), X.astype("g"), Z.astype("c8"),
                               np.array(0.7), np.zeros((0, 3)), np.asfortranarray(X), X[::-1, ::2],
                               X.reshape(1, 2, 1, 3)])  # fmt: skip
def test_numbers_and_arrays(x):
    def cotangent(ybar, x):
        return (np.conj(np.cos(x)) * ybar,)

    test_rrule(np.sin, x, rrule_f=reverse(cotangent), **FIRST)
    test_frule(np.sin, x, frule_f=forward(lambda t, x: np.cos(x) * t[0]), **FIRST)


def test_the_tables_are_asked_by_default():
    for tester in (test_rrule, test_frule):
        report = tester(np.sin, X)
        assert "forward pairs with reverse" in report.checks
        assert any("second order" in check for check in report.checks)
    assert test_rrule(np.multiply, X, 2.0).skipped == []
    test_rrule(np.add, X, X[0])
    test_rrule(np.sum, X, axis=0)
    test_rrule(np.multiply, Z, X)


def test_the_engines_pass():
    test_rrule(np.sin, X, rrule_f=cr.rrule_via_ad)
    test_frule(np.sin, X, frule_f=cr.frule_via_ad)
    test_rrule(lambda x, y: np.sin(x * y) * y, X, 2.0, rrule_f=cr.rrule_via_ad)
    test_frule(lambda x, y: np.sin(x * y) * y, X, 2.0, frule_f=cr.frule_via_ad)


def test_a_foreign_engine_passes():
    class Mine(cr.RuleConfig, cr.NoForwardsMode, cr.HasReverseMode):
        def rrule_via_ad(self, f, *args, **kwargs):
            return cr.rrule_via_ad(cr.ReverseConfig(), f, *args, **kwargs)

    test_rrule(lambda x: x * x, 2.0, config=Mine(), rrule_f=cr.rrule_via_ad)


def test_a_config_without_a_mode_still_tests_the_rule():
    class Plain(cr.RuleConfig, cr.NoForwardsMode, cr.NoReverseMode):
        pass

    test_rrule(np.sin, X, config=Plain())
    test_frule(np.sin, X, config=Plain())


def test_a_keyword_that_one_rule_lacks_is_reported():
    @cr.primitive
    def scaled(x, *, by=1.0):
        return x * by

    @cr.rrule.register(scaled)
    def scaled_rrule(scaled, x, *, by=1.0):
        def scaled_pullback(ybar):
            return NO, by * ybar

        return x * by, scaled_pullback

    @cr.frule.register(scaled)
    def scaled_frule(tangents, scaled, x):
        return x, tangents[1]

    report = test_rrule(scaled, X, by=2.0, second_order=False)
    assert "does not support the keyword 'by'" in report.skipped[0]


def test_scalars():
    test_scalar(np.sin, 0.7)
    test_scalar(np.sin, np.float32(0.7))
    test_scalar(np.exp, 0.7 + 0.2j)


# ---- arguments that are not differentiated, or only on demand --------------------------------


def power(x, n):
    return x**n


@pytest.mark.parametrize("nbar", [NO, cr.ZeroTangent(), 17.0, np.float64(17.0)])
def test_an_integer_is_not_perturbed_and_may_have_any_cotangent(nbar):
    def cotangents(ybar, x, n):
        return n * x ** (n - 1) * ybar, nbar

    test_rrule(power, 1.5, 3, rrule_f=reverse(cotangents), **FIRST)


def test_an_integer_with_a_tangent_counts_as_real():
    def cotangents(scale):
        return reverse(
            lambda ybar, x, n: (n * x ** (n - 1) * ybar, scale * x**n * np.log(x) * ybar)
        )

    arguments = (1.5, primal_with_tangent(3, 1.0))
    test_rrule(power, *arguments, rrule_f=cotangents(1.0), **FIRST)
    with pytest.raises(WrongDerivativeError, match=r"argument 1 \(n\)"):
        test_rrule(power, *arguments, rrule_f=cotangents(2.0), **FIRST)


def test_an_array_of_integers_with_a_tangent_counts_as_real():
    def f(x, n):
        return x * n

    n = primal_with_tangent(np.arange(3), np.array([1.0, 2.0, -1.0]))
    test_rrule(f, X, n, rrule_f=reverse(lambda ybar, x, n: (n * ybar, (x * ybar).sum(0))), **FIRST)


def test_an_excluded_argument_is_not_compared():
    def cotangents(ybar, a, b):
        return b * ybar, 1e9 * ybar

    test_rrule(np.multiply, 2.0, primal_with_tangent(3.0, NO), rrule_f=reverse(cotangents), **FIRST)


def test_a_chosen_tangent_is_used():
    seen = []

    def push(t, x):
        seen.append(t[0])
        return 2 * x * t[0]

    test_frule(lambda x: x * x, primal_with_tangent(3.0, 0.25), frule_f=forward(push), **FIRST)
    assert seen[0] == 0.25


def test_a_chosen_tangent_is_used_for_the_second_derivative_too():
    """On the edge of the triangle ``a + b <= 1``, along the edge alone."""

    def f(a, b):
        return a * b * np.sqrt(np.where(a + b > 1 + 1e-9, np.nan, 2.0))

    arguments = [primal_with_tangent(0.5, 1.0), primal_with_tangent(0.5, -1.0)]
    push = forward(lambda t, a, b: f(a, b) * (t[0] / a + t[1] / b))
    report = test_frule(f, *arguments, frule_f=push)
    assert not any("second order" in reason for reason in report.skipped)
    assert any("second order" in check for check in report.checks)


def test_a_tangent_of_a_list_of_unequal_arrays():
    parts = [np.ones(2), np.ones(3)]
    test_rrule(np.concatenate, primal_with_tangent(parts, cr.Tangent(list, -parts[0], parts[1])))


def test_a_class_as_an_option():
    for option in (np.float64, float):
        report = test_rrule(np.sum, X, dtype=option)
        assert f"dtype={option.__name__})" in report.call
    report = test_rrule(np.astype, X.astype("f4"), np.float64)
    assert "(float32[2,3], float64)" in report.call


def test_values_that_are_nan_are_left_out_of_the_second_derivative():
    """SciPy refuses some complex arguments of elliprj, of which the derivatives are finite."""
    z = (1.2 + 0.1j, 0.4 - 0.2j, 0.8 + 0j, -1.3 - 0.7j)
    assert np.isnan(special.elliprj(*z))
    test_frule(special.elliprj, *z)
    test_rrule(special.elliprj, *z)
    with np.errstate(invalid="ignore"):
        test_frule(np.log, np.array([-1.0, 2.0]))


def test_flags_and_strings_pass_through():
    def f(x, flag, mode=None):
        return 2 * x

    test_rrule(f, X, True, rrule_f=reverse(lambda ybar, x, flag: (2 * ybar, NO)), mode="a", **FIRST)


def test_keywords_that_the_kit_uses_itself():
    def f(x, *, rtol, seed):
        return rtol * seed * x

    options = {"rtol": 2.0, "seed": 3.0}
    test_rrule(f, X, rrule_f=reverse(lambda ybar, x: (6.0 * ybar,)), fkwargs=options, **FIRST)


# ---- containers ------------------------------------------------------------------------------


@dataclasses.dataclass
class Line:
    slope: float
    points: list

    def __call__(self, x):
        return self.slope * x + self.points[0]


@pytest.mark.parametrize("form", ["structural", "natural"])
def test_containers_of_arguments(form):
    def f(p, q, r):
        return p["a"] * q[0] * r.a[1]

    def cotangents(ybar, p, q, r):
        abar, qbar, rbar = q[0] * r.a[1] * ybar, p["a"] * r.a[1] * ybar, p["a"] * q[0] * ybar
        if form == "natural":
            return {"a": abar, "b": NO}, (qbar, 0.0 * ybar), Pair([0.0, rbar], NO)
        return (
            cr.Tangent(dict, {"a": abar}),
            cr.Tangent(tuple, qbar, cr.ZeroTangent()),
            cr.Tangent(Pair, cr.Tangent(list, cr.ZeroTangent(), rbar), NO),
        )

    arguments = {"a": 1.5, "b": "text"}, (2.5, 1.0), Pair([1.0, 0.5], None)
    test_rrule(f, *arguments, rrule_f=reverse(cotangents), **FIRST)


def test_containers_of_outputs():
    def f(x):
        return {"a": x * x, "b": (3 * x, "text", 7), "c": [np.argmax(x)]}

    def cotangents(ybar, x):
        return (2 * x * ybar["a"] + 3 * ybar["b"][0],)

    def push(t, x):
        return cr.Tangent(dict, {"a": 2 * x * t[0], "b": cr.Tangent(tuple, 3 * t[0], NO, NO)})

    test_rrule(f, X, rrule_f=reverse(cotangents), **FIRST)
    test_frule(f, X, frule_f=forward(push), **FIRST)


def test_a_functor_has_cotangents_of_its_fields():
    line = Line(2.0, [1.0, "text"])

    def rule(factor):
        def rrule_f(config, f, x):
            def pullback(ybar):
                points = cr.Tangent(list, factor * cr.unthunk(ybar), NO)
                return cr.Tangent(Line, slope=x * ybar, points=points), f.slope * ybar

            return f(x), pullback

        return rrule_f

    test_rrule(line, 1.5, rrule_f=rule(1.0), **FIRST)
    with pytest.raises(WrongDerivativeError, match=r"the function itself\.points\[0\]: expected"):
        test_rrule(line, 1.5, rrule_f=rule(2.0), **FIRST)


def test_sparse_arguments():
    x = sp.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]]))

    def f(x, v):
        return x @ v

    def cotangents(ybar, x, v):
        pattern = (x != 0).astype(float)
        return pattern.multiply(np.outer(ybar, v)).tocsr(), x.T @ ybar

    test_rrule(f, x, np.array([1.5, -0.5]), rrule_f=reverse(cotangents))


# ---- nothing to differentiate, nothing written -----------------------------------------------


def test_piecewise_constant_functions():
    test_rrule(np.floor, X + 0.1)
    test_frule(np.floor, X + 0.1)
    test_rrule(np.argmax, X)
    test_frule(np.argmax, X)


def test_what_is_not_implemented_is_skipped_and_reported():
    def f(x, order):
        return x**order

    missing = cr.not_implemented("the derivative in the order is missing")

    def cotangents(ybar, x, order):
        return order * x ** (order - 1) * ybar, missing

    report = test_rrule(f, 2.0, 1.5, rrule_f=reverse(cotangents))
    assert report.skipped == [f"argument 1 (order) is {missing!r}"]
    assert "skipped: argument 1 (order)" in str(report)


def test_a_missing_entry_of_a_container_is_skipped_alone():
    def f(p):
        return p[0] * p[1]

    def rule(factor):
        return reverse(
            lambda ybar, p: (cr.Tangent(tuple, factor * p[1] * ybar, cr.not_implemented("no")),)
        )

    assert len(test_rrule(f, (2.0, 3.0), rrule_f=rule(1.0), **FIRST).skipped) == 1
    with pytest.raises(WrongDerivativeError, match=r"argument 0 \(p\)\[0\]"):
        test_rrule(f, (2.0, 3.0), rrule_f=rule(2.0), **FIRST)


def test_thunks_are_opened():
    def cotangents(ybar, x):
        return (cr.thunk(lambda: 2 * x * ybar),)

    test_rrule(lambda x: x * x, X, rrule_f=reverse(cotangents))


def test_inplace_thunks_are_tried_in_place():
    def cotangents(ybar, x):
        def add_into(buffer):
            buffer[0] += ybar
            return buffer

        def dense():
            return np.concatenate([np.expand_dims(ybar, 0), np.zeros_like(x)[1:]])

        return (cr.InplaceableThunk(add_into, dense),)

    test_rrule(lambda x: 1.0 * x[0], X, rrule_f=reverse(cotangents), **FIRST)


# ---- points that are difficult ---------------------------------------------------------------


def test_edges_of_a_domain():
    def cotangents(ybar, x):
        return (1.5 * np.sqrt(x) * ybar,)

    def f(x):
        return x * np.sqrt(x)

    inside = primal_with_tangent(np.array([0.0, 0.3]), np.array([1.0, -0.5]))
    test_rrule(f, inside, rrule_f=reverse(cotangents), fdm=forward_fdm(5, 1), atol=1e-6, **FIRST)
    # Without being told, one-sided differences are tried where central ones leave the domain.
    test_rrule(f, inside, rrule_f=reverse(cotangents), atol=1e-6, **FIRST)


def test_a_function_that_raises_outside_of_its_domain():
    def f(x):
        if np.any(x > 1.0001):
            raise ValueError("outside")
        return x * x

    test_rrule(f, 1.0, rrule_f=reverse(lambda ybar, x: (2 * x * ybar,)), **FIRST)


def test_infinite_entries_of_the_output_are_left_out():
    with np.errstate(all="ignore"):
        f = reverse(lambda ybar, x: (np.where(x == 0, 0.0, ybar / np.where(x == 0, 1.0, x)),))
        test_rrule(np.log, np.array([0.0, 2.0]), rrule_f=f, **FIRST)


@pytest.mark.parametrize("x", [1.0, -3.0])
def test_at_a_jump_nothing_can_be_said(x):
    with pytest.raises(UndecidedError, match="it jumps here"):
        test_rrule(np.floor, x)


@pytest.mark.parametrize("method", [forward_fdm(5, 1), central_fdm(5, 1, max_range=1e-3)])
def test_one_sided_differences_at_a_jump(method):
    rule = reverse(lambda ybar, x: (cr.ZeroTangent(),))
    upwards = primal_with_tangent(1.0, 1.0)
    if method.grid[0] < 0:
        with pytest.raises(UndecidedError):
            test_rrule(np.floor, upwards, rrule_f=rule, fdm=method, **FIRST)
    else:
        test_rrule(np.floor, upwards, rrule_f=rule, fdm=method, **FIRST)


def test_both_sides_of_a_kink():
    def maximum(x):
        return np.maximum(x, 0.0)

    for method, slope in ((forward_fdm(5, 1), 1.0), (backward_fdm(5, 1), 0.0)):
        rule = reverse(lambda ybar, x, slope=slope: (slope * ybar,))
        test_rrule(maximum, primal_with_tangent(0.0, 1.0), rrule_f=rule, fdm=method, **FIRST)
    # Ties share evenly: that is what central differences see too.
    test_rrule(maximum, 0.0, rrule_f=reverse(lambda ybar, x: (0.5 * ybar,)), **FIRST)
    with pytest.raises(WrongDerivativeError, match="it has a kink here"):
        test_rrule(maximum, 0.0, rrule_f=reverse(lambda ybar, x: (1.0 * ybar,)), **FIRST)


def test_a_noisy_function_needs_a_factor():
    rng = np.random.default_rng(0)

    def f(x):
        return x * x + 1e-7 * np.sin(1e12 * x + rng.normal())

    rule = reverse(lambda ybar, x: (2 * x * ybar,))

    def wobble(config, f, x):
        y, pullback = rule(config, f, x)
        return y, pullback

    method = central_fdm(5, 1, factor=1e9)
    test_rrule(f, 1.5, rrule_f=wobble, fdm=method, rtol=1e-5, **FIRST)


def test_scales_far_apart():
    scale = np.array([1e-8, 1.0, 1e8])

    def cotangents(ybar, x):
        return (scale * np.cos(x) * ybar,)

    def f(x):
        return scale * np.sin(x)

    test_rrule(f, np.array([0.3, 0.7, 1.1]), rrule_f=reverse(cotangents), **FIRST)


def test_functions_for_float32_alone():
    def f(x):
        return (x * x).astype(np.float32)

    x = X.astype("f4")
    test_rrule(f, x, rrule_f=reverse(lambda ybar, x: (2 * x * ybar,)), **FIRST)
    with pytest.raises(WrongDerivativeError):
        test_rrule(f, x, rrule_f=reverse(lambda ybar, x: (np.float32(2.1) * x * ybar,)), **FIRST)


def test_the_generator_may_be_the_callers():
    rule = reverse(lambda ybar, x: (3 * x * ybar,))
    with pytest.raises(WrongDerivativeError, match="rng= "):
        test_rrule(lambda x: x * x, X, rrule_f=rule, rng=np.random.default_rng(7), **FIRST)


# ---- speed -----------------------------------------------------------------------------------


def test_a_case_is_a_few_thousand_calls():
    test_rrule(np.multiply, X, X)
    assert len(calls_of(lambda: test_rrule(np.multiply, X, X))) < 20_000


@cr.primitive
def narrow_sin(x):
    """Sine in float32 whatever it is given, as JAX computes by default."""
    return np.sin(np.asarray(x, np.float32))


@cr.primitive
def narrow_cos(x):
    return np.cos(np.asarray(x, np.float32))


cr.scalar_rule(narrow_sin, lambda _, x: narrow_cos(x))
cr.scalar_rule(narrow_cos, lambda _, x: -narrow_sin(x))


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_a_function_that_computes_in_float32_has_second_derivatives(dtype):
    x = np.array([0.5, 1.25], dtype)
    test_frule(narrow_sin, x)
    test_rrule(narrow_sin, x)
