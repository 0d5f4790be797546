"""Rules for the functions of scipy.special that are no ufuncs, which have rules of their own."""

import math
from typing import Any

import numpy as np
from scipy import special

from ... import (
    array_of,
    batch_form,
    by_source,
    composed,
    non_differentiable,
    pair_rule,
    primitive,
    scalar_rule,
    seen,
    value,
)
from ..arrays.batches import along
from ..special import ufuncs  # noqa: F401
from ..special.tools import whole
from .traced_objects import NO_RULE

INSTEAD: dict[str, Any] = {}
REFUSED: dict[str, tuple[str, str]] = {}


def refuse(names, reason, remedy):
    REFUSED.update({name: (reason, remedy) for name in names.split() if hasattr(special, name)})


by_source(
    special,
    """
    assoc_laguerre h1vp h2vp ivp jvp kvp lambertw roots_gegenbauer roots_genlaguerre roots_jacobi
    roots_sh_jacobi softplus yvp zeta
""",
)


# ---- sums of exponentials ----


def largest(a, axis):
    """Return the maximum to subtract before ``exp``, as a constant that has no derivative."""
    real = np.real(value(a))
    top = np.max(real, axis=axis, keepdims=True, initial=-np.inf)
    return np.where(np.isfinite(top), top, 0)


@composed(special.logsumexp, value="own")
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    a = array_of(a) * 1.0
    weights = 1.0 if b is None else array_of(b)
    counts = value(weights) != 0
    shift = largest(np.where(counts, value(a), -np.inf), axis)
    if weights is value(weights):  # what has weight 0 may be infinite
        a = a if np.all(counts) else np.where(counts, a, shift)
    with np.errstate(all="ignore"):
        total = np.sum(weights * np.exp(a - shift), axis=axis, keepdims=bool(keepdims))
        shift = shift if keepdims else np.reshape(shift, np.shape(total))
        if not return_sign:
            return np.log(total) + shift
        size = np.abs(total)
        sign = total / size if np.iscomplexobj(total) else np.sign(total)
        return np.log(size) + shift, sign


batch_form(special.logsumexp)(along(seen(special.logsumexp), None))


@primitive
def shares(x, *, axis):
    return special.softmax(x, axis)


@primitive
def log_shares(x, *, axis):
    return special.log_softmax(x, axis)


along(shares, None)
along(log_shares, None)


@pair_rule(shares)
def shares_pair(shares, x, *, axis=None):
    """From ``y = exp(x) / sum(exp(x))``: ``ydot = y * (xdot - sum(y * xdot))``."""
    y = shares(x, axis=axis)

    def shares_pushforward(xdot):
        return y * (xdot - np.sum(y * xdot, axis=axis, keepdims=True))

    def shares_pullback(ybar):
        back = np.conj(y) * ybar
        return back - np.conj(y) * np.sum(back, axis=axis, keepdims=True)

    return y, shares_pushforward, shares_pullback


@pair_rule(log_shares)
def log_shares_pair(log_shares, x, *, axis=None):
    """From ``y = x - log(sum(exp(x)))``: ``ydot = xdot - sum(exp(y) * xdot)``."""
    y = log_shares(x, axis=axis)

    def log_shares_pushforward(xdot):
        return xdot - np.sum(np.exp(y) * xdot, axis=axis, keepdims=True)

    def log_shares_pullback(ybar):
        return ybar - np.conj(np.exp(y)) * np.sum(ybar, axis=axis, keepdims=True)

    return y, log_shares_pushforward, log_shares_pullback


@composed(special.softmax)
def softmax(x, axis=None):
    return shares(array_of(x), axis=axis)


@composed(special.log_softmax)
def log_softmax(x, axis=None):
    return log_shares(array_of(x), axis=axis)


# ---- factorials and what is made of them ----


@composed(special.polygamma, value="own")
def polygamma(n, x):
    n, x = np.array(value(n)), array_of(x)
    sums = (-1.0) ** (n + 1) * special.gamma(n + 1.0) * special._ufuncs._zeta(n + 1.0, x)
    return np.where(n == 0, special.psi(x), sums)


@composed(special.factorial, value="own")
def factorial(n, exact=False, extend="zero"):
    if exact:
        return value(n)  # whole numbers only
    n = array_of(n)
    if extend == "complex":
        return special.gamma(n + 1)
    below = n < 0
    return np.where(below, 0.0, special.gamma(np.where(below, 0, n) + 1))


def limited(formula, n, k):
    """``formula(n, k)`` for ``0 <= k <= n``, and 0 for others."""
    counts = (k <= n) & (n >= 0) & (k >= 0)
    return np.where(counts, formula(np.where(counts, n, 1), np.where(counts, k, 1)), 0)


@composed(special.comb, value="own")
def comb(N, k, *, exact=False, repetition=False):  # noqa: N803
    if exact:
        return value(N)
    n, k = array_of(N), array_of(k)
    if not repetition:
        return limited(special.binom, n, k)
    return (limited if REPETITION_ENDS else unlimited)(special.binom, n + k - 1, k)


def unlimited(formula, n, k):
    return formula(n, k)


# In older releases of SciPy the number of draws with repetition was 0 for ``n < 1``, too.
REPETITION_ENDS = special.comb(0.4, 2.0, repetition=True) == 0


@composed(special.perm, value="own")
def perm(N, k, exact=False):  # noqa: N803
    if exact:
        return value(N)
    return limited(lambda n, k: special.poch(n - k + 1, k), array_of(N), array_of(k))


@composed(special.multigammaln, value="own")
def multigammaln(a, d):
    logs = [special.gammaln(array_of(a) - j / 2) for j in range(int(d))]
    return sum(logs) + d * (d - 1) / 4 * math.log(math.pi)


# ---- spherical Bessel functions ----


def spherical(f, below, above):
    """``(2 n + 1) f_n' = below n f_(n-1) + above (n+1) f_(n+1)`` (DLMF 10.51), and so its slope."""

    @primitive
    def at(n, z):
        return f(n, z)

    @primitive
    def slope(n, z):
        return f(n, z, True)

    n_is_whole = whole(f, "the order n")
    scalar_rule(at, n_is_whole, lambda _, n, z: slope(n, z))

    def second(_, n, z):
        neighbors = below * n * slope(np.maximum(n - 1, 0), z) + above * (n + 1) * slope(n + 1, z)
        return neighbors / (2 * n + 1)

    scalar_rule(slope, n_is_whole, second)

    @composed(f)
    def spherical_bessel(n, z, derivative=False):
        return slope(n, z) if derivative else at(n, z)

    return at, slope


SPHERICAL = [
    part
    for f, *signs in (
        (special.spherical_jn, 1, -1),
        (special.spherical_yn, 1, -1),
        (special.spherical_in, 1, 1),
        (special.spherical_kn, -1, -1),
    )
    for part in spherical(f, *signs)
]


@composed(special.diric, value="own")
def diric(x, n):
    """``sin(n u) / (n sin(u))`` of ``u = x / 2``, by its series where that is 0 / 0."""
    x, n = array_of(x), np.array(value(n))
    turns = np.rint(value(x) / (2 * math.pi))
    u = x / 2 - math.pi * turns
    near = np.abs(u) * np.maximum(n, 1) < 1e-3
    small, far = np.where(near, u, 0.0), np.where(near, 1.0, u)
    square = small * small
    series = 1 - (n * n - 1) * square * (1 / 6 - (3 * n * n - 7) * square / 360)
    with np.errstate(all="ignore"):
        y = np.where(near, series, np.sin(n * far) / (n * np.sin(far)))
        return y * np.where(turns * (n - 1) % 2 == 0, 1.0, -1.0)


# ---- constants, and what has no rule ----

CONSTANT = """ai_zeros bei_zeros beip_zeros ber_zeros bernoulli berp_zeros bi_zeros erf_zeros
    euler fresnel_zeros fresnelc_zeros fresnels_zeros jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros
    kei_zeros keip_zeros kelvin_zeros ker_zeros kerp_zeros stirling2 y0_zeros y1_zeros y1p_zeros
    yn_zeros ynp_zeros geterr seterr
    legendre chebyt chebyu chebyc chebys laguerre hermite hermitenorm sh_legendre sh_chebyt
    sh_chebyu roots_legendre roots_chebyt roots_chebyu roots_chebyc roots_chebys roots_laguerre
    roots_hermite roots_hermitenorm roots_sh_legendre roots_sh_chebyt roots_sh_chebyu p_roots
    t_roots u_roots c_roots s_roots l_roots h_roots he_roots ps_roots ts_roots us_roots"""
for _name in CONSTANT.split():
    if hasattr(special, _name):
        non_differentiable(getattr(special, _name))

refuse("factorial2 factorialk", "it is of whole numbers", "special.gamma, or poch")
refuse("jacobi genlaguerre gegenbauer sh_jacobi", "it gives a series of NumPy's own",
       "special.eval_jacobi, eval_genlaguerre, eval_gegenbauer or eval_sh_jacobi")  # fmt: skip
refuse("""j_roots la_roots
       cg_roots js_roots""", NO_RULE, "cr.stop_gradient(alpha) for its parameters")  # fmt: skip
refuse("assoc_legendre_p assoc_legendre_p_all legendre_p legendre_p_all sph_legendre_p "
       "sph_legendre_p_all sph_harm_y sph_harm_y_all", NO_RULE,
       "special.eval_legendre, or lpmv")  # fmt: skip
refuse("lpmn lpn clpmn lqmn lqn", NO_RULE, "special.lpmv")
refuse("pbdn_seq pbdv_seq pbvv_seq", NO_RULE, "special.pbdv or pbvv for each order")
refuse("lmbda riccati_jn riccati_yn", NO_RULE, "special.jv, spherical_jn or spherical_yn")
refuse("mathieu_even_coef mathieu_odd_coef", NO_RULE, "special.mathieu_cem or mathieu_sem")
refuse("obl_cv_seq pro_cv_seq", NO_RULE, "special.obl_cv or pro_cv for each degree")
refuse("ellip_harm ellip_harm_2 ellip_normal", NO_RULE, "cr.stop_gradient of the argument")
