"""Estimators of scikit-learn that are fitted with our derivatives: their losses are NumPy code."""
# ruff: noqa: N803 - scikit-learn gives its arrays by the name X

import numpy as np
import pytest

import chainrules as cr
from chainrules.scipy.optimize import minimize
from chainrules.testing import check_grad

pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

RNG = np.random.default_rng(4)
X = RNG.normal(size=(120, 3))
Y = 0.3 + X @ [1.0, -2.0, 0.5] + 0.1 * RNG.standard_t(2, size=120)
LABELS = (X @ [1.0, -1.0, 0.5] + RNG.logistic(size=120) > 0).astype(int)


class Fitted(BaseEstimator):
    """An estimator whose ``loss(w, X, y)`` is minimised by Newton's method."""

    def __init__(self, ridge=1.0):
        self.ridge = ridge

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        found = minimize(
            self.loss, np.zeros(1 + X.shape[1]), (X, y),
            jac=cr.ad, hess=cr.ad, method="trust-exact", options={"gtol": 1e-10},
        )  # fmt: skip
        self.intercept_, self.coef_, self.steps_ = found.x[0], found.x[1:], found.nit
        return self

    def score_of(self, X):
        return self.intercept_ + X @ self.coef_


class LeastSquares(RegressorMixin, Fitted):
    def loss(self, w, X, y):
        return np.sum((y - X @ w[1:] - w[0]) ** 2) + self.ridge * np.sum(w[1:] ** 2)

    def predict(self, X):
        return self.score_of(X)


class LogCosh(LeastSquares):
    def loss(self, w, X, y):
        return np.mean(np.log(np.cosh(y - X @ w[1:] - w[0]))) + self.ridge * np.mean(w[1:] ** 2)


class Logistic(ClassifierMixin, Fitted):
    def loss(self, w, X, y):
        z = X @ w[1:] + w[0]
        return np.sum(np.logaddexp(0.0, z) - y * z) + self.ridge * np.sum(w[1:] ** 2) / 2

    def predict(self, X):
        return (self.score_of(X) > 0).astype(int)

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-self.score_of(X)))
        return np.stack([1 - p, p], 1)


def test_known_losses_give_the_coefficients_that_scikit_learn_finds():
    ours, theirs = LeastSquares(ridge=2.0).fit(X, Y), Ridge(alpha=2.0).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, 1e-8)
    assert ours.steps_ <= 4
    ours, theirs = Logistic(ridge=0.5).fit(X, LABELS), LogisticRegression(C=2.0, tol=1e-10)
    theirs.fit(X, LABELS)
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], 1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), 1e-5)


def test_pipelines_searches_and_cross_validation_take_them():
    grid = {"logcosh__ridge": [1e-4, 1e-2, 10.0]}
    search = GridSearchCV(make_pipeline(StandardScaler(), LogCosh()), grid).fit(X, Y)
    assert search.best_params_ != {"logcosh__ridge": 10.0}
    np.testing.assert_allclose(
        search.best_estimator_[-1].coef_ / X.std(axis=0), [1.0, -2.0, 0.5], atol=0.1
    )
    assert cross_val_score(Logistic(), X, LABELS).mean() > 0.6
    assert clone(LogCosh(ridge=3.0)).get_params() == {"ridge": 3.0}


def test_the_fit_itself_is_differentiated_in_the_data():
    def coefficient(y):
        def loss(w):
            return np.sum((y - X @ w) ** 2)

        return minimize(loss, np.zeros(3), jac=cr.ad, hess=cr.ad, method="trust-exact").x

    expected = np.linalg.solve(X.T @ X, X.T)
    np.testing.assert_allclose(cr.jacobian(coefficient)(Y), expected, 1e-6, 1e-9)


def test_losses_of_scikit_learn_are_differentiated_where_it_is_adopted():
    def loss(z):
        p = 1 / (1 + np.exp(-z))
        return log_loss(LABELS[:5], np.stack([1 - p, p], 1), labels=[0, 1])

    with cr.adopt("sklearn"):
        check_grad(loss, RNG.normal(size=5))
