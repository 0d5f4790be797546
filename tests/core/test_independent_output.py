"""A gradient of what does not depend on the input at all: who is warned, and what cut it."""

import warnings

import numpy as np
import pytest

import chainrules as cr

X = np.array([1.2, -0.3])


def floored(x):
    y = np.floor(x) * 2
    return np.sum(y)


CONSTANT = {
    "a rule": floored,
    "a number": lambda x: 3.0,
    "a comparison": lambda x: np.sum((x > 0) * 1.0),
    "a value": lambda x: np.sum(cr.value(x)),
    "stopped": lambda x: np.sum(cr.stop_gradient(x) ** 2),
    "an index": lambda x: float(np.argmax(x)),
    "zeros": lambda x: np.sum(np.zeros_like(x)),
    "a selection": lambda x: np.sum(np.where(x > 0, 1.0, 0.0)),
}
# The derivative of what is linear is constant, and rightly so; and one input of two may be unused.
RIGHT = {
    "hessian": lambda: cr.hessian(np.sum)(X),
    "hvp": lambda: cr.hvp(np.sum, (X,), (X,)),
    "grad of grad": lambda: cr.grad(lambda x: np.sum(cr.grad(np.sum)(x)))(X),
    "grad of grad of a program": lambda: cr.grad(
        lambda x: np.sum(cr.grad(lambda x: np.sum(2 * x))(x))
    )(X),
    "grad of jvp": lambda: cr.grad(lambda x: cr.jvp(np.sum, (x,), (X,))[1])(X),
    "jacobian of grad": lambda: cr.jacobian(cr.grad(lambda x: np.sum(x * 2)))(X),
    "within a transform": lambda: cr.grad(lambda x: np.sum(x * cr.grad(floored)(X)))(X),
    "one of two": lambda: cr.grad(lambda x, y: np.sum(x), argnums=(0, 1))(X, X),
    "a number that is 0": lambda: cr.grad(lambda x: np.sum(x * 0.0))(X),
    "vjp": lambda: cr.vjp(floored, X)[1](1.0),
}


@pytest.mark.parametrize("f", CONSTANT.values(), ids=CONSTANT)
@pytest.mark.parametrize("transform", ["grad", "value_and_grad"])
def test_a_result_that_does_not_depend_on_the_input(f, transform):
    with pytest.warns(cr.IndependentOutputWarning) as caught:
        getattr(cr, transform)(f)(X)
    assert [__file__] == [warning.filename for warning in caught]
    message = str(caught[0].message)
    name = "floored" if f is floored else "<lambda>"
    assert message.startswith(
        f"the result of {name} does not depend on what {transform} differentiates, in "
        "test_independent_output.py:"
    )
    assert (
        ": the gradient is zero.\n"
        "  print(cr.explain(f, x)) shows the steps, and which of them are constant\n"
    ) in message


@pytest.mark.parametrize("run", RIGHT.values(), ids=RIGHT)
def test_zeros_that_are_right(run):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run()


@pytest.mark.parametrize(
    ("f", "cut"),
    [
        (floored, "floor in test_independent_output.py:14"),
        (lambda x: np.sum((x > 0) * 1.0), "gt in test_independent_output.py"),
        (lambda x: float(np.argmax(x)), "argmax in test_independent_output.py"),
        (lambda x: np.sum(x.astype(int) * 2.0), "astype in test_independent_output.py"),
        (cr.grad(floored), "floor in test_independent_output.py:14"),
    ],
)
def test_explain_names_what_cut_it(f, cut):
    found = cr.explain(f, X)
    assert f"constant, so that no derivative passes: {cut}" in str(found)
    assert cut.split()[0] in [step.name for step in found.steps if step.cuts]


def test_explain_names_no_cut_where_all_moves():
    found = cr.explain(lambda x: np.sum(np.sin(x) * 2.0), X)
    assert "constant" not in str(found)
