"""Every function of a function, in all modes and orders: as it stands, and in an adopted module."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import chainrules as cr

HERE = Path(__file__).parent / "functions_of_functions.py"
W = np.array([0.7, -0.4, 1.2])
V = np.array([0.3, -1.1, 0.5])


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, HERE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PLAIN = loaded("functions_as_they_stand")
ADOPTED = loaded("functions_adopted")
cr.adopt(ADOPTED)

ORDERS = {
    "grad": cr.grad,
    "jvp": lambda f: lambda w: cr.jvp(f, (w,), (V,))[1],
    "hvp": lambda f: lambda w: cr.hvp(f, (w,), (V,)),
    "hessian": cr.hessian,
    "grad of grad": lambda f: cr.grad(lambda w: cr.grad(f)(w) @ V),
    "grad of jvp": lambda f: cr.grad(lambda w: cr.jvp(f, (w,), (V,))[1]),
}

# What NumPy or Python takes for itself: refused, with these words for what to write instead.
REFUSED = {
    "vectorize_otypes": "from chainrules import numpy as np, for .* np.vectorize",
    "frompyfunc": "write np.vectorize",
    "piecewise_plain": r"cr.adopt\(",
    "fromiter": r"cr.adopt\(",
    "fromiter_count": r"cr.adopt\(",
    "fromiter_map": r"cr.adopt\(",
    "math_fsum": "write np.sum",
}
REFUSED_IN_BOTH = {
    "frompyfunc_reduce": r"functools.reduce\(f, x\) for its method reduce",
    "mean_of_statistics": r"statistics\.fmean\(w\) needs a plain number.*\n.*np\.mean",
}


def refusal(name, module):
    return REFUSED_IN_BOTH.get(name) or (REFUSED.get(name) if module is PLAIN else None)


@pytest.mark.parametrize("module", [PLAIN, ADOPTED], ids=["plain", "adopted"])
@pytest.mark.parametrize("name", PLAIN.CASES)
def test_against_what_it_stands_for(name, module):
    f, expected = module.CASES[name][0], PLAIN.CASES[name][1]
    np.testing.assert_allclose(f(W), expected(W), rtol=1e-14)
    refused = refusal(name, module)
    for order, transform in ORDERS.items():
        if refused is not None:
            with pytest.raises((cr.LostDerivativeError, cr.MissingRuleError), match=refused):
                transform(f)(W)
            continue
        found, wanted = transform(f)(W), transform(expected)(W)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12, err_msg=order)
    if refused is None:
        y = cr.vjp(f, W)[0]
        assert type(f(W)) is type(y)
        np.testing.assert_array_equal(f(W), y)


def test_fromiter_of_too_few():
    from chainrules import numpy as cnp

    with pytest.raises(ValueError, match="too short"):
        cnp.fromiter([1.0], float, 2)
    with pytest.raises(ValueError, match="too short"):
        cr.grad(lambda w: np.sum(cnp.fromiter([w[0]], float, 2)))(W)
    assert cnp.fromiter(iter([1, 2, 3]), np.float32, 2).dtype == np.float32


def test_frompyfunc_of_two_results():
    from chainrules import numpy as cnp

    halves = cnp.frompyfunc(lambda x: (x / 2, x * x), 1, 2)
    assert (1, 2, "<ufunc '<lambda> (vectorized)'>") == (halves.nin, halves.nout, repr(halves))
    assert object == halves(W)[0].dtype
    found = cr.grad(lambda w: np.sum(halves(w)[0]) + np.sum(halves(w)[1]))(W)
    np.testing.assert_allclose(found, 0.5 + 2 * W)
