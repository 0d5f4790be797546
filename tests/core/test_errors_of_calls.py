"""Calls as other libraries have them, each with the message that says what to write here."""

import re

import numpy as np
import pytest

import chainrules as cr


def raises(error, text):
    return pytest.raises(error, match=re.escape(text))


TRANSFORMS = ["grad", "value_and_grad", "jacobian", "jacfwd", "jacrev", "hessian", "wirtinger"]


def loss(x):
    return np.sum(x**2)


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize(
    ("point", "said"),
    [
        (np.ones(2), "float64[2]"),
        (3.0, "float"),
        ((np.ones(2),), "tuple"),
        ([1.0, 2.0], "list"),
        ({"a": 1.0}, "dict"),
        (None, "NoneType"),
    ],
)
def test_the_point_in_place_of_argnums(name, point, said):
    expected = (
        f"argnums of {name} is an int, a name, or a tuple of these, not {said}; {name} returns a "
        f"function, which takes the point.\n  write cr.{name}(loss)(x)"
    )
    for given, options in (((point,), {}), ((), {"argnums": point})):
        with raises(TypeError, expected):
            getattr(cr, name)(loss, *given, **options)


def test_a_traced_point_in_place_of_argnums():
    with raises(TypeError, "write cr.grad(f)(x)"):
        cr.grad(lambda x: cr.grad(lambda x: x, x))(1.0)


X = np.ones(2)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda: cr.hvp(loss, X, X),
            "primals and tangents of hvp are tuples, with one entry per argument.\n"
            "  write cr.hvp(f, (x,), (v,))",
        ),
        (
            lambda: cr.hvp(loss, (X,), X, block=True),
            "primals and tangents of hvp are tuples, with one entry per argument.\n"
            "  write cr.hvp(f, (x,), (v,))",
        ),
        (
            lambda: cr.jvp(loss, X, X),
            "primals and tangents of jvp are tuples, with one entry per argument.\n"
            "  write cr.jvp(f, (x,), (xdot,))",
        ),
        (
            lambda: cr.hvp(loss, (X,), (X, X)),
            "hvp got 1 primal and 2 tangents.\n  give one tangent for each argument",
        ),
        (
            lambda: cr.hvp(lambda x: x, (X,), (X,)),
            "hvp needs a scalar output, and <lambda> returned",
        ),
        (
            lambda: cr.hessian(lambda x: x)(X),
            "hessian needs a scalar output, and <lambda> returned",
        ),
    ],
)
def test_products_and_hessians_speak_of_themselves(call, expected):
    with raises(TypeError, expected):
        call()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda: cr.scan(lambda c, x: (c, x), 1.0, X, reverse=True),
            "scan has no argument 'reverse'.\n  turn the items, and the outputs: "
            "carry, ys = cr.scan(f, carry, xs[::-1]); ys[::-1]",
        ),
        (
            lambda: cr.scan(lambda c, x: (c, x), 1.0, None, length=3),
            "scan has no argument 'length'.\n"
            "  write cr.scan(f, carry, range(n)), or cr.loop(n, step, carry)",
        ),
        (
            lambda: cr.scan(lambda c, x: (c, x), 1.0, X, unroll=2),
            "scan has no argument 'unroll'.\n  leave it out: each step runs as Python runs it",
        ),
        (
            lambda: cr.map(np.sin, X, in_axes=0),
            "map has no argument 'in_axes'.\n  items are rows: "
            "write cr.map(f, np.moveaxis(xs, axis, 0)), and for what all items share "
            "cr.map(lambda x: f(x, shared), xs)",
        ),
        (
            lambda: cr.map(np.sin, X, out_axes=0),
            "map has no argument 'out_axes'.\n"
            "  results are rows: write np.moveaxis(cr.map(f, xs), 0, axis)",
        ),
        (
            lambda: cr.map(np.sin, X, axis_size=2),
            "map has no argument 'axis_size'.\n"
            "  the shortest sequence says how many items there are",
        ),
        (
            lambda: cr.map(np.sin, X, batch_size=2),
            "map has no argument 'batch_size'; did you mean 'chunksize'?\n"
            "  items are evaluated one by one; write executor=... to have several at once",
        ),
        (
            lambda: cr.scan(lambda c, x: (c, x), 1.0, X, segments=2),
            "scan has no argument 'segments'; did you mean 'segment'?\n"
            "  it takes carry, f, progress, segment, xs",
        ),
        (
            lambda: cr.map(np.sin, X, order="C"),
            "map has no argument 'order'.\n"
            "  it takes back, chunksize, executor, f, progress, timeout",
        ),
    ],
)
def test_options_of_other_libraries(call, expected):
    with raises(TypeError, expected):
        call()


def test_what_these_remedies_give():
    step = lambda c, x: (c * x, c + x)  # noqa: E731
    carry, ys = cr.scan(step, 1.0, X[::-1])
    assert (carry, ys[::-1].tolist()) == (1.0, [2.0, 2.0])
    assert cr.scan(lambda c, k: (c + k, None), 0, range(3))[0] == 3
    assert cr.loop(3, lambda c: c + 1, 0) == 3
    pairs = np.arange(6.0).reshape(3, 2)
    assert cr.map(lambda x: np.sum(x), np.moveaxis(pairs, 1, 0)).tolist() == [6.0, 9.0]
