"""Errors that name what asked for a plain number, and the remedy that fits."""

import math

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.linalg
from scipy import stats

import chainrules as cr

ADOPT = f'cr.adopt("{__name__.partition(".")[0]}")'


def store(x):
    b = np.zeros(3)
    i = 0
    b[i + 1] = x
    return b


PROGRAMS = {
    "math": (lambda x: math.cos(x), ["math.cos(x) needs", "write np.cos; or", ADOPT]),
    "another name": (lambda x: math.atan2(x, 1), ["math.atan2(x, 1) needs", "write np.arctan2"]),
    "store": (store, ["`b[i + 1] = ...` needs", "np.zeros(n, like=x)", ADOPT]),
    "float": (lambda x: float(x), ["float(x) needs", "leave it as it is", ADOPT]),
    "complex": (lambda x: complex(x, 1).real, ["complex(x, 1) needs", ADOPT]),
    "array": (lambda x: np.array([x, 1.0], float), ["np.array([x, 1.0], float) needs", "np.stack"]),
    "percent": (
        lambda x: "%f" % x,  # noqa: UP031 - what users write
        ["needs a plain number", "f'{x:f}'"],
    ),
    "numpy has it": (
        lambda x: scipy.linalg.solve(np.eye(2) * x, np.ones(2)),
        ["scipy.linalg.solve", "write np.linalg.solve", ADOPT],
    ),
    "adopted has it": (lambda x: scipy.linalg.expm(np.eye(2) * x), ["expm", ADOPT]),
    "a rule": (
        lambda x: scipy.cluster.vq.whiten(np.eye(2) * x),
        ["whiten = cr.primitive(scipy.cluster.vq.whiten)", "@cr.rrule.register(whiten)"],
    ),
    "a method": (lambda x: stats.johnsonsu.logpdf(x, 1, 1), ["logpdf"]),
}


@pytest.mark.filterwarnings("ignore:Calling expm with arguments of dtype=object")
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("transform", [cr.grad, cr.jacfwd])
def test_error_names_the_thing(name, transform):
    f, parts = PROGRAMS[name]
    with pytest.raises(cr.LostDerivativeError) as caught:
        transform(f)(1.0)
    for part in (*parts, "in test_asked.py:"):
        assert part in str(caught.value)


def test_a_remedy_that_was_taken_is_not_repeated():
    names = {"__name__": "adopted", "np": np}
    with cr.adopt() as here:
        assert here is not None
        with pytest.raises(cr.LostDerivativeError) as caught:
            cr.grad(lambda x: hidden(x))(1.0)
    assert "cr.adopt" not in str(caught.value)
    assert names["np"] is np


def hidden(x):
    import math as mathematics

    return mathematics.cos(x)


def test_where_there_is_no_source_all_remedies_are_named():
    names = {"math": math}
    exec("def f(x):\n    return math.cos(x)\n", names)
    with pytest.raises(cr.LostDerivativeError, match=r"np.sin\(x\) instead of math.sin\(x\)"):
        cr.grad(names["f"])(1.0)
