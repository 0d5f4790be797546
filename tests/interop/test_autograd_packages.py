"""Packages that stand on autograd, with the drop-in in its place: the same fits, the same numbers.

They are not in the test extra: ``pip install lifelines pymanopt autograd-gamma``. Each program runs
in two processes of its own, on autograd and on the drop-in.
"""

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("autograd")

# Only these processes see one library under the other's name: ours changes nothing of autograd's.
DROPPED_IN = """
import importlib, sys
names = "builtins core differential_operators extend misc misc.flatten misc.optimizers numpy"
names += " numpy.linalg numpy.fft numpy.random numpy.numpy_boxes numpy.numpy_vjps scipy"
names += " scipy.special scipy.stats scipy.stats.norm scipy.linalg scipy.signal scipy.integrate"
names += " test_util tracer util wrap_util"
sys.modules["autograd"] = importlib.import_module("chainrules.interop.autograd")
for name in names.split():
    ours = importlib.import_module(f"chainrules.interop.autograd.{name}")
    sys.modules[f"autograd.{name}"] = ours
"""

FITS = """
from lifelines import {fitter}
from lifelines.datasets import load_waltons
data = load_waltons()
model = {fitter}().fit(data["T"], data["E"])
report([model.params_, model.variance_matrix_, model.log_likelihood_])
"""
REGRESSIONS = """
from lifelines import {fitter}
from lifelines.datasets import load_rossi
model = {fitter}(penalizer=0.01).fit(load_rossi(), "week", "arrest", ancillary=True)
report([model.params_, model.variance_matrix_, model.log_likelihood_])
"""
MANIFOLDS = """
import autograd.numpy as anp
import pymanopt
from pymanopt.manifolds import {manifold}
from pymanopt.optimizers import {optimizer}
np.random.seed(0)
a = np.random.randn(6, 6)
a = a + a.T
manifold = {manifold}({shape})
@pymanopt.function.autograd(manifold)
def cost(x):
    return -anp.sum(x * anp.dot(a, x))
problem = pymanopt.Problem(manifold, cost)
start, v = manifold.random_point(), manifold.random_tangent_vector(manifold.random_point())
slopes = problem.euclidean_gradient(start), problem.euclidean_hessian(start, v)
found = {optimizer}(verbosity=0).run(problem, initial_point=start)
report([*slopes, cost(found.point)])
"""
GAMMA = """
import autograd, autograd.numpy as anp
from autograd_gamma import {function} as f
x = np.array([0.5, 1.0, 2.0])
def loss(p):
    return anp.sum(f({arguments}) ** 2)
report([autograd.grad(loss)(np.array([1.3, 0.4])), loss(np.array([1.3, 0.4]))])
"""

PROGRAMS = {
    f"lifelines, {fitter}": ("lifelines", FITS.format(fitter=fitter))
    for fitter in ("WeibullFitter", "LogNormalFitter", "LogLogisticFitter", "ExponentialFitter")
}
PROGRAMS |= {
    f"lifelines, {fitter}": ("lifelines", REGRESSIONS.format(fitter=fitter))
    for fitter in ("WeibullAFTFitter", "LogNormalAFTFitter", "LogLogisticAFTFitter")
}
PROGRAMS |= {
    f"pymanopt, {manifold}, {optimizer}": (
        "pymanopt",
        MANIFOLDS.format(manifold=manifold, optimizer=optimizer, shape=shape),
    )
    for manifold, shape in {"Sphere": "6, 1", "Stiefel": "6, 2", "Grassmann": "6, 2"}.items()
    for optimizer in ("TrustRegions", "ConjugateGradient")
}
PROGRAMS |= {
    f"autograd-gamma, {function}": (
        "autograd_gamma",
        GAMMA.format(function=function, arguments=arguments),
    )
    for function, arguments in {
        "gammainc": "p[0], x * p[1]",
        "gammaincc": "p[0], x * p[1]",
        "gammaincln": "p[0], x * p[1]",
        "gammainccln": "p[0], x * p[1]",
        "betainc": "p[0], p[1], x / 3",
        "betaincln": "p[0], p[1], x / 3",
        "gammaincinv": "p[0], x / 3",
    }.items()
}

REPORT = """
import json
import warnings
import numpy as np
warnings.simplefilter("ignore")
def report(found):
    print(json.dumps([np.ravel(np.asarray(x, float)).tolist() for x in found]))
"""


def run(*parts):
    script = "\n".join(parts)
    output = subprocess.check_output([sys.executable, "-P", "-c", script], text=True)
    return json.loads(output.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_numbers(name):
    package, program = PROGRAMS[name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not here")
    expected, found = run(REPORT, program), run(REPORT, DROPPED_IN, program)
    assert len(expected) == len(found)
    for e, f in zip(expected, found):
        np.testing.assert_allclose(f, e, rtol=1e-6, atol=1e-8)
