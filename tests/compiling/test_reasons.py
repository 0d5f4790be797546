"""Reasons that warnings give for what is recorded anew, or not at all: the line, and who asks."""

import math
import warnings

import numpy as np
import pytest
from cached import recordings

import chainrules as cr

X = np.array([0.3, 0.5, 0.7])


def moved(compiled, x=X, count=20):
    for k in range(count):
        compiled(x * (1 + k / 50))


def test_a_text_that_is_made_of_numbers():
    log = []

    def f(x):
        for q in (x[0], x[1]):
            log[:] = [f"{q:.1f}"]
            log.clear()
        return np.sum(x**2)

    with pytest.warns(
        cr.CompileWarning, match=r"part in test_reasons\.py:\d+, where a text is made"
    ):
        moved(cr.compile(f, paths=4), count=30)


def test_a_function_of_python():
    with pytest.warns(
        cr.CompileWarning, match=r"reasons\.py:\d+, where numbers are handed to what"
    ):
        moved(cr.compile(lambda x: np.sum(x) * math.exp(x[0]), paths=4))


def test_a_function_of_a_library_is_named():
    transform = pytest.importorskip("scipy.spatial.transform")
    near = np.random.default_rng(0).normal(size=(6, 3))

    def f(x):
        turned = transform.Rotation.align_vectors(near, near * x)[0]
        return np.sum(turned.as_matrix() * np.arange(9.0).reshape(3, 3))

    said = (
        r"reasons\.py:\d+, where scipy\.spatial\.transform\.Rotation\.align_vectors looks at numb"
    )
    with pytest.warns(cr.CompileWarning, match=said):
        moved(cr.compile(f, paths=4))


def test_a_condition():
    with pytest.warns(
        cr.CompileWarning, match=r":\d+, where it looks at values; .*or raise paths="
    ):
        moved(cr.compile(lambda x: [x[0] > t for t in np.linspace(0, 1, 90)].count(True), paths=3))


def test_an_error_of_a_recording_alone():
    """Its own error says which function does not take recorded numbers, and where."""
    optimize = pytest.importorskip("scipy.optimize")

    def f(x):
        return np.sum(optimize.isotonic_regression(x[::-1]).x ** 2)

    said = r"isotonic_regression in .*reasons\.py:\d+ does not take .* \(ValueError: .*writeable\)"
    with pytest.warns(cr.CompileWarning, match=said):
        assert cr.compile(f)(X) == f(X)


def test_a_solver_that_ends_elsewhere():
    pytest.importorskip("llvmlite")
    ours = pytest.importorskip("chainrules.scipy").optimize
    t = np.linspace(0.0, 1.0, 25)
    a, b = np.vander(t, 5), np.cos(8 * t) + 0.1 * np.sin(80 * t)

    def f(p):
        def loss(w):
            return np.sum((a[::2] @ w - b[::2]) ** 2) + np.sum(np.exp(p) * w**2)

        found = ours.minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-9})
        return np.mean((a[1::2] @ found.x - b[1::2]) ** 2)

    compiled = cr.compile(cr.grad(f))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", cr.CompileWarning)
        moved(compiled, np.full(5, -2.0), 3)
    texts = [str(w.message) for w in said if w.category is cr.CompileWarning]
    assert all("the answer of minimize changes by more than rounding" in text for text in texts)


@pytest.mark.parametrize("transform", [lambda f: f, cr.grad, cr.hessian])
def test_parts_of_sorted_numbers_are_one_recording(transform):
    """The pull of a plain cotangent through a sort looked at the whole order."""

    def trimmed(x):
        r = (np.arange(8.0) - x[0] * np.cos(x[1] * np.arange(8.0))) ** 2
        best = np.sort(r)[:5]
        return np.sum(best) + np.partition(r, 2)[2] * x[2] + np.median(r) + np.percentile(r, 75)

    compiled, plain = cr.compile(transform(trimmed), fallback="error"), transform(trimmed)
    for k in range(5):
        x = X * (1 + k)
        np.testing.assert_allclose(compiled(x), plain(x), 1e-10, 1e-10)
    assert recordings(compiled) == 1
