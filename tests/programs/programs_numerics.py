"""Numerical recipes, test functions, control flow, idioms of plain Python; and what is refused."""

import cmath
import math
from functools import reduce
from itertools import accumulate, pairwise

import numpy as np
from scipy import interpolate, optimize, special

rng = np.random.default_rng(4)


def normal(*shape):
    return rng.normal(size=shape)


def rosenbrock(x):
    return sum(100.0 * (b - a**2) ** 2 + (1 - a) ** 2 for a, b in pairwise(x))


def ackley(x, a=20, b=0.2, c=2 * np.pi):
    d = len(x)
    first = -a * np.exp(-b * np.sqrt(np.sum(x**2) / d))
    return first - np.exp(np.sum(np.cos(c * x)) / d) + a + np.e


def rastrigin(x):
    return 10 * x.size + (x**2 - 10 * np.cos(2 * np.pi * x)).sum()


def beale(x, y):
    return (1.5 - x + x * y) ** 2 + (2.25 - x + x * y**2) ** 2 + (2.625 - x + x * y**3) ** 2


def griewank(x):
    i = np.arange(1, len(x) + 1)
    return 1 + np.sum(x**2) / 4000 - np.prod(np.cos(x / np.sqrt(i)))


def newton_sqrt(a):
    x = a
    while abs(x * x - a) > 1e-14:
        x = 0.5 * (x + a / x)
    return x


def power_iteration(a):
    v = np.ones(a.shape[0])
    for _ in range(200):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v @ a @ v


def jacobi_sweeps(a, b):
    x = np.zeros_like(b)
    d = np.diag(a)
    r = a - np.diag(d)
    for _ in range(10):
        x = (b - r @ x) / d
    return x


def gauss_seidel(a, b):
    x = np.zeros_like(b)
    for _ in range(4):
        for i in range(len(b)):
            x[i] = (b[i] - a[i, :i] @ x[:i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


def conjugate_gradient(a, b):
    x = np.zeros(len(b))
    r = b - a @ x
    p = r
    rs = r @ r
    for _ in range(len(b)):
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return x


def matrix_exponential(a):
    result = term = np.eye(len(a))
    for k in range(1, 15):
        term = term @ a / k
        result = result + term
    return result


def matrix_power_trace(a):
    return np.trace(np.linalg.matrix_power(a, 3)) + np.trace(a @ a.T)


def horner(coefficients, x):
    result = 0
    for c in coefficients:
        result = result * x + c
    return result


def chebyshev(x, coefficients):
    t0, t1 = np.ones_like(x), x
    total = coefficients[0] * t0 + coefficients[1] * t1
    for c in coefficients[2:]:
        t0, t1 = t1, 2 * x * t1 - t0
        total += c * t1
    return total


def continued_fraction(terms):
    value = terms[-1]
    for t in reversed(terms[:-1]):
        value = t + 1 / value
    return value


def simpson(a, b, w):
    x = np.linspace(a, b, 11)
    y = np.exp(-w * x**2)
    h = (b - a) / 10
    return h / 3 * (y[0] + y[-1] + 4 * y[1:-1:2].sum() + 2 * y[2:-2:2].sum())


def trapezoid_nonuniform(x, y):
    return np.trapezoid(y, x) + np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2)


def gauss_legendre(a, b):
    nodes, weights = np.polynomial.legendre.leggauss(5)
    x = 0.5 * (b - a) * nodes + 0.5 * (a + b)
    return 0.5 * (b - a) * np.sum(weights * np.sin(x) * np.exp(x))


def logistic_map(r, x):
    for _ in range(10):
        x = r * x * (1 - x)
        if x > 0.9:
            return x**2
        elif x < 0.05:
            break
    return x


def collatz_like(x):
    steps = 0
    while x > 1.0:
        x = x / 2 if steps % 2 else 0.7 * x + 0.1
        steps += 1
    return x * steps


def dtw(a, b):
    n, m = len(a), len(b)
    cost = [[np.inf] * (m + 1) for _ in range(n + 1)]
    cost[0][0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = min(cost[i - 1][j], cost[i][j - 1], cost[i - 1][j - 1])
            cost[i][j] = (a[i - 1] - b[j - 1]) ** 2 + best
    return cost[n][m]


def soft_dtw(a, b, gamma):
    r = np.zeros((len(a) + 1, len(b) + 1), like=a)
    r[:] = 1e3
    r[0, 0] = 0
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            z = -np.stack([r[i - 1, j - 1], r[i - 1, j], r[i, j - 1]]) / gamma
            r[i, j] = (x - y) ** 2 - gamma * np.logaddexp.reduce(z)
    return r[-1, -1]


def cofactor_determinant(a):
    if a.shape == (1, 1):
        return a[0, 0]
    return sum(
        (-1) ** j * a[0, j] * cofactor_determinant(np.delete(a[1:], j, axis=1))
        for j in range(a.shape[1])
    )


def running_generator(xs):
    def windows(seq, n):
        for i in range(len(seq) - n + 1):
            yield seq[i : i + n]

    return np.array([w.mean() * w.max() for w in windows(xs, 3)])


def accumulate_products(xs):
    return np.stack(list(accumulate(xs, lambda a, b: a * b + 1)))


def reduce_matmul(ms):
    return reduce(np.matmul, ms)


def pairwise_python(xs):
    return sum(abs(b - a) ** 1.5 for a, b in pairwise(sorted(xs)))


def loop_accumulator(m):
    total = np.zeros(m.shape[1])
    count = 0
    for row in m:
        total = total + row**2
        count += 1
    return np.sqrt(total / count)


def try_except(x, params):
    try:
        scale = params["scale"]
    except KeyError:
        scale = x.sum()
    return scale * x


def kwargs_call(x):
    def model(t, *, amplitude=1.0, rate=2.0, **extra):
        return amplitude * np.exp(-rate * t) + extra.get("offset", 0.0)

    t = np.linspace(0, 1, 5)
    return model(t, amplitude=x[0], rate=x[1], offset=x[2])


def masked_relu(x):
    y = x.copy()
    y[y < 0] *= 0.1
    return y + x[x > 0].sum()


def select_pieces(x):
    return np.select([x < -0.5, x < 0.5], [x**2, np.sin(x)], default=np.sqrt(np.abs(x)))


def piecewise_pieces(x):
    return np.piecewise(x, [x < 0, x >= 0], [lambda t: np.exp(t), lambda t: 1 + t**3])


def clip_sign_heaviside(x):
    return np.clip(x, -0.5, 0.5) * np.sign(x) + x**2 * np.heaviside(x, 0.5)


def linear_interp(x, xp, fp):
    return np.interp(x, xp, fp)


def hand_interp(x, xp, fp):
    i = np.clip(np.searchsorted(xp, x) - 1, 0, len(xp) - 2)
    t = (x - xp[i]) / (xp[i + 1] - xp[i])
    return fp[i] * (1 - t) + fp[i + 1] * t


def catmull_rom(points, t):
    basis = np.array([[0, 2, 0, 0], [-1, 0, 1, 0], [2, -5, 4, -1], [-1, 3, -3, 1]]) / 2
    powers = np.array([1, t, t**2, t**3])
    return powers @ basis @ points


def bezier(control, t):
    points = list(control)
    while len(points) > 1:
        points = [(1 - t) * p + t * q for p, q in pairwise(points)]
    return points[0]


def natural_spline_moments(x, y):
    h = np.diff(x)
    a = np.diag(2 * (h[:-1] + h[1:])) + np.diag(h[1:-1], 1) + np.diag(h[1:-1], -1)
    rhs = 6 * np.diff(np.diff(y) / h)
    return np.pad(np.linalg.solve(a, rhs), 1)


def vander_fit(x, y):
    v = np.vander(x, 3)
    return np.linalg.solve(v.T @ v, v.T @ y)


def polyval_numpy(p, x):
    return np.polyval(p, x)


def polynomial_module(c, x):
    return np.polynomial.polynomial.polyval(x, c)


def pad_tile_repeat(x):
    padded = np.pad(x, (1, 2), mode="edge")
    return np.tile(padded, 2) * np.repeat(padded, 2)


def kron_outer(a, b):
    return np.kron(a, b).sum(axis=0) + np.outer(a[0], b[0]).ravel()


def stack_shapes(x, y):
    a = np.column_stack((x, y))
    b = np.vstack([x, y]).T
    c = np.hstack([x, y]).reshape(2, -1).T
    return (a * b - np.flip(c, axis=0)).swapaxes(0, 1).squeeze()


def moving_axes(x):
    y = np.moveaxis(x, 0, -1)[..., ::-1].transpose(1, 0, 2)
    return np.tensordot(y, y, axes=([0, 1], [0, 1]))


def distance_matrix(x, y):
    d2 = np.sum(x**2, 1)[:, None] + np.sum(y**2, 1)[None] - 2 * x @ y.T
    return np.sqrt(np.maximum(d2, 0))


def nan_functions(x):
    y = np.where(x > 0, x, np.nan)
    return np.nansum(y) + np.nanmean(y**2)


def bessel_airy(x):
    return special.j0(x) + special.j1(x) * special.gamma(x) + special.digamma(x)


def tri_matrix(v):
    low = np.zeros((3, 3), like=v)
    low[np.tril_indices(3)] = v
    return low @ low.T


def tri_matrix_diag(a):
    low = np.tril(a, -1) + np.diag(np.exp(np.diag(a)))
    return np.linalg.det(low @ low.T + np.eye(3))


def topk_sum(x):
    return np.sort(x)[::-1][:3].sum() + np.partition(x, 2)[:2].sum()


def take_and_put(x):
    idx = np.array([[0, 2], [1, 1]])
    return np.take(x, idx) + np.take_along_axis(x, np.argsort(x), axis=0)[idx]


def ufunc_methods(x):
    return np.multiply.reduce(x) + np.add.reduceat(x**2, [0, 2]).prod() + np.add.accumulate(x)[-1]


def out_argument(x):
    buf = np.empty_like(x)
    np.multiply(x, x, out=buf)
    np.add(buf, 1, out=buf)
    return np.log(buf)


def divmod_wrap(x):
    angle = np.mod(x + np.pi, 2 * np.pi) - np.pi
    return angle**2 + (x % 0.7) * np.fmod(x, 0.9)


def safe_divide(x, y):
    return np.divide(x, y, out=np.zeros_like(x), where=y > 0)


def scalar_methods(x):
    z = x.astype(np.float64).reshape(-1, 1)
    m = np.matmul(z, z.T).clip(-1, 1)
    return m.diagonal().mean() + m.ravel()[3] + m.max(initial=0.0)


def norm_of_list(x):
    a, b, *rest = x
    return np.hypot(a, b) + np.linalg.norm(rest)


def tree_eval(tree):
    if isinstance(tree, (list, tuple)):
        op, *children = tree
        values = [tree_eval(c) for c in children]
        return op * sum(values) + max(values)
    return tree**2


def builtin_mixture(xs):
    lo, hi = min(xs), max(xs)
    return pow(hi - lo, 2) + abs(lo) + round_free(hi) + divmod(hi, 0.25)[1]


def round_free(x):
    return x - np.floor(x)


def linspace_grid(a, b):
    grid = np.linspace(a, b, 4)
    return np.meshgrid(grid, grid)[0] * np.geomspace(1.0, 8.0, 4)


def vectorized_scalar(x):
    @np.vectorize
    def f(t):
        return t**2 if t > 0 else np.sin(t)

    return f(x)


def apply_rows(m):
    return np.apply_along_axis(lambda r: r / np.sqrt(r @ r), 1, m)


def fixed_point(a):
    x = np.zeros_like(a)
    for _ in range(100):
        new = np.cos(0.5 * x + a)
        if np.allclose(new, x, rtol=0, atol=1e-15):
            break
        x = new
    return x


def bisect_then_newton(c):
    lo, hi = 0.0, 2.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if mid**3 + mid - c > 0:
            hi = mid
        else:
            lo = mid
    root = 0.5 * (lo + hi)
    for _ in range(2):  # each step gives one more order of derivatives
        root = root - (root**3 + root - c) / (3 * root**2 + 1)
    return root


# ---- refused as they stand, each with the version that runs -----------------------------------


def buffer_zeros(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2
    return y.sum()


def buffer_zeros_remedy(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] ** 2
    return y.sum()


def buffer_slice(x):
    u = np.zeros(len(x) + 2)
    u[1:-1] = x
    return np.diff(u, 2)


def buffer_slice_remedy(x):
    u = np.zeros(len(x) + 2, like=x)
    u[1:-1] = x
    return np.diff(u, 2)


def inplace_accumulator(m):
    total = np.zeros(m.shape[1])
    for row in m:
        total += row**2
    return total


def inplace_accumulator_remedy(m):
    total = np.zeros(m.shape[1])
    for row in m:
        total = total + row**2
    return total


def float_call(x):
    return float(x) ** 2


def float_call_remedy(x):
    return x**2


def math_module(x):
    return math.exp(-x) * math.sqrt(x)


def math_module_remedy(x):
    return np.exp(-x) * np.sqrt(x)


def cmath_module(x):
    return abs(cmath.exp(1j * x) + x)


def cmath_module_remedy(x):
    return abs(np.exp(1j * x) + x)


def array_dtype(x):
    return np.array([x[0], x[1] ** 2], dtype=float).sum()


def array_dtype_remedy(x):
    return np.stack([x[0], x[1] ** 2]).sum()


def fsum_list(x):
    return math.fsum(x)


def fsum_list_remedy(x):
    return sum(x)


def int_index(x):
    return np.arange(10.0)[int(x)] * x


def int_index_remedy(x):
    return np.arange(10.0)[int(np.floor(x))] * x


def brentq_root(c):
    return optimize.brentq(lambda x: x**3 + x - c, 0, 2)


def brentq_root_remedy(c):
    return bisect_then_newton(c)


def cubic_spline(y):
    return interpolate.CubicSpline(np.arange(5.0), y)(2.5)


def roots_largest(p):
    return np.max(np.abs(np.roots(p)))


def safe_divide_remedy(x, y):
    return np.where(y > 0, x / np.where(y > 0, y, 1.0), 0.0)


def item_method(x):
    return (x * x[:, None]).item(1) ** 2


def item_method_remedy(x):
    return (x * x[:, None])[0, 1] ** 2


def full_buffer(x):
    best = np.full(len(x) + 1, -np.inf, like=x)
    for i in range(len(x)):
        best[i + 1] = max(best[i], x[i] ** 2)
    return best[1:]


def full_buffer_remedy(x):
    best = np.zeros(len(x) + 1, like=x)
    best[:] = -np.inf
    for i in range(len(x)):
        best[i + 1] = max(best[i], x[i] ** 2)
    return best[1:]


KNOTS = np.array([0.0, 1.0, 2.5, 3.0, 4.2])
DOMINANT = normal(3, 3) + 5 * np.eye(3)
SYMMETRIC = DOMINANT @ DOMINANT.T
UNIFORM = rng.uniform(0.2, 0.9, size=8)

PROGRAMS = [
    ("rosenbrock", rosenbrock, (normal(4),)),
    ("ackley", ackley, (normal(3),)),
    ("rastrigin", rastrigin, (normal(3),)),
    ("beale", beale, (1.3, 0.4)),
    ("griewank", griewank, (normal(3),)),
    ("newton_sqrt", newton_sqrt, (2.0,)),
    ("power_iteration", power_iteration, (SYMMETRIC,)),
    ("jacobi_sweeps", jacobi_sweeps, (DOMINANT, normal(3))),
    ("gauss_seidel", gauss_seidel, (DOMINANT, normal(3))),
    ("conjugate_gradient", conjugate_gradient, (SYMMETRIC, normal(3))),
    ("matrix_exponential", matrix_exponential, (0.4 * normal(3, 3),)),
    ("matrix_power_trace", matrix_power_trace, (normal(3, 3),)),
    ("horner", horner, ([1.0, -2.0, 0.5, 3.0], 0.7)),
    ("chebyshev", chebyshev, (normal(4), normal(5))),
    ("continued_fraction", continued_fraction, ([1.0, 2.0, 3.0, 4.0],)),
    ("simpson", simpson, (0.1, 1.4, 0.8)),
    ("trapezoid_nonuniform", trapezoid_nonuniform, (KNOTS, normal(5))),
    ("gauss_legendre", gauss_legendre, (0.2, 1.5)),
    ("logistic_map", logistic_map, (3.7, 0.31)),
    ("collatz_like", collatz_like, (7.3,)),
    ("dtw", dtw, (normal(4), normal(3))),
    ("soft_dtw", soft_dtw, (normal(3), normal(3), 0.7)),
    ("cofactor_determinant", cofactor_determinant, (normal(3, 3),)),
    ("running_generator", running_generator, (normal(5),)),
    ("accumulate_products", accumulate_products, (normal(4),)),
    ("reduce_matmul", reduce_matmul, ([normal(2, 3), normal(3, 2), normal(2, 2)],)),
    ("pairwise_python", pairwise_python, (normal(4),)),
    ("loop_accumulator", loop_accumulator, (normal(3, 2),)),
    ("try_except", try_except, (normal(3), {"other": 1.0})),
    ("kwargs_call", kwargs_call, (normal(3),)),
    ("masked_relu", masked_relu, (normal(6),)),
    ("select_pieces", select_pieces, (normal(7),)),
    ("piecewise_pieces", piecewise_pieces, (normal(6),)),
    ("clip_sign_heaviside", clip_sign_heaviside, (normal(6),)),
    ("linear_interp", linear_interp, (3 * UNIFORM, KNOTS, normal(5))),
    ("hand_interp", hand_interp, (3 * UNIFORM, KNOTS, normal(5))),
    ("catmull_rom", catmull_rom, (normal(4, 2), 0.3)),
    ("bezier", bezier, (normal(4, 2), 0.3)),
    ("natural_spline_moments", natural_spline_moments, (KNOTS, normal(5))),
    ("vander_fit", vander_fit, (KNOTS, normal(5))),
    ("polyval_numpy", polyval_numpy, (normal(4), normal(3))),
    ("polynomial_module", polynomial_module, (normal(4), normal(3))),
    ("pad_tile_repeat", pad_tile_repeat, (normal(3),)),
    ("kron_outer", kron_outer, (normal(2, 2), normal(2, 2))),
    ("stack_shapes", stack_shapes, (normal(4), normal(4))),
    ("moving_axes", moving_axes, (normal(2, 3, 2),)),
    ("distance_matrix", distance_matrix, (normal(3, 2), normal(4, 2))),
    ("nan_functions", nan_functions, (normal(6),)),
    ("bessel_airy", bessel_airy, (UNIFORM,)),
    ("tri_matrix", tri_matrix, (normal(6),)),
    ("tri_matrix_diag", tri_matrix_diag, (normal(3, 3),)),
    ("topk_sum", topk_sum, (normal(6),)),
    ("take_and_put", take_and_put, (normal(3),)),
    ("ufunc_methods", ufunc_methods, (normal(4),)),
    ("out_argument", out_argument, (normal(4),)),
    ("divmod_wrap", divmod_wrap, (4 * normal(4),)),
    ("scalar_methods", scalar_methods, (UNIFORM[:3],)),
    ("norm_of_list", norm_of_list, ([1.0, 2.0, 0.5, -0.7],)),
    ("tree_eval", tree_eval, ([2.0, 0.5, (1.5, 0.3, 1.2), [0.7, 0.4]],)),
    ("builtin_mixture", builtin_mixture, (normal(4),)),
    ("linspace_grid", linspace_grid, (0.3, 1.7)),
    ("vectorized_scalar", vectorized_scalar, (normal(4),)),
    ("apply_rows", apply_rows, (normal(3, 2),)),
    ("fixed_point", fixed_point, (UNIFORM[:3],)),
    ("bisect_then_newton", bisect_then_newton, (1.3,)),
    ("buffer_zeros_remedy", buffer_zeros_remedy, (normal(3),)),
    ("buffer_slice_remedy", buffer_slice_remedy, (normal(3),)),
    ("inplace_accumulator_remedy", inplace_accumulator_remedy, (normal(3, 2),)),
    ("float_call_remedy", float_call_remedy, (1.3,)),
    ("math_module_remedy", math_module_remedy, (1.3,)),
    ("cmath_module_remedy", cmath_module_remedy, (0.7,)),
    ("array_dtype_remedy", array_dtype_remedy, (normal(2),)),
    ("fsum_list_remedy", fsum_list_remedy, (normal(3),)),
    ("int_index_remedy", int_index_remedy, (2.6,)),
    ("safe_divide", safe_divide, (normal(5), normal(5))),
    ("brentq_root_remedy", brentq_root_remedy, (1.3,)),
    ("roots_largest", roots_largest, (np.array([1.0, -0.5, -3.0, 0.7]),)),
    ("safe_divide_remedy", safe_divide_remedy, (normal(5), normal(5))),
    ("item_method", item_method, (normal(3),)),
    ("item_method_remedy", item_method_remedy, (normal(3),)),
    ("full_buffer", full_buffer, (normal(3),)),
    ("full_buffer_remedy", full_buffer_remedy, (normal(3),)),
]

# (name, function, arguments, error class, a pattern of its message)
REFUSED = [
    ("brentq_root", brentq_root, (1.3,), "LostDerivativeError", "cr.primitive"),
    ("buffer_zeros", buffer_zeros, (normal(3),), "LostDerivativeError", "like=x"),
    ("buffer_slice", buffer_slice, (normal(3),), "LostDerivativeError", "like=x"),
    ("float_call", float_call, (1.3,), "LostDerivativeError", "leave it as it is"),
    ("math_module", math_module, (1.3,), "LostDerivativeError", "write np.exp"),
    ("cmath_module", cmath_module, (0.7,), "LostDerivativeError", "write np.exp"),
    ("array_dtype", array_dtype, (normal(2),), "LostDerivativeError", "np.stack"),
    ("fsum_list", fsum_list, (normal(3),), "LostDerivativeError", "write np.sum"),
    ("int_index", int_index, (2.6,), "LostDerivativeError", "cr.value"),
    ("cubic_spline", cubic_spline, (normal(5),), "LostDerivativeError", "cr.value"),
    ("inplace_accumulator", inplace_accumulator, (normal(3, 2),), "MutationError", r"a = a \+ x"),
]
