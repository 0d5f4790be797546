"""``cr.vmap`` beside a loop: axes, containers, ways through a function, writes, nests, refusals."""

import copy
import functools
import math
import operator
import random as of_python
import warnings
from collections import namedtuple
from dataclasses import dataclass
from random import gauss

import numpy as np
import numpy.random as of_numpy
import pytest
import scipy.stats
from scipy import optimize, stats
from scipy.stats import norm

import chainrules as cr
from chainrules import numpy as cnp

RNG = np.random.default_rng(5)
XS = RNG.normal(size=(5, 3))
W = RNG.normal(size=(3, 3))


def stacked(f, *xs):
    return np.stack([f(*items) for items in zip(*xs, strict=True)])


def agrees(f, *xs, rtol=1e-12, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error", cr.BatchWarning)
        ours = cr.vmap(f, **options)(*xs)
    right = stacked(f, *xs)
    assert ours.shape == right.shape
    assert ours.dtype == right.dtype
    np.testing.assert_allclose(ours, right, rtol=rtol, atol=1e-13)


# ---- axes and containers ------------------------------------------------------------------------


def test_in_axes_by_place_by_name_and_in_containers():
    def f(w, x, scale=1.0):
        return scale * (w["a"] @ x + w["b"])

    w = {"a": W, "b": np.arange(5.0)}
    right = np.stack([W @ x + b for x, b in zip(XS, w["b"], strict=True)])
    np.testing.assert_allclose(cr.vmap(f, in_axes=({"a": None, "b": 0}, 0))(w, XS), right)
    np.testing.assert_allclose(
        cr.vmap(f, in_axes={"w": {"a": None, "b": 0}, "x": 1})(w, XS.T), right
    )
    scales = np.arange(5.0)
    ours = cr.vmap(f, in_axes=({"a": None, "b": 0}, 0))(w, XS, scale=scales)
    np.testing.assert_allclose(ours, scales[:, None] * right)
    np.testing.assert_allclose(cr.vmap(f, (None, -1))({"a": W, "b": 2.0}, XS.T), XS @ W.T + 2)


def test_out_axes_and_results_in_containers():
    Pair = namedtuple("Pair", "first second")

    def f(x):
        return Pair(x * 2, {"sum": np.sum(x), "same": 3, "name": "a"})

    y = cr.vmap(f, out_axes=Pair(1, {"sum": 0, "same": None, "name": None}))(XS)
    assert type(y) is Pair
    assert y.first.shape == (3, 5)
    np.testing.assert_allclose(y.first, 2 * XS.T)
    assert y.second["same"] == 3
    assert y.second["name"] == "a"
    assert cr.vmap(f)(XS).second["same"].tolist() == [3] * 5
    with pytest.raises(ValueError, match="not the same for all items"):
        cr.vmap(f, out_axes=None)(XS)


def test_objects_with_fields():
    @dataclass
    class Line:
        slope: np.ndarray
        offset: float
        degree: int = 1

    lines = Line(np.arange(4.0), 2.0)
    axes = Line(0, None)
    y = cr.vmap(lambda p, x: p.slope * x**p.degree + p.offset, in_axes=(axes, 0))(lines, np.ones(4))
    np.testing.assert_allclose(y, np.arange(4.0) + 2)


def test_size_where_nothing_is_mapped_and_sizes_0_and_1():
    assert cr.vmap(lambda: 2.0, axis_size=3)().tolist() == [2.0] * 3
    assert cr.vmap(lambda x: x + 1, in_axes=None, axis_size=2)(1.0).tolist() == [2.0, 2.0]
    for f in (np.sort, lambda x: np.sum(x) if x[0] > 0 else x[1], lambda x: x @ W, np.argmax):
        assert cr.vmap(f)(XS[:1]).shape == stacked(f, XS[:1]).shape
        empty = cr.vmap(f)(XS[:0])
        assert empty.shape == (0, *np.shape(f(XS[0])))
        assert empty.dtype == np.asarray(f(XS[0])).dtype


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: cr.vmap(np.sin)(1.0), "has no axis 0"),
        (lambda: cr.vmap(np.sin, in_axes=2)(XS), "has no axis 2"),
        (lambda: cr.vmap(np.add)(XS, XS[:2]), "different numbers of items"),
        (lambda: cr.vmap(np.add, in_axes=(0,))(XS, XS), "in_axes has 1 entries"),
        (lambda: cr.vmap(lambda: 1.0)(), "no axis of items"),
        (lambda: cr.vmap(lambda x: x, in_axes={"y": 0})(XS), "in_axes names 'y'"),
        (lambda: cr.vmap(lambda x: x, in_axes=({"a": 0},))({"b": XS}), "have 'a'"),
        (lambda: cr.vmap(np.sin, out_axes=3)(XS), "out_axes says 3"),
        (lambda: cr.vmap(lambda x: x)("text"), "has no axis 0"),
    ],
)
def test_axes_that_do_not_fit_are_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_words_of_options_are_checked():
    with pytest.raises(TypeError, match="in_axes is an int"):
        cr.vmap(np.sin, XS)
    with pytest.raises(TypeError, match="number of ways"):
        cr.vmap(np.sin, ways=0)
    assert cr.vmap(np.sin).__name__ == "vmap(numpy.sin)"


# ---- ways through a function ---------------------------------------------------------------------


def branching(x):
    if x[0] > 0:
        return np.sum(x**2)
    return np.sin(x[1]) if x[1] < 0.3 else x[2] * 1.0


def rooted(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def test_conditions_and_loops_split_the_batch():
    agrees(branching, XS)
    agrees(rooted, np.abs(XS[:, 0]) + 0.1)
    agrees(cr.grad(rooted), np.abs(XS[:, 0]) + 0.1)
    agrees(lambda n: n // 2 if n % 2 == 0 else 3 * n + 1, np.arange(8))
    agrees(lambda x, n: sum((x**k for k in range(n)), 0.0), np.arange(4.0), np.array([1, 3, 3, 0]))
    agrees(lambda x, n: np.sum(x[:n]), XS, np.array([1, 3, 3, 0, 2]))


def test_zeros_of_two_signs_are_two_answers():
    zeros = np.array([0.0, -0.0, 0.0])
    for f in (
        lambda x: math.copysign(1.0, x),
        lambda x: float(str(float(x))) + math.atan2(0.0, x),
        lambda x: math.atan2(0.0, np.asarray(x).item()),
    ):
        np.testing.assert_array_equal(cr.vmap(f)(zeros), [f(x) for x in zeros])


def test_one_way_is_refused_where_asked_for():
    with pytest.raises(cr.BatchError, match=r"differ in a condition, in test_vmap\.py"):
        cr.vmap(branching, ways=1)(XS)
    assert cr.vmap(branching, ways=1)(np.abs(XS)).shape == (5,)


def test_too_many_ways_go_one_by_one_and_say_so():
    xs = np.linspace(0.1, 5, 40)
    with pytest.warns(cr.BatchWarning, match=r"more than 16 ways.*test_vmap\.py"):
        ours = cr.vmap(lambda x: float(x) ** 2)(xs)
    np.testing.assert_allclose(ours, xs**2)
    with pytest.warns(cr.BatchWarning):
        ours = cr.vmap(lambda x: optimize.brentq(lambda z: z**2 - x, 0.0, 9.0))(xs)
    np.testing.assert_allclose(ours, np.sqrt(xs))


def test_an_error_is_that_of_the_item():
    def f(x):
        if x[0] > 1:
            raise ArithmeticError("of this item")
        return x

    with pytest.raises(ArithmeticError, match="of this item"):
        cr.vmap(f)(XS + 1.0)
    assert cr.vmap(f)(XS - 9.0).shape == XS.shape
    with pytest.raises(np.linalg.LinAlgError):
        cr.vmap(np.linalg.inv)(np.zeros((2, 3, 3)))


def test_systems_of_which_each_item_has_its_own_go_in_one_call():
    a, b = np.eye(3) * 3.0 + XS[:2, None, :1] * 0.1, np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 0.0]])
    expected = [np.linalg.solve(*pair) for pair in zip(a, b, strict=True)]
    np.testing.assert_allclose(cr.vmap(np.linalg.solve)(a, b), expected)  # and no BatchWarning


def test_shapes_that_differ_are_refused():
    with pytest.raises(cr.BatchError, match=r"(?s)different shapes.*cr\.map"):
        cr.vmap(lambda x: x[x > 0])(XS)
    with pytest.raises(cr.BatchError, match="different containers"):
        cr.vmap(lambda x: (x, x) if x[0] > 0 else [x])(XS)
    agrees(lambda x: np.sum(x[x > 0]), XS)


@pytest.mark.filterwarnings("ignore")
def test_arrays_of_own_classes_are_refused_as_results():
    for f in (
        lambda x: np.ma.array([1.0, 2.0], mask=[0, 1]) * float(x),
        lambda x: np.ma.array([1.0, 2.0], mask=[0, 1]),
        lambda x: np.matrix([[float(x)]]),
        lambda x: np.matrix([[x], [2.0 * x]]),
        lambda x: [np.ma.array([x, x], mask=[0, 1])],
    ):
        with pytest.raises(cr.BatchError, match="of its class"):
            cr.vmap(f)(np.array([1.0, 2.0]))


def test_classes_of_others_have_their_turn():
    class Tenfold:
        def __rmul__(self, other):
            return other * 10

        __mul__ = __rmul__

    agrees(lambda x: (x[0] * Tenfold() + Tenfold() * x[1]) * x, XS)


def test_results_of_several_dtypes():
    ours = cr.vmap(lambda x: x if x > 0 else 0)(np.array([1.5, -1.0]))
    assert ours.dtype == np.float64
    np.testing.assert_array_equal(ours, [1.5, 0.0])


# ---- indices, masks, writes ----------------------------------------------------------------------

TABLE = RNG.normal(size=(4, 5, 3))


def test_places_of_what_holds_in_each_item():
    """As many places as items looked like one number of each."""
    xs = np.array([[1.0, 3.0, 2.0], [5.0, 4.0, 0.0], [0.0, 1.0, 7.0]])

    def lowered(x):
        (at,) = np.where(x >= np.max(x))
        y = x * 1.0
        y[at] = y[at] - 10.0
        return y, at

    for got, expected in zip(cr.vmap(lowered)(xs), zip(*map(lowered, xs)), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_each_item_has_indices_of_its_own():
    agrees(lambda x: x[np.argmax(x)] * x[[0, 2]], XS)
    agrees(lambda x: np.take_along_axis(x, np.argsort(x), 0), XS)
    agrees(lambda x: x[np.argsort(x)][::-1], XS)
    i = np.array([0, 2, 1, 2, 0])
    for part in (
        lambda x, i: x[i], lambda x, i: x[:, i], lambda x, i: x[i, :], lambda x, i: x[i, [0, 1]],
        lambda x, i: x[..., i], lambda x, i: x[None, :, i], lambda x, i: x[i, 1],
        lambda x, i: x[i][i],
    ):  # fmt: skip
        xs = RNG.normal(size=(5, 4, 3))
        agrees(part, xs, i)
        agrees(cr.grad(lambda x, i, part=part: np.sum(np.sin(part(x, i)))), xs, i)

    def pick(table, i):
        return np.sum(cr.vmap(lambda k: table[k] ** 2)(i))

    right = cr.grad(lambda table: sum(np.sum(table[k] ** 2) for k in i))(TABLE)
    np.testing.assert_allclose(cr.grad(pick)(TABLE, i), right)


def written(x):
    y = x * 1.0
    v = y[1:]
    y[0] = x[2]
    v[0] = 5.0
    y[2] += y[1] * x[0]
    return np.concatenate([y, v, y[::-1]])


def masked(x):
    y = np.sin(x)
    y[x > 0.2] = -1.0
    y[y < 0] *= 2.0
    return y


def at_own_place(x):
    y = x * 1.0
    y[np.argmin(x)] = 7.0
    y[np.argsort(x)[:2]] += np.sum(x)
    return y


def through_views(x):
    y = np.reshape(x * 2.0, (3, 1))
    y[...] = y + 1.0
    a = np.fliplr(y)  # which has no form for batches, and gives a view
    b = y[...]
    b[:1] *= 3.0
    return np.ravel(a)


def into_what_ravel_copies(x):
    y = np.reshape(x * 2.0, (3, 1)) + np.zeros(3)
    v = np.diagonal(y)[None].ravel()
    v[:2] = 9.0
    w = np.ravel(np.flip(y))
    w[0] = 7.0
    return np.sum(y, 0) + v + w[:3]


OF_WRITES = [written, masked, at_own_place, through_views, into_what_ravel_copies]


@pytest.mark.parametrize("f", OF_WRITES)
def test_writes(f):
    before = XS.copy()
    agrees(f, XS)
    agrees(cr.grad(lambda x: np.sum(f(x) ** 2)), XS)
    ours = cr.grad(lambda xs: np.sum(cr.vmap(f)(xs) ** 2))(XS)
    np.testing.assert_allclose(ours, stacked(cr.grad(lambda x: np.sum(f(x) ** 2)), XS))
    np.testing.assert_array_equal(XS, before)


@pytest.mark.parametrize("product", [np.tensordot, np.linalg.tensordot])
def test_a_product_without_axes_is_an_array_that_is_written_to(product):
    def filled(x):
        y = product(x, x)
        y.reshape(-1)[:1] = x[0, 0]
        return y

    agrees(filled, RNG.normal(size=(4, 2, 3)))


def test_the_callers_arrays_stay_and_results_are_apart():
    xs = XS.copy()

    def f(x):
        x[0] = 9.0
        return x

    y = cr.vmap(f)(xs)
    np.testing.assert_array_equal(xs, XS)
    y[...] = 0.0
    same = cr.vmap(lambda x: x)(xs)
    same[...] = 0.0
    np.testing.assert_array_equal(xs, XS)


def view_of_written(x):
    y = x * 2.0
    view = y[1:]
    y[0] = x[1]
    return {"view": view}


def view_and_its_array(x):
    y = x * 2.0
    view = y[::-1]
    y[0] = x[1]
    return {"view": view, "array": y}


@pytest.mark.parametrize("f", [view_of_written, view_and_its_array])
def test_views_of_what_was_written_to_are_results(f):
    ours, right = cr.vmap(f)(XS), [f(x) for x in XS]
    for name, y in ours.items():
        np.testing.assert_array_equal(y, np.stack([item[name] for item in right]))

    def total(y):
        return sum(np.sum(part**2) for part in y.values())

    whole = cr.grad(lambda xs: total(cr.vmap(f)(xs)))(XS)
    np.testing.assert_allclose(whole, stacked(cr.grad(lambda x: total(f(x))), XS))


def test_a_shuffle_by_views_is_done_item_after_item():
    def f(x):
        a = np.sin(x)
        np.random.default_rng(0).shuffle(a)
        return a

    xs = RNG.normal(size=(2, 3, 1))
    with pytest.warns(UserWarning, match="duplicates"), pytest.warns(cr.BatchWarning, match="swap"):
        y = cr.vmap(f)(xs)
    np.testing.assert_array_equal(y, stacked(f, xs))


def test_the_order_in_memory_is_that_of_each_item():
    xs = RNG.normal(size=(3, 1, 2, 4))
    for order in "CFAK":
        agrees(lambda x, order=order: (x + 0.0).T.ravel(order), xs)
        agrees(lambda x, order=order: (x[0] + 0.0).T.ravel(order), xs)
        agrees(lambda x, order=order: x[0].T.flatten(order), xs)
        agrees(lambda x, order=order: np.copy(x[0].T, order=order).ravel("K"), xs)


def test_a_number_of_pythons_among_joined_ones_is_weak():
    agrees(lambda x: np.union1d(x, 0.4), np.array([1.6, 1.2], np.float32), rtol=1e-6)
    agrees(lambda x: np.concatenate((x, 1), axis=None), np.ones((2, 3), np.float32))


def test_writes_by_what_looks_at_no_flags():
    def f(x):
        x[...] = 1.5
        np.multiply.at(np.ravel(np.asarray(x)), [0], 2.0)
        return np.sum(x)

    with pytest.warns(cr.BatchWarning, match="array of each item"):
        assert cr.vmap(f)(XS).tolist() == [6.0] * 5


def test_a_write_into_one_array_given_twice_is_refused():
    def f(x, y):
        x[0] = 1.0
        return x + y

    with pytest.warns(cr.BatchWarning, match="MutationError"):
        cr.vmap(f)(XS, XS)


def test_adopted_buffers():
    def f(x):
        y = cnp.zeros(3)
        for k in range(3):
            y[k] = x[k] ** 2 if k else x[0]
        return y

    agrees(f, XS)
    agrees(cr.jacrev(f), XS)


def test_arrays_made_of_numbers():
    agrees(lambda x: np.array([x[0] * x[1], np.sin(x[2])]) * 2.0, XS)
    agrees(lambda x: cr.array([x[0], x[1] * x[2], 1.0]), XS)


# ---- nests ---------------------------------------------------------------------------------------


def smooth(x):
    return np.sum(np.tanh(W @ x) ** 2)


def test_transforms_inside():
    v = np.ones(3)
    for f in (
        cr.grad(smooth),
        cr.hessian(smooth),
        cr.jacfwd(lambda x: np.tanh(W @ x)),
        cr.jacrev(lambda x: np.tanh(W @ x)),
        cr.jacobian(lambda x: np.tanh(W @ x)),
        lambda x: cr.jvp(smooth, (x,), (v,))[1],
        lambda x: cr.vjp(smooth, x)[1](2.0)[0],
        lambda x: cr.hvp(smooth, (x,), (v,)),
        lambda x: cr.linearize(smooth, x)[1](v),
        lambda x: cr.value_and_grad(smooth)(x)[0],
        cr.compile(cr.grad(smooth)),
        lambda x: cr.map(lambda z: z * x[0], x),
        lambda x: cr.scan(lambda c, z: (c * z + 1, c), x[0], x)[1],
        lambda x: cr.loop(5, lambda c: np.sin(c) * x[1], x[0]),
        lambda x: cr.while_loop(lambda c: c[1] < 4, lambda c: (c[0] * x[1], c[1] + 1), (x[0], 0))[
            0
        ],
        lambda x: cr.reduce(lambda a, b: a * b + 1.0, x),
        cr.checkpoint(smooth),
        cr.grad(cr.checkpoint(branching)),
        lambda x: cr.vmap(lambda z: z * np.sum(x) if z > 0 else z)(x),
    ):
        agrees(f, XS)


def test_transforms_outside():
    batch = cr.vmap(smooth)
    each = stacked(cr.grad(smooth), XS)
    np.testing.assert_allclose(cr.grad(lambda xs: np.sum(batch(xs)))(XS), each)
    np.testing.assert_allclose(cr.vjp(batch, XS)[1](np.ones(5))[0], each)
    dots = np.cos(XS)
    np.testing.assert_allclose(cr.jvp(batch, (XS,), (dots,))[1], np.sum(each * dots, 1))
    full = cr.jacfwd(batch)(XS)
    np.testing.assert_allclose(full, cr.jacrev(batch)(XS), atol=1e-14)
    for i in range(5):
        np.testing.assert_allclose(full[i, i], each[i])
        assert not full[i, (i + 1) % 5].any()
    second = cr.hessian(lambda w: np.sum(cr.vmap(lambda x: np.tanh(w * x).sum() ** 2)(XS)))(
        np.ones(3)
    )
    right = cr.hessian(lambda w: sum(np.tanh(w * x).sum() ** 2 for x in XS))(np.ones(3))
    np.testing.assert_allclose(second, right, rtol=1e-11)


def test_jacobians_and_hessians_as_batches():
    def f(x):
        return np.tanh(W @ x)

    x = XS[0]
    columns = cr.vmap(lambda v: cr.jvp(f, (x,), (v,))[1], out_axes=1)(np.eye(3))
    np.testing.assert_allclose(columns, cr.jacfwd(f)(x))
    rows = cr.vmap(lambda v: cr.vjp(f, x)[1](v)[0])(np.eye(3))
    np.testing.assert_allclose(rows, cr.jacrev(f)(x))
    hessian = cr.vmap(lambda v: cr.hvp(smooth, (x,), (v,)))(np.eye(3))
    np.testing.assert_allclose(hessian, cr.hessian(smooth)(x))


def test_compiled_batches():
    for f in (smooth, cr.grad(smooth), branching, written):
        compiled = cr.compile(cr.vmap(f))
        for k in range(4):
            np.testing.assert_allclose(
                compiled(XS + k * 0.01), stacked(f, XS + k * 0.01), rtol=1e-11
            )


def test_what_the_outer_transform_follows_is_not_lost():
    def f(w):
        return np.sum(cr.vmap(lambda x: float(w * x))(np.ones(3)))

    with pytest.raises(cr.LostDerivativeError):
        cr.grad(f)(2.0)
    assert cr.grad(lambda w: np.sum(cr.vmap(lambda x: w * cr.value(w * x))(np.ones(3))))(2.0) == 6.0
    stopped = cr.vmap(cr.grad(lambda x: x * cr.stop_gradient(x)))(np.array([2.0, 3.0]))
    np.testing.assert_allclose(stopped, [2.0, 3.0])


def test_explained():
    said = str(cr.explain(cr.vmap(lambda x: branching(x) + np.linalg.lstsq(W, x)[0][0]), XS))
    assert "5 items in 3 ways" in said
    assert "item after item: numpy.linalg.lstsq, which has no batch form, in test_vmap.py" in said
    found = cr.explain(cr.vmap(lambda x: np.sum(np.log(x))), XS, stop="nan")
    assert found.first_bad.name == "log"


def test_a_batched_value_does_not_escape():
    kept = []
    cr.vmap(lambda x: kept.append(x) or x)(XS)
    with pytest.raises(cr.EscapedTraceError):
        kept[0] + 1


# ---- rules ---------------------------------------------------------------------------------------


@cr.primitive
def map_rows(f, xs):
    return np.stack([f(x) for x in xs])


@cr.batch_rule.register(map_rows)
def map_rows_batch(config: cr.HasBatchMode, axis_size, batched, map_rows, f, xs):
    assert batched == (False, True)
    flat = np.reshape(xs, (-1, *xs.shape[2:]))
    y, is_batched = cr.batch_via_ad(config, len(flat), (True,), f, flat)
    assert is_batched
    return np.reshape(y, (axis_size, -1, *y.shape[1:])), True


@cr.primitive
def halved(x):
    return 0.5 * x if x.ndim == 1 else pytest.fail("the rule is asked")


calls: list[int] = []


@cr.batch_rule.register(halved)
def halved_batch(axis_size, batched, halved, x):
    calls.append(axis_size)
    return 0.5 * x, batched[0]


def test_rules_for_batches_call_back():
    xs = RNG.normal(size=(4, 2, 3))
    ours = cr.vmap(lambda x: map_rows(lambda row: np.sum(row) if row[0] > 0 else row[1], x))(xs)
    right = np.stack([[np.sum(r) if r[0] > 0 else r[1] for r in x] for x in xs])
    np.testing.assert_allclose(ours, right)
    np.testing.assert_allclose(cr.vmap(halved)(XS), XS / 2)
    assert calls == [5]


def test_rules_for_batches_are_asked_and_checked():
    y, batched = cr.batch_rule(5, (True,), halved, XS)
    np.testing.assert_allclose(y, XS / 2)
    assert batched is True
    assert cr.batch_rule(5, (True,), np.sin, XS) is None
    with pytest.raises(cr.RuleError, match=r"axis_size, batched, f"):
        cr.batch_rule.register(np.sin)(lambda f: f)

    @cr.primitive
    def broken(x):
        return x

    cr.batch_rule.register(broken)(lambda axis_size, batched, broken, x: x)
    with pytest.raises(cr.RuleError, match="whether y is batched"):
        cr.vmap(broken, ways=1)(XS)


def test_a_rule_of_the_users_is_asked_for_each_item():
    @cr.primitive
    def cubed(x):
        return x**3

    @cr.rrule.register(cubed)
    def cubed_rrule(cubed, x):
        return x**3, lambda ybar: (cr.NoTangent(), 100.0 * ybar)  # a slope of its own

    xs = np.array([1.0, 2.0])
    np.testing.assert_allclose(cr.vmap(cubed)(xs), xs**3)
    np.testing.assert_allclose(cr.vmap(cr.grad(cubed))(xs), [100.0, 100.0])
    np.testing.assert_allclose(cr.grad(lambda x: np.sum(cr.vmap(cubed)(x)))(xs), [100.0, 100.0])


# ---- random draws --------------------------------------------------------------------------------

SHARED = np.random.default_rng(0)


class Noisy:
    def __init__(self):
        self.rng = np.random.default_rng(1)

    def __call__(self, x):
        return x + self.rng.normal()


def draws_by_helper(x):
    return helper() * x


def helper():
    return SHARED.normal()


OF_A_DRAW = cr.grad(lambda x: np.sum(draws_by_helper(x)))


def test_draws_are_those_of_a_loop():
    local = np.random.default_rng(2)

    class Fixed:
        def __call__(self, x):
            return x + shared_noise.rng.normal()

    shared_noise = Noisy()
    for f in (
        lambda x: x + local.normal(),
        lambda x: x + np.random.random(),
        lambda x: x + (lambda: np.random.random())(),
        draws_by_helper,
        shared_noise,
        functools.partial(lambda noisy, x: noisy(x), shared_noise),
        Fixed(),
        cr.grad(lambda x: np.sum(x * local.normal())),
        lambda x: OF_A_DRAW(x),
        cr.checkpoint(draws_by_helper),
    ):
        with pytest.raises(cr.BatchError, match="draws random numbers"):
            cr.vmap(f, ways=1)(XS)
        before = copy.deepcopy((local, SHARED, shared_noise.rng)), np.random.get_state()
        right = stacked(f, XS)
        for now, old in zip((local, SHARED, shared_noise.rng), before[0], strict=True):
            now.bit_generator.state = old.bit_generator.state
        np.random.set_state(before[1])
        with pytest.warns(cr.BatchWarning, match="draws random numbers"):
            np.testing.assert_array_equal(cr.vmap(f)(XS), right)
    assert cr.vmap(lambda x: x + np.random.default_rng(3).normal())(XS).shape == XS.shape


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: x + of_python.gauss(0.0, 1.0),
        lambda x: x + gauss(0.0, 1.0),
        lambda x: x + of_numpy.normal(),
        lambda x: x + stats.norm.rvs(),
        lambda x: x + norm.rvs(),
        lambda x: x + scipy.stats.uniform.rvs(),
        lambda x: x + draws_by_name() + draws_by_name(),
    ],
)
def test_draws_by_other_names_of_a_module_are_seen(draw):
    of_python.seed(4)
    of_numpy.seed(4)
    right = stacked(draw, XS)
    of_python.seed(4)
    of_numpy.seed(4)
    with pytest.warns(cr.BatchWarning, match="draws random numbers"):
        np.testing.assert_array_equal(cr.vmap(draw)(XS), right)


def draws_by_name():
    from scipy import stats as distributions

    return distributions.norm.rvs()


def test_draws_of_items_that_go_ways_of_their_own():
    def before(rng, x):
        r = rng.normal()
        return x + r if x > 0 else x - r

    def on_both(rng, x):
        return x + rng.normal() if x > 0 else x - rng.normal()

    def on_one(rng, x):
        return x + rng.normal() if x > 1 else x * 2

    def of_many(rng, x):
        n = 0
        while x > 0:
            x, n = x - 1, n + 1
        return rng.normal() + n if n % 2 else n * 1.0

    for f in (before, on_both, on_one, of_many):
        for xs in (np.array([-1.0, 2.0, 3.0, -4.0]), np.arange(25.0)[::-1].copy()):
            ours, right = np.random.default_rng(1), np.random.default_rng(1)
            with pytest.warns(cr.BatchWarning, match="draws random numbers"):
                found = cr.vmap(functools.partial(f, ours), ways=40)(xs)
            np.testing.assert_array_equal(found, [f(right, x) for x in xs])
            assert ours.normal() == right.normal()
            compiled = cr.compile(cr.vmap(functools.partial(f, ours), ways=40))
            with pytest.warns(cr.BatchWarning), pytest.raises(cr.CompileError):
                compiled(xs)


# ---- memory order of items ------------------------------------------------------------------


def filled_by_ravel(x):
    d = x + 0.0
    d.ravel()[0] = np.sum(x)  # a view of d, as of an array by itself
    return d


def filled_part(x):
    d = x[np.array([True, False, True])] * 2.0
    d.ravel()[0] = np.sum(x)
    return d


def filled_by_reshape(x):
    d = np.exp(x.T)
    d.reshape(-1)[-1] = np.sum(x)
    return d


@pytest.mark.parametrize("f", [filled_by_ravel, filled_part, filled_by_reshape])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("order", ["C", "F"])
def test_views_of_items_are_those_of_arrays_by_themselves(f, axis, order):
    xs = np.asarray(np.arange(27.0).reshape(3, 3, 3) / 10, order=order)
    expected = np.stack([f(np.moveaxis(xs, axis, 0)[k]) for k in range(3)])
    np.testing.assert_array_equal(cr.vmap(f, in_axes=axis)(xs), expected)
    slopes = cr.vmap(cr.grad(lambda x: np.sum(f(x) ** 2)), in_axes=axis)(xs)
    expected = [cr.grad(lambda x: np.sum(f(x) ** 2))(np.moveaxis(xs, axis, 0)[k]) for k in range(3)]
    np.testing.assert_allclose(slopes, np.stack(expected), rtol=1e-13)


@pytest.mark.parametrize("turned", [np.flipud, np.fliplr, lambda x: np.rollaxis(x, 1)])
def test_a_copy_of_a_turned_item_is_a_copy(turned):
    def f(x):
        a = turned(x)
        a.reshape(-1)[0] = 0.0  # of a view that is not contiguous a copy
        return np.sum(x.reshape(a.shape) * a)

    xs = np.arange(1.0, 13.0).reshape(2, 2, 3)
    np.testing.assert_array_equal(cr.vmap(f)(xs), [f(x.copy()) for x in xs])
    expected = [cr.grad(f)(x.copy()) for x in xs]
    np.testing.assert_allclose(cr.vmap(cr.grad(f))(xs), expected)
    whole = cr.grad(lambda xs: np.sum(cr.vmap(f)(xs)))
    np.testing.assert_allclose(whole(xs), expected)


@pytest.mark.filterwarnings("ignore::chainrules.BatchWarning")
def test_items_that_say_they_are_arrays_and_are_none():
    class Length:
        def __init__(self, v):
            self.v = v

        def __array_ufunc__(self, *args, **options):
            return NotImplemented

        dtype = property(lambda self: np.dtype(float))
        shape = property(lambda self: np.shape(cr.value(self.v)))

    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(cr.BatchError, match="a Length, whose items"):
        cr.vmap(lambda x: Length(2.0 * x))(x)


def test_numbers_defer_to_objects_of_a_priority():
    class Measured:
        def __init__(self, v):
            self.v = v

        def __array__(self, dtype=None, copy=None):
            return np.array(self.v, dtype)

    class Preferred(Measured):
        __array_priority__ = 0.0  # more than that of NumPy's numbers, not than that of arrays

    x = np.array([1.3, 1.43])
    for cls in (Measured, Preferred):
        q = cls(np.array([0.7, 1.9]))
        expected = [np.sum(number * (number != q)) for number in x]
        np.testing.assert_allclose(cr.vmap(lambda x, q=q: np.sum(x * (x != q)))(x), expected)
    with pytest.raises(TypeError, match="unsupported operand"):
        x[0] * Preferred(2.0)
    with pytest.raises(TypeError, match="unsupported operand"):
        cr.vmap(lambda x: x * Preferred(2.0))(x)
    with pytest.raises(TypeError, match="unsupported operand"):
        cr.grad(lambda x: x * Preferred(2.0))(x[0])


@pytest.mark.filterwarnings("ignore::chainrules.BatchWarning")
@pytest.mark.parametrize("compare", [operator.eq, operator.ne, operator.lt])
def test_comparisons_with_a_sequence_of_another_class(compare):
    class Sequence:
        def __len__(self):
            return 2

        def __getitem__(self, k):
            return [0.7, 1.9][k]

    def f(x):
        return np.sum(x * compare(x, Sequence()))

    xs = np.array([0.7, 1.3, 2.5])
    np.testing.assert_array_equal(cr.vmap(f)(xs), [f(x) for x in xs])
    np.testing.assert_array_equal(cr.vmap(cr.grad(f))(xs), [cr.grad(f)(x) for x in xs])


@pytest.mark.filterwarnings("error::chainrules.BatchWarning")
def test_comparisons_with_texts_and_nothing():
    xs = np.array([0.7, 1.3])
    np.testing.assert_array_equal(cr.vmap(lambda x: x if x == "a" else 2 * x)(xs), 2 * xs)
    np.testing.assert_array_equal(cr.vmap(lambda x: x if x != None else 2 * x)(xs), xs)  # noqa: E711


def sum_of_window(x):
    return np.sum(np.hanning(x))


def sum_of_places(x):
    return np.sum(np.arange(x))


def pair_and_count(x):
    return np.array([x, 2.0 * x]), 3


@pytest.mark.parametrize("f", [sum_of_window, sum_of_places])
@pytest.mark.parametrize("xs", [np.array([0.5, 0.5]), np.array([-1.0, 0.2]), np.array([3.0, 3.0])])
def test_numbers_of_entries_that_are_batched_give_the_dtype_of_an_item(f, xs):
    right = np.stack([f(x) for x in xs])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.BatchWarning)
        found = cr.vmap(f)(xs)
    assert found.dtype == right.dtype
    np.testing.assert_array_equal(found, right)


def test_whole_numbers_beside_arrays_of_numbers_come_at_once():
    with warnings.catch_warnings():
        warnings.simplefilter("error", cr.BatchWarning)
        pairs, counts = cr.vmap(pair_and_count)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(pairs, [[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_array_equal(counts, [3, 3])


def layouts(n):
    """Yield vectors: one after another in memory, with gaps, reversed, and one number for all."""
    x = RNG.normal(size=2 * n)
    yield from (x[:n], x[::2], x[::-1][:n], x.reshape(n, 2)[:, 1], np.broadcast_to(x[0], (n,)))


@pytest.mark.parametrize("operate", [operator.add, operator.sub, operator.mul])
@pytest.mark.parametrize("n", [1, 7, 8, 17])
def test_operators_on_numbers_however_they_lie_in_memory(n, operate):
    for x in layouts(n):
        for y in layouts(n):
            np.testing.assert_array_equal(cr.vmap(operate)(x, y), operate(x, y))
        np.testing.assert_array_equal(cr.vmap(lambda x: operate(2.0, x))(x), operate(2.0, x))


def test_truths_beside_numbers_have_zeros_among_their_tangents():
    def f(x):
        return np.sum(np.stack([x, x > 1, np.floor(x)]))

    y, ydot = cr.vmap(lambda x: cr.jvp(f, (x,), (1.0,)), ways=1)(np.array([0.5, 1.5]))
    np.testing.assert_array_equal(y, [0.5, 3.5])
    np.testing.assert_array_equal(ydot, [1.0, 1.0])
