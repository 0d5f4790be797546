"""reduce, accumulate, scan and checkpoint, and the two of Python's own that have rules."""

import dataclasses
import functools
import itertools
import operator
import weakref

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules import value
from chainrules.testing import test_frule, test_rrule

XS = np.array([0.3, -1.2, 2.0])
ROWS = np.array([[0.3, -1.2], [2.0, 0.5], [-0.7, 1.1]])


def mix(carry, x):
    return np.sin(carry) * x + 0.5 * carry


@dataclasses.dataclass
class Decay:
    rate: float

    def __call__(self, carry, x):
        return self.rate * carry + x**2


def step(carry, x):
    return carry * x + 1.0, np.sin(carry) * x


def step_of_containers(carry, x):
    a, b = carry["a"], carry["b"]
    return {"a": a * x, "b": b + a}, (a * b, [np.stack([a, x])])


class Recurrence:
    """A functor for scan, with a field to differentiate."""

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, carry, x):
        carry = np.tanh(self.weight * carry + x)
        return carry, carry**2


# ---- values ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "y"),
    [
        (6.0, cr.reduce(operator.add, [1.0, 2.0, 3.0])),
        (np.float64(10), cr.reduce(operator.add, np.array([1.0, 2.0, 3.0]), 4.0)),
        (None, cr.reduce(lambda carry, x: None, [1.0], None)),
        ("abc", cr.reduce(operator.add, "bc", initial="a")),
        ([1.0, 3.0, 6.0], cr.accumulate(operator.add, [1.0, 2.0, 3.0])),
        ((0.0, 1.0, 3.0), cr.accumulate(operator.add, (1.0, 2.0), 0.0)),
        (np.array([0.0, 1.0, 3.0]), cr.accumulate(operator.add, np.array([1.0, 2.0]), initial=0.0)),
        (np.array([5.0]), cr.accumulate(operator.add, np.zeros(0), 5.0)),
        (np.zeros(0), cr.accumulate(operator.add, np.zeros(0))),
        ([], cr.accumulate(operator.add, [])),
        (np.array([[1.0], [4.0]]), cr.accumulate(operator.add, np.array([[1.0], [3.0]]))),
    ],
)  # fmt: skip
def test_values(expected, y):
    assert type(expected) is type(y)
    np.testing.assert_array_equal(expected, y)


def test_scan():
    carry, ys = cr.scan(lambda carry, x: (carry + x, carry * x), 1.0, [2.0, 3.0])
    assert 6.0 == carry
    np.testing.assert_array_equal([2.0, 9.0], ys)
    carry, (ys, nothing) = cr.scan(lambda carry, x: (carry, ({"a": x}, None)), (), XS)
    assert ((), None) == (carry, nothing)
    np.testing.assert_array_equal(XS, ys["a"])
    carry, ys = cr.scan(step, 1.0, [])
    assert (1.0, (0,)) == (carry, ys.shape)


def test_reduce_of_nothing():
    with pytest.raises(TypeError, match="reduce"):
        cr.reduce(operator.add, [])
    with pytest.raises(TypeError, match="reduce of an empty sequence needs an initial value"):
        cr.grad(lambda xs: cr.reduce(operator.add, xs))(np.zeros(0))
    assert 2.0 == cr.grad(lambda a: cr.reduce(operator.add, np.zeros(0), 2 * a))(1.0)


@pytest.mark.parametrize("transform", [lambda f: f, cr.grad])
def test_scan_needs_pairs(transform):
    message = r"scan needs f\(carry, x\) to return \(carry, y\), and it returned float64"
    with pytest.raises(TypeError, match=message):
        transform(lambda xs: cr.scan(operator.add, np.float64(0), xs)[0])(XS)


# ---- rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fold", [cr.reduce, cr.accumulate])
@pytest.mark.parametrize(
    "args",
    [
        (mix, XS),
        (mix, XS, 0.4),
        (mix, [0.3, -1.2]),
        (mix, (0.3, -1.2), 0.4),
        (mix, ROWS),
        (mix, ROWS, 0.4 * np.ones(2)),
        (mix, XS[:1]),
        (mix, XS[:0], 0.4),
        (mix, [], 0.4),
        (Decay(0.7), XS),
        (Decay(0.7), XS, 0.4),
        (lambda z, x: z * x, XS + 1j, 0.5 - 1j),
        (lambda carry, x: {"a": carry["a"] * x}, XS, {"a": 2.0}),
        (lambda carry, x: np.floor(carry), XS, 2.5),
        (operator.mul, XS),
    ],
)
def test_folds(fold, args):
    test_rrule(fold, *args)
    test_frule(fold, *args)


def test_accumulate_of_nothing():
    test_rrule(cr.accumulate, mix, XS[:0])
    test_frule(cr.accumulate, mix, [])


@pytest.mark.parametrize(
    "args",
    [
        (step, 0.4, XS),
        (step, 0.4, [0.3, -1.2]),
        (step, 0.4, XS[:0]),
        (step, np.array([0.4, 0.1]), ROWS),
        (step_of_containers, {"a": 0.4, "b": -0.2}, XS),
        (step_of_containers, {"a": 0.4, "b": -0.2}, (0.3, 0.5)),
        (Recurrence(0.6), 0.4, XS),
        (lambda carry, x: (carry * x, None), 0.4, XS),
        (lambda carry, x: (None, x**2), None, XS),
        (lambda carry, x: [carry, carry + x**2], 0.4, XS),
    ],
)
def test_scans(args):
    test_rrule(cr.scan, *args)
    test_frule(cr.scan, *args)


def test_one_output_of_scan_only():
    """The cotangent of what nobody reads is a zero, and no pullback runs for it."""
    _, pullback = cr.rrule(cr.ReverseConfig(), cr.scan, step, 0.4, XS)
    zeros = (cr.NoTangent(), cr.NoTangent(), cr.ZeroTangent(), cr.ZeroTangent())
    assert zeros == pullback((cr.ZeroTangent(), cr.ZeroTangent()))
    np.testing.assert_allclose(
        cr.grad(lambda xs: cr.scan(step, 0.4, xs)[0])(XS),
        cr.grad(lambda xs: cr.reduce(lambda carry, x: step(carry, x)[0], xs, 0.4))(XS),
    )


def test_an_initial_value_by_name():
    expected = cr.grad(lambda a: functools.reduce(mix, XS * a, 0.5 * a))(2.0)
    np.testing.assert_allclose(
        cr.grad(lambda a: cr.reduce(mix, XS * a, initial=0.5 * a))(2.0), expected
    )
    constant = cr.grad(lambda xs: functools.reduce(mix, xs, 0.5))(XS)
    np.testing.assert_allclose(cr.grad(lambda xs: cr.reduce(mix, xs, initial=0.5))(XS), constant)
    np.testing.assert_allclose(cr.jacfwd(lambda xs: cr.reduce(mix, xs, initial=0.5))(XS), constant)
    last = cr.grad(lambda xs: cr.accumulate(mix, xs, initial=0.5)[-1])(XS)
    np.testing.assert_allclose(last, constant)
    _, pullback = cr.rrule(cr.ReverseConfig(), cr.reduce, mix, XS, initial=0.5)
    np.testing.assert_allclose(pullback(1.0)[2], constant)
    assert 3 == len(pullback(1.0))


# ---- Python's own ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ((cr.reduce, mix, XS), (functools.reduce, mix, XS)),
        ((cr.reduce, mix, XS, 0.4), (functools.reduce, mix, XS, 0.4)),
        ((cr.reduce, Decay(0.7), [0.3, 0.4]), (functools.reduce, Decay(0.7), [0.3, 0.4])),
    ],
)
def test_functools_reduce(ours, theirs):
    test_rrule(*theirs)
    test_frule(*theirs)
    config = cr.ReverseConfig()
    assert str(cr.rrule(config, *ours)[1](1.5)) == str(cr.rrule(config, *theirs)[1](1.5))


@pytest.mark.parametrize("ybar", [XS, list(XS), cr.Tangent(list, *XS)])
def test_itertools_accumulate(ybar):
    for given in ((), (mix,)):
        y, pullback = cr.rrule_via_ad(cr.ReverseConfig(), itertools.accumulate, XS, *given)
        assert list(itertools.accumulate(XS, *given)) == y
        _, expected = cr.vjp(lambda xs, f=given: cr.accumulate(*f or (operator.add,), xs), XS)
        selfbar, xsbar, *fbar = pullback(ybar)
        np.testing.assert_allclose(xsbar, expected(XS)[0])
        assert [cr.NoTangent()] * (1 + len(given)) == [selfbar, *fbar]
        tangents = (cr.NoTangent(), XS, *[cr.NoTangent()] * len(given))
        y, ydot = cr.frule(cr.ForwardConfig(), tangents, itertools.accumulate, XS, *given)
        np.testing.assert_allclose(np.dot(list(ydot), XS), np.dot(xsbar, XS))


def test_itertools_accumulate_by_name():
    y, pullback = cr.rrule(cr.ReverseConfig(), itertools.accumulate, XS, func=mix, initial=0.4)
    assert list(itertools.accumulate(XS, mix, initial=0.4)) == y
    _, expected = cr.vjp(lambda xs: cr.accumulate(mix, xs, 0.4), XS)
    np.testing.assert_allclose(pullback(np.ones(4))[1], expected(np.ones(4))[0])


@pytest.mark.parametrize(
    "ybar", [XS, list(XS), cr.Tangent(list, *XS), cr.Tangent(list, *XS[:2], 2)]
)
@pytest.mark.parametrize("xs", [XS, list(XS), tuple(XS)])
def test_builtin_map(xs, ybar):
    y, pullback = cr.rrule_via_ad(cr.ReverseConfig(), map, lambda x: x**3, xs)
    assert [x**3 for x in XS] == y
    selfbar, fbar, xsbar = pullback(ybar)
    assert cr.NoTangent() == selfbar == fbar
    np.testing.assert_allclose(3 * XS**3, list(xsbar))
    _, ydot = cr.frule_via_ad(cr.ForwardConfig(), (selfbar, fbar, xsbar), map, lambda x: x**3, xs)
    np.testing.assert_allclose(9 * XS**5, list(ydot))


def test_builtin_map_may_give_what_does_not_stack():
    y, pullback = cr.rrule(
        cr.ReverseConfig(), map, lambda x: x * np.ones(3) if x > 0 else (x, 2 * x), XS
    )
    assert [3, 2, 3] == [len(part) for part in y]
    xsbar = pullback([np.ones(3), (1.0, 1.0), cr.ZeroTangent()])[2]
    np.testing.assert_array_equal([3.0, 3.0, 0.0], xsbar)


def test_transforms_of_python_s_own():
    np.testing.assert_allclose(
        3 * XS**2, cr.vjp(map, lambda x: x**3, XS)[1]([1.0, 1.0, 1.0])[1]
    )  # fmt: skip
    y, ydot = cr.jvp(functools.partial(functools.reduce, operator.mul), (XS,), (np.ones(3),))
    np.testing.assert_allclose(np.sum(y / XS), ydot)


# ---- checkpoint -----------------------------------------------------------------------------


class Calls:
    def __init__(self):
        self.count = 0

    def layer(self, w, x):
        self.count += 1
        return np.tanh(w @ x)


def test_checkpoint_evaluates_twice():
    calls, w = Calls(), np.diag(XS)
    layer = cr.checkpoint(calls.layer)
    _, pullback = cr.vjp(lambda w: layer(w, layer(w, XS)), w)
    assert 2 == calls.count
    once = pullback(np.ones(3))[0]
    assert 4 == calls.count
    plain = cr.vjp(lambda w: calls.layer(w, calls.layer(w, XS)), w)[1](np.ones(3))[0]
    np.testing.assert_allclose(once, plain, rtol=1e-14)
    np.testing.assert_allclose(pullback(np.ones(3))[0], plain, rtol=1e-14)


def test_checkpoint_keeps_nothing():
    def layer(x):
        inner = np.exp(x)
        kept.append(weakref.ref(value(inner)))
        return np.sin(inner)

    for f, expected in ((layer, True), (cr.checkpoint(layer), False)):
        kept = []
        recorded = cr.vjp(f, XS)
        assert expected == (kept[0]() is not None)
        assert 2 == len(recorded)


@cr.checkpoint
def affine(x, scale=2.0, *, offset=0.0, parts=()):
    return scale * x**2 + offset + sum(parts)


def test_checkpoint_keeps_the_signature():
    assert "affine" == affine.__name__
    assert 4.0 == cr.grad(affine)(1.0)
    assert 6.0 == cr.grad(affine)(1.0, scale=3.0)
    assert (6.0, 1.0) == cr.grad(affine, argnums=(0, 1))(1.0, 3.0)


@pytest.mark.parametrize(
    "transform", [cr.grad, cr.jacfwd, lambda f: lambda x: cr.linearize(f, x)[1](1.0)]
)
def test_checkpoint_with_keywords(transform):
    def loss(a):
        return affine(a, scale=a, offset=a**2, parts=[a, {"b": a}["b"] * 2])

    assert 3 * 4.0 + 4.0 + 3.0 == transform(loss)(2.0)


def test_checkpoint_of_a_functor():
    model = Decay(0.7)
    rate = cr.grad(lambda model, x: cr.checkpoint(model)(x, 0.5))(model, 3.0)
    assert cr.Tangent(Decay, rate=3.0) == rate


def test_checkpoint_of_a_function_with_a_rule():
    def cube(x):
        return x**3

    @cr.rrule.register(cube)
    def cube_rrule(cube, x):
        def cube_pullback(ybar):
            return cr.NoTangent(), 100 * ybar

        return cube(x), cube_pullback

    assert 100.0 == cr.grad(cr.checkpoint(cube))(2.0)


def test_second_derivatives_of_checkpoint():
    def f(x):
        return np.sum(np.sin(x) * x)

    np.testing.assert_allclose(cr.hessian(cr.checkpoint(f))(XS), cr.hessian(f)(XS), rtol=1e-14)
    reverse = cr.jacrev(cr.grad(cr.checkpoint(f)))(XS)
    np.testing.assert_allclose(reverse, cr.hessian(f)(XS), rtol=1e-14)


FACTOR = np.ones(3)


def summed_with_a_global(x):
    return np.sum(np.sin(x) * FACTOR)


def changed_array(x):
    factor = np.ones(3)
    y = cr.checkpoint(lambda x: np.sum(np.sin(x) * factor))(x)
    factor[:] = 5.0
    return y


def changed_global(x):
    y = cr.checkpoint(summed_with_a_global)(x)
    FACTOR[:] += 1.0
    return y


def changed_array_of_a_helper(x):
    factor = np.ones(3)

    def helper(x, *, parts=factor):
        return np.sum(x * parts)

    y = cr.checkpoint(lambda x: helper(np.sin(x)))(x)
    factor[0] = 5.0
    return y


def changed_array_in_a_dict(x):
    parts = {"factor": [np.ones(3)]}
    y = cr.checkpoint(functools.partial(lambda p, x: np.sum(x * p["factor"][0]), parts))(x)
    parts["factor"][0][0] = 5.0
    return y


def changed_array_at_which_the_value_is_the_same(x):
    factor = np.ones(3)
    y = cr.checkpoint(lambda x: np.sum((x - cr.value(x)) * factor))(x)
    factor *= 2
    return y


def random_numbers(x):
    rng = np.random.default_rng(0)
    return cr.checkpoint(lambda x: np.sum(x) * rng.normal())(x)


def counting(x):
    calls = []

    def layer(x):
        calls.append(x)
        return np.sum(x) * len(calls)

    return cr.checkpoint(layer)(x)


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (changed_array, "an array or a number that <lambda> captures has been changed"),
        (changed_global, "an array or a number that summed_with_a_global captures"),
        (changed_array_of_a_helper, "captures has been changed"),
        (changed_array_in_a_dict, "captures has been changed"),
        (changed_array_at_which_the_value_is_the_same, "captures has been changed"),
        (random_numbers, "gave another value when it was evaluated again"),
        (counting, "layer, evaluated in .* by cr.checkpoint or .*, gave another value"),
    ],
)
@pytest.mark.parametrize("transform", [cr.grad, cr.jacrev, cr.hessian])
def test_checkpoint_of_a_function_that_does_not_repeat_itself(f, what, transform):
    with pytest.raises(cr.MutationError, match=what) as caught:
        transform(f)(XS)
    assert "pass to it as an argument whatever may change" in str(caught.value)


def test_checkpoint_of_a_function_that_writes_into_its_arguments():
    """It is given copies, in both evaluations and without a derivative."""

    def f(x, flags, parts):
        flags[0] = not flags[0]
        parts["a"][0] += 1.0
        x[1] = x[0] ** 2
        return np.sum(x) * parts["a"][0] * (2.0 if flags[0] else 3.0)

    x, flags, parts = XS.copy(), np.array([False]), {"a": np.zeros(1)}
    expected = 2.0 * np.array([1.0 + 2 * XS[0], 0.0, 1.0])
    checkpointed = cr.checkpoint(f)
    np.testing.assert_allclose(expected, cr.grad(checkpointed)(x, flags, parts), rtol=1e-15)
    assert checkpointed(x, flags, parts) == f(x.copy(), np.array([False]), {"a": np.zeros(1)})
    np.testing.assert_array_equal(XS, x)
    assert (False, 0.0) == (flags[0], parts["a"][0])


def test_checkpoint_of_functions_that_round_otherwise_where_they_are_traced():
    """The value of a rule may differ from NumPy's in its last bits: that is no change."""

    @cr.primitive
    def third(x):
        return x / 3

    @cr.rrule.register(third)
    def third_rrule(third, x):
        return x * (1 / 3), lambda ybar: (cr.NoTangent(), ybar / 3)

    xs = np.arange(1.0, 30.0)
    assert np.any(xs / 3 != xs * (1 / 3))
    f = cr.checkpoint(lambda x: np.sum(np.sin(third(x))))
    np.testing.assert_allclose(np.cos(xs / 3) / 3, cr.grad(f)(xs), rtol=1e-12)


def test_checkpoint_of_values_that_are_no_numbers():
    """NaN is equal to itself; objects that hold themselves, text and logs are not looked at."""

    class Node:
        def __init__(self):
            self.me, self.log, self.name = self, [np.ones(2)], "node"

    node = Node()

    def f(x):
        node.log.append(np.ones(3))
        return {"y": np.where(x > 1.5, x * x, np.nan), "name": node.name, "none": None}

    gradient = cr.grad(lambda x: np.nansum(cr.checkpoint(f)(x)["y"]))(XS)
    np.testing.assert_array_equal([0.0, 0.0, 4.0], gradient)


# ---- results are arrays of their own --------------------------------------------------------


def first_of(carry, x):
    return carry


@pytest.mark.parametrize(
    "result_of",
    [
        lambda rows: cr.reduce(first_of, rows[:1]),
        lambda rows: cr.reduce(first_of, rows),
        lambda rows: cr.reduce(lambda carry, x: x, [*rows]),
        lambda rows: cr.reduce(first_of, [], rows),
        lambda rows: cr.reduce(first_of, [], {"a": rows})["a"],
        lambda rows: cr.accumulate(first_of, [*rows])[0],
        lambda rows: cr.scan(lambda carry, x: (carry, x), rows, rows)[0],
        lambda rows: cr.scan(lambda carry, x: (carry, x), rows, rows)[1],
        lambda rows: cr.map(lambda x: x, [*rows])[0],
        lambda rows: cr.map(lambda x: x[:1], (*rows, rows))[0],
        lambda rows: cr.map(lambda x: x, rows),
    ],
)
def test_what_is_given_back_is_no_view_of_the_items(result_of):
    """With a rule it cannot be one, so it is not one without: a write into it stays there."""

    def f(x):
        rows = x * 1.0
        result = result_of(rows)
        result *= 3.0
        return np.sum(rows**2) + np.sum(result)

    y, gradient = cr.value_and_grad(f)(ROWS)
    assert y == f(ROWS) == cr.jvp(f, (ROWS,), (ROWS,))[0]
    np.testing.assert_allclose(np.sum(gradient * ROWS), cr.jvp(f, (ROWS,), (ROWS,))[1], rtol=1e-14)


def test_objects_without_arrays_are_given_back_as_they_are():
    keeper = Decay(0.5)
    assert keeper is cr.map(lambda x: keeper, [1.0])[0] is cr.reduce(first_of, [1.0], keeper)
