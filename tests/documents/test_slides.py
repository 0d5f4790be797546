"""The examples of "Everything you need to know about ChainRules 1.0", in Python."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse

import chainrules as cr
from chainrules.testing import primal_with_tangent, test_frule, test_rrule

NO, ZERO = cr.NoTangent(), cr.ZeroTangent()
XS = np.array([0.3, -1.2, 2.0])


# ---- the basic example: foo_mul -------------------------------------------------------------


@dataclasses.dataclass
class Foo:
    A: np.ndarray
    c: float

    def __call__(self, b):
        return 77.0


FOO = Foo(np.array([[1.0, 2.0], [3.0, 4.0]]), 5.0)
B = np.array([[0.5, -1.0], [2.0, 1.5]])


@cr.primitive
def foo_mul(foo, b):
    return foo.A @ b


@cr.rrule.register(foo_mul)
def foo_mul_rrule(foo_mul, foo: Foo, b: np.ndarray):
    def foo_mul_pullback(ybar):
        foo_bar = cr.Tangent(Foo, A=ybar @ b.T, c=ZERO)
        return NO, foo_bar, cr.thunk(lambda: foo.A.T @ ybar)

    return foo_mul(foo, b), foo_mul_pullback


def test_foo_mul():
    """The rule's own answer has a structural tangent; at the surface zeros are real zeros."""
    ones = np.ones((2, 2))
    y, pullback = cr.rrule(foo_mul, FOO, B)
    np.testing.assert_array_equal(FOO.A @ B, y)
    fbar, foo_bar, b_bar = pullback(ones)
    assert (NO, cr.Tangent(Foo, A=ones @ B.T, c=ZERO)) == (fbar, foo_bar)
    assert ZERO is foo_bar.c
    np.testing.assert_array_equal(FOO.A.T @ ones, b_bar)
    gradient = cr.grad(lambda foo: np.sum(foo_mul(foo, B)))(FOO)
    assert cr.Tangent(Foo, A=ones @ B.T, c=0.0) == gradient
    assert (0.0, float) == (gradient.c, type(gradient.c))
    test_rrule(foo_mul, FOO, B)


def test_foo_mul_may_leave_a_field_out():
    """Fields that are not specified are implicitly ZeroTangent()."""
    short, long = cr.Tangent(Foo, A=B), cr.Tangent(Foo, A=B, c=ZERO)
    assert short == long
    assert ZERO is short.c
    assert long == short + cr.Tangent(Foo, c=ZERO)
    assert cr.Tangent(Foo, A=B, c=2.0) == short + cr.Tangent(Foo, c=2.0)
    moved = FOO + short
    np.testing.assert_array_equal(FOO.A + B, moved.A)
    assert (Foo, 5.0) == (type(moved), moved.c)
    with pytest.raises(cr.TangentError, match="Foo has no field 'b'; its fields are A, c"):
        cr.Tangent(Foo, b=1.0)


def test_foo_mul_without_the_rule():
    plain = foo_mul.__wrapped__
    ones = np.ones((2, 2))
    expected = cr.Tangent(Foo, A=ones @ B.T, c=0.0)
    assert expected == cr.grad(lambda foo: np.sum(plain(foo, B)))(FOO)
    _, ydot = cr.jvp(foo_mul, (FOO, B), (cr.Tangent(Foo, A=B), ZERO))
    np.testing.assert_array_equal(B @ B, ydot)


# ---- struct gotchas -------------------------------------------------------------------------


def func_foo(foo, b):
    return 77.0


class NewFoo(Foo):
    def __init__(self, a):
        super().__init__(a, 0.0)


def test_struct_gotchas():
    """A function of a struct, a struct that is called, and its constructor: three keys."""

    def zero_pullback(count):
        return lambda ybar: (ZERO,) * count

    @cr.rrule.register(func_foo)
    def func_foo_rrule(func_foo, foo: Foo, b):
        return "function", zero_pullback(3)

    @cr.rrule.register(cr.instances(NewFoo))
    def foo_rrule(foo: NewFoo, b):
        return "instance", zero_pullback(2)

    @cr.rrule.register(NewFoo)
    def new_foo_rrule(new_foo: type, a):
        return "constructor", zero_pullback(2)

    foo = NewFoo(B)
    assert "function" == cr.rrule(func_foo, foo, B)[0]
    assert "instance" == cr.rrule(foo, B)[0]
    assert "constructor" == cr.rrule(NewFoo, B)[0]
    # Not the rule of every constructor, and not of the base class's instances.
    assert cr.rrule(Foo, B, 0.0) is None
    assert cr.rrule(FOO, B) is None
    assert cr.rrule(func_foo, 1.0, B) is None


# ---- tools ----------------------------------------------------------------------------------


def test_non_differentiable():
    """joinpath: strings cannot be perturbed."""

    @cr.primitive
    def joinpath(*parts):
        return "/".join(parts)

    cr.non_differentiable(joinpath)
    y, pullback = cr.rrule(joinpath, "a", "b")
    assert ("a/b", (NO, NO, NO)) == (y, pullback(NO))


def test_scalar_rule():
    """sinh and its cosh."""

    @cr.primitive
    def sinh(x):
        return (np.exp(x) - np.exp(-x)) / 2

    cr.scalar_rule(sinh, lambda y, x: np.cosh(x))
    test_rrule(sinh, 0.7)
    test_frule(sinh, 0.7)
    test_rrule(sinh, XS)


# ---- RuleConfig -----------------------------------------------------------------------------


class Feature1:
    pass


class Feature2:
    pass


class OneConfig(cr.RuleConfig, Feature1):
    pass


class BothConfig(cr.RuleConfig, Feature1, Feature2):
    pass


def some_func(x):
    return x


@cr.rrule.register(some_func)
def some_func_rrule(some_func, x):
    return "any", lambda ybar: (NO, ybar)


@cr.rrule.register(some_func)
def some_func_feature_rrule(config: Feature1, some_func, x):
    return "Feature1", lambda ybar: (NO, ybar)


@cr.rrule.register(some_func)
def some_func_both_rrule(config: cr.AllOf[Feature1, Feature2], some_func, x):
    return "both", lambda ybar: (NO, ybar)


def test_rules_for_features():
    """A rule is defined for engines that have what it asks for; the most demanding wins."""
    assert "any" == cr.rrule(some_func, 1.0)[0]
    assert "any" == cr.rrule(cr.ForwardConfig(), some_func, 1.0)[0]
    assert "Feature1" == cr.rrule(OneConfig(), some_func, 1.0)[0]
    assert "both" == cr.rrule(BothConfig(), some_func, 1.0)[0]
    assert "registered for any arguments" in cr.which(cr.rrule, some_func, 1.0)
    assert cr.which(cr.rrule, BothConfig(), some_func, 1.0).endswith(
        "because BothConfig() has AllOf[Feature1, Feature2]"
    )


def test_a_rule_for_ones_own_ad_only():
    """Just dispatch on the RuleConfig: no new feature is needed."""

    def mine(x):
        return x

    @cr.frule.register(mine)
    def mine_frule(config: OneConfig, tangents, mine, x):
        return x, 100 * tangents[1]

    assert (1.0, 100.0) == cr.frule(OneConfig(), (NO, 1.0), mine, 1.0)
    assert cr.frule(BothConfig(), (NO, 1.0), mine, 1.0) is None
    assert (1.0, 1.0) == cr.jvp(mine, (1.0,), (1.0,))


def test_an_engine_with_reverse_mode_defines_rrule_via_ad():
    class MyReverseOnlyADRuleConfig(cr.RuleConfig, cr.HasReverseMode, cr.NoForwardsMode):
        def rrule_via_ad(self, f, *args):
            y, pullback = cr.vjp(f, *args)
            return y, lambda ybar: (NO, *pullback(ybar))

    config = MyReverseOnlyADRuleConfig()
    y, pullback = cr.rrule(config, cr.map, lambda x: x**2, XS)
    np.testing.assert_allclose(XS**2, y)
    np.testing.assert_allclose(2 * XS, pullback(np.ones(3))[2])
    with pytest.raises(cr.RuleError, match="has no frule_via_ad"):
        cr.frule_via_ad(config, (NO, 1.0), np.sin, 1.0)


@cr.primitive
def map_slide(f, x):
    return np.array([f(part) for part in x])


@cr.rrule.register(map_slide)
def map_slide_rrule(config: cr.HasForwardsMode, map_slide, f, x: np.ndarray):
    pairs = [cr.frule_via_ad(config, (NO, 1.0), f, part) for part in x]
    y, slopes = map(cr.array, zip(*pairs, strict=True))

    def map_slide_pullback(ybar):
        return NO, NO, ybar * slopes

    return y, map_slide_pullback


def test_map_through_forward_mode():
    """Rules for higher order functions: forward mode inside reverse mode."""

    def f(x):
        return x**3 if x > 0 else np.sin(x)

    expected = [3 * 0.3**2, np.cos(-1.2), 12.0]
    np.testing.assert_allclose(expected, cr.grad(lambda x: np.sum(map_slide(f, x)))(XS))
    np.testing.assert_allclose(expected, cr.grad(lambda x: np.sum(cr.map(f, x)))(XS))
    np.testing.assert_allclose(
        cr.hessian(lambda x: np.sum(map_slide(f, x)))(XS),
        cr.hessian(lambda x: np.sum(cr.map(f, x)))(XS),
    )
    assert cr.rrule(map_slide, f, XS) is None


# ---- the array dilemma ----------------------------------------------------------------------


class Diagonal:
    """A matrix that has only a diagonal."""

    def __init__(self, diagonal):
        self.diagonal = diagonal

    @property
    def shape(self):
        return (len(self.diagonal),) * 2

    def __getitem__(self, index):
        i, j = index
        return self.diagonal[i] if i == j else 0.0


def make_sum_array():
    calls = []

    @cr.primitive
    def sum_array(a):
        if isinstance(a, Diagonal):
            return sum_vector(a.diagonal)
        if scipy.sparse.issparse(a):
            return a.sum()
        s = 0.0
        for index in np.ndindex(a.shape):
            s += a[index]
        return s

    @cr.rrule.register(sum_array)
    def sum_array_rrule(sum_array, a):
        calls.append(type(a))
        project_a, shape = cr.ProjectTo(a), a.shape

        def sum_array_pullback(ybar):
            return NO, project_a(np.full(shape, ybar))

        return sum_array(a), sum_array_pullback

    return sum_array, calls


def sum_vector(x):
    s = 0.0
    for part in x:
        s += part
    return s


def test_sum_array_of_a_matrix():
    sum_array, calls = make_sum_array()
    np.testing.assert_array_equal(np.ones((2, 2)), cr.grad(sum_array)(B))
    assert [np.ndarray] == calls


def test_sum_array_falls_back_on_the_rule_for_any_array():
    """Option 1: where the tangent does not fit the type, an error says so."""
    sum_array, calls = make_sum_array()
    with pytest.raises(cr.TangentError, match="the tangent of a Diagonal"):
        cr.grad(sum_array)(Diagonal(XS))
    assert [Diagonal] == calls


def test_sum_array_opts_out():
    """Option 2: let AD have a go at the specialised primal, for this type only."""
    sum_array, calls = make_sum_array()
    cr.opt_out(cr.rrule, sum_array, Diagonal)
    assert cr.rrule(sum_array, Diagonal(XS)) is None
    assert cr.Tangent(Diagonal, diagonal=np.ones(3)) == cr.grad(sum_array)(Diagonal(XS))
    assert cr.Tangent(Diagonal, diagonal=2 * np.ones(3)) == cr.grad(
        lambda a: 2 * sum_array(a)
    )(Diagonal(XS))  # fmt: skip
    assert [] == calls
    cr.grad(sum_array)(B)
    assert [np.ndarray] == calls
    opted = cr.which(cr.rrule, sum_array, Diagonal(XS))
    assert (
        "rrule of sum_array for (Diagonal): opted out, so the engine differentiates its body"
        == opted
    )
    fallback = cr.which(cr.rrule, sum_array, B)
    assert fallback.startswith("rrule of sum_array for (ndarray): sum_array_rrule (test_slides.py:")


def test_sum_array_of_a_sparse_diagonal():
    """ProjectTo makes the fallback right for SciPy's own: the tangent stays on the diagonal."""
    sum_array, _ = make_sum_array()
    a = scipy.sparse.diags_array(XS)
    abar = cr.grad(sum_array)(a)
    assert ("dia", (1, 3)) == (abar.format, abar.data.shape)
    np.testing.assert_array_equal(np.eye(3), abar.toarray())


def test_a_projector_for_a_type_of_ones_own():
    """The embedded subspace is taken seriously once, for every rule that projects."""

    class Banded(Diagonal):
        pass

    def make(a):
        def project_a(abar):
            # The engine projects what the rule returned once more.
            already = isinstance(abar, cr.Tangent)
            return abar if already else cr.Tangent(Banded, diagonal=np.diagonal(abar))

        return project_a

    cr.ProjectTo.register(Banded, make)
    sum_array, calls = make_sum_array()
    gradient = cr.grad(sum_array)(Banded(XS))
    assert cr.Tangent(Banded, diagonal=np.ones(3)) == gradient
    assert [Banded] == calls


# ---- testing rules --------------------------------------------------------------------------


def test_testing_rules():
    """test_frule, test_rrule; a tangent that is specified; an engine instead of a rule."""
    test_frule(np.hypot, 3.0, 4.0)
    test_rrule(np.hypot, 3.0, 4.0)
    test_rrule(np.hypot, primal_with_tangent(3.0, 1.0), 4.0, output_tangent=2.0)
    test_rrule(lambda x: np.sum(x * x), XS, rrule_f=cr.rrule_via_ad)
