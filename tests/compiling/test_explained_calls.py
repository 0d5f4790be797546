"""``cr.explain`` of a call: inside derivatives, and where steps cannot be followed."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import chainrules as cr

X = np.array([0.3, -0.7, 0.9])


@pytest.mark.parametrize("transform", [cr.grad, cr.hessian, cr.jacfwd])
def test_inside_a_derivative_it_explains_the_call_with_plain_numbers(transform):
    found = []

    def f(x):
        found.append(cr.explain(lambda x: np.sum(np.log(x)), x, stop="nan"))
        return np.sum(x * x)

    transform(f)(X)
    assert ["input", "log"] == [step.name for step in found[0].steps]
    assert "log" == found[0].first_bad.name


def test_what_cannot_be_followed_ends_the_steps():
    with ThreadPoolExecutor(2) as pool:
        found = cr.explain(lambda x: cr.map(lambda a: a * a, np.sin(x), executor=pool), X)
    assert ["input", "sin"] == [step.name for step in found.steps][:2]
    said = "the steps end here: functions that are given to map cannot be followed"
    assert said == str(found).splitlines()[1]


def test_a_call_without_a_number_says_that_it_has_no_steps():
    said = "no argument is a number or an array of NumPy: there is nothing to follow"
    assert said == str(cr.explain(len, "text")).splitlines()[1]
