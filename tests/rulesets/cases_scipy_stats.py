"""Cases of scipy.stats' functions of samples, at generic points."""

import functools
import inspect

import numpy as np
from generic_points import case, normal

from chainrules.rules import rrule
from chainrules.rules.rulesets.scipy import stats as rules
from chainrules.scipy import stats

real = functools.partial(normal, (29,))
A = real(5, 3)
P = np.exp(0.5 * A)
W = np.exp(real(5, 3, seed=1))
X = real(7)
Y = real(6, seed=2)
LIMITS = (-1.0, 1.1)
LONG = real(20, seed=3)
Q = np.array([0.03, 0.4, 0.012, 0.2, 0.9])

SAMPLE = [case(A), case(A, axis=1), case(A, axis=None), case(X, keepdims=True)]
POSITIVE = [case(P), case(P, axis=1), case(P, axis=None), case(P, axis=(0, 1))]
CASES: dict = {
    stats.gmean: [*POSITIVE, case(P, weights=W), case(P, 1, weights=W)],
    stats.hmean: [*POSITIVE, case(P, weights=W)],
    stats.pmean: [case(P, 2.5), case(P, -1.5, axis=None, weights=W), case(P, 0)],
    stats.trim_mean: [case(A, 0.25), case(X, 0.15, axis=None)],
    stats.moment: [case(A, 3), case(A, 2, axis=None), case(X, order=[1, 2, 3]), case(A, 1),
                   case(A, 2, center=0.3)],
    stats.skew: [*SAMPLE, case(A, bias=False)],
    stats.kurtosis: [*SAMPLE, case(A, bias=False), case(A, fisher=False)],
    stats.variation: [*SAMPLE, case(A, ddof=1)],
    stats.sem: [*SAMPLE, case(A, ddof=0)],
    stats.gstd: [case(P), case(P, axis=1, ddof=0)],
    stats.kstat: [case(X, 1), case(X), case(X, 3), case(A, 4)],
    stats.kstatvar: [case(X, 1), case(X)],
    stats.describe: [case(A), case(X, bias=False)],
    stats.tmean: [case(A, LIMITS), case(A, (None, 0.9), (True, False), 1), case(X)],
    stats.tvar: [case(A, LIMITS), case(A, LIMITS, axis=None, ddof=0), case(X)],
    stats.tstd: [case(A, LIMITS), case(X)],
    stats.tsem: [case(A, LIMITS), case(X)],
    stats.tmin: [case(A, -0.8), case(A, -0.8, 1, False), case(X, axis=None)],
    stats.tmax: [case(A, 0.8), case(X)],
    stats.zscore: [case(A), case(A, 1, 1), case(A, None)],
    stats.zmap: [case(A, P), case(real(3), P, ddof=1)],
    stats.gzscore: [case(P), case(P, axis=1)],
    stats.iqr: [case(A), case(A, 1), case(X, rng=(10, 70), scale="normal")],
    stats.median_abs_deviation: [case(A), case(X, scale="normal"), case(X, center=np.mean)],
    stats.circmean: [case(A), case(A, 3.0, -3.0, 1)],
    stats.circvar: [case(A), case(A, axis=1)],
    stats.circstd: [case(A), case(A, high=9.0, axis=1), case(A, normalize=True)],
    stats.entropy: [case(P), case(P, W), case(P, axis=1, base=2), case(P, W[:, :1], 3.0)],
    stats.wasserstein_distance: [case(X, Y), case(X, Y, P[0, 0] + X**2, W[0, 0] + Y**2)],
    stats.energy_distance: [case(X, Y), case(X, Y, P[0, 0] + X**2, W[0, 0] + Y**2)],
    stats.boxcox: [case(P[:, 0], 0.4), case(P[:, 0], lmbda=-0.3)],
    stats.yeojohnson: [case(X, 0.4), case(X, 2.3)],
    stats.boxcox_llf: [case(0.4, P[:, 0]), case(-0.3, P)],
    stats.pearsonr: [case(X, X**2 + P[0, 0]), case(X, X**3 - 1, alternative="less"),
                     case(A[:, 0], P[:, 1])],
    stats.pointbiserialr: [case(X > 0, X**2)],
    stats.linregress: [case(X, X**2), case(X, np.sin(X), alternative="greater")],
    stats.ttest_1samp: [case(A, 0.3), case(A, 0.3, axis=1, alternative="less"), case(X, 0.1)],
    stats.ttest_rel: [case(A, P), case(A, P, axis=None, alternative="greater")],
    stats.ttest_ind: [case(A, P[:4]), case(X, Y, equal_var=False), case(A, P, axis=1)],
    stats.ttest_ind_from_stats: [case(0.3, 1.2, 7, 0.9, 0.7, 5),
                                 case(X, X**2 + 1, 7, 0.9, 0.7, 5, equal_var=False)],
    stats.f_oneway: [case(X, Y, A[:, 0]), case(A, P, axis=1)],
    stats.bartlett: [case(X, Y, A[:, 0])],
    stats.jarque_bera: [case(X), case(A, axis=1)],
    stats.chisquare: [case(P[:, 0]), case(P, axis=1), case(P[:, 0], ddof=0.5)],
    stats.power_divergence: [case(P, lambda_=name) for name in
                             ("pearson", "log-likelihood", "mod-log-likelihood", "cressie-read",
                              0.6, 1.0)] + [case(P[:, 0], ddof=0.5)],
    stats.skewtest: [case(LONG), case(real(20, 2), axis=0, alternative="less")],
    stats.kurtosistest: [case(LONG), case(real(20, 2), axis=0, alternative="greater")],
    stats.normaltest: [case(LONG), case(real(20, 2))],
    stats.levene: [case(X, Y, A[:, 0]), case(X, Y, center="mean"),
                   case(LONG, X, center="trimmed", proportiontocut=0.2)],
    stats.obrientransform: [case(A[:, 0], A[:, 1]), case(X)],
    stats.combine_pvalues: [
        *(case(Q, m) for m in ("fisher", "pearson", "mudholkar_george", "tippett", "stouffer")),
        case(Q, "stouffer", W[:, 0]),
    ],
    stats.false_discovery_control: [
        case(Q), case(Q, method="by"), *(case(Q[:4].reshape(2, 2), axis=k) for k in (None, 1)),
    ],
    stats.differential_entropy: [
        case(X), case(LONG), case(LONG, base=2.0), case(real(2, 20), axis=1),
        *(case(LONG, method=m, window_length=3) for m in ("vasicek", "van es", "correa")),
    ],
    stats.scoreatpercentile: [
        case(X, 30.0), case(X, [10.0, 37.5, 90.0]), case(A, 40.0, axis=0),
        case(X, 45.0, (-1.5, 1.5)), case(X, 45, interpolation_method="lower"),
        case(X, 45, (), "higher"),
    ],
    stats.expectile: [case(X, 0.3), case(A), case(X, 0.8, weights=W[:, 0].sum() + X**2)],
    stats.sigmaclip: [case(LONG, 1.5, 1.4), case(A)],
    stats.theilslopes: [case(X), case(X, X**2 + np.arange(7)), case(X, method="joint")],
    stats.siegelslopes: [case(X), case(X, X**2 + np.arange(7)), case(X, method="separate")],
    stats.yeojohnson_llf: [case(0.4, X), case(1.3, A)],
}  # fmt: skip
if "sum_check" in inspect.signature(stats.chisquare).parameters:
    CASES[stats.chisquare].append(case(P, W, ddof=1, sum_check=False))
if hasattr(stats, "estimated_cdf"):
    methods = "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "inverted_cdf"
    apart = np.reshape(np.arange(15.0) * 4 % 15, (5, 3))
    CASES[stats.estimated_cdf] = [
        case(apart[:, 0], np.array([2.3, 5.6, 99.0])), case(apart[0], 2.6),
        case(apart, apart[:2] + 0.3), case(apart, 7.1, axis=-1), case(apart, 7.7, axis=None),
        *(case(apart[:, 0], np.array([6.2, 8.6]), method=m) for m in methods),
    ]  # fmt: skip
if "axis" in inspect.signature(stats.expectile).parameters:
    CASES[stats.expectile] += [case(A, 0.3, axis=1, keepdims=True), case(A, weights=W, axis=None)]
# By SciPy's own source.
CASES |= {
    stats.anderson: [case(X), case(P[:, 0], "expon"), case(X, "logistic")],
    stats.bayes_mvs: [case(X), case(X, 0.7)],
    stats.binned_statistic: [
        case(X, X**2, bins=2),
        case(Y, Y**2, "std", 2),
        case(Y, Y**3, "sum"),
    ],
    stats.binned_statistic_2d: [case(X, X[::-1] + 0.1, X**2, bins=2)],
    stats.binned_statistic_dd: [case(A[:, :1], W[:, 0], "max", 2)],
    stats.boxcox_normplot: [case(P[:, 0], -1.0, 1.5, None, 4)],
    stats.yeojohnson_normplot: [case(X, -1.0, 1.5, None, 4)],
    stats.boxcox_normmax: [case(P[:, 0]), case(P[:, 1], method="mle")],
    stats.yeojohnson_normmax: [case(X)],
    stats.chi2_contingency: [
        case(9 * P),
        case(np.array([[10.0, 20.0], [6.0, 19.0]])),
        case(9 * P, lambda_=0.7),
    ],
    stats.alexandergovern: [case(X, P[:, 0], P[:, 1])],
    stats.epps_singleton_2samp: [case(X, P[:, 0])],
    stats.cramervonmises: [case(X, "norm"), case(P[:, 0], "expon")],
    stats.cumfreq: [case(X, 4)],
    stats.relfreq: [case(X, 4)],
    stats.probplot: [case(X), case(P[:, 0], dist="expon")],
    stats.trim1: [case(X, 0.2), case(A, 0.3, "left")],
    stats.trimboth: [case(X, 0.2), case(A, 0.3)],
}
if hasattr(stats, "quantile"):
    CASES[stats.quantile] = [case(X, 0.31), case(A, np.array([0.2, 0.73])[:, None], axis=0)]
CASES[stats.lmoment] = [case(X), case(A, 3), case(A, [2, 4], axis=0, standardize=False)]
OF_ONE_DTYPE = set(CASES)
# SciPy looks for these by steps.
TOLERANCES = {
    stats.expectile: 1e-5,
    stats.boxcox_normmax: 1e-3,
    stats.yeojohnson_normmax: 1e-3,
}
FIXED = {
    stats.trim_mean: (1,), stats.tmean: (1,), stats.tvar: (1,), stats.tstd: (1,), stats.tsem: (1,),
    stats.tmin: (1,), stats.tmax: (1,), stats.trim1: (1,), stats.trimboth: (1,),
}  # fmt: skip
WITHOUT_CASES = {
    f for f in vars(rules.stats).values()
    if inspect.isroutine(f) and (kind := rrule.kind_of(f)) is not None and kind.constant
} | {stats.directional_stats, stats.mvsdist}  # fmt: skip
