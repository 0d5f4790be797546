"""Functions of scipy.stats without a rule: followed by their source, or refused with a reason."""

from scipy import stats

from .... import by_source, non_differentiable
from ..traced_objects import NO_RULE
from . import distribution_objects

STOP = "cr.stop_gradient(x), where no derivative is wanted"
BY_REASON = {
    ("it depends on ranks or counts alone, and has steps", STOP): """
        ansari barnard_exact binomtest boschloo_exact brunnermunzel bws_test chatterjeexi
        cramervonmises_2samp ecdf fisher_exact fligner friedmanchisquare kendalltau kruskal ks_2samp
        logrank mannwhitneyu median_test mode mood page_trend_test percentileofscore
        poisson_means_test quantile_test ranksums somersd spearmanr spearmanrho weightedtau
        wilcoxon""",
    ("it looks for its result by an optimizer", "the gradient of what it maximizes, as boxcox_llf"):
        "fit goodness_of_fit ppcc_max ppcc_plot",
    ("it calls functions with samples of its own", "the gradient of the statistic"): """
        bootstrap monte_carlo_test multiscale_graphcorr permutation_test power sobol_indices""",
    ("it is of distributions that see traced values since SciPy 1.16", "stats.norm"):
        " ".join(distribution_objects.NAMES),
    (NO_RULE, "wasserstein_distance for each coordinate"): "wasserstein_distance_nd",
    (NO_RULE, "the statistic in NumPy"): """
        anderson_ksamp dunnett ks_1samp kstest shapiro tukey_hsd""",
}  # fmt: skip
REFUSED = {
    name: why
    for why, names in BY_REASON.items()
    for name in names.split()
    if hasattr(stats, name) and name not in distribution_objects.INSTEAD
}
by_source(
    stats,
    """
    alexandergovern anderson bayes_mvs binned_statistic binned_statistic_2d binned_statistic_dd
    boxcox_normmax boxcox_normplot chi2_contingency cramervonmises cumfreq epps_singleton_2samp
    mvsdist probplot quantile
    relfreq trim1 trimboth yeojohnson_normmax yeojohnson_normplot
    """,
)
non_differentiable(stats.rankdata, stats.tiecorrect)
