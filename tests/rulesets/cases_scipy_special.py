"""Cases of scipy.special's functions that are no ufuncs."""

import inspect

import numpy as np
from generic_points import case

from chainrules.rules import rrule
from chainrules.rules.rulesets.scipy import special as rules
from chainrules.scipy import special

X = np.array([0.3, 1.7, -0.6])
P = np.array([0.4, 1.7, 2.9])
A = np.array([[0.3, -1.2, 0.8], [2.1, 0.4, -0.5]])
W = np.array([[0.3, 1.2, 0.8], [2.1, 0.4, 1.5]])
Z = np.array([0.4 + 0.3j, 1.7 - 0.8j])

CASES: dict = {
    special.logsumexp: [
        case(X), case(A, axis=1), case(A, axis=0, keepdims=True), case(A, axis=(0, 1), b=W),
        case(A, 1, W), case(A, 1, W * np.array([1, -1, 1]), return_sign=True), case(0.7),
        case(A, b=np.array([1.0, 0.0, 2.0])),
    ],
    special.softmax: [case(X), case(A, axis=1), case(A, 0), case(A)],
    special.log_softmax: [case(X), case(A, axis=1), case(A, 0), case(A)],
    special.polygamma: [case(1, P), case(np.array([0, 2, 3]), P), case(2, 1.3)],
    special.zeta: [case(P + 1.5), case(P + 1.5, P), case(2.5, 1.5)],
    special.multigammaln: [case(P + 1, 3), case(2.7, 1)],
    special.factorial: [case(P), case(X), case(2.5)],
    special.comb: [case(P + 3, P), case(5.5, X), case(P, 2.0, repetition=True)],
    special.perm: [case(P + 3, P), case(5.5, X)],
    special.roots_gegenbauer: [case(4, 0.7)],
    special.roots_genlaguerre: [case(3, 0.7), case(4, 0.7, True)],
    special.roots_jacobi: [case(4, 0.7, 0.3), case(3, 0.7, 0.3, True)],
    special.roots_sh_jacobi: [case(3, 2.7, 1.3)],
    special.lambertw: [case(Z), case(Z, 1), case(1.3)],
    special.diric: [case(X, 5), case(X + 6, 4), case(np.array([0.0, 1e-5, 2 * np.pi, 0.3]), 4)],
    special.assoc_laguerre: [case(P, 3, 0.7), case(1.2, 2)],
    special.spherical_jn: [case(2, P), case(0, P), case(1, P, derivative=True), case(1, Z)],
    special.spherical_yn: [case(2, P), case(1, P, True)],
    special.spherical_in: [case(2, P), case(1, P, True)],
    special.spherical_kn: [case(2, P), case(1, P, True)],
    **{
        getattr(special, name): [case(1, P), case(0.5, P, 2), case(2, 1.3, n=0)]
        for name in ("jvp", "yvp", "kvp", "ivp", "h1vp", "h2vp")
    },
}  # fmt: skip
if hasattr(special, "softplus"):
    CASES[special.softplus] = [case(X), case(0.4)]
OF_ONE_DTYPE = {
    special.polygamma, special.zeta, special.multigammaln, special.factorial, special.comb,
    special.perm, special.diric, special.assoc_laguerre, special.roots_gegenbauer,
    special.roots_genlaguerre, special.roots_jacobi, special.roots_sh_jacobi,
}  # fmt: skip
WITHOUT_CASES = {
    *[f for name, f in vars(rules.special).items()
      if inspect.isroutine(f) and (kind := rrule.kind_of(f)) is not None and kind.constant],
    *rules.SPHERICAL, rules.shares, rules.log_shares,
}  # fmt: skip
TOLERANCES = {special.zeta: 1e-5, special.lambertw: 1e-5}
