"""The value that made a NaN: the entry of an operand, its name, and the slope there."""

import contextvars
import gc
import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import chainrules as cr
import chainrules.numpy as cnp
from chainrules.rules.tracing.noted_calls import put_back, under_way

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

X = np.array([1.0, 3.0])
SQRT = "sqrt gives an infinity at [0, 0], in test_value_that_made_a_nan.py:{}, where d2[0, 0] = 0.0"
CAUSE = "; its cotangent is finite, its slope is not."


def spread(p):
    d2 = (p[:, None] - p) ** 2
    return np.sum(np.sqrt(d2))


LINE = spread.__code__.co_firstlineno + 2


def said(call, **wanted):
    with pytest.raises(FloatingPointError) as caught, cr.debug(**(wanted or {"inf": True})):
        call()
    return str(caught.value).splitlines()[0]


def mapped(executor, **options):
    def total(p):
        return sum(cr.map(spread, [p, 2.0 * p], executor=executor, **options))

    return cr.grad(total)(X)


REVERSE = {
    "grad": lambda: cr.grad(spread)(X),
    "vjp": lambda: cr.vjp(spread, X)[1](1.0),
    "jacrev": lambda: cr.jacrev(spread)(X),
    "checkpoint": lambda: cr.grad(cr.checkpoint(spread))(X),
    "compiled": lambda: cr.compile(cr.grad(spread))(X),
    "inside of a compiled one": lambda: cr.grad(cr.compile(spread))(X),
    "fortran order": lambda: cr.grad(lambda p: spread(p.T[0]))(np.asfortranarray([X, X]).T),
    "float32": lambda: cr.grad(spread)(X.astype(np.float32)),
    "map": lambda: cr.grad(lambda p: sum(cr.map(spread, [p])))(X),
}


@pytest.mark.parametrize("call", REVERSE.values(), ids=REVERSE)
def test_name_entry_and_slope(call):
    assert said(call) == "the pullback of " + SQRT.format(LINE) + CAUSE


@pytest.mark.parametrize("back", ["tape", "slopes", "recompute"])
def test_threads(back):
    with ThreadPoolExecutor(2) as executor:
        assert SQRT.format(LINE) in said(lambda: mapped(executor, back=back))


@pytest.mark.slow
def test_processes_that_were_there_before():
    fork = multiprocessing.get_context("fork")  # which knows this module
    with ProcessPoolExecutor(1, mp_context=fork) as executor:
        executor.submit(abs, 1).result()
        assert "where d2[0, 0] = 0.0" in said(lambda: mapped(executor))


FORWARD = {
    "jvp": lambda: cr.jvp(spread, (X,), (X,)),
    "jacfwd": lambda: cr.jacfwd(spread)(X),
    "hessian": lambda: cr.hessian(spread)(X),
    "hvp": lambda: cr.hvp(spread, (X,), (X,)),
}


@pytest.mark.parametrize("call", FORWARD.values(), ids=FORWARD)
def test_tangents(call):
    text = said(call, nan=True)
    assert f"py:{LINE}, where d2[0, 0] = 0.0; those of its arguments have none." in text


def test_direction():
    assert said(FORWARD["jacfwd"], nan=True).startswith(
        "the tangent of sqrt is a NaN at [0, 0] of direction 0"
    )


def test_gradient_of_a_gradient():
    text = said(lambda: cr.grad(lambda p: np.sum(cr.grad(spread)(p)))(X))
    assert text.startswith("divide in the pullback of sqrt gives an infinity at [0, 0]")
    assert "where d2[0, 0] = 0.0" in text
    assert text.endswith(CAUSE)


def test_items():
    items = np.array([[1.0, 2.0], [0.0, 3.0]])
    text = said(lambda: cr.vmap(lambda p: np.log(p) * 2.0)(items))
    assert text.startswith("log gives an infinity at [0] of item 1")
    assert text.endswith("where p[0] = 0.0; what it was called with has none.")
    text = said(lambda: cr.vmap(cr.grad(spread))(items))
    assert "an infinity at [0, 0] of item 0" in text
    assert "where d2[0, 0] = 0.0" in text
    text = said(lambda: cr.grad(lambda xs: np.sum(cr.vmap(spread)(xs)))(items))
    assert "where d2[0, 0] = 0.0" in text
    assert "at [0, 0] of item 0" in text


def test_numbers_of_items():
    text = said(lambda: cr.vmap(cr.grad(lambda x: np.sqrt(x) * 2.0))(np.array([1.0, 0.0])))
    assert "an infinity of item 1" in text
    assert "where x = 0.0" in text


@pytest.mark.parametrize("call", ["checkpoint", "map"])
def test_an_error_leaves_nothing_to_the_collector(call):
    def run():
        with pytest.raises(FloatingPointError) as caught, cr.debug(inf=True):
            REVERSE[call]()  # its traceback keeps the sweeps that it has left
        put_back("of another sweep")
        del caught
        gc.collect()
        return under_way()

    assert contextvars.copy_context().run(run) == "of another sweep"


def test_infinity_before_a_nan():
    with pytest.raises(FloatingPointError) as caught, cr.debug(nan=True):
        cr.grad(spread)(X)
    first, before, _ = str(caught.value).splitlines()
    assert first.startswith("the pullback of power gives a NaN at [0, 0]")
    assert "where its argument 0 is 0.0 at [0, 0] and its argument 1 is 2" in first
    assert first.endswith("its cotangent has an infinity at [0, 0].")
    assert before.endswith("where d2[0, 0] = 0.0; its cotangent is finite, its slope is not")


def test_both_operands():
    def ratio(x):
        c = x[1:] - x[1:]
        return np.sum(x[:1] / c)

    assert "where its argument 0 is 1.0 at [0] and c[0] = 0.0" in said(lambda: cr.grad(ratio)(X))
    assert "where y = 1.0 and its argument 1 is 0.0" in said(
        lambda: cr.grad(lambda y: y / np.float64(0.0))(1.0)
    )


def test_rows_that_are_broadcast_have_no_entry_of_the_other():
    def f(x):
        row = x[0] - x[0]
        return np.sum(np.ones((2, 2)) / row)

    text = said(lambda: cr.grad(f)(np.ones((2, 2))))
    assert text.startswith("divide gives an infinity at [0, 0]")
    assert "where its argument 0 is 1.0 at [0, 0] and row[0] = 0.0" in text
    text = said(lambda: cr.grad(lambda x: np.sum(np.sqrt(x) * np.ones((2, 2))))(np.zeros(2)))
    assert "where x[0] = 0.0" in text


def test_an_operand_is_told_as_it_was():
    def f(x):
        c = np.zeros(2)
        y = x / c
        c += 1.0
        return np.sum(y)

    assert "c[0] = 0.0" in said(lambda: cr.grad(f)(X))


def test_a_buffer_is_told_as_it_was():
    def f(x):
        y = cnp.zeros(2)
        y[0] = x[0] * 0.0
        y[1] = x[1]
        z = np.sqrt(y)
        y[0] = 7.0
        return np.sum(z) + y[0]

    assert "where y[0] = 0.0; its cotangent is finite, its slope is not" in said(
        lambda: cr.grad(f)(X)
    )


def test_an_overflow_is_no_infinite_slope():
    text = said(lambda: cr.grad(lambda x: (x * 1e200) * 1e200)(1e-300))
    assert "its slope is not" not in text
    assert "its cotangent is finite" in text


def test_no_entry_is_told_where_the_function_is_not_elementwise():
    def f(x):
        total = np.sum(x * 0.0)
        return np.log(total)

    assert "where total = 0.0" in said(lambda: cr.grad(f)(X))
    text = said(lambda: cr.jvp(lambda x: np.linalg.inv(x) * np.inf, (np.eye(2),), (np.eye(2),)))
    assert "argument 0" not in text or "multiply" in text


def test_complex():
    text = said(lambda: cr.jvp(lambda z: np.log(z), (0j,), (1j,)))
    assert "where z = 0j" in text


def test_locals_of_the_user_stay_as_they_are():
    def f(x):
        before = locals()
        y = x * 2.0
        return y * len(before)

    with cr.debug(nan=True):
        found = cr.grad(f)(3.0)
    assert found == cr.grad(f)(3.0)


EXPLAINED = {
    "grad": lambda: cr.explain(cr.grad(spread), X, stop="nan"),
    "compiled": lambda: cr.explain(cr.compile(cr.grad(spread)), X, stop="nan"),
    "items": lambda: cr.explain(cr.vmap(cr.grad(spread)), np.array([X, X]), stop="nan"),
    "nest": lambda: cr.explain(cr.grad(lambda p: np.sum(cr.grad(spread)(p) * 0.0)), X, stop="nan"),
}


@pytest.mark.parametrize("explain", EXPLAINED.values(), ids=EXPLAINED)
def test_explained(explain):
    (before,) = re.findall("an infinity came before it: (.*)", explain().text)
    assert re.match(rf"test_value_that_made_a_nan.py:{LINE} .* in the pullback of sqrt", before)
    assert "where d2[0, 0] = 0.0; its cotangent is finite, its slope is not" in before


def test_explained_value():
    def f(x):
        shifted = x - 1.0
        return np.sum(np.log(shifted))

    found = cr.explain(f, np.array([2.0, 0.5]), stop="nan")
    assert "not finite at [1], where shifted[1] = -0.5" in found.text
    found = cr.explain(cr.vmap(f), np.array([[2.0, 2.0], [2.0, 0.5]]), stop="nan")
    assert "not finite at [1] of item 1, where shifted[1] = -0.5" in found.text


def test_explained_tangent():
    found = cr.explain(lambda x: cr.jvp(spread, (x,), (x,)), X, stop="nan")
    assert found.first_bad is not None


def test_writes_by_a_function_into_a_view():
    def f(x):
        y = x[None, ...]
        np.clip(y, 0.5, 1.0, out=y)
        return np.sum(np.log(y * 0.0 + 1.0) + x)

    expected = cr.grad(f)(X)
    with cr.debug(nan=True, inf=True):
        np.testing.assert_array_equal(cr.grad(f)(X), expected)
