"""Our transformations of a function that another library evaluates, and its twin in NumPy.

Each entry gives what must be equal for the two.
"""

import numpy as np

import chainrules as cr

X, Y = np.array([0.1, 0.4]), np.array([2.0, 3.0])


def twin(np):
    """The same function, of NumPy or of a library with its names."""

    def f(x, y):
        return {"a": np.sin(x) * y, "b": (np.sum(x * y),)}

    return f


def loss(f):
    return lambda x, y: np.sum(f(x, y)["a"] ** 2) * f(x, y)["b"][0]


OURS = {
    "call": lambda f: f(X, Y),
    "grad": lambda f: cr.grad(loss(f), (0, 1))(X, Y),
    "jvp": lambda f: cr.jvp(loss(f), (X, Y), (Y, X)),
    "vjp": lambda f: cr.vjp(f, X, Y)[1]({"a": Y, "b": (1.0,)}),
    "linearize": lambda f: cr.linearize(loss(f), X, Y)[1](Y, X),
    "hessian": lambda f: cr.hessian(loss(f), (0, 1))(X, Y),
    "hvp": lambda f: cr.hvp(loss(f), (X, Y), (Y, X)),
    "reverse over reverse": lambda f: cr.jacrev(cr.grad(loss(f)))(X, Y),
    "reverse over forward": lambda f: cr.grad(lambda x: cr.jvp(loss(f), (x, Y), (Y, X))[1])(X),
    "forward over forward": lambda f: cr.jacfwd(cr.jacfwd(loss(f)))(X, Y),
    "fff": lambda f: cr.jacfwd(cr.jacfwd(cr.jacfwd(loss(f))))(X, Y),
    "ffr": lambda f: cr.jacfwd(cr.hessian(loss(f)))(X, Y),
    "frr": lambda f: cr.jacfwd(cr.jacrev(cr.grad(loss(f))))(X, Y),
    "rff": lambda f: cr.jacrev(cr.jacfwd(cr.jacfwd(loss(f))))(X, Y),
    "rfr": lambda f: cr.jacrev(cr.jacfwd(cr.grad(loss(f))))(X, Y),
    "rrf": lambda f: cr.jacrev(cr.jacrev(cr.jacfwd(loss(f))))(X, Y),
    "rrr": lambda f: cr.jacrev(cr.jacrev(cr.grad(loss(f))))(X, Y),
    "frf": lambda f: cr.jacfwd(cr.jacrev(cr.jacfwd(loss(f))))(X, Y),
    "jacobian": lambda f: cr.jacobian(lambda x: f(x, Y)["a"])(X),
    "a block of directions": lambda f: cr.linearize(loss(f), X, Y)[1](
        np.eye(2), np.ones((2, 2)), block=True
    ),
    "map": lambda f: cr.grad(lambda r: np.sum(cr.map(lambda x: f(x, Y)["a"], r)))(np.stack([X, Y])),
    "scan": lambda f: cr.grad(
        lambda x: cr.scan(lambda c, y: (f(c, y)["a"], c), x, np.stack([X, Y]))[0][0]
    )(X),
    "checkpoint": lambda f: cr.hessian(cr.checkpoint(loss(f)))(X, Y),
    "Pullback": lambda f: cr.Pushforward(cr.Pullback(loss(f)))(X, Y, 1.0, Y, X, 0.5),
    "float32": lambda f: cr.grad(loss(f))(X.astype(np.float32), Y.astype(np.float32)),
}
# Of a function of complex numbers.
OF_COMPLEX = (
    lambda f, z: cr.vjp(f, z)[1](z * (1 + 1j)),
    lambda f, z: cr.jvp(f, (z,), (z * 1j,)),
    lambda f, z: cr.vjp(lambda z: cr.vjp(f, z)[1](z * (1 + 1j))[0], z)[1](z * 1j),
    lambda f, z: cr.jvp(cr.grad(lambda z: np.sum(np.real(f(z)) ** 2)), (z,), (z * 1j,)),
)
