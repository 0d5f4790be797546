"""References for a program: NumPy's value, the other modes, finite differences."""

import functools
import os
import re
import traceback
import warnings
from copy import deepcopy

import numpy as np
from fuzz_program import CAST, Constants

import chainrules as cr

os.environ["CHAINRULES_TRACEBACK"] = "full"  # see said_by_us
OBJECTS = re.compile(
    r"np\.(as\w*array\w*|ascontiguousarray|array)\(|vectorize|\[x, [xy]\]|\(x, x \* 2"
)
# NumPy rounds objects to Python's integers, and makes ones and zeros of them that are such.
ROUNDED = re.compile(r"np\.(ceil|floor|trunc|maximum|minimum|fmax|fmin|clip|\w+_like)\([\[(]")
LARGE = 1e6  # beyond it rounding makes differences worthless


class Failure(AssertionError):  # noqa: N818
    """A program that breaks the promise; ``label`` says which part of it."""

    def __init__(self, label, detail=""):
        super().__init__(f"{label}: {detail}")
        self.label = label


class Refused(Exception):  # noqa: N818
    """A clear refusal, which is an answer."""


def quiet(check):
    @functools.wraps(check)
    def checked(*args):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return check(*args)

    return checked


def attempt(label, run, plain_error=()):
    """Call ``run``; a refusal of ours is an answer, any other error a failure."""
    try:
        return run()
    except Failure:
        raise
    except (cr.ChainRulesError, *plain_error) as error:
        raise Refused from error
    except (Exception, StopIteration, RecursionError) as error:
        if said_by_us(error):
            raise Refused from error
        detail = " ".join(str(error).split())[:200]
        raise Failure(f"{label} raises {type(error).__name__}", detail) from error


def said_by_us(error):
    """A builtin error that we raise with a second line, which says what to write instead."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = frames[-1].filename.startswith(tuple(cr.__path__))
    builtin = isinstance(error, TypeError | ValueError | AttributeError)
    # What NumPy says of a list of numbers, on which it computes as on an object array.
    entry = "'float' object has no attr" in str(error) or "'int' object has no attr" in str(error)
    entry = entry or isinstance(error, ZeroDivisionError)
    # And of a dtype that it is asked to make of objects.
    entry = entry or "No loop matching the specified signature and casting" in str(error)
    return (ours and builtin and "\n" in str(error)) or entry


# ---- vectors of real numbers --------------------------------------------------------------------


def is_complex(x):
    return np.iscomplexobj(x)


def coordinates(x):
    """The entries of ``x``; of a complex one the real parts, then the imaginary parts."""
    x = np.asarray(x)
    flat = x.reshape(-1)
    flat = np.concatenate([flat.real, flat.imag]) if is_complex(x) else flat
    return flat.astype(np.float64)


def directions(x):
    """One direction like ``x`` for each of its coordinates."""
    x = np.asarray(x)
    dtype = x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
    for unit in (1.0, 1j) if is_complex(x) else (1.0,):
        for k in range(x.size):
            xdot = np.zeros(x.size, dtype)
            xdot[k] = unit
            yield like(xdot.reshape(x.shape), x)


def like(xdot, x):
    """An array for an array, in its order of memory; a number for a number."""
    if not isinstance(x, np.ndarray) or (x.ndim == 0 and not isinstance(x, np.ndarray)):
        return xdot[()]
    order = "F" if x.ndim > 1 and x.flags.f_contiguous else "C"
    return np.array(xdot, order=order)


def moved(x, k, step):
    """``x`` with its ``k``-th coordinate moved, in its layout."""
    part = 1.0
    if is_complex(x) and k >= np.size(x):
        k, part = k - np.size(x), 1j
    if not isinstance(x, np.ndarray):
        return x + step * part
    x[np.unravel_index(k, x.shape)] += step * part
    return x


def count(x):
    return np.size(x) * (2 if is_complex(x) else 1)


# ---- differences --------------------------------------------------------------------------------


def differences(program, step=1e-6):
    """The Jacobian by central differences, in double precision; None beside a kink."""
    module = Constants()
    f, inputs = program.build(module, double=True)
    sizes = [count(x) for x in inputs]
    try:
        y = coordinates(f(*inputs))
    except TypeError:  # of doubles NumPy may have no loop that the options ask for
        return None
    if not np.all(np.isfinite(y)) or np.max(np.abs(y), initial=0) > LARGE:
        return None

    def column(i, k, step):
        ends = []
        for sign in (1, -1):
            f, inputs = program.build(Constants(module.seen), double=True)
            inputs[i] = moved(inputs[i], k, sign * step)
            ends.append(coordinates(f(*inputs)))
        if ends[0].shape != ends[1].shape or ends[0].shape != y.shape:
            raise ArithmeticError
        if not np.allclose(ends[0] - y, y - ends[1], rtol=1e-2, atol=1e-2 * step):
            raise ArithmeticError  # a kink
        return (ends[0] - ends[1]) / (2 * step)

    columns = []
    for i, size in enumerate(sizes):
        for k in range(size):
            try:
                near, far = column(i, k, step), column(i, k, 4 * step)
            except (ArithmeticError, ValueError, IndexError):
                return None
            if not np.allclose(near, far, rtol=1e-4, atol=1e-4):
                return None
            columns.append(near)
    return np.stack(columns, -1) if columns else None


def close(a, b, tolerance):
    if np.shape(a) != np.shape(b):
        return False
    if not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        return np.array_equal(a, b, equal_nan=True)
    scale = 1.0 + max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0))
    return bool(np.all(np.abs(a - b) <= tolerance * scale))


def expect(label, expected, ours, tolerance):
    expected, ours = np.asarray(expected), np.asarray(ours)
    if close(expected, ours, tolerance):
        return
    kind = "NaN" if np.any(np.isnan(ours)) and np.all(np.isfinite(expected)) else "wrong"
    raise Failure(f"{label} is {kind}", f"{short(ours)} for {short(expected)}")


def short(x):
    x = np.asarray(x)
    if x.dtype.kind in "fc":
        x = np.round(x, 6)
    return " ".join(str(x).split())[:160]


# ---- the primal ---------------------------------------------------------------------------------


def same_value(label, expected, ours):
    """Shape, dtype, array or number, and every bit."""
    if isinstance(expected, np.ndarray) != isinstance(ours, np.ndarray):
        detail = f"{type(ours).__name__} for {type(expected).__name__}"
        raise Failure(f"{label}: the value is of another type", detail)
    if np.shape(expected) != np.shape(ours):
        raise Failure(f"{label}: the value has another shape", f"{np.shape(ours)}")
    if np.asarray(ours).dtype.kind == "i" and not np.any(expected) and not np.any(ours):
        return  # the sum of no objects
    if np.asarray(expected).dtype != np.asarray(ours).dtype:
        detail = f"{np.asarray(ours).dtype} for {np.asarray(expected).dtype}"
        raise Failure(f"{label}: the value has another dtype", detail)
    if not np.array_equal(expected, ours, equal_nan=True):
        # NumPy's own last bits depend on where in memory an array begins.
        if np.allclose(ours, expected, rtol=8 * np.finfo(np.asarray(ours).dtype).eps, atol=0):
            return
        raise Failure(f"{label}: the value is not NumPy's", f"{short(ours)} for {short(expected)}")


def unchanged(label, before, after):
    """No transform writes into what it was given."""
    for a, b in zip(before, after):
        if isinstance(a, np.ndarray) and not np.array_equal(a, b, equal_nan=True):
            raise Failure(f"{label} writes into its arguments", short(b))


def apart(label, given, result):
    """No result is the caller's memory."""
    for x in given:
        both = isinstance(x, np.ndarray) and isinstance(result, np.ndarray)
        if both and np.shares_memory(x, result):
            raise Failure(f"{label}: the result is the caller's memory")


# ---- first derivatives --------------------------------------------------------------------------


def zeros(x):
    dtype = np.asarray(x).dtype if np.asarray(x).dtype.kind in "fc" else np.float64
    return like(np.zeros(np.shape(x), dtype), x)


def each_direction(inputs):
    """Tuples of tangents, one for each coordinate of each input."""
    for i, x in enumerate(inputs):
        for xdot in directions(x):
            yield tuple(xdot if j == i else zeros(z) for j, z in enumerate(inputs))


def by_jvp(program, y, layout=lambda t: t):
    columns = []
    f, inputs = program.build()
    for tangents in each_direction(inputs):
        f, inputs = program.build()
        before = [np.array(x) for x in inputs]
        tangents = tuple(map(layout, tangents))
        kept = [np.array(t) for t in tangents]
        value, ydot = cr.jvp(f, tuple(inputs), tangents)
        if not columns:
            same_value("jvp", y, value)
        unchanged("jvp", before, inputs)
        unchanged("jvp (tangents)", kept, tangents)
        apart("jvp", tangents, ydot)
        columns.append(coordinates(ydot))
    return np.stack(columns, -1)


def by_linearize(program, y):
    f, inputs = program.build()
    value, push = cr.linearize(f, *inputs)
    same_value("linearize", y, value)
    return np.stack([coordinates(push(*tangents)) for tangents in each_direction(inputs)], -1)


def by_blocks(program, y):
    """All directions of the one input at once, then as many as each axis is long."""
    f, inputs = program.build()
    x = inputs[0]
    push = cr.linearize(f, *inputs)[1]
    many = [np.stack([t[j] for t in each_direction(inputs)]) for j in range(len(inputs))]
    total = len(many[0])
    rng = np.random.default_rng(0)
    for n in {total, *np.shape(x), *np.shape(y)} - {0}:
        weights = np.eye(total) if n == total else rng.normal(size=(n, total)).round(1)
        block = [np.tensordot(weights, m, 1).astype(m.dtype) if m.size else m[:n] for m in many]
        ydots = push(*block, block=True)
        rows = np.stack(
            [coordinates(push(*(part(b, k, z) for b, z in zip(block, inputs)))) for k in range(n)]
        )
        blocks = np.stack([coordinates(row) for row in np.asarray(ydots)])
        tolerance = 2e-3 if "float32" in program.lines() else precision(program, inputs)
        expect("a block of directions", rows, blocks, tolerance)
    return None


def part(block, k, x):
    return like(np.asarray(block[k]), x)


def by_vjp(program, y, layout=lambda t: t):
    f, inputs = program.build()
    before = [np.array(x) for x in inputs]
    value, pullback = cr.vjp(f, *inputs)
    same_value("vjp", y, value)
    unchanged("vjp", before, inputs)
    rows = []
    for ybar in directions(y):
        ybar = layout(ybar)
        kept = np.array(ybar)
        xbars = pullback(ybar)
        unchanged("vjp (cotangent)", [kept], [ybar])
        for x, xbar in zip(inputs, xbars):
            if np.shape(x) != np.shape(xbar):
                raise Failure("vjp: the cotangent has another shape", str(np.shape(xbar)))
        apart("vjp", [ybar], xbars[0])
        rows.append(np.concatenate([coordinates(xbar) for xbar in xbars]))
    return np.stack(rows)


def by_jacobian(transform, program, y, **options):
    f, inputs = program.build()
    columns = []
    for i in range(len(inputs)):
        f, inputs = program.build()
        ours = getattr(cr, transform)(f, argnums=i, **options)(*inputs)
        ours = ours.toarray() if options else np.asarray(ours)
        if not options and ours.shape != np.shape(y) + np.shape(inputs[i]):
            raise Failure(f"{transform}: another shape", str(ours.shape))
        columns.append(np.asarray(ours).reshape(np.size(y), np.size(inputs[i])))
    return np.concatenate(columns, axis=-1)


def fortran(t):
    return np.asfortranarray(t) if np.ndim(t) else t


def strided(t):
    return np.repeat(t, 2, axis=-1)[..., ::2] if np.ndim(t) else t


def precision(program, inputs):
    single = any(np.asarray(x).dtype in (np.float32, np.complex64) for x in inputs)
    single = single or CAST in program.lines()
    return 2e-3 if single else 1e-8


FIRST = {
    "jvp": by_jvp,
    "jvp, tangents in Fortran order": lambda p, y: by_jvp(p, y, fortran),
    "linearize": by_linearize,
    "blocks": by_blocks,
    "vjp": by_vjp,
    "vjp, cotangents in Fortran order": lambda p, y: by_vjp(p, y, fortran),
    "vjp, strided cotangents": lambda p, y: by_vjp(p, y, strided),
}
REAL = {
    "jacfwd": functools.partial(by_jacobian, "jacfwd"),
    "jacrev": functools.partial(by_jacobian, "jacrev"),
    "jacobian": functools.partial(by_jacobian, "jacobian"),
    "sparse jacobian": functools.partial(by_jacobian, "jacobian", sparse=True),
    "sparse jacrev": functools.partial(by_jacobian, "jacrev", sparse=True),
    "sparse jacfwd": functools.partial(by_jacobian, "jacfwd", sparse=True),
}

# A mode that is not looked at where the one it rests on has failed.
FOLLOWS = {
    "jvp, tangents in Fortran order": "jvp",
    "blocks": "linearize",
    "vjp, cotangents in Fortran order": "vjp",
    "vjp, strided cotangents": "vjp",
    "sparse jacobian": "jacobian",
    "sparse jacrev": "jacrev",
    "sparse jacfwd": "jacfwd",
    "sparse hessian": "hessian",
    "hvp blocks": "hvp",
    "linearize of grad": "jvp of grad",
}


def plain_value(program):
    """NumPy's value, or None where it raises, is not finite, or is nothing to differentiate."""
    try:
        f, inputs = program.build(Constants())
        y = f(*inputs)
        f, inputs = program.build(Constants())
        again = f(*inputs)
    except Exception:
        return None
    if not isinstance(y, np.ndarray | np.floating | np.complexfloating | float | complex):
        return None
    y_ = np.asarray(y)
    if y_.dtype.kind not in "fc" or not np.array_equal(y_, np.asarray(again), equal_nan=True):
        return None  # no numbers, or memory that nothing was written to
    return y if y_.dtype.kind in "fc" and y_.size <= 64 else None


def text_of(program):
    return "\n".join((*program.setup, *program.body, program.result))


def is_of_objects(program):
    """Say whether NumPy computes otherwise on the objects that it makes of traced numbers.

    A number of Python's does not give way to float32, empty objects are None, and what ``conj``
    gives is no view (docs/reference/limits.md).
    """
    text = text_of(program)
    known = "float32" in program.lines() or "empty_like" in text or ".conj" in text
    return known and OBJECTS.search(text) is not None


def failures_of(program, y, order=2):
    """Yield the failures of all modes, each once."""
    text = text_of(program)
    if ROUNDED.search(text) or is_of_objects(program):
        return
    inputs = program.build()[1]
    real = not is_complex(y) and not any(map(is_complex, inputs))
    slopes = differences(program) if np.all(np.isfinite(y)) and np.size(y) else None
    empty = not np.size(y) or not all(np.size(x) for x in inputs)
    tolerance = precision(program, inputs)
    flat = all(np.ndim(x) < 2 for x in (y, *inputs))  # of one order of memory
    failed = set()
    for label, mode in {**FIRST, **(REAL if real else {})}.items():
        if FOLLOWS.get(label) in failed or ("Fortran" in label and flat):
            continue
        if empty and label not in ("jacfwd", "jacrev", "jacobian"):
            continue
        try:
            ours = attempt(label, functools.partial(mode, program, y))
            if slopes is not None and ours is not None:
                expect(label, slopes, ours, max(tolerance, 1e-4))
        except Refused:
            pass
        except Failure as failure:
            failed.add(label)
            yield failure
    if "cr.value(" in program.lines() or "cr.stop_gradient(" in program.lines():
        order = 1  # what is constant for the one derivative is so for the differences of it
    if order > 1 and real and slopes is not None and tolerance < 1e-4 and not failed:
        # The root of a variance that is 0 has no second derivative, not even that of one number.
        rooted = re.search(r"std\(", program.lines())
        for failure in second_failures(program, y):
            if not (rooted and "is NaN" in failure.label):
                yield failure


# ---- second derivatives -------------------------------------------------------------------------


def weights_of(y):
    return np.cos(1.0 + np.arange(np.size(y)).reshape(np.shape(y)))


def loss_of(f, y):
    w = weights_of(y)
    return lambda *xs: np.sum(f(*xs) * w)


def second_differences(program, y, step=1e-5):
    """The Hessian in the first input, from differences of reverse mode's gradient."""

    def gradient(k, step):
        f, inputs = program.build()
        inputs[0] = moved(inputs[0], k, step)
        return coordinates(cr.grad(loss_of(f, y))(*inputs))

    n = np.size(program.build()[1][0])
    here = gradient(0, 0.0)
    left, right, far = (
        np.stack([(gradient(k, h) - here) / h for k in range(n)]) for h in (-step, step, 3 * step)
    )
    near = (left + right) / 2
    alike = functools.partial(np.allclose, rtol=1e-2, atol=1e-2)
    smooth = alike(left, right) and alike(right, far) and alike(near, near.T)
    return near if smooth and np.all(np.abs(near) < LARGE) else None


def some_of(n):
    """Three columns will do where a mode gives one at a time."""
    return sorted({0, n // 2, n - 1})


def hessian_by_columns(column):
    def mode(program, y):
        def run(xdot):
            f, inputs = program.build()
            loss, rest = loss_of(f, y), inputs[1:]
            # They are plain there, and the function may write into them.
            return coordinates(column(lambda x: loss(x, *deepcopy(rest)), inputs[0], xdot))

        units = list(directions(program.build()[1][0]))
        return np.stack([run(units[k]) for k in some_of(len(units))])

    return mode


def hessian_by(transform, **options):
    def mode(program, y):
        f, inputs = program.build()
        size = np.size(inputs[0])
        ours = transform(loss_of(f, y))(*inputs)
        return np.asarray(ours.toarray() if options else ours).reshape(size, size)

    return mode


def forward_over_forward(loss, x, xdot):
    # The whole gradient of the slope, one direction at a time.
    slope = lambda t: cr.jvp(loss, (t,), (xdot,))[1]  # noqa: E731
    return np.stack([cr.jvp(slope, (x,), (u,))[1] for u in directions(x)])


def hvp_blocks(program, y):
    f, inputs = program.build()
    x = inputs[0]
    loss = lambda t: loss_of(f, y)(t, *deepcopy(inputs[1:]))  # noqa: E731
    units = [np.asarray(u) for u in directions(x)]
    for n in {len(units), *np.shape(x)}:
        block = np.stack([units[k % len(units)] for k in range(n)])
        ours = cr.hvp(loss, (x,), (block,), block=True)
        one = np.stack([np.asarray(cr.hvp(loss, (x,), (part(block, k, x),))) for k in range(n)])
        expect("hvp of a block", one, np.asarray(ours), 1e-8)
    return None


SECOND = {
    "hessian": hessian_by(cr.hessian),
    "sparse hessian": hessian_by(lambda loss: cr.hessian(loss, sparse=True), sparse=True),
    "jacrev of grad": hessian_by(lambda loss: cr.jacrev(cr.grad(loss))),
    "jacfwd of jacrev": hessian_by(lambda loss: cr.jacfwd(cr.jacrev(loss))),
    "jacfwd of jacfwd": hessian_by(lambda loss: cr.jacfwd(cr.jacfwd(loss))),
    "jvp of grad": hessian_by_columns(
        lambda loss, x, xdot: cr.jvp(cr.grad(loss), (x,), (xdot,))[1]
    ),
    "grad of grad": hessian_by_columns(
        lambda loss, x, xdot: cr.grad(lambda t: np.sum(cr.grad(loss)(t) * xdot))(x)
    ),
    "grad of jvp": hessian_by_columns(
        lambda loss, x, xdot: cr.grad(lambda t: cr.jvp(loss, (t,), (xdot,))[1])(x)
    ),
    "jvp of jvp": hessian_by_columns(forward_over_forward),
    "grad of linearize": hessian_by_columns(
        lambda loss, x, xdot: cr.grad(lambda t: cr.linearize(loss, t)[1](xdot))(x)
    ),
    "linearize of grad": hessian_by_columns(
        lambda loss, x, xdot: cr.linearize(cr.grad(loss), x)[1](xdot)
    ),
    "hvp": hessian_by_columns(lambda loss, x, xdot: cr.hvp(loss, (x,), (xdot,))),
    "hvp blocks": hvp_blocks,
}


def second_failures(program, y):
    try:
        expected = second_differences(program, y)
    except Exception:
        expected = None  # that the gradient fails has been said
    if expected is None:
        return
    failed = set()
    for label, mode in SECOND.items():
        if FOLLOWS.get(label) in failed:
            continue
        try:
            ours = attempt(label, functools.partial(mode, program, y))
            if ours is not None:
                rows = slice(None) if len(ours) == len(expected) else some_of(len(expected))
                expect(label, expected[rows], ours, 1e-2)
        except Refused:
            pass
        except Failure as failure:
            failed.add(label)
            yield failure


# ---- what a generator asks for ------------------------------------------------------------------


@quiet
def all_failures(program):
    """Every failure of the program; none where plain NumPy does not run it."""
    return list(CHECKS[program.check](program))


def agree(program):
    y = plain_value(program)
    if y is None:
        return
    empty = any(np.size(x) == 0 for x in program.build()[1])
    if empty or np.all(np.abs(np.asarray(y)) < LARGE):
        yield from failures_of(program, y)


def first_order(program):
    """For a program that is another one at its next call: each mode calls it once."""
    y = plain_value(program)
    if y is not None:
        yield from failures_of(program, y, order=1)


def value_only(program):
    """The value where two arguments are one array, which no derivative is asked of."""
    y = plain_value(program)
    if y is None:
        return

    def mode(transform):
        f, inputs = program.build()
        same_value(transform.__name__, y, transform(f, inputs))

    def vjp(f, inputs):
        return cr.vjp(f, *inputs)[0]

    def linearize(f, inputs):
        return cr.linearize(f, *inputs)[0]

    def jvp(f, inputs):
        return cr.jvp(f, tuple(inputs), tuple(map(zeros, inputs)))[0]

    for transform in (vjp, linearize, jvp):
        try:
            attempt(f"{transform.__name__} of one array twice", lambda: mode(transform))  # noqa: B023
        except Refused:
            pass
        except Failure as failure:
            yield failure


def not_wrong(program):
    """At a tie a second derivative may be NaN, and never a wrong number."""
    for failure in agree(program):
        if not failure.label.endswith("is NaN"):
            yield failure


# Reverse mode outside gives no direction, and choices in different orders go wrong.
REVERSE_OUTSIDE = ("jacrev of grad", "grad of grad", "grad of jvp", "grad of linearize")


def not_wrong_along_a_direction(program):
    for failure in agree(program):
        if not failure.label.startswith(REVERSE_OUTSIDE):
            yield failure


CHECKS = {
    "agree": agree,
    "ties": not_wrong,
    "crossed ties": not_wrong_along_a_direction,
    "value": value_only,
    "first order": first_order,
}


def check(program):
    for failure in all_failures(program):
        raise Failure(failure.label, f"{failure}\n{program.source()}")
