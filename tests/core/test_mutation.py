"""Writing into traced arrays behaves as NumPy's own arrays do, in every mode."""

import warnings

import numpy as np
import pytest
from differences import jacobian_of, slope_of

import chainrules as cr
import chainrules.forward.writes
import chainrules.reverse.writes
from chainrules.rules.tracing.views import copied

# NumPy 2.5 would rather have a new view.
pytestmark = pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")

X = np.array([0.5, -1.5, 2.0, 0.25])


def fill_entries(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] * x[i] + (y[i - 1] if i else 0.0)
    return y


def overwrite(x):
    y = x * 2.0
    y[1] = x[0] * x[3]
    y[1] = x[2] ** 2
    y[0] = 3.0
    return y


def read_before_write(x):
    y = np.sin(x)
    first = y[1]
    z = y * y
    y[1] = x[0] * 5.0
    return np.concatenate([y * y, z, [first * first]])


def aliases_see_it(x):
    y = x.copy()
    z = y
    z[2] = x[0] * x[1]
    return y * z


def through_views(x):
    y = np.zeros((2, 3)) + x[0]
    row = y[1]
    column = y.T[2]
    row[:2] = x[1:3] * x[0]
    column[0] = x[3] ** 2
    row += column[0]
    return y * np.arange(6.0).reshape(2, 3) + row


def view_of_a_view(x):
    y = np.outer(x, x)
    inner = y[1:3][:, ::2]
    inner[...] = inner * x[0]
    y[1, 0] = x[3]
    return y + inner.sum()


def reshaped(x):
    y = np.zeros_like(x) * 1.0
    square = y.reshape(2, 2)
    square[1] = x[:2] * x[2]
    np.ravel(y)[0] = x[1] ** 3
    return square @ square


def fancy_and_masks(x):
    y = x * x
    y[[0, 2]] = x[[1, 1]] * 3.0
    y[y > 2.0] = x[0]
    y[np.array([3, 3])] = np.stack([x[0] * x[1], x[2] * x[3]])
    return y * x


def more_axes_of_one(x):
    y = np.stack([x, x * x, np.sin(x)])
    y[0] = y[1][None, None, :1]
    y[1:, :2] = (y[2, 1:3] * x[0])[None, None]
    return y


def broadcast_into(x):
    y = np.zeros((3, 4)) * x
    y[1] = x[0]
    y[:, 2] = x[3] * x[1]
    y[2:] = x * 2.0
    return y * y


def in_place_operators(x):
    y = x * 1.0
    y += x[0]
    y *= x
    y -= 1.0
    y /= 1.0 + x**2
    y **= 2
    y[1:] += y[:-1]
    return y


def out_argument(x):
    y = np.zeros_like(x)
    np.multiply(x, x, out=y)
    np.sin(y, out=y)
    z = np.add(y, x, out=np.zeros_like(x))
    return y * z


def array_methods(x):
    y = x * x
    y.sort()
    z = np.zeros_like(x)
    z.fill(x[0])
    z.put([1, 2], x[:2] * x[1])
    return y * z


def the_input_itself(x):
    x[0] = x[1] * x[2]
    x += 1.0
    return x * x


def like(x):
    y = np.zeros(3, like=x)
    y[1] = x[0] * x[1]
    y[2] = y[1] * x[2]
    return y


def numpy_functions(x):
    y = np.zeros_like(x)
    np.copyto(y, x * x)
    np.put(y, [0], x[1] * x[2])
    np.add.at(y, [1, 1, 2], x[:3])
    np.putmask(y, np.array([False, False, False, True]), x[0] ** 2)
    a = np.zeros((2, 2)) * x[0]
    np.fill_diagonal(a, x[3] * x[2])
    return np.concatenate([y, a.ravel()])


def set_attributes(x):
    y = np.outer(x, x)
    row = y[2:]
    row.shape = (2, 2, 2)
    row[1, 0] = x[0] ** 2
    z = x * x
    z.shape = (4, 1)
    z[1] = x[0] * x[3]
    w = np.outer(x, x)
    w.flat = x
    z.real = z.real * x[1]
    return y + z @ z.T + w


def complex_parts(x):
    y = x * (1 + 2j)
    y.real = x**2
    y.imag[[0, 2]] = x[:2]
    part = y.imag
    part[1:][0] = x[3] ** 2
    part += x[0]
    y[3] = x[0] * 1j
    z = np.outer(y, y)
    z.T.real[1] = x
    return np.imag(z) + np.real(z * z) * part


PROGRAMS = [
    fill_entries,
    overwrite,
    read_before_write,
    aliases_see_it,
    through_views,
    view_of_a_view,
    reshaped,
    fancy_and_masks,
    broadcast_into,
    more_axes_of_one,
    in_place_operators,
    out_argument,
    array_methods,
    the_input_itself,
    like,
    numpy_functions,
    set_attributes,
    complex_parts,
]


def plain(f, x):
    return f(x.copy())


@pytest.mark.parametrize("f", PROGRAMS)
def test_values_are_numpys_own(f):
    expected = plain(f, X)
    np.testing.assert_array_equal(cr.vjp(f, X)[0], expected)
    np.testing.assert_array_equal(cr.jvp(f, (X,), (X,))[0], expected)
    np.testing.assert_array_equal(X, [0.5, -1.5, 2.0, 0.25])


def differences(f, x):
    return jacobian_of(lambda x: plain(f, x), x)


@pytest.mark.parametrize("f", PROGRAMS)
def test_jacobians_in_every_mode(f):
    expected = differences(f, X)
    for transform in (cr.jacrev, cr.jacfwd):
        np.testing.assert_allclose(transform(f)(X), expected, rtol=1e-7, atol=1e-7)
    direction = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_allclose(
        cr.jvp(f, (X,), (direction,))[1], expected @ direction, rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_order_in_every_mix(f):
    def loss(x):
        return np.sum(np.sin(f(x)))

    def gradient(x):
        return cr.grad(loss)(x)

    expected = differences(gradient, X)
    for outer in (cr.jacfwd, cr.jacrev):
        for inner in (cr.grad, cr.jacfwd):
            np.testing.assert_allclose(outer(inner(loss))(X), expected, rtol=1e-6, atol=1e-6)


def test_the_callers_array_stays_untouched():
    x = X.copy()
    cr.grad(lambda x: np.sum(the_input_itself(x)))(x)
    cr.jvp(the_input_itself, (x,), (x,))
    cr.linearize(the_input_itself, x)
    np.testing.assert_array_equal(x, X)


def test_a_pullback_after_writes_may_be_called_many_times():
    _, pullback = cr.vjp(read_before_write, X)
    seed = np.arange(9.0)
    first = pullback(seed)[0]
    np.testing.assert_array_equal(pullback(seed)[0], first)
    np.testing.assert_array_equal(seed, np.arange(9.0))


def test_a_write_that_fails_changes_nothing():
    def f(x):
        y = x * 2.0
        for index, v in ((9, x[0]), (slice(0, 2), x)):
            with pytest.raises((IndexError, ValueError)):
                y[index] = v
        return np.sum(y * y)

    np.testing.assert_allclose(cr.grad(f)(X), 8 * X)


def test_an_integer_buffer_is_refused():
    def f(x):
        counts = np.arange(4) * 1
        counts = cr.array(counts)
        y = np.zeros_like(x, dtype=int)
        y[0] = x[0]
        return y[0]

    with pytest.raises((cr.MutationError, cr.LostDerivativeError)):
        cr.grad(f)(X)


MODES = {
    "grad": lambda f, x: cr.value_and_grad(f)(x)[0],
    "jvp": lambda f, x: cr.jvp(f, (x,), (x,))[0],
    "linearize": lambda f, x: cr.linearize(f, x)[0],
    "jvp of grad": lambda f, x: cr.jvp(cr.value_and_grad(f), (x,), (x,))[0][0],
}
ROWS = np.arange(12.0).reshape(4, 3)


def swap(y):
    y[0], y[1] = y[1], y[0]


def swap_of_an_array_written_to(y):
    y[3] = 0.0
    y[0], y[1] = y[1], y[0]


def swap_in_a_view(y):
    part = y[:, ::2].T
    part[0], part[1] = part[1], part[0]


def swap_of_slices(y):
    a, b = y[:2], y[2:]
    y[:2] = b
    y[2:] = a


@pytest.mark.filterwarnings("ignore:you are shuffling")
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize(
    "shuffle",
    [
        swap,
        swap_of_an_array_written_to,
        swap_in_a_view,
        swap_of_slices,
        lambda y: np.random.default_rng(0).shuffle(y),
        lambda y: np.random.RandomState(0).shuffle(y),
    ],
)
def test_a_swap_of_views_is_refused(shuffle, mode):
    def f(x):
        y = x * 1.0
        shuffle(y)
        return np.sum(y * ROWS)

    with pytest.raises(
        cr.MutationError, match=r"swapped through views in test_mutation\.py"
    ) as error:
        mode(f, ROWS)
    assert "x[[i, j]] = x[[j, i]]" in str(error.value)
    assert "rng.permutation" in str(error.value)


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_a_swap_is_refused_wherever_its_copies_lie(mode, monkeypatch):
    kept = []  # so that no memory is used again

    def copied_and_kept(x):
        kept.append(copied(x))
        return kept[-1]

    for module in (chainrules.forward.writes, chainrules.reverse.writes):
        monkeypatch.setattr(module, "copied", copied_and_kept)
    # Arrays that are looked at between two writes are copied by each.
    monkeypatch.setitem(cr.ProjectTo.registered, type(monkeypatch), lambda x: lambda xbar: xbar)
    with pytest.raises(cr.MutationError, match="swapped through views"):
        mode(lambda x: np.sum(swapped(x * 1.0) * ROWS), ROWS)


def swapped(y):
    swap(y)
    return y


# ---- what rules of one's own give that is an argument, or a view of one ----


@cr.primitive
def same(x):
    return x


@cr.primitive
def turned(x, y):
    return y.T


@cr.primitive
def first_of(xs):
    return xs[0]


@cr.primitive
def flat_by_hand(x):
    return np.ravel(x)


cr.scalar_rule(same, 1)
cr.bilinear_rule(turned, lambda ybar, x, y: 0 * x, lambda ybar, x, y: ybar.T)
cr.linear_rule(first_of, lambda ybar, space: [ybar, cr.ZeroTangent()])


@cr.frule.register(flat_by_hand)
def flat_frule(tangents, f, x):
    return f(x), np.ravel(tangents[1])


@cr.rrule.register(flat_by_hand)
def flat_rrule(f, x):
    return f(x), lambda ybar: (cr.NoTangent(), np.reshape(ybar, np.shape(x)))


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize(
    "f", [same, lambda x: turned(x, x), lambda x: first_of([x, x]), flat_by_hand]
)
def test_a_write_into_what_a_rule_shares_is_refused(f, mode):
    def written_to_the_result(x):
        x = x * 1.0
        f(x)[0] = 5 * x[0, 0]
        return np.sum(x**2)

    def written_to_the_argument(x):
        x = x * 1.0
        y = f(x)
        x[0] = 5 * x[1]
        return np.sum(y**2)

    for program in (written_to_the_result, written_to_the_argument):
        with pytest.raises(cr.MutationError, match="memory is seen elsewhere"):
            mode(program, ROWS)
        with pytest.raises(cr.MutationError, match="memory is seen elsewhere"):
            cr.compile(cr.value_and_grad(program))(ROWS)


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_writes_into_views_by_einsum(mode):
    def f(x):
        a = x[:3] * 1.0
        np.einsum("ii->i", a)[...] *= a[0]
        b = np.einsum(a, [0, 1], [1, 0])
        a[0] = 2 * b[2]
        b[1] += a[:, 0]
        return np.sum(a * np.arange(9.0).reshape(3, 3))

    assert np.allclose(mode(f, ROWS), f(ROWS))
    assert np.allclose(cr.compile(cr.value_and_grad(f))(ROWS)[0], f(ROWS))
    cr.testing.check_grad(f, ROWS)


def swap_by_a_list(y):
    y[[0, 1]] = y[[1, 0]]
    y[[0, 1]] = y[[1, 0]]


def swap_copies(y):
    y[0], y[1] = y[1].copy(), y[0].copy()
    y[0], y[1] = y[1] * 1.0, +y[0]


def swap_numbers(y):
    y[0, 0], y[1, 1] = y[1, 1], y[0, 0]
    np.random.default_rng(0).shuffle(y[2])


def edges(y):
    for _ in range(3):
        y[0], y[-1] = y[-2], y[1]
        y[0] += 1.0
        y[0] = y[0]
        y[1:-1] = y[:-2] + y[2:]


def handles_that_are_kept(y):
    a, b = y[0], y[1]
    for _ in range(2):
        a[...] = b
        b[...] = 2 * a
        b[...] = a


def a_write_between(y):
    a, b = y[0], y[1]
    y[0] = b
    b[1] = 5.0
    y[1] = a


def views_of_what_was_written(y):
    row = y[0]
    y[0] = 2 * row
    y[1] = row
    y[2] = row


def permutation(y):
    y[...] = y[np.random.default_rng(0).permutation(4)]


@pytest.mark.filterwarnings("ignore:you are shuffling")
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize(
    "write",
    [
        swap_by_a_list,
        swap_copies,
        swap_numbers,
        edges,
        handles_that_are_kept,
        a_write_between,
        views_of_what_was_written,
        permutation,
    ],
)
def test_other_moves_within_an_array_are_numpys(write, mode):
    def f(x):
        y = x * 1.0
        write(y)
        return np.sum(y * ROWS)

    assert f(ROWS) == mode(f, ROWS)
    expected = slope_of(f, (ROWS,), (ROWS,))
    np.testing.assert_allclose(cr.jvp(f, (ROWS,), (ROWS,))[1], expected, rtol=1e-6)
    np.testing.assert_allclose(np.sum(cr.grad(f)(ROWS) * ROWS), expected, rtol=1e-6)


def test_a_loop_that_fills_costs_the_same_per_entry():
    # Counted, not timed: one entry of the tape a write, and no copy of the array a write.
    import tracemalloc

    def f(x):
        y = np.zeros(20_000, like=x)
        for i in range(0, 20_000, 100):
            y[i] = x * i
        return np.sum(y)

    tracemalloc.start()
    cr.grad(f)(1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * 20_000 * 8


def safe_division(x):
    ratio = np.divide(x, x - 0.25, out=np.zeros_like(x), where=x != 0.25)
    return ratio + np.log(x, where=x > 0, out=np.full_like(x, -1.0))


def test_where_of_a_ufunc():
    expected = differences(safe_division, X[:3])
    for transform in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(transform(safe_division)(X[:3]), expected, rtol=1e-7, atol=1e-7)
    gradient = cr.grad(lambda x: np.sum(np.sqrt(x, where=x > 0, out=np.zeros_like(x))))
    np.testing.assert_allclose(gradient(np.array([0.0, 4.0])), [0.0, 0.25])
    with pytest.raises(cr.MutationError, match="plain array"):
        cr.grad(lambda x: np.sum(np.divide(1.0, x, out=np.ones(4), where=x > 0)))(X)


def broadcast_and_raveled(x):
    a = np.broadcast_to(x, (2, *x.shape))
    x[-1] *= 1.5
    b = a.ravel()  # a copy, of what shares memory
    b[-1] *= 1.5
    return a * 1.0


def windowed_and_raveled(x):
    a = np.lib.stride_tricks.sliding_window_view(x, 2)
    x[[-1]] *= 1.5
    b = a.reshape(-1)
    b[:2] *= x[0]
    return a * a


@pytest.mark.parametrize("f", [broadcast_and_raveled, windowed_and_raveled])
def test_copies_of_views_whose_entries_share_memory(f):
    x = np.array([0.8, 1.1, 0.6])
    expected = jacobian_of(f, x)
    for transform in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(transform(f)(x.copy()), expected, rtol=1e-7, atol=1e-9)
    curved = cr.hvp(lambda x: np.sum(f(x) ** 2), (x.copy(),), (np.ones(3),))
    gradient = cr.grad(lambda x: np.sum(f(x) ** 2))
    moved = slope_of(gradient, (x,), (1.0,))
    np.testing.assert_allclose(curved, moved, rtol=1e-6, atol=1e-8)
    batch = np.stack([x, x[::-1]])
    found = cr.vmap(cr.jacrev(f))(batch)
    np.testing.assert_allclose(found[0], expected, rtol=1e-7, atol=1e-9)


FORWARD = [
    lambda f, x: cr.jvp(f, (x,), (x,)),
    lambda f, x: cr.jacfwd(f)(x),
    lambda f, x: cr.linearize(f, x),
]


@pytest.mark.parametrize("transform", FORWARD)
def test_what_asarray_made_of_a_part_that_does_not_move(transform):
    def writes_after(x):
        y = x * x
        y[:] = 0.5
        seen = np.asarray(y)
        y -= 0.1
        return seen + 0.0 * x

    with pytest.raises(cr.MutationError, match=r"np\.asarray"):
        transform(writes_after, np.ones(2))

    def writes_into(x):
        y = x * x
        y[:] = 0.5
        np.asarray(y)[0] = 1.0
        return y

    with pytest.raises(cr.MutationError, match="read-only"):
        transform(writes_into, np.ones(2))

    def writes_into_a_copy(x):
        y = x * x
        y[:] = 0.5
        kept = np.array(y)
        y -= 0.1
        kept[0] = 2.0
        return y + kept + x

    y = writes_into_a_copy(np.ones(2))
    np.testing.assert_array_equal(cr.jvp(writes_into_a_copy, (np.ones(2),), (np.ones(2),))[0], y)


OVERLAPS = {
    "turned": lambda x: x[::-1, ::-1], "transposed": lambda x: x.T, "rows": lambda x: x[::-1],
    "columns": lambda x: x[:, ::-1], "quarter": np.rot90, "itself": lambda x: x,
    "vector": lambda x: x.reshape(-1)[::-1].reshape(2, 2),
}  # fmt: skip
PARTS = {
    "all": lambda x: x, "row": lambda x: x[0], "last": lambda x: x[-1], "transposed": lambda x: x.T,
    "three": lambda x: x.reshape(-1)[:3], "vector": lambda x: x.reshape(-1),
}  # fmt: skip
OVERLAPPING_WRITES = {
    "diagonal": np.fill_diagonal,
    "place": lambda a, v: np.place(a, a > -9.0, v),
    "put": lambda a, v: np.put(a, [0, 1, 2, 3], v),
    "putmask": lambda a, v: np.putmask(a, a > -9.0, v),
    "copyto": np.copyto,
    "along an axis": lambda a, v: np.put_along_axis(a, np.argsort(value_of(a), 1), v, 1),
    "flat": lambda a, v: setattr(a, "flat", v),
    "mask": lambda a, v: a.__setitem__(a > 0.8, v),
    "mask of all": lambda a, v: a.__setitem__((a > -9.0,), v),
    "places": lambda a, v: a.__setitem__([1, 0], v),
    "in place": lambda a, v: np.add(a, v, out=a),
    "add.at": lambda a, v: np.add.at(a, ([0, 1, 0], [0, 1, 1]), v),
    "part": lambda a, v: a[:1].__setitem__(..., v[:1]),
}


def value_of(a):
    return cr.value(a) if cr.is_traced(a) else a


@pytest.mark.parametrize("write", OVERLAPPING_WRITES)
@pytest.mark.parametrize("view", OVERLAPS)
def test_writes_of_what_shares_memory_are_numpys_or_refused(view, write):
    x = np.array([[1.203, 0.743], [1.623, 1.053]])
    for part in PARTS.values():

        def f(x):
            a = OVERLAPS[view](x)
            OVERLAPPING_WRITES[write](a, part(x))  # noqa: B023
            return a * 1.0

        try:
            expected = f(x.copy())
        except (TypeError, ValueError, IndexError):
            continue  # of other shapes
        for run in (
            lambda: cr.jvp(f, (x.copy(),), (x,))[0],
            lambda: cr.vjp(f, x.copy())[0],
            lambda: cr.vmap(f)(x[None].copy())[0],
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", cr.BatchWarning)
                try:
                    found = run()
                except (cr.MutationError, ValueError, TypeError):
                    continue
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("moment", ["before", "after", "between"])
@pytest.mark.parametrize("transform", ["jvp", "vjp", "jacfwd", "jacrev", "linearize"])
def test_a_shape_is_not_set_beside_views_that_a_write_emptied(transform, moment):
    def f(x):
        y = x * 1.0
        row = y[0] if moment == "before" else None
        y[0, 0] = 2.0
        row = y[0] if moment != "before" else row
        y[1, 1] = y[0, 1] if moment == "between" else 3.0
        y.shape = (-1,)
        return row * 2.0

    x = np.arange(6.0).reshape(2, 3)
    run = {"jvp": lambda: cr.jvp(f, (x,), (x,)), "vjp": lambda: cr.vjp(f, x)}
    run["linearize"] = lambda: cr.linearize(f, x)
    with pytest.raises(cr.MutationError, match="that has views"):
        run.get(transform, lambda: getattr(cr, transform)(f)(x))()


@pytest.mark.parametrize("transform", [cr.jacfwd, cr.jacrev])
def test_a_shape_is_set_once_the_views_are_gone(transform):
    def f(x):
        y = x * 1.0
        for k in range(1, 3):
            y[k] = y[k - 1] * 2.0
        y.shape = (-1,)
        return y

    x = np.arange(6.0).reshape(3, 2)
    first = np.eye(6)[:2]
    np.testing.assert_array_equal(
        transform(f)(x).reshape(6, 6), np.concatenate([first, 2 * first, 4 * first])
    )
