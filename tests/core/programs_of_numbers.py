"""Random programs of single numbers, and what each transform makes of them, to the bit.

``outcomes(seed)`` says values, types, warnings and errors, as text: two processes, one with the
accelerator and one without, must say the same. Run by itself it prints those of some seeds.
"""

import operator
import random
import sys
import warnings

import numpy as np

import chainrules as cr
import chainrules.numpy as cnp
from chainrules import math
from chainrules._numbers import Float

CONSTANTS = (
    0, 1, 2, -1, -3, 7, 10**20, 2**53 + 1, True, 0.0, -0.0, 0.5, -1.25, 3.0, 1e308, 1e-310, 5e-324,
    np.float64(0.75), np.float64(-2.0), np.float64(0.0), np.float64(1e200), np.float64(1e-200),
    np.float32(1.5), np.int64(3), 1 + 2j, float("inf"), float("nan"), np.array([1.0, -2.0, 0.5]),
    np.array(0.5), [1.0, 2.0],
)  # fmt: skip
POINTS = (0.0, -0.0, 0.5, -0.75, 1.0, 2.0, 3.5, -2.0, 1e-200, 1e200, 1e-310)
TWO = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod,
    np.add, np.multiply, np.divide, np.power, np.maximum, np.hypot, np.arctan2, np.subtract,
)  # fmt: skip
TWO_OF_PYTHON = math.atan2, math.pow, math.hypot, math.copysign
ONE = (
    operator.neg, operator.pos, abs, np.sin, np.exp, np.sqrt, np.log, np.tanh, np.square,
    np.reciprocal, np.negative, np.sign, np.log1p, Float,
)  # fmt: skip
ONE_OF_PYTHON = (
    math.sin, math.exp, math.sqrt, math.log, math.fabs, math.floor, math.tanh, math.isfinite,
)  # fmt: skip


def written(index, a, b):
    """Return a number by way of an array that is written to and read between writes."""
    buffer = cnp.zeros((2, 2) if isinstance(index, tuple) else 3)
    buffer[index] = a
    y = buffer[index] * b
    buffer[index] += y
    return buffer[index] - buffer[0 if buffer.ndim == 1 else (0, 0)]


def read(index, a, b):
    """Return a number that is read, twice, from an array that was computed."""
    array = cnp.array([a, b, a * b])
    if isinstance(index, tuple):
        array = cnp.array([[a, b], [b, a]])
    array = array * a + 1.0
    return array[index] + array[index] * b


def overwritten(index, a, b):
    """Return a number of an array in which constants and other numbers replace what was there."""
    buffer = cnp.zeros(5)
    buffer[0], buffer[1] = a, b
    roots = np.sqrt(buffer * buffer)  # with an infinite slope at zero
    roots[2] = 0.5
    roots[4] = np.sqrt(a * 0.0)  # which nobody reads
    roots[3] = a * roots[0]
    roots[-2] = roots[3]
    roots[3] = 1.0
    roots[0] += roots[1]
    return roots[0] * roots[2] + roots[3] * roots[1]


BUFFERS = written, read, overwritten
COMPARE = (
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip


def has_functions_of_python(seed):
    """Say whether a program may call math: whose partials are evaluated earlier, or later.

    What these warn of, and raise where NumPy is told to, is then not to be compared, and second
    derivatives add up in another order.
    """
    return seed % 3 == 0


def program_of(seed):
    """Return a function of a sequence of numbers, drawn from a seed."""
    draw = random.Random(seed)
    usual = draw.random() < 0.6  # programs in which little goes wrong reach further
    one, two = ONE, TWO
    if has_functions_of_python(seed):
        one, two = ONE + ONE_OF_PYTHON, TWO + TWO_OF_PYTHON
    steps = []
    for _ in range(draw.randint(2, 14)):
        kind = draw.random()
        f = draw.choice(two[: 4 if usual else None] if kind < 0.7 else one)
        if kind < 0.7:
            constant = draw.choice(CONSTANTS[9:21] if usual else CONSTANTS)
            steps.append((f, draw.random(), draw.choice((draw.random(), (constant,))), kind < 0.1))
        elif kind < 0.85:
            steps.append((f, draw.random()))
        elif kind < 0.92:
            where = draw.choice((0, 1, -1, 2, (0, 1), (-1, 0), 3, -4))
            steps.append((draw.choice(BUFFERS), where, draw.random(), draw.random()))
        else:
            steps.append((draw.choice(COMPARE), draw.random(), draw.random(), draw.random()))

    def program(xs):
        values = [xs[i] for i in range(len(xs))]

        def at(place):
            return place[0] if type(place) is tuple else values[int(place * len(values))]

        for f, *places in steps:
            if len(places) == 1:
                values.append(f(at(places[0])))
            elif f in BUFFERS:
                index, a, b = places
                values.append(f(index, at(a), at(b)))
            elif f in COMPARE:
                values.append(at(places[0]) if f(at(places[0]), at(places[1])) else at(places[2]))
            else:
                a, b, swapped = places
                values.append(f(at(b), at(a)) if swapped else f(at(a), at(b)))
        return values

    return program


ARRAYS = (
    np.array([0.5, -1.0, 2.0]), np.array([0.0, 1.0, 1e-200]), np.array([[1.0], [2.0]]),
    np.array([1.0, 2.0, 3.0], np.float32), np.array([1, 2, 3]), np.array(2.0), np.array([1j, 2, 3]),
    np.ones((2, 3)), np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]),
)  # fmt: skip
PARTS = (
    lambda x: x[0], lambda x: x[..., ::-1], lambda x: x[..., :1], lambda x: x.reshape(-1)[0],
    lambda x: np.stack([x, x]), lambda x: x.copy(), lambda x: x.sum(), lambda x: x.T, np.sum,
    np.mean, np.ravel, np.cumsum, np.flip, np.atleast_2d, np.real, np.squeeze, np.diff,
    lambda x: np.sum(x, axis=0), lambda x: np.sum(x, keepdims=True), lambda x: x.T[..., 0],
    lambda x: x * x.reshape(-1)[0], lambda x: np.reshape(x, (-1, 1)), np.trace,
    lambda x: np.concatenate([x[1:], x[:1]]), lambda x: np.vstack([x, x]),
    lambda x: x[None, ..., 1:],
    lambda x: np.concatenate((x, np.ones(x.shape)), axis=-1), lambda x: x[::2] + x[..., -1],
    lambda x: np.hstack([x, np.array([1.0]), x]), lambda x: np.stack([x, np.zeros(3)], axis=1),
    lambda x: x[np.int64(0)], lambda x: x[..., [0, -1]], lambda x: x[x > 0.0],
    lambda x: np.split(x, 1)[0],
    lambda x: x.transpose(*range(x.ndim)[::-1]), lambda x: np.sum(x, axis=-1, where=x > 0.0),
    lambda x: np.swapaxes(x, 0, -1), lambda x: np.cumsum(x, axis=0), lambda x: x.astype(float),
    lambda x: np.roll(x, 1), lambda x: np.tile(x, 2), lambda x: np.clip(x, -1.0, 1.0),
    lambda x: np.where(x > 0.0, x, 0.0), lambda x: np.where(x > 0.0, -x, x[..., ::-1] * 2),
    lambda x: x * np.searchsorted(np.ones(2), x), lambda x: np.where(x > 1, 2.0, np.ones(3)) * x,
    lambda x: np.convolve(x.ravel(), np.ones(2), mode="same"), lambda x: x - x[..., ::-1],
    lambda x: np.ones(3) + x.reshape(-1)[0], lambda x: x.reshape(-1)[-1] - np.ones((2, 1)),
    lambda x: np.convolve(np.ones(4), x.ravel(), "valid") - np.abs(x.ravel()[0]),
)  # fmt: skip
PRODUCTS = (
    operator.matmul, operator.matmul, np.matmul, np.dot, np.outer, np.inner, np.vdot, np.kron,
    np.convolve, np.multiply,
)  # fmt: skip
MATRICES = (
    np.array([[1.0, 0.5, -2.0], [0.0, 3.0, 1.0], [2.0, 1.0, 0.25]]), np.array([1.0, 2.0, 3.0]),
    np.asfortranarray(np.arange(9.0).reshape(3, 3)), np.full((3, 3), 1e-200), np.ones((3, 2)),
    np.array([[1.0, 1.0, 0.0]]), np.array([[2.0]]), np.ones((2, 3, 3)), 0.5,
)  # fmt: skip


def into_view(x):
    """Return an array that was written to by way of a view of it that a linear function gave."""
    y = np.transpose(x * 2.0)
    view = np.ravel(y)
    view[0] = view[-1] * 3.0
    return y + np.sum(view)


def written_twice(x):
    """Return an array after writes of numbers and constants, by itself and by a view of it."""
    y = np.ravel(x) * 1.0
    tail = y[1:]
    y[0] = y[-1] * 0.5
    tail[0] = tail[-1] * 5.0
    y[-1] = 3.0
    view = y[::-1]
    view[0] = y[0] + 1.0
    y[1] = y[1] * view[1]
    y[0] += view[0]
    return y + np.sum(view)


def roots_replaced(x):
    """Return roots with an infinite slope, some of which constants and numbers replace."""
    y = np.sqrt(np.ravel(x) * 0.0)
    y[0] = 1.0
    y[1] = np.ravel(x)[0]
    y[0] = y[1] + 0.5
    kept = np.stack([y, y])
    kept[0, 1] = 2.0
    kept[1, 0] = kept[0, 0] * y[1]
    return kept[:, :2] * y[0]


def swapped(x):
    """Return an array whose rows are written into each other, and into a buffer of the caller."""
    y = np.outer(np.ravel(x), np.ravel(x)) + 0.0
    row = np.copy(y[0])
    y[0], y[-1] = y[-1], row
    y[0, 0] = y[-1, 0] * 2.0
    columns = y.T
    columns[1, 0] = 4.0
    buffer = cnp.zeros(2)
    buffer[0] = y[0, 1]
    part = buffer[:1]
    buffer[0] = part[0] * y[0, 0]
    part[0] += 1.0
    return np.sum(y, axis=0) * buffer[0]


def into_argument(x):
    """Return an array that is written to as it was given."""
    x[..., 0] = 2.0 * x[..., -1]
    if x.ndim == 1:
        x[0] = x[1] * 2.0
        x[-1] = 0.5
    return x


def beside_buffer(x):
    """Return products with arrays that may be written to, before and after they are."""
    buffer = cnp.array([[1.0, 0.5, 2.0], [0.0, 1.0, 0.0], [3.0, 0.0, 1.0]])
    y = buffer @ x if x.shape[:1] == (3,) else np.sum(x) * buffer
    buffer[0] = np.sum(x)
    return (buffer.T @ y if y.ndim < 3 else y) * buffer[0, 1] + np.outer(buffer[1], buffer[0])


def changed_after_use(x):
    """Return a product with a plain array that is written to afterwards, and one with a buffer."""
    plain, buffer = np.array([2.0, 3.0, 4.0]), cnp.zeros(3)
    y = x * plain
    plain[:] = 0.0
    buffer[:] = y if y.ndim == 1 else y.reshape(-1)[0]
    y = y * buffer
    buffer[1] = 5.0
    return y + buffer


def moving_in_part(x):
    """Return sums and products of arrays, of which each moves in some of its entries."""
    buffer, other, roots = cnp.zeros(3), cnp.ones((2, 3)), cnp.zeros(3)
    numbers = np.ravel(x)
    buffer[1], roots[0] = numbers[0], numbers[-1]
    other[0, 1] = numbers[0] * numbers[-1]
    roots = np.sqrt(roots * roots)  # with an infinite slope where nothing moves
    y = buffer * 2.0 - other / numbers[0]
    y = y * roots + np.where(buffer > 0.0, buffer, 1.0) * roots
    return y - buffer * buffer + (roots * numbers[-1] if numbers.size > 1 else 1.0)


def added_in_place(x):
    """Return arrays that others were added to in place, of which the first are read after."""
    state, flow = cnp.ones(3), cnp.zeros(3)
    number = np.ravel(x)[0]
    flow[0] = number
    given = flow * number
    for k in range(2):
        state += 0.5 * flow
        flow[k] -= state[k]
        kept = state[::-1]
        state *= given + 1.0
        flow += state
        state -= kept * len(flow)
    given += flow
    given[1] = state[2]
    return given * state + flow


WRITES = (
    changed_after_use, into_view, beside_buffer, written_twice, roots_replaced, swapped,
    into_argument, moving_in_part, added_in_place,
)  # fmt: skip


def array_program_of(seed):
    """Return a function of an array of three numbers, drawn from a seed."""
    draw = random.Random(seed)
    usual = draw.random() < 0.6
    # Of entries of a masked array NumPy asks the processor whether something underflowed since.
    arrays = ARRAYS[:-1] if seed % 4 == 3 else ARRAYS
    constants = (
        (0.5, -1.25, 2, 0.0, 0, np.float64(0.75), *ARRAYS[:1]) if usual else (*CONSTANTS, *arrays)
    )
    matrices, products = (MATRICES[:3], PRODUCTS[:4]) if usual else (MATRICES, PRODUCTS)
    steps = []
    for _ in range(draw.randint(2, 10)):
        kind = draw.random()
        if kind < 0.5:
            f = draw.choice(TWO[: 4 if usual else None])
            steps.append(
                (f, draw.random(), draw.choice((draw.random(), (draw.choice(constants),))))
            )
        elif kind < 0.7:
            given = [draw.random(), draw.choice((draw.random(), (draw.choice(matrices),)))]
            draw.shuffle(given)
            steps.append((draw.choice(products), *given))
        elif kind < 0.8:
            steps.append((draw.choice(ONE[: 9 if usual else -1]), draw.random()))
        elif kind < 0.9:
            steps.append((draw.choice(PARTS), draw.random()))
        else:
            steps.append((draw.choice(WRITES), draw.random()))

    def program(xs):
        values = [xs]
        for f, *places in steps:
            given = [p[0] if type(p) is tuple else values[int(p * len(values))] for p in places]
            values.append(f(*given))
        return [values[-1], sum([np.sum(y) for y in values])]

    return program


def transforms_of(seed):
    """Yield pairs of a name and a function without arguments: a transform of a program."""
    draw = random.Random(-1 - seed)
    of_arrays = seed % 5 == 1
    count = 3 if of_arrays else draw.randint(1, 4)
    point = [
        draw.choice(POINTS) if draw.random() < 0.4 else draw.uniform(-2, 2) for _ in range(count)
    ]
    kinds = point, np.array(point), [np.float64(x) for x in point]
    xs = kinds[1 if of_arrays else draw.randrange(3)]
    direction = [draw.uniform(-1, 1) for _ in point]
    v = type(xs)(direction) if type(xs) is list else np.array(direction)
    if type(xs) is list:
        v = [type(x)(xdot) for x, xdot in zip(xs, v, strict=True)]
    program = array_program_of(seed) if of_arrays else program_of(seed)

    def last(xs):
        return program(xs)[-1]

    def all_of(xs):
        return np.sum(np.stack([y for y in program(xs) if np.ndim(y) == 0]))

    if of_arrays:

        def pulled_twice():
            y, pull = cr.vjp(lambda x: program(x)[0], xs)
            ybar = np.ones_like(y)
            return pull(ybar), pull(ybar), ybar

        yield "pullback of an array, twice", pulled_twice

    def beside(f):
        """Return a gradient of ``f`` at numbers that are multiplied by others of their item."""

        def of_item(xs):
            def scaled(ys):
                parts = [y * x - x for x, y in zip(xs, ys, strict=True)]
                return f(np.stack(parts) if of_arrays else parts)

            return cr.grad(scaled)(v)

        return of_item

    for name, f in (("last", last), ("all", all_of)):
        yield f"jvp {name}", lambda f=f: cr.jvp(f, (xs,), (v,))
        yield f"grad {name}", lambda f=f: cr.grad(f)(xs)
        yield f"vjp {name}", lambda f=f: cr.vjp(f, xs)[0]
        yield f"hvp {name}", lambda f=f: cr.hvp(f, (xs,), (v,))
        yield f"jvp of grad {name}", lambda f=f: cr.jvp(cr.grad(f), (xs,), (v,))
        yield f"jvp of jvp {name}", lambda f=f: cr.jvp(lambda x: cr.jvp(f, (x,), (v,)), (xs,), (v,))
        yield f"grad of jvp {name}", lambda f=f: cr.grad(lambda x: cr.jvp(f, (x,), (v,))[1])(xs)
        for inner in (cr.grad, lambda f: lambda ys: cr.jvp(f, (ys,), (v,))[1]):

            def meeting(xs, f=f, inner=inner):
                def of_both(ys):
                    parts = [x * y - x for x, y in zip(xs, ys, strict=True)]
                    return f(np.stack(parts) if of_arrays else parts)

                return np.sum(inner(of_both)(xs))

            yield f"levels that meet, {name}", lambda meeting=meeting: cr.grad(meeting)(xs)
        batch = (
            np.stack([xs, xs[::-1], xs + 0.5])
            if type(xs) is np.ndarray
            else [np.array([number, number + 0.5, 1.0]) for number in xs]
        )
        yield f"vmap {name}", lambda f=f, batch=batch: cr.vmap(f)(batch)
        yield f"vmap of grad {name}", lambda f=f, batch=batch: cr.vmap(cr.grad(f))(batch)
        yield (
            f"vmap of jvp {name}",
            lambda f=f, batch=batch: cr.vmap(lambda x: cr.jvp(f, (x,), (v,)))(batch),
        )
        yield (
            f"vmap of hvp {name}",
            lambda f=f, batch=batch: cr.vmap(lambda x: cr.hvp(f, (x,), (v,)))(batch),
        )
        yield (
            f"vmap of levels that meet, {name}",
            lambda f=f, batch=batch: cr.vmap(beside(f))(batch),
        )
        yield (
            f"grad of vmap {name}",
            lambda f=f, batch=batch: cr.grad(lambda xs: np.sum(cr.vmap(f)(xs)))(batch),
        )
        aside = cr.checkpoint(f)  # whose value a tape computes that keeps nothing
        yield f"grad of checkpoint {name}", lambda f=aside: cr.grad(f)(xs)
        yield f"hvp of checkpoint {name}", lambda f=aside: cr.hvp(f, (xs,), (v,))
        if type(xs) is np.ndarray:
            yield f"jacfwd {name}", lambda f=f: cr.jacfwd(f)(xs)
            yield f"jacfwd of jacfwd {name}", lambda f=f: cr.jacfwd(cr.jacfwd(f))(xs)
            yield f"jvp of jacfwd {name}", lambda f=f: cr.jvp(cr.jacfwd(f), (xs,), (v,))
            yield f"hessian {name}", lambda f=f: cr.hessian(f)(xs)
            yield (
                f"grad of grad {name}",
                lambda f=f: cr.grad(lambda x: cr.grad(f)(x) @ np.array(direction))(xs),
            )


def described(x, digits=None):
    """Return a value with its type, to the last bit, or to some digits."""
    if isinstance(x, list | tuple):
        return f"{type(x).__name__}({', '.join(described(part, digits) for part in x)})"
    if digits is not None and isinstance(x, np.ndarray | float):
        return f"{type(x).__name__}({np.array2string(np.asarray(x), precision=digits)})"
    if isinstance(x, np.ndarray):
        return f"array({x.dtype}, {x.shape}, {x.tobytes().hex()})"
    if isinstance(x, float):
        return f"{type(x).__name__}({'nan' if x != x else float(x).hex()})"
    return f"{type(x).__name__}({x!r})"


def outcomes(seed):
    """Return what each transform of a program gives, warns of, or raises."""
    found = []
    settings = [{}, {"all": "raise"}, {"all": "ignore"}, {"under": "warn"}][seed % 4]
    digits = None
    if has_functions_of_python(seed):
        settings, digits = {"all": "ignore"}, 9
    for name, transform in transforms_of(seed):
        with warnings.catch_warnings(record=True) as warned, np.errstate(**settings):
            warnings.simplefilter("always")
            try:
                said = described(transform(), digits)
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
        of_warnings = sorted({f"{w.category.__name__}: {w.message}" for w in warned})
        found.append(f"{seed} {name}: {said} {of_warnings}".replace("\n", " "))
    return found


if __name__ == "__main__":
    for seed in range(*map(int, sys.argv[1:])):
        print(*outcomes(seed), sep="\n")
