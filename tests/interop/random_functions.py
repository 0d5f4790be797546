"""Random functions from three numbers to three, over a namespace, and points to have them at."""

import numpy as np
from hypothesis import strategies as st

V, W = np.array([1.0, -0.5, 0.3]), np.array([0.2, 0.7, -1.0])

# All bounded: derivatives of high order stay so.
STEPS = {
    "sine": lambda np, x: np.sin(x),
    "products": lambda np, x: np.tanh(x * x[::-1]),
    "sum": lambda np, x: x / (1 + np.sum(x**2)),
    "matrix": lambda np, x: np.cos(np.dot(np.outer(x, x), V)),
    "rolled": lambda np, x: np.roll(x, 1) * 0.5 + np.arctan(x),
    "where": lambda np, x: np.where(x > 0.2, np.exp(-(x**2)), 1 - x / 3),
    "index": lambda np, x: np.sin(x[np.array([2, 0, 0])]) - x,
    "complex": lambda np, x: np.real((x + 0.3j) ** 2 * np.exp(1j * x)) / 3,
    "norm": lambda np, x: x * np.sqrt(1 + np.sum(x * x)) / 3,
    "joined": lambda np, x: np.concatenate([x[1:], np.array([x[0] * x[1]])]),
    "stacked": lambda np, x: np.mean(np.stack([x, np.cos(x)]), axis=0),
    "einsum": lambda np, x: np.einsum("i,j,j->i", x, x, V) / 3,
    "solve": lambda np, x: np.linalg.solve(3 * np.eye(3) + np.outer(np.sin(x), V), x),
}
functions = st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=3)
points = st.lists(st.integers(-9, 9).map(lambda i: (i + 0.5) / 7), min_size=3, max_size=3).map(
    np.array
)


def function(names, np):
    def f(x):
        for name in names:
            x = STEPS[name](np, x)
        return x

    return f


# ---- a number of three numbers and a factor, and its derivatives along a direction ----


def smooth(x, s):
    return np.sum(np.tanh(x[:-1] * s) * x[1:] ** 2) / (1 + x[0] ** 2)


@st.composite
def points_of_smooth(draw):
    numbers = np.array(draw(st.lists(st.floats(-2, 2), min_size=6, max_size=6)))
    return numbers[:3], numbers[3:], draw(st.floats(0.5, 2))
