"""The demo, ``python -m chainrules``: every claim it prints is checked while it runs.

First three derivatives checked by finite differences, then one rule in two modes, then a fit of
real data checked by scikit-learn. It exits with 1 where a number is off. Three commands go instead
of it: ``check`` tests the rules of a function, ``cost`` measures its derivatives, and ``doctor``
says what is installed and whether it works.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import chainrules as cr

from . import _check, _doctor
from ._price import command as _price

NEXT = """\
What to do next, at https://chainrules-py.readthedocs.io or in the docs/ of a checkout:
  start/ten_minutes                     a first gradient, and a differential equation fitted to data
  how_to                                the task that you came for
And here:
  python -m chainrules cost module:f    what the derivatives of your own function cost
  python -m chainrules doctor           what is installed, and whether machine code works"""
LINKS = np.array([0.9, 0.8, 0.6, 0.4, 0.2])  # metres, from the shoulder to the hand
WEIGHTS = np.array([3.0, 2.0, 1.5, 1.0, 0.5])  # newtons, at the end of each link


def hand(angles: Any) -> Any:
    """Return the position of a planar arm's hand; each angle is relative to the link before."""
    headings = np.cumsum(angles)
    return np.stack([np.sum(LINKS * np.cos(headings)), np.sum(LINKS * np.sin(headings))])


def energy(angles: Any) -> Any:
    """Potential energy of the arm: its weights at their heights, and a spring in each joint."""
    heights = np.cumsum(LINKS * np.sin(np.cumsum(angles)))
    return np.sum(WEIGHTS * heights) + 0.5 * np.sum(angles**2)


# ---- comparing and printing -----------------------------------------------------------------


def headline(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def compare(name: str, ours: Any, theirs: Any, tolerance: float) -> bool:
    """Print the largest difference, relative to the largest entry, and whether it will do."""
    scale = max(1.0, float(np.max(np.abs(theirs))))
    error = float(np.max(np.abs(np.asarray(ours) - np.asarray(theirs)))) / scale
    fine = error <= tolerance
    print(f"  {name:<57} {error:8.1e}  {'ok' if fine else f'OFF, more than {tolerance:.0e}'}")
    return fine


def show(name: str, x: Any) -> None:
    print(f"  {name:<26} {np.array2string(np.asarray(x), precision=6, suppress_small=True)}")


def central_difference(f: Callable, x: Any, xdot: Any) -> Any:
    """Differentiate ``f`` at ``x`` along ``xdot`` with no rule at all."""
    h = np.cbrt(np.finfo(np.float64).eps)  # rounding and truncation errors balance
    return (f(x + h * xdot) - f(x - h * xdot)) / (2 * h)


# ---- 1: derivatives -------------------------------------------------------------------------


def show_derivatives() -> bool:
    headline("1  Three derivatives of an arm with five joints, checked by finite differences")
    angles = np.array([0.3, 0.5, -0.4, 0.2, 0.6])
    speeds = np.array([1.0, -0.5, 0.25, 0.0, 2.0])
    force = np.array([0.5, -2.0])

    _, velocity = cr.jvp(hand, (angles,), (speeds,))
    _, pullback = cr.vjp(hand, angles)
    (torques,) = pullback(force)
    stiffness = cr.hvp(energy, (angles,), (speeds,))
    show("velocity of the hand", velocity)
    show("torques that exert a force", torques)
    show("stiffness along speeds", stiffness)

    moved = central_difference(hand, angles, speeds)
    work = [central_difference(lambda a: force @ hand(a), angles, unit) for unit in np.eye(5)]
    slope = central_difference(cr.grad(energy), angles, speeds)
    print(
        "\n  Our derivatives are exact to rounding. The largest difference from finite differences,"
    )
    print("  relative to the largest entry, is the error of the finite differences:")
    held = [
        compare("jvp: speeds of the joints to the velocity of the hand", velocity, moved, 1e-8),
        compare("vjp: force of the hand to the torques of the joints", torques, work, 1e-8),
        compare("hvp: forward over reverse, of the potential energy", stiffness, slope, 1e-8),
        compare("force . velocity = torques . speeds", force @ velocity, torques @ speeds, 1e-14),
    ]
    return all(held)


# ---- 2: one rule, two engines ---------------------------------------------------------------


def show_map() -> bool:
    headline("2  A rule for a function that takes a function")
    xs = np.linspace(0.1, 2.0, 5)

    def damped(w: Any) -> Callable:
        return lambda x: np.exp(-x) * np.sin(w * x)

    print(
        "  The rules of cr.map do not know the function that it applies. They call back: they let"
    )
    print("  the mode that is running differentiate it. cr.which tells which rule each mode uses:")
    for mode, table, config in (
        ("forward", cr.frule, cr.ForwardConfig()),
        ("reverse", cr.rrule, cr.ReverseConfig()),
    ):
        _, _, found = cr.which(table, config, cr.map, damped(1.5), xs).partition(": ")
        print(f"  {mode} mode: {found.partition(', because ')[0]}")
    print()

    def total(w: Any) -> Any:
        # What is differentiated is in the sequence, and captured by the mapped function too.
        return np.sum(cr.map(damped(w), w * xs))

    _, forward = cr.jvp(total, (1.5,), (1.0,))
    reverse = cr.grad(total)(1.5)
    expected = central_difference(total, 1.5, 1.0)
    held = [
        compare("forward mode, through map and a captured variable", forward, expected, 1e-8),
        compare("reverse mode, through the same", reverse, expected, 1e-8),
    ]
    return all(held)


# ---- 3: a fit of real data ------------------------------------------------------------------


def load_data() -> tuple[np.ndarray, np.ndarray]:
    """The breast-cancer data: standardised features (569, 30), and the classes as -1 and 1."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    x = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    return x, np.where(data.target == 1, 1.0, -1.0)


def logistic_loss(x: np.ndarray, classes: np.ndarray) -> Callable[[Any], Any]:
    """Return scikit-learn's objective, C = 1: it leaves the intercept, the last entry, alone."""

    def loss(parameters: Any) -> Any:
        weights, intercept = parameters[:-1], parameters[-1]
        margins = classes * (x @ weights + intercept)
        return np.sum(np.logaddexp(0.0, -margins)) + 0.5 * np.sum(weights**2)

    return loss


def fit(loss: Callable, size: int) -> np.ndarray:
    """Minimise by Newton's method with conjugate gradients inside a trust region."""
    from scipy.optimize import minimize
    from tqdm import tqdm

    # Quiet where nobody watches (disable=None).
    with tqdm(desc="  trust-ncg", unit=" steps", leave=False, disable=None) as progress:

        def report(intermediate_result: Any) -> None:
            progress.set_postfix(loss=f"{intermediate_result.fun:.10f}")
            progress.update()

        started = time.perf_counter()
        optimum = minimize(
            cr.value_and_grad(loss),
            np.zeros(size),
            jac=True,
            hessp=lambda parameters, direction: cr.hvp(loss, (parameters,), (direction,)),
            method="trust-ncg",
            callback=report,
            options={"gtol": 1e-9},
        )
    seconds = time.perf_counter() - started
    print(f"  {optimum.nit} steps, {optimum.nfev} gradients, {optimum.nhev} Hessian products")
    print(f"  {seconds:.2f} s; the gradient is at most {np.max(np.abs(optimum.jac)):.0e}\n")
    return optimum.x


def fit_by_scikit_learn(x: np.ndarray, classes: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12).fit(x, classes)
    return np.append(model.coef_, model.intercept_)


def show_fit() -> bool:
    headline("3  Logistic regression on the breast-cancer data, checked by scikit-learn")
    x, classes = load_data()
    loss = logistic_loss(x, classes)
    print(f"  {len(x)} samples, {x.shape[1]} features and an intercept; fitting by trust-ncg ...")
    ours, theirs = fit(loss, x.shape[1] + 1), fit_by_scikit_learn(x, classes)

    print(f"  {'':<12} {'loss':>16} {'accuracy':>10}")
    accuracies = []
    for name, parameters in (("chainrules", ours), ("scikit-learn", theirs)):
        accuracies.append(np.mean(np.sign(x @ parameters[:-1] + parameters[-1]) == classes))
        print(f"  {name:<12} {loss(parameters):>16.10f} {accuracies[-1]:>10.4f}")
    print()
    held = [
        compare("coefficients and intercept", ours, theirs, 1e-6),
        compare("loss", loss(ours), loss(theirs), 1e-10),
        compare("accuracy", accuracies[0], accuracies[1], 0.0),
    ]
    return all(held)


def main(arguments: Sequence[str] = ()) -> int:
    """Run every part, or the command that is asked for; 0 if every comparison held."""
    parser = argparse.ArgumentParser("python -m chainrules", description=__doc__)
    parser.add_argument("--version", action="version", version=cr.__version__)
    commands = parser.add_subparsers(title="instead of the demo", metavar="command")
    _check.add_to(commands)
    _price.add_to(commands)
    _doctor.add_to(commands)
    given = parser.parse_args(arguments)
    if "run" in given:
        return int(given.run(given))
    print(f"chainrules {cr.__version__}: derivatives of plain NumPy code")
    held = [show_derivatives(), show_map()]
    try:
        held.append(show_fit())
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        if missing not in ("scipy", "sklearn", "tqdm"):
            raise
        print(f'  This part needs {missing}:  pip install "chainrules[demo]"', file=sys.stderr)
        return 1
    print(
        f"\nEvery comparison held.\n\n{NEXT}" if all(held) else "\nA comparison is OFF: see above."
    )
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
