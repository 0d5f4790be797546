"""Transforms of functions of a module can be pickled: by what makes them anew."""

import inspect
import pickle

import numpy as np
import pytest

import chainrules as cr

W, X = np.array([0.5, -1.5]), np.array([[1.0, 2.0], [0.5, -1.0]])


def loss(w, x):
    return np.sum((x @ w) ** 2)


def with_aux(w, x):
    return loss(w, x), "seen"


@cr.grad
def decorated(x):
    return np.sum(x**3)


class Model:
    def loss(self, w):
        return np.sum(w**2)

    slope = cr.grad(loss, argnums=1)


TRANSFORMS = {
    "grad": cr.grad(loss),
    "grad by name": cr.grad(loss, argnums="x"),
    "grad of several": cr.grad(loss, argnums=(0, 1)),
    "grad with aux": cr.grad(with_aux, has_aux=True),
    "value_and_grad": cr.value_and_grad(loss),
    "jacfwd": cr.jacfwd(loss),
    "jacrev": cr.jacrev(loss),
    "jacobian": cr.jacobian(cr.grad(loss)),
    "hessian": cr.hessian(loss),
    "vmap": cr.vmap(loss, in_axes=(None, 0)),
    "vmap of grad": cr.vmap(cr.grad(loss), in_axes=(None, 0)),
    "a config": cr.grad(loss, config=cr.ReverseConfig()),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_what_comes_back_is_the_same_transform(name):
    f = TRANSFORMS[name]
    again = pickle.loads(pickle.dumps(f))
    assert repr(f) == repr(again)
    assert inspect.signature(f) == inspect.signature(again)
    assert str(f(W, X)) == str(again(W, X))


def test_a_decorated_function_comes_back_itself():
    assert pickle.loads(pickle.dumps(decorated)) is decorated


def test_a_function_without_a_name_is_refused_by_pickle():
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(cr.grad(lambda x: x))


def test_a_transform_in_a_class_is_a_method():
    np.testing.assert_allclose([2.0, 4.0], Model().slope(np.array([1.0, 2.0])))
    assert isinstance(Model.slope, type(cr.grad(loss)))


def test_what_it_is_called():
    assert "<function grad(loss)>" == repr(TRANSFORMS["grad"])
    assert "grad(loss)" == TRANSFORMS["grad"].__name__
    assert TRANSFORMS["grad"].__doc__.startswith("grad of loss.")
    assert TRANSFORMS["grad"].__wrapped__ is loss
