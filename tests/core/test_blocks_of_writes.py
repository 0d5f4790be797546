"""Blocks beside writes: random programs of writes, reads and views agree in every mode."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_forward_sweep import tapes_for_few_numbers  # noqa: F401  # in every test

import chainrules as cr

X = np.array([0.7, 1.3, -0.4])
INDICES = [0, -1, slice(1, None), slice(None, 2), slice(None, None, -1), ..., np.array([0, 2]),
           np.array([True, False, True])]  # fmt: skip
VIEWS = [lambda y: y, lambda y: y[1], lambda y: y.T[0:3], lambda y: y[:, 1:], np.ravel,
         lambda y: y[::-1], lambda y: np.reshape(y, (2, 6)), np.transpose,
         lambda y: np.ravel(y.T), lambda y: np.ravel(y[:, ::-1], "F")]  # fmt: skip
SAME = [lambda y: y + 1.0, lambda y: +y, lambda y: y.copy(), lambda y: np.split(y, 1)[0],
        lambda y: np.where(True, y, 2.0), lambda y: np.broadcast_to(y, (2, *np.shape(y))),
        lambda y: y - np.ones((2, 1, 1)), np.real]  # fmt: skip

steps = st.lists(
    st.tuples(
        st.sampled_from(["write", "scale", "read", "keep", "sqrt", "same"]),
        st.integers(0, len(VIEWS) - 1),
        st.integers(0, len(INDICES) - 1),
        st.integers(0, 7),
    ),
    min_size=1,
    max_size=8,
)


def program(chosen, dtype, order):
    def f(x):
        y = np.zeros((4, 3), dtype, order, like=x)
        y[0] = x
        y[2] = x * x
        kept, others = [np.sum(x)], []
        for what, view, index, number in chosen:
            part, index = VIEWS[view](y), INDICES[index]
            try:
                np.empty(np.shape(cr.value(part)))[index]
            except IndexError:
                continue
            if what == "write":
                part[index] = kept[number % len(kept)] * 0.5
            elif what == "scale":
                part[index] = np.sin(part[index]) + x[number % 3]
            elif what == "read":
                kept.append(np.sum(part[index]))
            elif what == "keep":
                kept.append(np.max(y * 1.0) * kept[number % len(kept)])
            elif what == "same":  # with the tangent of what is written to afterwards
                others.append(SAME[number % len(SAME)](part))
            else:  # where nothing moves, the slope is infinite
                with np.errstate(all="ignore"):
                    kept.append(np.sum(np.sqrt(np.where(part > 0, part, 0.0))))
        return np.concatenate([np.ravel(y), np.stack(kept), *map(np.ravel, others)])

    return f


@pytest.mark.slow
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(steps)
def test_first_and_second_order(dtype, order, chosen):
    f = program(chosen, dtype, order)
    tolerance = 1e-9 if dtype is np.float64 else 1e-4
    with np.errstate(all="ignore"):
        columns = np.stack([cr.jvp(f, (X,), (e,))[1] for e in np.eye(3)], axis=-1)
        scale = np.nanmax(np.abs(np.where(np.isfinite(columns), columns, 0)), initial=1.0)
        right = np.isfinite(columns)
        for transform in (cr.jacfwd, cr.jacrev, cr.jacobian):
            found = transform(f)(X)
            np.testing.assert_allclose(found[right] / scale, columns[right] / scale, atol=tolerance)
        if dtype is not np.float64 or not right.all():
            return
        loss = lambda x: np.sum(np.sin(f(x)))  # noqa: E731
        products = np.stack([cr.jvp(cr.grad(loss), (X,), (e,))[1] for e in np.eye(3)])
        hessian = cr.hessian(loss)(X)
    if np.isfinite(products).all():
        scale = np.abs(products).max(initial=1.0)
        np.testing.assert_allclose(hessian / scale, products / scale, atol=1e-8)


def test_writes_by_paths_that_need_another_order_of_memory_each():
    """A write into the whole array needs none; the next, into a view of its columns, does."""

    def f(x):
        y = x * 1.0  # in the order of x
        np.subtract(y, np.sum(x), out=y, where=y > 0.5)
        y.T.ravel()[1] = x[0, 1]
        y[0] *= 2.0
        np.ravel(y, "F")[4] = x[1, 1] * x[0, 0]
        return y

    x = np.asfortranarray([[0.6, 0.8, 1.3], [0.9, 0.2, 1.0]])
    columns = [cr.jvp(f, (x,), (e.reshape(2, 3),))[1] for e in np.eye(6)]
    expected = np.stack(columns, axis=-1).reshape(2, 3, 2, 3)
    for transform in (cr.jacobian, cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(transform(f)(x), expected, rtol=1e-14)


def test_pieces_are_not_added_into_what_two_entries_share():
    """The cotangent of ``x + z`` goes to both; a read of ``x[0]`` is added to that of x alone."""

    def f(x, z):
        p = x[0] ** 2
        return np.sum((x + z) ** 2) + p

    x, z = np.arange(3.0), np.ones(3)
    (xx, xz), (zx, zz) = cr.hessian(f, argnums=(0, 1))(x, z)
    np.testing.assert_array_equal(xx, np.diag([4.0, 2.0, 2.0]))
    for block in (xz, zx, zz):
        np.testing.assert_array_equal(block, 2 * np.eye(3))
